// The day that is asked for: it stands at the top, and where tables are sent.
import { byId, say } from "./dom.js";

export function dayShown(about, asOf) {
  const day = asOf || about.as_of.default;
  const field = byId("as-of");
  field.value = day;
  field.removeAttribute("aria-invalid");
  field.min = about.as_of.first;
  field.max = about.as_of.last;
  byId("as-of-note").textContent = day === about.as_of.default ? "(the default day)" : "";
  byId("many-day").textContent = "Rows are checked as of " + day + ", the day that is set above.";
}

// Why a day cannot be asked for, told where it is set; nothing is answered until it is mended. Empty where it can.
export function wrongDay(about, day) {
  const { first, last } = about.as_of;
  if (day !== "" && day >= first && day <= last) return "";
  const expected = "a day from " + first + " to " + last;
  const found = day === "" ? "“As of” holds no whole day" : day + " is not among the days that are known";
  const words = found + "; expected " + expected + ". Set it above.";
  byId("as-of").setAttribute("aria-invalid", "true");
  byId("as-of-note").textContent = expected[0].toUpperCase() + expected.slice(1) + ".";
  byId("many-day").textContent = "No table is taken: " + words;
  say(byId("as-of-note").textContent);
  return words;
}
