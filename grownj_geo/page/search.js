// The search box: a combobox with suggestions from what is loaded. Nothing that is typed leaves this machine for them.
import { call, Problem } from "./api.js";
import { byId, count, make, say, visible } from "./dom.js";

const WAIT_MS = 160;
const SHORTEST = 3;

export function readySearch(submit) {
  const field = byId("search");
  const list = byId("suggestions");
  let at = -1;
  let shown = [];
  let waiting = 0;
  let running = null;

  function close() {
    window.clearTimeout(waiting);
    if (running !== null) running.abort();
    running = null;
    list.hidden = true;
    list.replaceChildren();
    shown = [];
    at = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function move(to) {
    const options = list.querySelectorAll("[role=option]");
    if (at >= 0) options[at].setAttribute("aria-selected", "false");
    at = to;
    if (at < 0) {
      field.removeAttribute("aria-activedescendant");
      return;
    }
    options[at].setAttribute("aria-selected", "true");
    options[at].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", options[at].id);
  }

  function show(texts) {
    shown = texts;
    at = -1;
    field.removeAttribute("aria-activedescendant");
    list.replaceChildren(
      ...texts.map((words, i) => make("li", { role: "option", id: "suggestion-" + i, "aria-selected": "false" }, visible(words))),
    );
    list.hidden = texts.length === 0;
    field.setAttribute("aria-expanded", String(texts.length > 0));
    if (texts.length > 0) say(count(texts.length, "suggestion") + ". Arrow down to choose.");
  }

  function take(words) {
    field.value = words;
    close();
    submit(words);
  }

  async function suggest() {
    const typed = field.value.trim();
    if (typed.length < SHORTEST) {
      close();
      return;
    }
    if (running !== null) running.abort();
    running = new AbortController();
    const own = running;
    try {
      const found = await call("suggest?q=" + encodeURIComponent(typed), { signal: own.signal });
      if (own === running && document.activeElement === field) show(found.suggestions.slice(0, 8));
    } catch (error) {
      // Without suggestions the box still asks what is typed, which tells what is wrong.
      if (error instanceof Problem) close();
      else if (error.name !== "AbortError") throw error;
    }
  }

  field.addEventListener("input", () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(suggest, WAIT_MS);
  });
  field.addEventListener("keydown", (event) => {
    const open = !list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) suggest();
      else if (event.key === "ArrowDown") move(at + 1 < shown.length ? at + 1 : -1);
      else move(at < 0 ? shown.length - 1 : at - 1);
    } else if (event.key === "Enter" && open && at >= 0) {
      event.preventDefault();
      take(shown[at]);
    } else if (event.key === "Escape") {
      if (open) close();
      else field.value = "";
      event.preventDefault();
    } else if (event.key === "Tab") close();
  });
  // Pressing an option must not take the focus from the box.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option !== null) take(shown[[...list.children].indexOf(option)]);
  });
  field.addEventListener("blur", close);
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = field.value.trim();
    close();
    if (typed === "") {
      say("Type a place first.");
      field.focus();
    } else submit(typed);
  });
  for (const example of document.querySelectorAll("[data-example]")) {
    example.addEventListener("click", () => take(example.textContent));
  }
  return {
    put: (words) => {
      field.value = words;
      close();
    },
  };
}
