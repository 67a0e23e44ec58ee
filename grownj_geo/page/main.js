// The page: one question at a time, its answer, and what takes it further.
import { call, Problem, useToken } from "./api.js";
import { needs, showAnswer, summary } from "./answer.js";
import { readyAreas } from "./areas.js";
import { readyBatch } from "./batch.js";
import { better, drawn } from "./beside.js";
import { compare } from "./compare.js";
import { readyCredits } from "./credits.js";
import { dayShown, wrongDay } from "./day.js";
import { byId, count, feet, make, readyDialogs, say, visible } from "./dom.js";
import { readyDrawing } from "./drawing.js";
import { readyFacts } from "./facts.js";
import { showLayers } from "./layers.js";
import { knownByHand, readyMap } from "./map.js";
import * as questions from "./question.js";
import { readyReadings, unknownReadings } from "./readings.js";
import { readyReportForm } from "./reportform.js";
import { readySearch } from "./search.js";
import { hideChoices, showChoices, siteCard } from "./site.js";
import { shareLink, takeRecord, takeReport } from "./take.js";
import { privacyWords, problem, wordsOf } from "./told.js";
import { readyUpload } from "./upload.js";
import { showWhy } from "./why.js";

const state = {
  question: { ...questions.nothing(), notes: [] },
  record: null,
  text: "",
  about: null,
  running: null,
  wrongDay: "",
  factLabels: new Map(),
  readings: [],
};
const MOST_KEPT = 300_000;
let view = null;
let areas = null;
let drawing = null;
let facts = null;
let readings = null;
let credits = null;
let onReport = null;
let search = null;

// -- asking -----------------------------------------------------------------------------------------------

const NO_PLACE = { site: null, geometry: null, typed: null, chosen: null, pin: null, placed: null, notes: [], uncertainty: null };

// Ask another question: what changes, and whether the browser's Back button returns to the one before.
function ask(change, { fit = true, push = true, focus = false } = {}) {
  const place = "site" in change || "geometry" in change ? { ...NO_PLACE } : {};
  state.question = { ...state.question, ...place, ...change };
  remember(push);
  run({ fit: fit, focus: focus });
}

function remember(push) {
  const hash = questions.toHash(state.question);
  // Where a shape has too many corners for an address, the browser keeps it beside; browsers take so much and no more.
  const address = hash.length > questions.LONGEST_LINK ? "#" : hash || window.location.pathname;
  const kept = hash.length > MOST_KEPT ? null : state.question;
  if (push) window.history.pushState(kept, "", address);
  else window.history.replaceState(kept, "", address);
}

async function run({ fit, focus = false, told = [] }) {
  if (state.running !== null) state.running.abort();
  hideChoices();
  problem(told);
  const question = state.question;
  if (!questions.hasSite(question)) {
    byId("answer").setAttribute("aria-busy", "false");
    return;
  }
  if (state.wrongDay !== "") {
    // An answer for another day than the one that is shown would be taken for the answer of that day.
    state.running = null;
    unanswered();
    view.clear({ keepMarker: true });
    byId("answer").setAttribute("aria-busy", "false");
    problem([...told, "There is no answer: " + state.wrongDay]);
    done();
    return;
  }
  const running = (state.running = new AbortController());
  const answer = byId("answer");
  answer.setAttribute("aria-busy", "true");
  say("Checking…");
  const asked = { json: questions.toBody(question), signal: running.signal };
  try {
    const [came, overlay] = await Promise.all([call("determine", { ...asked, kind: "answer" }), drawn(asked)]);
    const text = await came.text();
    if (running !== state.running) return;
    const record = JSON.parse(text);
    show(record, text, overlay, question, fit);
    // Who sent a text goes on with its answer; who moves a marker goes on moving it.
    if (focus) byId("answer-title").focus({ preventScroll: true });
    if (overlay.problem !== undefined) problem([...told, "The map could not be drawn for this answer. " + overlay.problem]);
    const current = () => running === state.running;
    better(asked, current);
    credits.beside(question, record, { signal: running.signal, current: current });
    if (!record.site.located_by.startsWith("coordinates")) alternatives(question, running);
  } catch (error) {
    if (error.name === "AbortError" || running !== state.running) return;
    if (!(error instanceof Problem)) throw error;
    refuse(error, question, { fit: fit, told: told, running: running });
  } finally {
    if (running === state.running) {
      answer.setAttribute("aria-busy", "false");
      done();
    }
  }
}

function done() {
  document.documentElement.dataset.asked = String(Number(document.documentElement.dataset.asked || 0) + 1);
}

