// The site as it was understood: what was typed, where it was put, how well that is known; and ways to move it.
import { button, byId, count, feet, make, named, number, plain, visible } from "./dom.js";
import { moveByClick } from "./map.js";
import { MOST_CORNERS } from "./question.js";

function places(record) {
  const { place } = record;
  const near = (one) =>
    visible(one.name) +
    ", " +
    one.county +
    " County" +
    (one.share !== null
      ? ", " + share(one.share) + " of the site"
      : one.distance_ft !== null
        ? ", " + feet(one.distance_ft) + " away"
        : "");
  const rows = [];
  if (place.municipality !== null)
    rows.push([
      "Municipality",
      place.municipality.name + " (" + place.municipality.mun_code + "), " + place.municipality.county + " County",
    ]);
  else rows.push(["Municipality", "undetermined: " + place.words]);
  if (place.candidates.length > 0) rows.push(["Could be", place.candidates.map(near).join("; ")]);
  if (place.neighbours.length > 0) rows.push(["Beside it", place.neighbours.map(near).join("; ")]);
  return rows;
}

export function share(part) {
  const text = (100 * part).toFixed(1);
  if (part > 0 && part < 1 && (text === "0.0" || text === "100.0")) return part < 0.5 ? "less than 0.1 %" : "more than 99.9 %";
  return text + " %";
}

export function siteCard(record, question, view, acts) {
  const { site } = record;
  const rows = [[question.placed && question.typed === null ? "Put on the map" : "Typed", named(site.typed)], ["Located by", visible(site.located_by)], ...places(record)];
  if (site.latitude !== null)
    rows.push(["Place", site.latitude.toFixed(6) + ", " + site.longitude.toFixed(6) + (site.kind === "point" ? "" : " (a point inside)")]);
  if (site.area_sqft !== null)
    rows.push([
      "Area",
      number(Math.round(site.area_sqft)) +
        " square feet (" +
        (site.area_sqft / 43560).toFixed(2) +
        " acres)" +
        (site.parts > 1 ? ", " + site.parts + " parts" : ""),
    ]);
  if (site.pins.length > 0) rows.push(["Parcel", site.pins.join(", ")]);
  let known = site.uncertainty_ft > 0 ? feet(site.uncertainty_ft) : "taken as exact";
  if (site.uncertainty_ft > 0 && question.placed) known = "about " + known + ", as it was placed on the map";
  if (site.latitude === null) known = "its place is not known, only its municipality";
  rows.push(["Known to", known]);
  const list = make(
    "dl",
    { class: "facts-of" },
    rows.flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)]),
  );
  const { notes } = site;
  const told =
    notes.length === 0
      ? null
      : make(
          "ul",
          { class: "notes" },
          notes.map((one) => make("li", {}, plain(one))),
        );
  return make(
    "details",
    { class: "box", id: "site-card", open: notes.length > 0 || record.place.municipality === null },
    make("summary", {}, make("h3", {}, "The site, and how it was found")),
    list,
    told,
    movers(record, question, view, acts),
  );
}

