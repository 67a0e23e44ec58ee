// What credit a project could have at the site: its form is made from what the service takes, its result stands beside the
// findings. The project stays in this tab: it is in no link, and gone when the page is closed.
import { call, Problem } from "./api.js";
import { byId, button, make, plain, say } from "./dom.js";
import { fault, fieldOf, markFault, openForm, sent } from "./form.js";
import { creditCard } from "./creditcard.js";
import { toBody } from "./question.js";

const PLACE = ["site", "geometry", "typed", "chosen", "pin", "placed", "facts", "uncertainty_ft"];

export function readyCredits({ apply }) {
  const dialog = byId("credits");
  const list = byId("credits-list");
  const problem = byId("credits-problem");
  let parts = null;
  let readings = [];
  let kept = null;
  // What the form holds, used or not: closing it loses nothing.
  let values = null;
  let chosen = {};

  async function vocabulary() {
    if (parts !== null) return;
    const [forms, open] = await Promise.all([call("forms"), call("readings")]);
    parts = forms.forms.find((one) => one.id === "credits").parts;
    readings = open.readings.filter((one) => one.of === "credits" && one.kind === "option");
  }

  const empty = () => Object.fromEntries(parts.map((part) => [part.id, part.repeated === "many" ? [] : [{}]]));
  const idOf = (part, at, field) => "credits-" + part.id + "-" + at + "-" + field.name;

  function entries(part, at) {
    const own = values[part.id][at];
    return part.fields.map((field) =>
      fieldOf(field, {
        id: idOf(part, at, field),
        value: own[field.name] ?? "",
        change: (text) => {
          if (text === "") delete own[field.name];
          else own[field.name] = text;
        },
      }),
    );
  }

  function several(part) {
    const groups = values[part.id].map((own, at) =>
      make(
        "div",
        { class: "box", role: "group", "aria-labelledby": "credits-" + part.id + "-" + at + "-title" },
        make("h4", { id: "credits-" + part.id + "-" + at + "-title", tabindex: "-1" }, part.label + ", entry " + (at + 1)),
        entries(part, at),
        button("Take this entry out", () => {
          values[part.id].splice(at, 1);
          show(part.id);
          byId("credits-" + part.id + "-add").focus();
          say("Taken out.");
        }),
      ),
    );
    const add = button(
      "Add: " + part.label.toLowerCase(),
      () => {
        values[part.id].push({});
        show(part.id);
        byId("credits-" + part.id + "-" + (values[part.id].length - 1) + "-title").focus();
      },
      { id: "credits-" + part.id + "-add" },
    );
    return [...groups, add];
  }

  // `at` is the part that is open, besides those that were.
  function show(at = null) {
    const open = new Set([...list.querySelectorAll("details[open]")].map((one) => one.dataset.part));
    const first = list.children.length === 0;
    const made = parts.map((part) =>
      make(
        "details",
        { "data-part": part.id, open: part.id === at || open.has(part.id) || (first && part.required) },
        make("summary", {}, make("h3", {}, part.label)),
        part.repeated === "many" ? several(part) : entries(part, 0),
      ),
    );
    made.push(
      make(
        "details",
        { "data-part": "readings", open: open.has("readings") },
        make("summary", {}, make("h3", {}, "How the rules are read where they are open")),
        readings.map((reading) =>
          make(
            "div",
            { class: "fact" },
            make("label", { for: "credits-reading-" + reading.id }, reading.question),
            choice(reading),
            make("p", { class: "cite" }, reading.id + "; " + reading.citation),
          ),
        ),
      ),
    );
    list.replaceChildren(...made);
  }

  function choice(reading) {
    const options = Object.entries(reading.options).map(([option, words]) =>
      make("option", { value: option, selected: (chosen[reading.id] ?? reading.default) === option }, words),
    );
    const own = make("select", { id: "credits-reading-" + reading.id }, options);
    own.addEventListener("input", () => {
      if (own.value === reading.default) delete chosen[reading.id];
      else chosen[reading.id] = own.value;
    });
    return own;
  }

  // The project as the service takes it; what nobody filled in is left out, and so not known.
  function project() {
    const found = {};
    for (const part of parts) {
      const groups = values[part.id].map((own) =>
        Object.fromEntries(part.fields.filter((field) => field.name in own).map((field) => [field.name, sent(field, own[field.name])])),
      );
      if (part.key === "") Object.assign(found, groups[0]);
      else if (part.repeated !== "no") {
        // No entry is not known, and not none.
        if (groups.length > 0) found[part.key] = groups;
      } else if (Object.keys(groups[0]).length > 0) found[part.key] = groups[0];
    }
    return found;
  }

  function faulty() {
    for (const part of parts) {
      if (part.required && values[part.id].length === 0)
        return { words: part.label + ": an entry is needed; where there are none, one with 0.", id: null, part: part.id };
      for (const [at, own] of values[part.id].entries()) {
        const field = part.fields.find((one) => fault(one, own[one.name]) !== "");
        if (field !== undefined) return { words: field.question + " " + fault(field, own[field.name]), id: idOf(part, at, field) };
      }
    }
    return null;
  }

  async function open() {
    if (!(await openForm(dialog, problem, vocabulary))) return;
    if (values !== null) return;
    values = empty();
    show();
  }

  byId("credits-clear").addEventListener("click", () => {
    if (parts === null) return;
    values = empty();
    chosen = {};
    kept = null;
    list.replaceChildren();
    show();
    problem.textContent = "";
    byId("credits-title").focus();
    apply();
  });
  byId("credits-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (parts === null) return;
    const wrong = faulty();
    if (wrong !== null) {
      problem.textContent = wrong.words;
      if (wrong.id !== null) markFault(wrong.id);
      else {
        show(wrong.part);
        byId("credits-" + wrong.part + "-add").focus();
      }
      return;
    }
    problem.textContent = "";
    kept = { values: structuredClone(values), readings: { ...chosen }, project: project() };
    dialog.close();
    apply();
  });

  // Beside an answer: asked for the same place on the same day, with the same readings.
  async function beside(question, record, { signal, current }) {
    const into = byId("credit");
    if (kept === null || into === null) return;
    into.replaceChildren(make("div", { class: "box" }, make("h3", {}, "Credit of the project"), make("p", {}, "Being computed…")));
    const whole = toBody(question);
    const asked = {
      project: kept.project,
      place: Object.fromEntries(PLACE.filter((name) => name in whole).map((name) => [name, whole[name]])),
      as_of: record.as_of,
      readings: { ...question.readings, ...kept.readings },
      strict: question.strict,
    };
    const change = button("Change the project", open, { class: "link", id: "credit-change" });
    try {
      const found = await call("credits", { json: asked, signal: signal });
      if (!current() || byId("credit") === null) return;
      const questions = new Map([
        ...parts.filter((part) => part.key !== "").map((part) => [part.key, part.label]),
        ...parts.flatMap((part) => part.fields).map((field) => [field.name, field.question]),
      ]);
      const card = creditCard(found, record, { change: change, questions: questions });
      byId("credit").replaceChildren(card);
      say("Credit of the project: " + card.dataset.words);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      if (!current() || byId("credit") === null) return;
      byId("credit").replaceChildren(
        make(
          "div",
          { class: "box bad" },
          make("h3", {}, "Credit of the project"),
          plain(error.message)
            .split("\n")
            .map((line) => make("p", {}, line)),
          change,
        ),
      );
    }
  }

  return { open: open, beside: beside };
}
