// What is asked. It stands in the page's address after the "#", which a browser sends to no server: an address that is
// asked about is in no log of addresses, and the link can be shared.

export const LONGEST_LINK = 8000;
// Seven digits of a degree are kept, half an inch.
const STRAIGHT_DEG = 1e-7;
export const MOST_CORNERS = 200;
const PLACED = ["click", "marker"];
const VIEWS = ["one", "many", "layers"];

export function nothing() {
  return {
    view: "one",
    site: null,
    geometry: null,
    typed: null,
    chosen: null,
    pin: null,
    // "click" or "marker" where the place was put on the map, and nobody typed its figures.
    placed: null,
    asOf: null,
    facts: {},
    readings: {},
    strict: false,
    uncertainty: null,
  };
}

export function hasSite(question) {
  return question.site !== null || question.geometry !== null;
}

// What belongs into the search box: nothing for a parcel that was drawn.
export function typedText(question) {
  if (question.geometry !== null && question.geometry.type !== "Point") return "";
  return question.typed ?? question.site ?? "";
}

// -- shapes as well-known text, seven digits: less than half an inch --------------------------------------

const pair = ([lon, lat]) => +lon.toFixed(7) + " " + +lat.toFixed(7);
const ring = (points) => "(" + points.map(pair).join(",") + ")";
const rings = (polygon) => "(" + polygon.map(ring).join(",") + ")";

function toText(geometry) {
  if (geometry.type === "Point") return "POINT(" + pair(geometry.coordinates) + ")";
  if (geometry.type === "Polygon") return "POLYGON" + rings(geometry.coordinates);
  if (geometry.type === "MultiPolygon") return "MULTIPOLYGON(" + geometry.coordinates.map(rings).join(",") + ")";
  return null;
}

