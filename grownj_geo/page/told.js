// What the page tells: what is wrong, and what becomes of what is typed.
import { byId, make, plain, visible } from "./dom.js";

// The service's own words also name ways of the command line; these are those of this page.
const NOT_FOUND = new Set(["place_not_found"]);
const LOOK_AGAIN =
  "Check the spelling; an address is number, street and municipality, like 520 Market Street, Camden City. Or give block and lot with the municipality, a parcel number like 0408_81_1, coordinates, or the municipality alone; or click the place on the map.";

// What a refusal says, of a text that was typed.
export function wordsOf(error, typed) {
  return NOT_FOUND.has(error.code) ? "“" + visible(typed) + "” was not found. " + LOOK_AGAIN : error.message;
}

// What is wrong, each thing in a paragraph of its own.
export function problem(words, asked = []) {
  const told = [words].flat().filter((one) => one);
  const who =
    asked.length === 0
      ? null
      : make(
          "ul",
          { class: "notes" },
          asked.map((one) => make("li", {}, "Asked: " + visible(one.locator) + ", which says: " + visible(one.words))),
        );
  const box = make(
    "div",
    { class: "box bad" },
    told.map((one) => make("p", {}, plain(one))),
    who,
  );
  byId("problem").replaceChildren(...(told.length === 0 ? [] : [box]));
  if (told.length > 0) byId("problem").scrollIntoView({ block: "nearest" });
}

// What becomes of what is typed.
export function privacyWords(about) {
  const online = about.locators.filter((one) => one.online);
  return online.length === 0
    ? "What you type stays with this service: no online locator is switched on, and nothing is sent anywhere."
    : "For an address that is not found here, this service asks: " +
        online.map((one) => one.name + " (" + one.sends + ")").join("; ") +
        ".";
}
