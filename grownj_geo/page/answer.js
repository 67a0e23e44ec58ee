// The answer: the base amount first, what is near a line, then every finding by what it comes to.
import { button, byId, count, feet, make, margin, named, number, plain, sign, visible, weak } from "./dom.js";
import { share } from "./site.js";

// As in the tables of `grownj batch`: up to here a margin is exact, beyond it is only said that it is wider.
const NEAR_FT = 500;
const MOST_WAYS = 3;
const WORDS = { yes: "yes", no: "no", undetermined: "undetermined" };

function outcome(finding) {
  return WORDS[finding.outcome] + (finding.leans ? ", leans " + finding.leans : "");
}

// The part of the site that a line cuts off, or by how much the line that decides is cleared or missed.
function measure(finding) {
  const cut = finding.evidence.find((one) => one.share !== null && one.share.value !== null && one.share.value > 0 && one.share.value < 1);
  if (cut !== undefined) return share(cut.share.value) + " of the site";
  return finding.margin_ft === null ? null : margin(finding.outcome, finding.margin_ft);
}

function isNear(finding) {
  return (
    finding.kind !== "project" &&
    (finding.causes.includes("near_line") || (finding.margin_ft !== null && Math.abs(finding.margin_ft) <= NEAR_FT))
  );
}

function findingRow(finding, view, acts, factLabels) {
  const facts = [outcome(finding), measure(finding), finding.assumed ? "rests on an assumption" : null, weak(finding.status)].filter(
    (one) => one,
  );
  const parts = [
    make("h4", {}, finding.label),
    make(
      "p",
      { class: "facts" },
      facts.join("; "),
      isNear(finding) ? " " : null,
      isNear(finding) ? make("span", { class: "near" }, "near a line") : null,
    ),
  ];
  if (finding.kind !== "project" || finding.outcome !== "undetermined") parts.push(make("p", { class: "why" }, plain(finding.why)));
  const ways = finding.would_decide.slice(0, MOST_WAYS);
  if (ways.length > 0) {
    const rest = finding.would_decide.length - ways.length;
    parts.push(
      make(
        "p",
        { class: "needs" },
        "Could be decided by: " +
          ways.map((one) => plain(one.words)).join("; or ") +
          (rest > 0 ? "; or in " + count(rest, "other way") : "") +
          ".",
      ),
    );
  }
  for (const [name, other] of Object.entries(finding.under_other_readings || {}))
    parts.push(make("p", { class: "needs" }, "Under the reading " + name + ": " + other + "."));
  parts.push(make("p", { class: "cite" }, finding.citation));
  const links = [button("Why?", () => acts.why(finding), { class: "link", "aria-label": "Why? " + finding.label })];
  if (view.lineOf(finding.id) !== undefined)
    links.push(
      button("Show the line on the map", () => acts.line(finding), {
        class: "link",
        "aria-label": "Show the line on the map: " + finding.label,
      }),
    );
  const asked = [
    ...new Set(
      ways
        .flatMap((one) => one.needs)
        .filter((need) => need.startsWith("fact:"))
        .map((need) => need.slice(5)),
    ),
  ];
  for (const name of asked.slice(0, MOST_WAYS))
    links.push(button("State: " + (factLabels.get(name) || name.replaceAll("_", " ")), () => acts.state(name), { class: "link" }));
  parts.push(make("div", { class: "links" }, links));
  return make(
    "li",
    { class: "finding", "data-finding": finding.id, "data-outcome": finding.outcome },
    sign(finding.outcome),
    make("div", {}, parts),
  );
}

function group(title, found, open, row) {
  if (found.length === 0) return null;
  return make(
    "details",
    { open: open, class: "group", id: "group-" + title.toLowerCase().replaceAll(" ", "-") },
    make("summary", {}, make("h3", {}, title + " (" + found.length + ")")),
    make("ul", { class: "plain" }, found.map(row)),
  );
}

// -- parts of the answer ----------------------------------------------------------------------------------

function headline(record) {
  const area = record.findings.find((one) => one.id === "qualified_incentive_area");
  const parts = [];
  if (area !== undefined) {
    parts.push(
      make(
        "p",
        { class: "headline", id: "headline" },
        sign(area.outcome),
        make("span", {}, make("strong", {}, area.label + ": " + outcome(area)), area.assumed ? "rests on an assumption" : null),
      ),
    );
  }
  if (record.tier !== null) {
    const status = weak(record.tier.status);
    parts.push(
      make(
        "p",
        { id: "tier" },
        make("strong", {}, "Base amount: "),
        record.tier.words + (status ? " (" + status + ")" : "") + " ",
        make("span", { class: "cite" }, record.tier.citation),
      ),
    );
  }
  return parts;
}

