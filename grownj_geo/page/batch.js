// Many sites: a table is sent, its progress shown, and the answer taken back or the job cancelled. Only the numbers of
// the jobs are kept in this browser, so that they are found again after the page was closed.
import { call, download, Problem } from "./api.js";
import { busy, button, byId, count, isBusy, make, number, plain, say, visible } from "./dom.js";

const KEPT = "grownj-jobs";
const POLL_MS = 1000;
const GONE = 404;
const WORDS = {
  queued: "Waiting for its turn",
  running: "Being checked",
  done: "Done",
  failed: "Could not be checked",
  cancelled: "Cancelled",
};

function kept() {
  try {
    const found = JSON.parse(window.localStorage.getItem(KEPT) || "[]");
    return Array.isArray(found) ? found.filter((id) => typeof id === "string" && /^[\w-]{1,80}$/.test(id)) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function keepIds(ids) {
  window.localStorage.setItem(KEPT, JSON.stringify(ids.slice(0, 50)));
}

export function readyBatch({ question, wrongDay, about, labels }) {
  const list = byId("jobs");
  const rows = new Map();
  const { limits } = about;
  byId("many-note").textContent =
    "At most " +
    number(limits.upload_mb) +
    " MB. The table and its answer stay with the service that you opened, for " +
    number(limits.job_hours) +
    " hours, and are then removed; you can remove them sooner.";

  function none() {
    byId("jobs-none").hidden = rows.size > 0;
  }

  // One row per job; it is changed and not made anew, so that the focus stays where it is.
  function row(job) {
    const title = make("h4", {});
    const state = make("p", { class: "state" });
    const bar = make("progress", { "aria-label": "Progress", max: 1 });
    const told = make("div", {});
    const take = button(
      "Download the answers",
      async () => {
        if (isBusy(take)) return;
        busy(take, true);
        try {
          await download("jobs/" + made.id + "/result", {}, "answers.csv");
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          told.replaceChildren(make("p", { class: "problem" }, error.message));
        } finally {
          busy(take, false);
        }
      },
      { class: "main" },
    );
    const stop = button("Cancel", () => remove(made));
    const item = make("li", { class: "job", "data-job": job.id }, title, state, bar, make("div", { class: "tools" }, take, stop), told);
    const made = {
      id: job.id,
      job: job,
      item: item,
      title: title,
      state: state,
      bar: bar,
      told: told,
      take: take,
      stop: stop,
      status: null,
    };
    rows.set(job.id, made);
    list.prepend(item);
    none();
    return made;
  }

  function fill(made, job) {
    made.job = job;
    const going = job.status === "queued" || job.status === "running";
    const name = visible(job.file || "Table");
    made.title.textContent = name;
    made.bar.setAttribute("aria-label", "Progress of " + name);
    const of = job.rows_total ? " of " + number(job.rows_total) : "";
    const done =
      job.status === "running" || job.status === "done"
        ? ": " + (job.rows_done ? number(job.rows_done) + of + " rows" : "reading the table")
        : "";
    made.state.textContent = WORDS[job.status] + done;
    made.bar.hidden = !going;
    if (job.rows_total) made.bar.value = Math.min(job.rows_done / job.rows_total, 1);
    else made.bar.removeAttribute("value");
    made.take.hidden = job.status !== "done";
    made.stop.textContent = going ? "Cancel" : "Remove";
    made.stop.setAttribute("aria-label", (going ? "Cancel " : "Remove ") + name);
    made.take.setAttribute("aria-label", "Download the answers for " + name);
    if (job.status !== made.status) {
      if (made.status !== null || job.status !== "done") say(name + ": " + made.state.textContent);
      made.status = job.status;
      made.told.replaceChildren(...results(job));
    }
    return going;
  }

  function results(job) {
    if (job.problem) return [make("p", { class: "problem" }, visible(job.problem))];
    const parts = summaryOf(job.summary, labels);
    if (job.status === "done" && job.expires_at)
      parts.push(make("p", { class: "note" }, "Kept until " + new Date(job.expires_at).toLocaleString() + "."));
    return parts;
  }

  async function follow(made) {
    for (;;) {
      let job = null;
      try {
        job = await call("jobs/" + made.id);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (error.status === GONE) {
          forget(made);
          return;
        }
        made.state.textContent = error.message;
        if (error.status !== 0 && error.status < 500 && error.status !== 429) return;
      }
      if (!rows.has(made.id)) return;
      if (job !== null && !fill(made, job)) return;
      await new Promise((done) => window.setTimeout(done, POLL_MS));
    }
  }

  function forget(made) {
    rows.delete(made.id);
    keepIds(kept().filter((id) => id !== made.id));
    const next = made.item.contains(document.activeElement);
    made.item.remove();
    none();
    if (next) byId("many-title").focus();
  }

  async function remove(made) {
    if (isBusy(made.stop)) return;
    busy(made.stop, true);
    const name = made.title.textContent;
    const was = made.stop.textContent;
    try {
      await call("jobs/" + made.id, { method: "DELETE", kind: "answer" });
      forget(made);
      say(name + (was === "Cancel" ? " is cancelled and removed." : " is removed."));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === GONE) forget(made);
      else made.told.replaceChildren(make("p", { class: "problem", role: "alert" }, error.message));
    } finally {
      busy(made.stop, false);
    }
  }

  byId("many-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const start = byId("many-start");
    const problem = byId("many-problem");
    const file = byId("many-file").files[0];
    if (isBusy(start) || file === undefined) return;
    problem.textContent = "";
    if (wrongDay() !== "") {
      problem.textContent = wrongDay();
      byId("as-of").focus();
      return;
    }
    if (file.size > limits.upload_mb * 1024 * 1024) {
      problem.textContent =
        "The table has " +
        number(Math.ceil(file.size / 1024 / 1024)) +
        " MB; at most " +
        number(limits.upload_mb) +
        " MB are taken. Send it in parts.";
      return;
    }
    const form = new FormData();
    form.append("file", file, file.name);
    form.append("columns", document.querySelector("input[name=columns]:checked").value);
    form.append("format", byId("many-format").value);
    if (question().asOf !== null) form.append("as_of", question().asOf);
    for (const [id, option] of Object.entries(question().readings)) form.append("reading", id + "=" + option);
    busy(start, true);
    start.textContent = "Sending…";
    say("Sending " + visible(file.name));
    try {
      const job = await call("jobs", { form: form });
      keepIds([job.id, ...kept()]);
      byId("many-form").reset();
      follow(row(job));
      byId("jobs-title").scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.textContent = error.message;
    } finally {
      busy(start, false);
      start.textContent = "Check the table";
    }
  });
  for (const id of kept().reverse()) follow(row({ id: id }));
  none();
}