function show(record, text, overlay, question, fit) {
  state.record = record;
  state.text = text;
  view.showSite(record, overlay, { fit: fit });
  const card = siteCard(record, question, view, {
    moved: moved,
    known: (off) => ask({ ...placeOf(question), uncertainty: off }, { fit: false }),
    edit: (ring) => drawing.open(ring),
  });
  const acts = {
    why: (finding) => showWhy(questions.toBody(question), finding),
    line: line,
    state: stateFacts,
    report: (format, pressed) => takeReport(format, pressed, state.question, onReport.stated(), problem),
    onReport: () => onReport.open(),
    readings: state.readings,
    read: () => readings.open(state.question, state.record),
    record: () => takeRecord(state.text, state.record.site),
    share: () => shareLink({ ...state.question, asOf: record.as_of }),
    putBack: () => ask({ site: question.typed }),
    strict: (on) => ask({ strict: on }, { fit: false }),
  };
  const held = document.activeElement !== null && byId("answer").contains(document.activeElement) ? document.activeElement.id : "";
  showAnswer({ record: record, question: question, view: view, acts: acts, factLabels: state.factLabels, card: card });
  // What had the focus in the answer before has it in the new one, or the answer itself.
  if (held !== "") (byId(held) || byId("answer")).focus({ preventScroll: true });
  sayOnReport();
  document.title = record.place.words + " – Grow New Jersey incentive areas";
  say(summary(record));
  if (fit && window.innerWidth <= 760) byId("stage").scrollIntoView({ block: "start" });
}

function placeOf(question) {
  return {
    site: question.site,
    geometry: question.geometry,
    typed: question.typed,
    chosen: question.chosen,
    pin: question.pin,
    placed: question.placed,
    notes: question.notes,
  };
}

function unanswered() {
  state.record = null;
  byId("answer").replaceChildren();
}

// The old answer must not stand below the words that refuse the new question.
function refuse(error, question, { fit, told, running }) {
  unanswered();
  // A marker that was put where no answer is stays there, to be moved on.
  view.clear({ keepMarker: !fit });
  if (error.choices.length > 0) {
    problem(told);
    offer(error, question, running, {
      words: "What was typed fits more than one place, or none well enough. Nothing is chosen for you.",
      focus: true,
    });
    say(count(error.choices.length, "place") + " possible. Choose one.");
  } else problem([...told, wordsOf(error, question.typed ?? question.site ?? "")], error.asked);
}

// Places among which the person chooses. What was typed stays beside the choice.
function offer(found, question, running, { words, focus }) {
  const change = found.choices.map((choice) => {
    const own = choice.ask || { site: choice.site };
    return {
      site: own.site ?? null,
      geometry: own.geometry ?? null,
      typed: own.typed ?? question.typed ?? question.site,
      // Whose answer it is goes with it: nobody set that place by hand.
      chosen: own.chosen ?? null,
      pin: own.pin ?? null,
      uncertainty: own.uncertainty_ft === undefined ? null : Math.ceil(own.uncertainty_ft),
    };
  });
  const choose = (i) => ask(change[i], { focus: true });
  const comesTo = showChoices({ choices: found.choices, asked: found.asked, words: words, choose: choose, focus: focus });
  view.showChoices(found.choices, choose);
  compare(
    change.map((own) => ({ ...question, notes: [], ...own })),
    { signal: running.signal, current: () => running === state.running, comesTo: comesTo },
  );
}

// Several places that lie close together are answered as one circle; which they are is shown, to be chosen from.
async function alternatives(question, running) {
  if (question.site === null || question.typed !== null) return;
  const day = question.asOf === null ? "" : "&as_of=" + encodeURIComponent(question.asOf);
  try {
    const found = await call("search?q=" + encodeURIComponent(question.site) + day, { signal: running.signal });
    if (running !== state.running || found.certain || found.choices.length === 0) return;
    offer(found, question, running, {
      words:
        "More than one place fits. Until you choose, the answer below is for the circle that holds all of them, and what differs between them is undetermined.",
      focus: false,
    });
  } catch (error) {
    if (error instanceof Problem && running === state.running) problem("Other places that fit could not be listed. " + error.message);
    else if (error.name !== "AbortError" && !(error instanceof Problem)) throw error;
  }
}

// -- what is done with a place ------------------------------------------------------------------------------

function placed(at) {
  const words = at.lat.toFixed(6) + ", " + at.lng.toFixed(6);
  search.put(words);
  ask({ site: words, uncertainty: knownByHand(view.map), placed: "click" }, { fit: false });
}

