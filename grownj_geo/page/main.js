// The page: one question at a time, its answer, and what takes it further.
import { call, download, keep, Problem, useToken } from "./api.js";
import { needs, showAnswer, summary } from "./answer.js";
import { readyAreas } from "./areas.js";
import { readyBatch } from "./batch.js";
import { busy, byId, count, feet, isBusy, make, readyDialogs, openDialog, say, visible } from "./dom.js";
import { readyDrawing } from "./drawing.js";
import { readyFacts } from "./facts.js";
import { showLayers } from "./layers.js";
import { readyMap } from "./map.js";
import * as questions from "./question.js";
import { readySearch } from "./search.js";
import { hideChoices, showChoices, siteCard } from "./site.js";
import { showWhy } from "./why.js";

const state = { question: { ...questions.nothing(), notes: [] }, record: null, text: "", about: null, running: null, factLabels: new Map() };
let view = null;
let areas = null;
let drawing = null;
let facts = null;
let search = null;

// -- asking -----------------------------------------------------------------------------------------------

function problem(words) {
  byId("problem").replaceChildren(...(words === "" ? [] : [make("p", { class: "problem" }, words)]));
}

// Ask another question: what changes, and whether the browser's Back button returns to the one before.
function ask(change, { fit = true, push = true } = {}) {
  const place = "site" in change || "geometry" in change ? { site: null, geometry: null, typed: null, notes: [], uncertainty: null } : {};
  state.question = { ...state.question, ...place, ...change };
  remember(push);
  run({ fit: fit });
}

function remember(push) {
  const hash = questions.toHash(state.question);
  // Where a shape has too many corners for an address, the browser keeps it beside.
  const address = hash.length > questions.LONGEST_LINK ? "#" : hash || window.location.pathname;
  if (push) window.history.pushState(state.question, "", address);
  else window.history.replaceState(state.question, "", address);
}

async function run({ fit }) {
  if (state.running !== null) state.running.abort();
  hideChoices();
  problem("");
  const question = state.question;
  if (!questions.hasSite(question)) return;
  const running = (state.running = new AbortController());
  const answer = byId("answer");
  answer.setAttribute("aria-busy", "true");
  say("Checking…");
  const asked = { json: questions.toBody(question), signal: running.signal };
  try {
    const [came, overlay] = await Promise.all([call("determine", { ...asked, kind: "answer" }), call("overlay", asked)]);
    const text = await came.text();
    if (running !== state.running) return;
    show(JSON.parse(text), text, overlay, question, fit);
    better(asked, running);
  } catch (error) {
    if (error.name === "AbortError" || running !== state.running) return;
    if (!(error instanceof Problem)) throw error;
    refuse(error, question);
  } finally {
    if (running === state.running) {
      answer.setAttribute("aria-busy", "false");
      document.documentElement.dataset.asked = String(Number(document.documentElement.dataset.asked || 0) + 1);
    }
  }
}

function show(record, text, overlay, question, fit) {
  state.record = record;
  state.text = text;
  view.showSite(record, overlay, { fit: fit });
  const card = siteCard(record, question, view, {
    moved: moved,
    known: (off) => ask({ ...placeOf(question), uncertainty: off }, { fit: false }),
    putBack: () => ask({ site: question.typed }),
    edit: (ring) => drawing.open(ring),
  });
  const acts = { why: (finding) => showWhy(questions.toBody(question), finding), line: line, state: stateFacts, report: report, record: keepRecord, share: share, strict: (on) => ask({ strict: on }, { fit: false }) };
  const held = document.activeElement !== null && byId("answer").contains(document.activeElement) ? document.activeElement.id : "";
  showAnswer({ record: record, question: question, view: view, acts: acts, factLabels: state.factLabels, card: card });
  // What had the focus in the answer before has it in the new one, or the answer itself.
  if (held !== "") (byId(held) || byId("answer")).focus({ preventScroll: true });
  document.title = record.place.words + " – Grow New Jersey incentive areas";
  say(summary(record));
  if (fit && window.innerWidth <= 760) byId("stage").scrollIntoView({ block: "start" });
}

function placeOf(question) {
  return { site: question.site, geometry: question.geometry, typed: question.typed, notes: question.notes };
}

