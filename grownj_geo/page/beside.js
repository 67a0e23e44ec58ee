// What is asked beside an answer, which stands without it: its drawing on the map, and how far the next better line is.
import { call, Problem } from "./api.js";
import { byId, make, visible } from "./dom.js";

// What is asked wrongly is told once, by the answer.
export async function drawn(asked) {
  try {
    return await call("overlay", asked);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { features: [], problem: error.message };
  }
}

// Who moves a marker passes by many places: only of the one where it rests is asked what takes long.
const REST_MS = 500;

export async function better(asked, current) {
  await new Promise((rested) => setTimeout(rested, REST_MS));
  if (!current()) return;
  try {
    const found = await call("better", asked);
    const into = byId("better");
    if (!current() || into === null || !found.words) return;
    into.replaceChildren(make("strong", {}, "Next better: "), visible(found.words));
  } catch (error) {
    // The answer stands without it; what it is missing is said in its place.
    if (error instanceof Problem && current() && byId("better") !== null)
      byId("better").textContent = "How far the next better line is could not be measured: " + error.message;
    else if (error.name !== "AbortError" && !(error instanceof Problem)) throw error;
  }
}
