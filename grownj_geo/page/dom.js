// What every part of the page is made with. Text is always text; elements and figures are made as `grownj map` makes them.
/* global grownj */

export const make = grownj.element;
export const feet = grownj.feet;
export const number = grownj.number;

export function byId(id) {
  return document.getElementById(id);
}

// Controls that show nothing, and those that turn the direction of what follows: their numbers are shown instead.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

export function visible(text) {
  return String(text).replace(HIDDEN, (sign) => "⟨U+" + sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// What reasons and notes call by the names of the command line and of the service, as it is called on this page.
const OF_THIS_PAGE = [
  [/--at LAT,LON|a point as geometry/g, "a click on the map"],
  [/(?:--municipality|\bmun_code\b)(?= ")/g, "the municipality alone,"],
  [/(?:--uncertainty-ft|\buncertainty_ft\b)(?= \d)/g, "“Known to, in feet”"],
  [/--reading(?= )/g, "the reading"],
  [/--(pin|crs|fact|as-of|strict|municipality|uncertainty-ft)\b/g, (_, name) => "the " + name.replaceAll("-", " ")],
  [/\b(?:mun_code)\b/g, "the municipality"],
  [/\buncertainty_ft\b/g, "how well the place is known"],
];

export function plain(text) {
  return OF_THIS_PAGE.reduce((words, [from, to]) => words.replace(from, to), visible(text));
}

// A text that a stranger wrote, cut where it is long; it cannot turn the direction of what stands beside it.
export function named(text, most = 300) {
  return grownj.name(grownj.short(visible(text), most));
}

export function button(words, act, about = {}) {
  const made = make("button", { type: "button", ...about }, words);
  made.addEventListener("click", act);
  return made;
}

export function count(n, one, many = one + "s") {
  return number(n) + " " + (n === 1 ? one : many);
}

// -- outcomes: a sign, a word and a colour, so that none of them is needed alone ------------------------

const SIGNS = { yes: "✓", undetermined: "?", no: "✕" };

export function sign(outcome) {
  const known = outcome !== null && outcome in SIGNS;
  return make("span", { class: "sign " + (known ? outcome : "none"), "aria-hidden": "true" }, known ? SIGNS[outcome] : "–");
}

const SURE = new Set(["confirmed", "derived"]);

export function weak(status) {
  return status && !SURE.has(status) ? status.replaceAll("_", " ") : "";
}

// Only what is decided is cleared or missed.
export function margin(outcome, value) {
  if (outcome === "undetermined") return "computed: " + (value >= 0 ? "inside by " : "outside by ") + feet(value);
  return (value >= 0 ? "cleared by " : "missed by ") + feet(value);
}

// -- what is said to who cannot see it -------------------------------------------------------------------

let saying = 0;

export function say(words) {
  const live = byId("live");
  live.textContent = "";
  window.clearTimeout(saying);
  // A change after a moment is read out even where the words are the same as before.
  saying = window.setTimeout(() => {
    live.textContent = words;
  }, 60);
}

// -- dialogs ---------------------------------------------------------------------------------------------

export function openDialog(dialog) {
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("h2").focus();
}

export function readyDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    for (const close of dialog.querySelectorAll("[data-close]")) close.addEventListener("click", () => dialog.close());
    // A click beside the dialog closes it, as Escape does.
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog && dialog.id !== "token") dialog.close();
    });
  }
}

// While something is done a button stays where the focus is, and says so.
export function busy(pressed, on) {
  if (on) pressed.setAttribute("aria-disabled", "true");
  else pressed.removeAttribute("aria-disabled");
}

export function isBusy(pressed) {
  return pressed.getAttribute("aria-disabled") === "true";
}