const MOST_PROBLEMS = 8;
const MOST_SIGNS = 120;

// What was found wrong; what to do about it stands in the table.
function begun(words) {
  if (words.length <= MOST_SIGNS) return words;
  return words.slice(0, words.lastIndexOf(" ", MOST_SIGNS)) + " …";
}

// What the table came to: how many rows, why others have no answer, and the outcomes of every area.
function summaryOf(summary, labels) {
  if (summary === null || summary === undefined) return [];
  const parts = [make("p", {}, count(summary.answered, "row") + " of " + number(summary.rows) + " answered, as of " + summary.as_of + ".")];
  if (summary.near_line > 0)
    parts.push(
      make(
        "p",
        {},
        make("span", { class: "near" }, "near a line"),
        " " + count(summary.near_line, "site has", "sites have") + " a finding that is undetermined for being near a line.",
      ),
    );
  const problems = Object.entries(summary.problems).sort((a, b) => b[1] - a[1]);
  if (problems.length > 0) {
    const rows = problems.slice(0, MOST_PROBLEMS).map(([words, n]) => make("li", {}, count(n, "row") + ": " + begun(plain(words))));
    const rest = problems.length - rows.length;
    const all = problems.reduce((sum, [, n]) => sum + n, 0);
    parts.push(
      make(
        "details",
        {},
        make("summary", {}, count(all, "row has", "rows have") + " no answer: why"),
        make("p", { class: "note" }, "Each such row says it in full in its column “problem”."),
        make("ul", { class: "notes" }, rows, rest > 0 ? make("li", {}, "and " + count(rest, "other reason")) : null),
      ),
    );
  }
  const areas = Object.entries(summary.outcomes).map(([id, found]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, labels.get(id) || id.replaceAll("_", " ")),
      ["yes", "undetermined", "no"].map((one) => make("td", { class: "number" }, number(found[one] || 0))),
    ),
  );
  const head = ["Area", "Yes", "Undetermined", "No"].map((words, i) => make("th", { scope: "col", class: i > 0 ? "number" : null }, words));
  parts.push(
    make(
      "details",
      {},
      make("summary", {}, "How many sites are in each area"),
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "How many sites are in each area" },
        make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, areas)),
      ),
    ),
  );
  return parts;
}