function nearLines(record, view, acts) {
  const near = new Map();
  for (const finding of record.findings.filter(isNear)) {
    const words = outcome(finding) + (measure(finding) ? "; " + measure(finding) : "");
    if (!near.has(words)) near.set(words, []);
    near.get(words).push(finding);
  }
  const rows = [...near].map(([words, found]) => {
    const shown = found.find((one) => view.lineOf(one.id) !== undefined);
    const line =
      shown === undefined
        ? null
        : button("Show the line", () => acts.line(shown), { class: "link", "aria-label": "Show the line: " + shown.label });
    return make("li", {}, make("strong", {}, found.map((one) => one.label).join(", ")), ": " + words + ". ", line);
  });
  for (const one of record.place.neighbours) {
    if (one.distance_ft !== null)
      rows.push(
        make(
          "li",
          {},
          make("strong", {}, visible(one.name)),
          " begins " + feet(one.distance_ft) + " away; municipal lines are known to some feet only.",
        ),
      );
  }
  if (rows.length === 0) return null;
  return make(
    "div",
    { class: "box warn", id: "near" },
    make("h3", {}, "Near a line"),
    make("p", {}, "A small error of the place or of the map could change this:"),
    make("ul", {}, rows),
  );
}

function stations(record) {
  if (record.stations.length === 0) return null;
  const rows = record.stations.map((one) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, visible(one.name) + (weak(one.status) ? " (" + weak(one.status) + ")" : "")),
      make("td", {}, one.operator + " " + one.mode.replaceAll("_", " ")),
      make("td", { class: "number" }, one.distance_ft.value === null ? "" : feet(one.distance_ft.value)),
      make("td", { class: "number" }, number(Math.round(one.uncertainty_ft)) + " ft"),
    ),
  );
  const head = ["Station", "Operator, mode", "Distance", "Known to"].map((words, i) =>
    make("th", { scope: "col", class: i > 1 ? "number" : null }, words),
  );
  return make(
    "details",
    { id: "stations" },
    make("summary", {}, make("h3", {}, "Nearest stations (" + rows.length + ")")),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nearest stations" },
      make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)),
    ),
  );
}

function notChecked(record) {
  if (record.not_checked.length === 0) return null;
  const names = new Map(record.findings.map((one) => [one.id, one.label]));
  const rows = record.not_checked.map((one) =>
    make(
      "li",
      { class: "edition" },
      make("h4", {}, one.title),
      make("p", { class: "why" }, "Waiting for it: " + one.findings.map((id) => names.get(id) || id).join(", ")),
      make("p", { class: "note" }, visible(one.how_to_load)),
      make("p", { class: "note" }, "To load it: ", make("code", {}, one.command)),
    ),
  );
  return make(
    "details",
    { id: "not-checked" },
    make("summary", {}, make("h3", {}, "Not checked: layers that are not loaded (" + rows.length + ")")),
    make("ul", { class: "plain" }, rows),
  );
}

// Both are kept and said: what was typed, and where the person put it.
function moved(record, question, acts) {
  const own = question.notes.map((one) => make("p", {}, visible(one)));
  if (question.placed && record.site.uncertainty_ft > 0) {
    const known = "Placed on the map to about " + feet(record.site.uncertainty_ft);
    own.push(make("p", {}, known + ": zoom in and place it again for a better one."));
  }
  if (question.chosen === null && question.geometry !== null && question.geometry.type === "Point" && question.typed !== null) {
    own.unshift(
      make(
        "p",
        {},
        make("strong", {}, "You set the place yourself. "),
        "Typed was ",
        named(question.typed),
        "; what follows is for the place that you set.",
      ),
    );
    own.push(button("Put it back to where it was found", acts.putBack, { id: "put-back" }));
  }
  return own.length === 0 ? null : make("div", { class: "box", id: "moved" }, own);
}

function list(title, lines, id) {
  if (lines.length === 0) return null;
  return make(
    "details",
    { id: id },
    make("summary", {}, make("h3", {}, title + " (" + lines.length + ")")),
    make(
      "ul",
      { class: "notes" },
      lines.map((one) => make("li", {}, plain(one))),
    ),
  );
}

function assumptions(record, question, acts) {
  const lines = record.assumptions;
  if (lines.length === 0 && !question.strict) return null;
  const box = make("input", { type: "checkbox", id: "strict", checked: question.strict });
  box.addEventListener("change", () => acts.strict(box.checked));
  return make(
    "details",
    { id: "assumptions", open: question.strict },
    make("summary", {}, make("h3", {}, "Assumptions (" + (question.strict ? "left out" : lines.length) + ")")),
    make(
      "ul",
      { class: "notes" },
      lines.map((one) => make("li", {}, plain(one))),
    ),
    make(
      "label",
      { class: "choice", for: "strict" },
      box,
      make("span", {}, "Answer without assumptions ", make("span", { class: "note" }, "what rests on one is then undetermined")),
    ),
  );
}

function stated(record, factLabels, acts) {
  const facts = Object.entries(record.site.facts);
  if (facts.length === 0) return null;
  const plain = (value) =>
    typeof value === "boolean" ? (value ? "yes" : "no") : typeof value === "number" ? number(value) : visible(value);
  return make(
    "div",
    { class: "box", id: "stated" },
    make("h3", {}, "Stated"),
    make(
      "dl",
      { class: "facts-of" },
      facts.flatMap(([name, value]) => [make("dt", {}, factLabels.get(name) || name), make("dd", {}, plain(value))]),
    ),
    button("Change what is stated", () => acts.state(null), { class: "link" }),
  );
}