// Both are kept: what was typed, and where the person put it. Of what was drawn, uploaded or clicked nothing was typed;
// the browser's Back button has it.
function moved(at, uncertainty = null, placed = null) {
  const { question, record } = state;
  const drawn = question.geometry !== null && question.geometry.type !== "Point";
  const typed = drawn ? null : (question.typed ?? (question.placed ? null : question.site));
  if (typed === null) {
    const words = at.lat.toFixed(6) + ", " + at.lng.toFixed(6);
    search.put(words);
    ask({ site: words, uncertainty: uncertainty, placed: placed }, { fit: false });
    return;
  }
  const before =
    record !== null && record.site.latitude !== null
      ? view.map.distance([record.site.latitude, record.site.longitude], [at.lat, at.lng])
      : null;
  const notes = before === null ? [] : ["Moved by you, the last time by " + feet(before / 0.3048) + "."];
  ask(
    {
      geometry: { type: "Point", coordinates: [+at.lng.toFixed(7), +at.lat.toFixed(7)] },
      typed: typed,
      notes: notes,
      uncertainty: uncertainty,
      placed: placed,
    },
    { fit: false },
  );
}

// A parcel was not typed; where it came from stands in its place, in the record and in reports.
function parcel(geometry, typed, notes = []) {
  search.put("");
  ask({ geometry: geometry, typed: typed, notes: notes });
}

function line(finding) {
  const shown = view.showLine(finding.id);
  if (shown !== null) say("On the map: " + shown.properties.words);
}

// -- facts ----------------------------------------------------------------------------------------------------

function stateFacts(at = null) {
  const { record } = state;
  const names = record === null ? {} : Object.fromEntries(record.findings.map((one) => [one.id, one.label]));
  facts.open(state.question, { needs: record === null ? [] : needs(record), names: names, at: at });
}

function countStated() {
  for (const what of ["facts", "readings"]) {
    const n = Object.keys(state.question[what]).length;
    byId(what + "-count").textContent = n === 0 ? "" : "(" + n + ")";
  }
  const read = Object.entries(state.question.readings).map(([id, option]) => id + " " + option.replaceAll("_", " "));
  byId("many-readings").textContent = read.length === 0 ? "" : "The law is read as you chose: " + read.join("; ") + ".";
}

function sayOnReport() {
  const words = onReport.words();
  if (byId("on-report") !== null)
    byId("on-report").textContent = words.length === 0 ? "" : "On the report: " + words.map(visible).join("; ") + ".";
}

// -- views, day, start ------------------------------------------------------------------------------------------

function setView(name, { focus = false } = {}) {
  document.body.dataset.view = name;
  for (const part of document.querySelectorAll("[data-in]")) part.hidden = part.dataset.in !== name;
  for (const to of document.querySelectorAll("[data-view-to]")) {
    if (to.dataset.viewTo === name) to.setAttribute("aria-current", "page");
    else to.removeAttribute("aria-current");
  }
  if (name !== "one") drawing.close(false);
  if (name === "layers") listLayers();
  view.map.invalidateSize({ animate: false });
  if (focus && name !== "one") byId(name + "-title").focus();
}

function listLayers() {
  if (state.wrongDay === "") showLayers(state.question.asOf, state.about);
  else byId("layers-body").replaceChildren(make("p", { class: "problem" }, "There is no list: " + state.wrongDay));
}

function showDay() {
  state.wrongDay = "";
  dayShown(state.about, state.question.asOf);
}

// The page is ready before the areas are drawn, which takes a service some seconds after it was started.
async function drawAreas() {
  try {
    if (areas === null) {
      byId("legend-body").replaceChildren(make("p", { class: "note" }, "Being drawn…"));
      areas = readyAreas(view.map, view.taken).catch((error) => {
        areas = null;
        throw error;
      });
    }
    await (await areas).setDay(state.question.asOf, state.question.readings);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    byId("map").dataset.day = "none";
    byId("legend-body").replaceChildren(make("p", { class: "problem", role: "alert" }, "The areas could not be drawn. " + error.message));
  }
}

function readyDay() {
  byId("as-of").addEventListener("change", async () => {
    const day = byId("as-of").value;
    state.wrongDay = wrongDay(state.about, day);
    if (state.wrongDay !== "") run({ fit: false });
    else {
      state.question.asOf = day === state.about.as_of.default ? null : day;
      showDay();
      ask({}, { fit: false });
    }
    if (state.question.view === "layers") listLayers();
    if (state.wrongDay === "") await drawAreas();
  });
}

