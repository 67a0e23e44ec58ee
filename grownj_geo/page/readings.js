// The form of the open questions of the law: the ways to read each, as the service lists them, and the one that is taken.
import { call } from "./api.js";
import { byId, make } from "./dom.js";
import { openForm, plainName, unlike } from "./form.js";

export function readyReadings({ apply }) {
  const dialog = byId("readings");
  const list = byId("readings-list");
  const problem = byId("readings-problem");
  let known = null;
  let chosen = {};
  let began = null;

  async function vocabulary() {
    if (known === null) known = (await call("readings")).readings;
    return known;
  }

  const switched = () => known.filter((one) => one.of === "areas" && one.kind === "option");

  function choice(reading, option, words) {
    const own = make("input", {
      type: "radio",
      name: "reading-" + reading.id,
      value: option,
      checked: (chosen[reading.id] ?? reading.default) === option,
    });
    own.addEventListener("change", () => {
      if (option === reading.default) delete chosen[reading.id];
      else chosen[reading.id] = option;
    });
    return make(
      "label",
      { class: "choice" },
      own,
      make(
        "span",
        {},
        words,
        make("span", { class: "note" }, plainName(option) + (option === reading.default ? "; taken unless chosen otherwise" : "")),
      ),
    );
  }

  function field(reading, labels) {
    const about = "reading-" + reading.id + "-about";
    return make(
      "fieldset",
      { class: "fact", id: "reading-" + reading.id, "aria-describedby": about },
      make("legend", {}, reading.question),
      make(
        "div",
        {},
        Object.entries(reading.options).map(([option, words]) => choice(reading, option, words)),
      ),
      make("p", { class: "note" }, reading.evidence),
      make(
        "p",
        { class: "cite", id: about },
        reading.id +
          ", " +
          reading.title +
          "; " +
          reading.citation +
          (reading.affects.length === 0 ? "" : "; can change " + reading.affects.map((one) => labels[one] || plainName(one)).join(", ")),
      ),
    );
  }

  function show(record) {
    const labels = record === null ? {} : Object.fromEntries(record.findings.map((one) => [one.id, one.label]));
    const here = new Set(record === null ? [] : record.findings.flatMap((one) => Object.keys(one.under_other_readings || {})));
    // A reading under which an answer is another one, by its id; the record names the option as well.
    const changes = (reading) => [...here].some((name) => name.split("=")[0] === reading.id);
    const part = (title, readings, open) =>
      readings.length === 0
        ? null
        : make(
            "details",
            { open: open },
            make("summary", {}, make("h3", {}, title + " (" + readings.length + ")")),
            readings.map((one) => field(one, labels)),
          );
    const rest = switched().filter((one) => !(one.id in chosen));
    list.replaceChildren(
      ...[
        part(
          "Chosen by you",
          switched().filter((one) => one.id in chosen),
          true,
        ),
        part("Known to change an answer here", rest.filter(changes), true),
        part(
          rest.length === switched().length ? "All open questions" : "All others",
          rest.filter((one) => !changes(one)),
          !rest.some(changes) && rest.length === switched().length,
        ),
      ].filter((one) => one !== null),
    );
  }

  async function open(question, record) {
    // What was chosen and not used is still there, unless others count since.
    const now = JSON.stringify(question.readings);
    if (began !== now) chosen = { ...question.readings };
    began = now;
    if (!(await openForm(dialog, problem, vocabulary))) return;
    show(record);
    byId("readings-found").textContent = unlike(chosen, question.readings)
      ? "This is as you left it; it counts once you use these readings."
      : "";
  }

  byId("readings-clear").addEventListener("click", () => {
    chosen = {};
    show(null);
    problem.textContent = "";
    byId("readings-title").focus();
  });
  byId("readings-form").addEventListener("submit", (event) => {
    event.preventDefault();
    began = null;
    dialog.close();
    apply({ ...chosen });
  });
  return { open: open, vocabulary: vocabulary };
}

// What is chosen and there is none such: a link may come from anybody.
export function unknownReadings(readings, known) {
  const left = [];
  for (const [id, option] of Object.entries(readings)) {
    const reading = known.find((one) => one.id === id && one.of === "areas");
    if (reading !== undefined && option in reading.options) continue;
    delete readings[id];
    left.push(id + "=" + option);
  }
  return left;
}