// Readings that somebody chose, beside those that are taken unless somebody does.
function readAs(question, acts) {
  const chosen = Object.entries(question.readings);
  if (chosen.length === 0) return null;
  return make(
    "div",
    { class: "box", id: "read-as" },
    make("h3", {}, "Read otherwise, as you chose"),
    make(
      "ul",
      {},
      chosen.map(([id, option]) => {
        const reading = acts.readings.find((one) => one.id === id);
        return make("li", {}, make("strong", {}, reading.title + " (" + id + "): "), reading.options[option]);
      }),
    ),
    button("Change the readings", acts.read, { class: "link" }),
  );
}

function layersUsed(record) {
  const rows = record.layers
    .filter((one) => one.status !== "missing")
    .map((one) =>
      make(
        "li",
        {},
        visible(one.title) +
          ": " +
          (one.status === "unusable"
            ? "could not be used: " + visible(one.problem)
            : (one.edition ? "edition of " + one.edition : "no edition date") + ", fingerprint " + String(one.sha256).slice(0, 12)),
      ),
    );
  return make(
    "details",
    { id: "layers-used" },
    make("summary", {}, make("h3", {}, "Layers used (" + rows.length + ")")),
    make("ul", { class: "notes" }, rows),
  );
}

// -- the whole --------------------------------------------------------------------------------------------

export function summary(record) {
  const area = record.findings.find((one) => one.id === "qualified_incentive_area");
  const areas = record.findings.filter((one) => one.kind !== "project");
  const n = (what) => areas.filter((one) => one.outcome === what).length;
  const parts = [
    record.place.words,
    area === undefined ? null : area.label + " " + outcome(area),
    record.tier === null ? null : "base amount " + record.tier.words,
    n("yes") + " yes, " + n("undetermined") + " undetermined, " + n("no") + " no",
  ];
  return parts.filter((one) => one).join("; ") + ".";
}

// What a place comes to in one line, beside others among which one is chosen.
export function brief(record) {
  const area = record.findings.find((one) => one.id === "qualified_incentive_area");
  const parts = [
    record.tier === null ? null : "Base amount " + record.tier.words.split(";")[0],
    area === undefined ? null : area.label.toLowerCase() + " " + outcome(area),
  ];
  return parts.filter((one) => one).join("; ");
}

export function showAnswer({ record, question, view, acts, factLabels, card }) {
  const { place } = record;
  const row = (finding) => findingRow(finding, view, acts, factLabels);
  const areas = record.findings.filter((one) => one.kind !== "project");
  const of = (what) => areas.filter((one) => one.outcome === what);
  const title = place.words + (place.county ? ", " + place.county + " County" : "");
  const parts = [
    make("h2", { id: "answer-title", tabindex: "-1" }, title),
    make("p", { class: "note", id: "answer-day" }, "As of " + record.as_of),
    ...headline(record),
    make("p", { class: "note", id: "better" }),
    moved(record, question, acts),
    nearLines(record, view, acts),
    make(
      "div",
      { class: "tools", role: "group", "aria-label": "Take the answer with you" },
      button("PDF report", (event) => acts.report("pdf", event.currentTarget), { id: "report-pdf", class: "main" }),
      button("Web report", (event) => acts.report("html", event.currentTarget), { id: "report-html" }),
      button("JSON record", acts.record, { id: "record-json" }),
      button("Preparer and date", acts.onReport, { id: "report-stated" }),
      button("Copy link", acts.share, { id: "share" }),
    ),
    make("p", { class: "note", id: "on-report" }),
    make("div", { id: "shared" }),
    card,
    stated(record, factLabels, acts),
    readAs(question, acts),
    make("div", { id: "credit" }),
    group("Yes", of("yes"), true, row),
    group("Undetermined", of("undetermined"), true, row),
    group("No", of("no"), false, row),
    group(
      "Depends on the project",
      record.findings.filter((one) => one.kind === "project"),
      false,
      row,
    ),
    stations(record),
    assumptions(record, question, acts),
    list("Cautions", record.cautions, "cautions"),
    notChecked(record),
    layersUsed(record),
    make(
      "p",
      { class: "cite" },
      "As of " +
        record.as_of +
        ", by " +
        record.rulebook.title +
        ", version " +
        record.rulebook.version +
        ". " +
        (record.wording || "") +
        " Made with " +
        record.software +
        ". " +
        record.disclaimer,
    ),
  ];
  const into = byId("answer");
  const open = new Map([...into.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  into.replaceChildren(...parts.flat().filter((one) => one !== null));
  // What was opened or closed in the answer before stays so while the marker is moved about.
  for (const one of into.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = open.get(one.id);
}

// Facts that could decide what is open, those that decide most first.
export function needs(record) {
  const found = new Map();
  for (const finding of record.findings) {
    for (const missing of finding.would_decide) {
      for (const need of missing.needs)
        if (need.startsWith("fact:")) found.set(need.slice(5), (found.get(need.slice(5)) || 0) + (finding.kind === "project" ? 1 : 100));
    }
  }
  return [...found].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}