// Returns null for what is no shape: an address may come from anybody.
function fromText(text) {
  const found = /^(POINT|POLYGON|MULTIPOLYGON)\s*(\(.*\))$/.exec(text.trim());
  if (found === null) return null;
  const listed = found[2]
    .replaceAll("(", "[")
    .replaceAll(")", "]")
    .replace(/(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)/g, "[$1,$2]");
  let coordinates = null;
  try {
    coordinates = JSON.parse(listed);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const isPair = (at) => Array.isArray(at) && at.length === 2 && at.every((value) => Number.isFinite(value));
  const isPolygon = (at) =>
    Array.isArray(at) && at.length > 0 && at.every((line) => Array.isArray(line) && line.length > 3 && line.every(isPair));
  if (found[1] === "POINT")
    return coordinates.length === 1 && isPair(coordinates[0]) ? { type: "Point", coordinates: coordinates[0] } : null;
  if (found[1] === "POLYGON") return isPolygon(coordinates) ? { type: "Polygon", coordinates: coordinates } : null;
  return Array.isArray(coordinates) && coordinates.length > 0 && coordinates.every(isPolygon)
    ? { type: "MultiPolygon", coordinates: coordinates }
    : null;
}

// Without the points amid straight sides that a file or the service put there: corners are what is shown and changed.
export function corners(geometry) {
  // Whether a point lies off the straight way between two others.
  const off = (a, at, b) => {
    const [x, y] = [b[0] - a[0], b[1] - a[1]];
    const along = (at[0] - a[0]) * x + (at[1] - a[1]) * y;
    if (along < 0 || along > x * x + y * y) return true;
    return Math.abs((at[0] - a[0]) * y - (at[1] - a[1]) * x) > STRAIGHT_DEG * Math.hypot(x, y);
  };
  const ofRing = (ring) => {
    const n = ring.length - 1;
    const first = ring.slice(0, n).findIndex((at, i) => off(ring[(i || n) - 1], at, ring[i + 1]));
    if (first < 0 || n > MOST_CORNERS) return ring;
    const points = [...ring.slice(first, n), ...ring.slice(0, first + 1)];
    const kept = [points[0]];
    let from = 0;
    for (let to = 2; to < points.length; to += 1) {
      // Against all that was left out, not against the last alone: a curve of many short sides is not straight.
      if (!points.slice(from + 1, to).some((at) => off(points[from], at, points[to]))) continue;
      from = to - 1;
      kept.push(points[from]);
    }
    return kept.length < 3 ? ring : [...kept, kept[0]];
  };
  if (geometry.type === "Polygon") return { ...geometry, coordinates: geometry.coordinates.map(ofRing) };
  if (geometry.type === "MultiPolygon") return { ...geometry, coordinates: geometry.coordinates.map((one) => one.map(ofRing)) };
  return geometry;
}

// -- the address --------------------------------------------------------------------------------------------

export function toHash(question) {
  const parts = new URLSearchParams();
  if (question.view !== "one") parts.set("view", question.view);
  if (question.geometry !== null) parts.set("shape", toText(question.geometry));
  else if (question.site !== null) parts.set("site", question.site);
  if (question.typed !== null) parts.set("typed", question.typed);
  if (question.pin !== null) parts.set("pin", question.pin);
  if (question.placed) parts.set("placed", question.placed);
  if (question.chosen !== null) parts.set("chosen", JSON.stringify(question.chosen));
  if (question.asOf !== null) parts.set("as_of", question.asOf);
  if (question.uncertainty !== null) parts.set("uncertainty_ft", String(question.uncertainty));
  if (question.strict) parts.set("strict", "yes");
  for (const [name, value] of Object.entries(question.facts)) parts.append("fact", name + "=" + value);
  for (const [name, value] of Object.entries(question.readings)) parts.append("reading", name + "=" + value);
  const text = parts.toString();
  return text === "" ? "" : "#" + text;
}

function statements(values) {
  const found = {};
  for (const value of values) {
    const at = value.indexOf("=");
    if (at > 0) found[value.slice(0, at)] = value.slice(at + 1);
  }
  return found;
}

// How a chosen place was found; null for what is no such thing: an address may come from anybody.
function chosenFrom(text) {
  let chosen = null;
  try {
    chosen = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const isWords = (value) => typeof value === "string";
  const holds = chosen !== null && [chosen.locator, chosen.kind, chosen.matched].every(isWords) && Number.isFinite(chosen.score);
  return holds ? chosen : null;
}

export function fromHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const question = nothing();
  const problems = [];
  if (VIEWS.includes(parts.get("view"))) question.view = parts.get("view");
  if (parts.has("shape")) {
    question.geometry = fromText(parts.get("shape"));
    if (question.geometry === null) problems.push("The shape in this link cannot be read; ask for the link again.");
  } else if (parts.get("site")) question.site = parts.get("site");
  if (parts.has("typed") && hasSite(question)) question.typed = parts.get("typed");
  if (parts.get("pin") && hasSite(question)) question.pin = parts.get("pin");
  if (PLACED.includes(parts.get("placed")) && hasSite(question)) question.placed = parts.get("placed");
  if (parts.has("chosen") && question.typed !== null) {
    question.chosen = chosenFrom(parts.get("chosen"));
    if (question.chosen === null) problems.push("How the place in this link was found cannot be read; ask for the link again.");
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(parts.get("as_of") || "")) question.asOf = parts.get("as_of");
  else if (parts.has("as_of")) problems.push("The day in this link is no day (YYYY-MM-DD); the default day is asked.");
  const off = Number(parts.get("uncertainty_ft"));
  if (parts.has("uncertainty_ft")) {
    if (Number.isFinite(off) && off >= 0) question.uncertainty = off;
    else problems.push("The uncertainty in this link is no number of feet; none is taken.");
  }
  question.strict = parts.get("strict") === "yes";
  question.facts = statements(parts.getAll("fact"));
  question.readings = statements(parts.getAll("reading"));
  return { question: question, token: parts.get("token"), problems: problems };
}

// -- what the service is sent ---------------------------------------------------------------------------------

export function toBody(question, more = {}) {
  const asked = { facts: question.facts, readings: question.readings, strict: question.strict };
  if (question.asOf !== null) asked.as_of = question.asOf;
  if (question.uncertainty !== null) asked.uncertainty_ft = question.uncertainty;
  if (question.geometry !== null) asked.geometry = question.geometry;
  else asked.site = question.site;
  if (question.typed !== null) asked.typed = question.typed;
  if (question.chosen !== null) asked.chosen = question.chosen;
  if (question.pin !== null) asked.pin = question.pin;
  // From so close that it is as good as any figures, it is coordinates like others.
  if (question.placed && question.uncertainty) asked.placed = question.placed;
  return { ...asked, ...more };
}