function movers(record, question, view, acts) {
  const { site } = record;
  const ring = ringOf(question.geometry);
  const corners =
    ring === null
      ? null
      : make(
          "div",
          { class: "tools" },
          button("Change its corners (" + count(ring.length, "corner") + ")", () => acts.edit(ring)),
        );
  const at = (name, words, value) => [
    make("label", { for: name }, words),
    make("input", { id: name, type: "text", inputmode: "text", value: value, autocomplete: "off" }),
  ];
  const lat = at("move-lat", "Latitude", site.latitude === null ? "" : site.latitude.toFixed(6));
  const lon = at("move-lon", "Longitude", site.longitude === null ? "" : site.longitude.toFixed(6));
  const off = at("move-off", "Known to, in feet", site.uncertainty_ft ? String(site.uncertainty_ft) : "");
  const problem = make("p", { class: "problem", role: "alert" });
  const form = make(
    "form",
    {},
    make(
      "div",
      { class: "move" },
      make("div", { class: "row" }, lat),
      make("div", { class: "row" }, lon),
      make("div", { class: "row" }, off),
      make("div", { class: "row" }, make("button", { type: "submit" }, "Check there")),
    ),
    problem,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = [lat[1], lon[1]].map((field) => (/^[+-]?\d+(\.\d+)?$/.test(field.value.trim()) ? Number(field.value) : NaN));
    const feetOff = off[1].value.trim() === "" ? null : Number(off[1].value.replaceAll(",", ""));
    for (const [field, good] of [
      [lat[1], Number.isFinite(values[0])],
      [lon[1], Number.isFinite(values[1])],
      [off[1], feetOff === null || (Number.isFinite(feetOff) && feetOff >= 0)],
    ]) {
      if (good) field.removeAttribute("aria-invalid");
      else field.setAttribute("aria-invalid", "true");
    }
    const wrong = form.querySelector("[aria-invalid]");
    if (wrong !== null) {
      problem.textContent =
        wrong === off[1]
          ? "The distance is no number of feet, like 50."
          : "Latitude and longitude are numbers, like 39.925900 and -75.119600.";
      wrong.focus();
      return;
    }
    problem.textContent = "";
    const still =
      site.kind === "point" &&
      site.latitude !== null &&
      values[0].toFixed(6) === site.latitude.toFixed(6) &&
      values[1].toFixed(6) === site.longitude.toFixed(6);
    if (still) acts.known(feetOff);
    else acts.moved({ lat: values[0], lng: values[1] }, feetOff);
  });
  let words = "Move the site, or say how well its place is known";
  if (site.latitude === null) words = "Give it a place on the map";
  else if (site.kind === "polygon") words = "Ask about a point instead of the parcel";
  const move = make(
    "details",
    { id: "move" },
    make("summary", {}, words),
    make(
      "p",
      { class: "note" },
      "Drag the marker on the map; or reach it with the Tab key and use the arrow keys, with Shift for longer steps; or:",
    ),
    moveByClick(view, acts.moved),
    form,
  );
  return [corners, move].filter((one) => one !== null);
}

// The corners of a parcel that can be changed by hand: one ring, and not a hundred thousand corners.
function ringOf(geometry) {
  if (geometry === null || geometry.type !== "Polygon" || geometry.coordinates.length !== 1) return null;
  const ring = geometry.coordinates[0];
  return ring.length > MOST_CORNERS + 1 ? null : ring.slice(0, -1).map(([lon, lat]) => [lat, lon]);
}

// How a place was found, for who does not know the kinds by their names.
const KINDS = {
  rooftop: "at the building",
  parcel: "by the outline of its parcel",
  range: "between house numbers of the street",
  street: "the street only",
  municipality: "the municipality only",
  point: "a point",
};

function foundBy(choice) {
  const how = KINDS[choice.kind] || choice.kind;
  return choice.locator === "local" ? how + ", from what is loaded here" : how + ", by " + choice.locator;
}

// What one text can mean: the person chooses, the page never does. `focus` where nothing else answers the question.
export function showChoices({ choices, asked, words, choose, focus }) {
  const into = byId("choices");
  const rows = choices.map((choice, i) => {
    const about = [
      choice.county ? choice.county + " County" : null,
      choice.municipality,
      foundBy(choice),
      choice.pin ? "parcel " + choice.pin : null,
      choice.uncertainty_ft ? "known to " + feet(choice.uncertainty_ft) : null,
      choice.score === null || choice.score === undefined ? null : "agrees to " + Math.round(100 * choice.score) + " %",
    ];
    const told = about
      .filter((one) => one && !choice.label.includes(one))
      .map(visible)
      .join(" · ");
    const notes = (choice.notes || []).map((one) => make("small", {}, plain(one)));
    const made = make(
      "button",
      { type: "button", class: "candidate" },
      make("span", { class: "mark", "aria-hidden": "true" }, String(i + 1)),
      make("span", {}, named(choice.label), make("small", {}, told), notes, make("small", { class: "comes-to" })),
    );
    made.addEventListener("click", () => choose(i));
    return make("li", {}, made);
  });
  const who = (asked || []).map((one) => make("li", {}, visible(one.locator) + ": " + visible(one.words)));
  into.replaceChildren(
    make(
      "h2",
      { id: "choices-title", tabindex: "-1" },
      choices.length === 1 ? "Is this the place?" : "Which of these " + choices.length + " places is meant?",
    ),
    make("p", {}, words),
    make("ol", { class: "plain", "aria-labelledby": "choices-title" }, rows),
    ...(who.length === 0 ? [] : [make("details", {}, make("summary", {}, "Who was asked"), make("ul", { class: "notes" }, who))]),
  );
  into.hidden = false;
  if (focus) byId("choices-title").focus();
  const told = into.querySelectorAll(".comes-to");
  return (i, words) => {
    told[i].textContent = words;
  };
}

export function hideChoices() {
  byId("choices").hidden = true;
  byId("choices").replaceChildren();
}
