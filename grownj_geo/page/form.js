// Fields of forms, made from what the service says of each: how it is asked, what it may be, in which unit.
import { Problem } from "./api.js";
import { make, openDialog } from "./dom.js";

const BOOLEANS = [
  ["", "not stated"],
  ["yes", "yes"],
  ["no", "no"],
];
const NUMBER = /^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?$/;
const KINDS = { date: "date", number: "text", text: "text" };

export const plainName = (name) => name.replaceAll("_", " ");

// Opens a form whose questions come from the service; false where they do not come, which the form then says itself.
export async function openForm(dialog, problem, questions) {
  problem.textContent = "";
  openDialog(dialog);
  try {
    await questions();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem.textContent = error.message;
    return false;
  }
  return true;
}

// One field: `change` is told each text, the empty one for what is not stated.
export function fieldOf(field, { id, value, change, notes = [], about = null }) {
  // What is yes unless somebody says no needs no third answer.
  if (field.type === "boolean" && field.default === "yes") {
    const tick = make("input", { type: "checkbox", id: id + "-value", checked: value !== "no" });
    tick.addEventListener("change", () => change(tick.checked ? "" : "no"));
    return make("div", { class: "fact", id: id }, make("label", { class: "choice" }, tick, make("span", {}, field.question)), notes);
  }
  if (field.default) notes = [make("p", { class: "note" }, "Left out, it is " + plainName(field.default) + "."), ...notes];
  const describedBy = about === null ? {} : { "aria-describedby": about };
  if (field.type === "boolean") {
    const answers = BOOLEANS.map(([answer, words]) => {
      const one = make("input", { type: "radio", name: id, value: answer, checked: String(value) === answer });
      one.addEventListener("change", () => change(answer));
      return make("label", { class: "choice" }, one, make("span", {}, words));
    });
    return make(
      "fieldset",
      { class: "fact", id: id, ...describedBy },
      make("legend", {}, field.question),
      make("div", { class: "answers" }, answers),
      notes,
    );
  }
  const own = { id: id + "-value", required: field.required === true, ...describedBy };
  let entry = null;
  if (field.type === "choice") {
    entry = make(
      "select",
      own,
      make("option", { value: "" }, "not stated"),
      field.choices.map((one) => make("option", { value: one, selected: one === value }, plainName(one))),
    );
  } else {
    entry = make("input", {
      ...own,
      type: KINDS[field.type],
      inputmode: field.type === "number" ? "decimal" : null,
      value: value,
      autocomplete: "off",
    });
  }
  entry.addEventListener("input", () => {
    entry.removeAttribute("aria-invalid");
    change(entry.value.trim());
  });
  return make(
    "div",
    { class: "fact", id: id },
    make("label", { for: own.id }, field.question + (field.required === true ? " (needed)" : "")),
    make("div", {}, entry, field.unit ? make("span", { class: "note" }, " " + field.unit) : null),
    notes,
  );
}

// What is wrong with a value, before it is sent; empty where nothing is.
export function fault(field, value) {
  if (value === undefined || value === "") return field.required === true ? "An answer is needed." : "";
  if (field.type === "number" && !NUMBER.test(value))
    return field.expected ? "Expected " + field.expected + "." : "Expected a plain number.";
  return "";
}

// A value as it is sent.
export function sent(field, value) {
  if (field.type === "boolean") return value === "yes";
  return field.type === "number" ? value.replaceAll(",", "") : value;
}

// Whether two sets of entries differ, in whatever order they were made.
export function unlike(a, b) {
  const inOrder = (own) => JSON.stringify(Object.entries(own).sort());
  return inOrder(a) !== inOrder(b);
}

export function markFault(id) {
  const entry = document.getElementById(id + "-value") ?? document.querySelector("#" + CSS.escape(id) + " input");
  if (entry === null) return;
  const part = entry.closest("details");
  if (part !== null) part.open = true;
  entry.setAttribute("aria-invalid", "true");
  entry.focus();
}
