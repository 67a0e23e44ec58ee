// Taking the answer along: as a report, as the record, as a link that asks the same question anew.
import { download, keep, Problem } from "./api.js";
import { busy, byId, isBusy, make, say } from "./dom.js";
import { LONGEST_LINK, toBody, toHash } from "./question.js";

export async function takeReport(format, pressed, question, stated, problem) {
  if (isBusy(pressed)) return;
  const words = pressed.textContent;
  busy(pressed, true);
  pressed.textContent = "Making it…";
  say("Making the report");
  try {
    await download("report?format=" + format, { json: toBody(question, stated) }, "report." + format);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem("The report could not be made. " + error.message);
  } finally {
    busy(pressed, false);
    pressed.textContent = words;
  }
}

const LONGEST_STEM = 60;

// What a file of a site is called, as the service calls its reports.
function fileStem(name) {
  const plain = name.normalize("NFKD").replace(/\p{M}+/gu, "");
  const stem = plain.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, LONGEST_STEM);
  return stem.replace(/^[-._]+|[-._]+$/g, "") || "site";
}

// The record as it came, to the byte.
export function takeRecord(text, site) {
  const name = fileStem(site.typed) + ".json";
  keep(new Blob([text], { type: "application/json" }), name);
  say("Downloaded " + name);
}

export async function shareLink(question) {
  const hash = toHash(question);
  const into = byId("shared");
  if (hash.length > LONGEST_LINK) {
    into.replaceChildren(
      make(
        "p",
        { class: "problem", role: "alert" },
        "The parcel has too many corners for a link. Download the record instead: it has the shape.",
      ),
    );
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
  told.textContent =
    (copied ? "Copied. " : "Copy it from here. ") + "It holds the site, the day and the facts, and asks the question anew on this service.";
}
