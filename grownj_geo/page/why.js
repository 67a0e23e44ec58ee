// Why: the tree of clauses behind a finding. Each clause has its outcome as sign and word, what was seen, and its citation.
import { call, Problem } from "./api.js";
import { byId, make, openDialog, plain, sign, visible, weak } from "./dom.js";

const WORDS = { yes: "Yes", no: "No", undetermined: "Undetermined" };
const JOINTS = { any: "any one of these is enough", all: "all of these are needed", not: "the opposite of this" };

function clause(node, citedAbove) {
  const parts = [];
  const joint =
    node.children.length > 0 && node.operator in JOINTS ? make("span", { class: "note" }, " (" + JOINTS[node.operator] + ")") : null;
  const word = node.outcome === null ? "Does not count" : WORDS[node.outcome];
  parts.push(make("p", {}, make("span", { class: "label" }, word + ": "), visible(node.label), joint));
  const seen = node.words || node.observed;
  if (seen) parts.push(make("p", {}, plain(seen) + (weak(node.status) ? " (" + weak(node.status) + ")" : "")));
  if (node.note) parts.push(make("p", { class: "note" }, plain(node.note)));
  if (node.citation && node.citation !== citedAbove) parts.push(make("p", { class: "cite" }, node.citation));
  if (node.readings && node.readings.length > 0) parts.push(make("p", { class: "cite" }, "Reading in force: " + node.readings.join(", ")));
  return make("div", { class: "clause" }, sign(node.outcome), make("div", {}, parts));
}

// A branch is open where it decides: where it comes to what the clause above comes to.
function branch(node, citedAbove, open) {
  const own = clause(node, citedAbove);
  const about = { class: node.outcome === null ? "outside" : "" };
  if (node.children.length === 0) return make("li", about, own);
  const below = node.children.map((child) => branch(child, node.citation, open && child.outcome === node.outcome && node.outcome !== null));
  return make("li", about, make("details", { open: open }, make("summary", {}, own), make("ul", { class: "tree" }, below)));
}

export async function showWhy(body, finding) {
  const dialog = byId("why");
  const into = byId("why-body");
  byId("why-title").textContent = "Why: " + finding.label;
  into.replaceChildren(make("p", { role: "status" }, "Reading the clauses…"));
  openDialog(dialog);
  try {
    const tree = await call("explain", { json: { ...body, category: finding.id } });
    const summary = finding.summary ? make("p", {}, make("strong", {}, "In our words: "), finding.summary) : null;
    into.replaceChildren(
      ...[
        make("p", { class: "cite" }, finding.citation),
        summary,
        make("p", { class: "note" }, "Branches that decide are open; open the others to see what else was looked at."),
        make("ul", { class: "tree" }, branch(tree, finding.citation, true)),
      ].filter((part) => part !== null),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    into.replaceChildren(make("p", { class: "problem", role: "alert" }, error.message));
  }
}