// The old answer must not stand below the words that refuse the new question.
function refuse(error, question) {
  state.record = null;
  byId("answer").replaceChildren();
  view.clear();
  const { choices } = error;
  if (choices.length > 0) {
    const choose = (i) => ask({ site: choices[i].site });
    showChoices(error.message, choices, choose);
    view.showChoices(choices, choose);
    say(choices.length + " places are possible. Choose one.");
  } else problem(error.message);
  if (question.site !== null) search.put(question.site);
}

async function better(asked, running) {
  try {
    const found = await call("better", asked);
    const into = byId("better");
    if (running !== state.running || into === null || !found.words) return;
    into.replaceChildren(make("strong", {}, "Next better: "), visible(found.words));
  } catch (error) {
    // The answer stands without it; what it is missing is said in its place.
    if (error instanceof Problem && running === state.running && byId("better") !== null) byId("better").textContent = "How far the next better line is could not be measured: " + error.message;
    else if (error.name !== "AbortError" && !(error instanceof Problem)) throw error;
  }
}

// -- what is done with a place ------------------------------------------------------------------------------

function placed(at) {
  const words = at.lat.toFixed(6) + ", " + at.lng.toFixed(6);
  search.put(words);
  ask({ site: words }, { fit: false });
}

// Of an address, a lot or a parcel number both are kept: what was typed, and where the person put it.
function moved(at, uncertainty = null) {
  const { question, record } = state;
  const typed = question.typed ?? (record !== null && !record.site.located_by.startsWith("coordinates") ? question.site : null);
  if (typed === null) {
    const words = at.lat.toFixed(6) + ", " + at.lng.toFixed(6);
    search.put(words);
    ask({ site: words, uncertainty: uncertainty }, { fit: false });
    return;
  }
  const before = record !== null && record.site.latitude !== null ? view.map.distance([record.site.latitude, record.site.longitude], [at.lat, at.lng]) : null;
  const notes = before === null ? [] : ["Moved by you, the last time by " + feet(before / 0.3048) + "."];
  ask({ geometry: { type: "Point", coordinates: [+at.lng.toFixed(7), +at.lat.toFixed(7)] }, typed: typed, notes: notes, uncertainty: uncertainty }, { fit: false });
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

function countFacts() {
  const n = Object.keys(state.question.facts).length;
  byId("facts-count").textContent = n === 0 ? "" : "(" + n + ")";
}

// -- taking the answer along ----------------------------------------------------------------------------------

async function report(format, pressed) {
  if (isBusy(pressed)) return;
  const words = pressed.textContent;
  busy(pressed, true);
  pressed.textContent = "Making it…";
  say("Making the report");
  try {
    await download("report?format=" + format, { json: questions.toBody(state.question) }, "report." + format);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem("The report could not be made. " + error.message);
  } finally {
    busy(pressed, false);
    pressed.textContent = words;
  }
}

function keepRecord() {
  keep(new Blob([state.text], { type: "application/json" }), "determination.json");
  say("Downloaded determination.json");
}

async function share() {
  const hash = questions.toHash({ ...state.question, asOf: state.record.as_of });
  const into = byId("shared");
  if (hash.length > questions.LONGEST_LINK) {
    into.replaceChildren(make("p", { class: "problem", role: "alert" }, "The parcel has too many corners for a link. Download the record instead: it has the shape."));
    return;
  }
  const link = window.location.origin + window.location.pathname + hash;
  const field = make("input", { type: "text", readonly: true, value: link, id: "share-link", "aria-label": "Link to this question" });
  const told = make("p", { class: "note", role: "status" });
  into.replaceChildren(make("div", { class: "row wide" }, field), told);
  let copied = false;
  try {
    await navigator.clipboard.writeText(link);
    copied = true;
  } catch (error) {
    // A browser may refuse that; the link is there to be copied by hand.
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
  }
  if (!copied) {
    field.focus();
    field.select();
  }
  told.textContent = (copied ? "Copied. " : "Copy it from here. ") + "It holds the site, the day and the facts, and asks the question anew on this service.";
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
  if (name === "layers") showLayers(state.question.asOf, state.about);
  view.map.invalidateSize({ animate: false });
  if (focus && name !== "one") byId(name + "-title").focus();
}

async function setDay() {
  byId("as-of").value = state.question.asOf || state.about.as_of.default;
  const { first, last } = state.about.as_of;
  byId("as-of-note").textContent = state.question.asOf === null || state.question.asOf === state.about.as_of.default ? "(the default day)" : "";
  byId("as-of").min = first;
  byId("as-of").max = last;
  await areas.setDay(state.question.asOf);
}

function readyDay() {
  const field = byId("as-of");
  const note = byId("as-of-note");
  field.addEventListener("change", async () => {
    const { first, last } = state.about.as_of;
    const day = field.value;
    if (day === "" || day < first || day > last) {
      field.setAttribute("aria-invalid", "true");
      note.textContent = "A day from " + first + " to " + last + ".";
      say(note.textContent);
      return;
    }
    field.removeAttribute("aria-invalid");
    state.question.asOf = day === state.about.as_of.default ? null : day;
    ask({}, { fit: false });
    if (state.question.view === "layers") showLayers(state.question.asOf, state.about);
    await setDay();
  });
}

function readyUpload() {
  const dialog = byId("upload");
  byId("upload-open").addEventListener("click", () => {
    byId("upload-problem").textContent = "";
    byId("upload-form").reset();
    openDialog(dialog);
  });
  byId("upload-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const start = byId("upload-start");
    const file = byId("upload-file").files[0];
    if (isBusy(start) || file === undefined) return;
    const form = new FormData();
    form.append("file", file, file.name);
    byId("upload-problem").textContent = "";
    busy(start, true);
    try {
      const found = await call("geometry", { form: form });
      dialog.close();
      parcel(found.geometry, "Parcel from the file " + visible(file.name), found.notes);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      byId("upload-problem").textContent = error.message;
    } finally {
      busy(start, false);
    }
  });
}

