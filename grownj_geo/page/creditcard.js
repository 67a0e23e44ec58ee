// The credit of a project: the award first, then what would settle it, every line, and what it rests on.
import { byId, make, plain, sign, visible, weak } from "./dom.js";

const MOST_SETTLING = 6;

function amount(value, unit = "dollars") {
  if (value === null) return "no limit";
  const number = Number(value);
  const whole = Number.isInteger(number);
  const digits = number.toLocaleString(
    "en-US",
    unit.startsWith("dollars") && !whole ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : {},
  );
  if (!unit.startsWith("dollars")) return digits + (unit === "count" ? "" : unit === "percent" ? " %" : " " + unit.replaceAll("_", " "));
  return "$" + digits + unit.slice("dollars".length).replaceAll("_", " ");
}

function range(found, unit) {
  const [low, high] = [amount(found.low, unit), amount(found.high, unit)];
  return low === high ? low : low + " to " + high;
}

function listed(title, lines) {
  if (lines.length === 0) return null;
  return make(
    "details",
    {},
    make("summary", {}, make("h4", {}, title + " (" + lines.length + ")")),
    make(
      "ul",
      { class: "notes" },
      lines.map((one) => make("li", {}, plain(one))),
    ),
  );
}

// What is to be stated, by the question that asks for it.
function need(words, questions) {
  return words.replace(/^state (?:\w+\.)*(\w+)$/, (all, name) => (questions.has(name) ? "answer “" + questions.get(name) + "”" : all));
}

function settling(found, questions) {
  const so = (each, words, values) => (values === null ? null : words + " " + range({ low: values[0], high: values[1] }));
  const lines = found.settles.map((each) =>
    [
      each.words,
      so(each, each.kind === "law" ? "taken as it stands" : "if so", each.if_yes),
      so(each, "if not", each.if_no),
      each.needs.length > 0 ? "to decide it: " + each.needs.map((one) => need(one, questions)).join("; or ") : null,
    ]
      .filter((one) => one)
      .join("; "),
  );
  if (lines.length === 0) return [];
  const first = make(
    "ul",
    { class: "notes" },
    lines.slice(0, MOST_SETTLING).map((one) => make("li", {}, plain(one))),
  );
  return [make("h4", {}, "What would settle it"), first, listed("More of it", lines.slice(MOST_SETTLING))];
}

function lines(found) {
  const rows = found.lines.map((line) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, visible(line.label), line.words ? make("span", { class: "note" }, " " + plain(line.words)) : null),
      make("td", { class: "number" }, line.outcome === null ? range(line, line.unit) : line.outcome),
      make("td", {}, make("span", { class: "cite" }, visible(line.rule))),
    ),
  );
  const head = ["Line", "Comes to", "Rule"].map((words, i) => make("th", { scope: "col", class: i === 1 ? "number" : null }, words));
  return make(
    "details",
    { id: "credit-lines" },
    make("summary", {}, make("h4", {}, "Every line (" + rows.length + ")")),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Every line of the credit" },
      make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)),
    ),
  );
}

export function creditCard(found, record, { change, questions }) {
  const award = range(found.award) + " in all; " + range(found.award_year) + " a year";
  const weakFigures = found.figures
    .filter((one) => found.below_confirmed.includes(one.name))
    .map((one) => one.label + ": " + one.value + " (" + weak(one.status) + (one.taken ? "" : ", not taken as it stands") + ")");
  const open = new Map([...byId("credit").querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  const card = make(
    "div",
    { class: "box", id: "credit-card" },
    make("h3", {}, "Credit of the project" + (found.project ? ": " + visible(found.project) : "")),
    make(
      "p",
      { class: "headline", id: "credit-award" },
      sign(found.eligible),
      make("span", {}, make("strong", {}, "Award: " + award), "eligible: " + found.eligible),
    ),
    found.eligible === "undetermined"
      ? make(
          "p",
          {},
          "If every open condition is met: " + range(found.if_eligible) + " in all; " + range(found.if_eligible_year) + " a year.",
        )
      : null,
    make(
      "p",
      { class: "note" },
      "Areas as of " +
        record.as_of +
        "; figures of " +
        found.as_of +
        ". " +
        found.eligibility_years +
        " years of credit; the jobs are to be kept for " +
        Number(found.commitment_years).toLocaleString("en-US") +
        " years.",
    ),
    settling(found, questions),
    lines(found),
    listed("Taken for granted, since it is not stated", found.assumptions),
    listed("Figures below confirmed that this rests on", weakFigures),
    listed("Left out", found.notes),
    listed("To be noted", found.cautions),
    make("p", { class: "cite" }, found.disclaimer),
    change,
  );
  card.dataset.words = award;
  for (const one of card.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = open.get(one.id);
  return card;
}