// A fact or a reading that nobody knows is left out and told, as a day that is none: whatever else a link says still counts.
function unknownNames() {
  const unknown = Object.keys(state.question.facts).filter((name) => !state.factLabels.has(name));
  for (const name of unknown) delete state.question.facts[name];
  const left = unknownReadings(state.question.readings, state.readings);
  return [
    ...unknown.map((name) => "The fact “" + visible(name).slice(0, 60) + "” is none that is known; it is left out."),
    ...left.map((name) => "The reading “" + visible(name).slice(0, 60) + "” is none that is known; it is left out."),
  ];
}

// Take a question from the page's address, or from the browser's Back button.
function restore(from) {
  const { question, token, problems } = questions.fromHash(window.location.hash);
  if (token !== null) useToken(token);
  state.question = from !== null && from.view !== undefined ? from : { ...question, notes: [] };
  remember(false);
  search.put(questions.typedText(state.question));
  if (!questions.hasSite(state.question)) {
    if (state.running !== null) state.running.abort();
    state.running = null;
    state.record = null;
    view.clear();
    hideChoices();
    byId("answer").replaceChildren(welcome);
  }
  return problems;
}

const welcome = byId("welcome");

async function start() {
  readyDialogs();
  view = readyMap({ placed: placed, moved: moved });
  let legendOpen = window.innerWidth > 1200;
  byId("legend").open = legendOpen;
  view.home();
  drawing = readyDrawing(view, {
    // The legend lies on ground where corners may be.
    opened: () => {
      legendOpen = byId("legend").open;
      byId("legend").open = false;
      view.hide();
    },
    done: (geometry) => parcel(geometry, "Parcel drawn on the map, " + count(geometry.coordinates[0].length - 1, "corner")),
    closed: () => {
      byId("legend").open = legendOpen;
      view.unhide();
    },
  });
  search = readySearch((words) => ask({ site: words }, { focus: true }));
  facts = readyFacts({
    apply: (stated) => {
      ask({ facts: stated }, { fit: false });
      countStated();
    },
  });
  readings = readyReadings({
    apply: (chosen) => {
      ask({ readings: chosen }, { fit: false });
      countStated();
      drawAreas();
    },
  });
  credits = readyCredits({
    apply: () => {
      if (state.record === null) problem("The credit is computed beside an answer: say which site is meant.");
      else run({ fit: false });
    },
  });
  onReport = readyReportForm({ apply: sayOnReport });
  byId("draw-open").addEventListener("click", () => drawing.open());
  byId("facts-open").addEventListener("click", () => stateFacts());
  byId("readings-open").addEventListener("click", () => readings.open(state.question, state.record));
  byId("credits-open").addEventListener("click", () => credits.open());
  for (const skip of document.querySelectorAll(".skip")) {
    skip.addEventListener("click", (event) => {
      // The page's address holds the question; a skip link must not change it.
      event.preventDefault();
      byId(skip.dataset.to).focus();
    });
  }
  for (const to of document.querySelectorAll("[data-view-to]")) {
    to.addEventListener("click", () => {
      state.question.view = to.dataset.viewTo;
      remember(true);
      setView(to.dataset.viewTo, { focus: true });
    });
  }
  readyUpload((found, name) => parcel(questions.corners(found.geometry), "Parcel from the file " + name, found.notes));
  readyDay();
  const problems = restore(null);
  try {
    state.about = await call("about");
    byId("disclaimer").textContent = state.about.disclaimer;
    byId("privacy").textContent = privacyWords(state.about);
    const [vocabulary, rules, open] = await Promise.all([facts.vocabulary(), call("rules"), readings.vocabulary()]);
    state.readings = open;
    for (const fact of vocabulary) state.factLabels.set(fact.name, fact.label + (fact.unit ? " (" + fact.unit + ")" : ""));
    const labels = new Map(rules.categories.filter((one) => one.rulebook === "grow-nj").map((one) => [one.id, one.label]));
    problems.push(...unknownNames());
    showDay();
    readyBatch({ question: () => state.question, wrongDay: () => state.wrongDay, about: state.about, labels: labels });
    setView(state.question.view);
    countStated();
    run({ fit: true, told: problems });
    drawAreas();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem(error.message);
    return;
  }
  window.addEventListener("popstate", (event) => {
    const drawnFor = JSON.stringify([state.question.asOf, state.question.readings]);
    const told = [...restore(event.state), ...unknownNames()];
    showDay();
    setView(state.question.view);
    countStated();
    run({ fit: true, told: told });
    if (JSON.stringify([state.question.asOf, state.question.readings]) !== drawnFor) drawAreas();
  });
  document.documentElement.dataset.ready = "yes";
}

start();