function privacy() {
  const online = state.about.locators.filter((one) => one.online);
  byId("privacy").textContent = online.length === 0 ? "What you type stays with this service: no online locator is switched on, and nothing is sent anywhere." : "For an address that is not found here, this service asks: " + online.map((one) => one.name + " (" + one.sends + ")").join("; ") + ".";
}

// Take a question from the page's address, or from the browser's Back button.
function restore(from) {
  const { question, token, problems } = questions.fromHash(window.location.hash);
  if (token !== null) useToken(token);
  state.question = from !== null && from.view !== undefined ? from : { ...question, notes: [] };
  remember(false);
  search.put(state.question.site ?? "");
  if (!questions.hasSite(state.question)) {
    if (state.running !== null) state.running.abort();
    state.running = null;
    state.record = null;
    view.clear();
    hideChoices();
    byId("answer").replaceChildren(byId("welcome") || welcome);
    problem("");
  }
  return problems;
}

const welcome = byId("welcome");

async function start() {
  readyDialogs();
  view = readyMap({ placed: placed, moved: moved });
  drawing = readyDrawing(view, { done: (geometry) => parcel(geometry, "Parcel drawn on the map, " + count(geometry.coordinates[0].length - 1, "corner")), closed: () => {} });
  search = readySearch((words) => ask({ site: words }));
  facts = readyFacts({
    apply: (stated) => {
      ask({ facts: stated }, { fit: false });
      countFacts();
    },
  });
  byId("legend").open = window.innerWidth > 1200;
  byId("draw-open").addEventListener("click", () => drawing.open());
  byId("facts-open").addEventListener("click", () => stateFacts());
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
  readyUpload();
  readyDay();
  const problems = restore(null);
  try {
    state.about = await call("about");
    byId("disclaimer").textContent = state.about.disclaimer;
    privacy();
    readyBatch({ asOf: () => state.question.asOf, about: state.about });
    for (const fact of await facts.vocabulary()) state.factLabels.set(fact.name, fact.label);
    setView(state.question.view);
    countFacts();
    problem(problems.join(" "));
    const asked = run({ fit: true });
    areas = await readyAreas(view.map);
    await setDay();
    await asked;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem(error.message);
  }
  window.addEventListener("popstate", (event) => {
    const day = state.question.asOf;
    problem(restore(event.state).join(" "));
    setView(state.question.view);
    countFacts();
    run({ fit: true });
    if (state.question.asOf !== day) setDay();
  });
  document.documentElement.dataset.ready = "yes";
}

start();
