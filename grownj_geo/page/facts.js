// The form of site facts, made from the vocabulary: what a map cannot show, asked in the vocabulary's own questions.
import { call } from "./api.js";
import { byId, count, make } from "./dom.js";
import { fault, fieldOf, markFault, openForm, unlike } from "./form.js";

const LEFT = "This is as you left it; it counts once you use these facts.";

export function readyFacts({ apply }) {
  const dialog = byId("facts");
  const list = byId("facts-list");
  const find = byId("facts-search");
  const problem = byId("facts-problem");
  let known = null;
  let values = {};
  let began = null;
  let wanted = [];
  let labels = {};

  async function vocabulary() {
    if (known === null) known = (await call("facts")).facts;
    return known;
  }

  function field(fact) {
    const id = "fact-" + fact.name;
    const value = values[fact.name] ?? "";
    const change = (text) => {
      if (text === "") delete values[fact.name];
      else values[fact.name] = text;
    };
    const notes = [
      fact.kind === "ruling"
        ? make("p", { class: "note" }, make("strong", {}, "Only an official can find this."), " State it if the finding was made.")
        : null,
      fact.note ? make("p", { class: "note" }, fact.note) : null,
      make(
        "p",
        { class: "cite", id: id + "-about" },
        fact.citation +
          (fact.used_by.length ? "; used for " + fact.used_by.map((one) => labels[one] || one.replaceAll("_", " ")).join(", ") : ""),
      ),
    ];
    return fieldOf(fact, { id: id, value: value, change: change, notes: notes, about: id + "-about" });
  }

  function show() {
    const typed = find.value.trim().toLowerCase();
    const has = (fact) =>
      typed === "" ||
      [fact.name, fact.label, fact.question].some((words) => words.toLowerCase().replaceAll("_", " ").includes(typed.replaceAll("_", " ")));
    const found = known.filter(has);
    const stated = found.filter((fact) => fact.name in values);
    const asked = found
      .filter((fact) => wanted.includes(fact.name) && !(fact.name in values))
      .sort((a, b) => wanted.indexOf(a.name) - wanted.indexOf(b.name));
    const rest = found.filter((fact) => !(fact.name in values) && !wanted.includes(fact.name));
    const part = (title, facts, open) =>
      facts.length === 0
        ? null
        : make(
            "details",
            { open: open || typed !== "" },
            make("summary", {}, make("h3", {}, title + " (" + facts.length + ")")),
            facts.map(field),
          );
    list.replaceChildren(
      ...[
        part("Stated", stated, true),
        part("Could decide what is open here", asked, true),
        part("All others", rest, asked.length === 0),
      ].filter((one) => one !== null),
    );
    byId("facts-found").textContent =
      typed === "" ? "" : found.length === 0 ? "No fact has that in its question." : count(found.length, "fact") + " found.";
  }

  // What needs a comma or a sign mended is said at its field, before it is sent.
  function faulty() {
    for (const fact of known) {
      const value = values[fact.name];
      if (fault(fact, value) !== "") return fact;
    }
    return null;
  }

  // Entries that were left without being used are still there, unless other facts count since. Returns whether there are.
  function resumed(used) {
    const now = JSON.stringify(used);
    if (began !== now) values = { ...used };
    began = now;
    return unlike(values, used);
  }

  async function open(question, { needs = [], names = {}, at = null } = {}) {
    const left = resumed(question.facts);
    wanted = needs;
    labels = names;
    find.value = "";
    if (!(await openForm(dialog, problem, vocabulary))) return;
    const unknown = Object.keys(values).filter((name) => !known.some((fact) => fact.name === name));
    if (unknown.length > 0) {
      problem.textContent = "There is no fact " + unknown.join(", ") + "; it is left out.";
      for (const name of unknown) delete values[name];
    }
    show();
    if (left) byId("facts-found").textContent = LEFT;
    const own = at === null ? null : byId("fact-" + at);
    if (own !== null) {
      own.closest("details").open = true;
      own.querySelector("input, select").focus();
      own.scrollIntoView({ block: "start" });
    }
  }

  find.addEventListener("input", show);
  find.addEventListener("keydown", (event) => {
    // Enter finds; it does not send the form.
    if (event.key === "Enter") event.preventDefault();
  });
  byId("facts-clear").addEventListener("click", () => {
    values = {};
    show();
    byId("facts-found").textContent = "No fact is stated now.";
  });
  byId("facts-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const wrong = faulty();
    if (wrong !== null) {
      problem.textContent = wrong.question + " " + fault(wrong, values[wrong.name]);
      markFault("fact-" + wrong.name);
      return;
    }
    began = null;
    dialog.close();
    apply({ ...values });
  });
  return { open: open, vocabulary: vocabulary };
}
