// What each of the places that one text can mean would come to, one after the other: often that is what they differ in.
import { brief } from "./answer.js";
import { call, Problem } from "./api.js";
import { plain } from "./dom.js";
import { toBody } from "./question.js";

const MOST_COMPARED = 8;

export async function compare(asked, { signal, current, comesTo }) {
  for (let i = 0; i < Math.min(asked.length, MOST_COMPARED); i += 1) {
    try {
      const record = await call("determine", { json: toBody(asked[i]), signal: signal });
      if (!current()) return;
      comesTo(i, brief(record));
    } catch (error) {
      if (error.name === "AbortError" || !current()) return;
      if (!(error instanceof Problem)) throw error;
      comesTo(i, "What it comes to could not be found out: " + plain(error.message));
    }
  }
}
