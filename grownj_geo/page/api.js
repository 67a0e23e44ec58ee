// The service that the page came from, and no other: requests, their problems in words, and what is downloaded.
import { byId, make, openDialog, say } from "./dom.js";

const KEPT = "grownj-token";
const ROOT = "api/v1/";
let token = window.sessionStorage.getItem(KEPT);
let asking = null;

// What went wrong, as it is shown: the service's own words, which say what to do.
export class Problem extends Error {
  constructor(words, { status = 0, code = null, choices = [], asked = [], errors = [] } = {}) {
    super(words);
    Object.assign(this, { status: status, code: code, choices: choices ?? [], asked: asked ?? [], errors: errors ?? [] });
  }
}

export function useToken(text) {
  token = text;
  window.sessionStorage.setItem(KEPT, text);
}

// One dialog, however many requests wait for it.
function askToken(again) {
  if (asking !== null) return asking;
  asking = new Promise((done) => {
    const dialog = byId("token");
    const field = byId("token-field");
    byId("token-problem").textContent = again ? "The service does not know this token." : "";
    const stay = (event) => event.preventDefault();
    dialog.addEventListener("cancel", stay);
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      if (field.value.trim() === "") return;
      useToken(field.value.trim());
      field.value = "";
      dialog.removeEventListener("cancel", stay);
      dialog.close();
      asking = null;
      done();
    };
    openDialog(dialog);
    field.focus();
  });
  return asking;
}

async function send(path, about) {
  for (;;) {
    const used = token;
    const headers = { ...about.headers };
    if (used !== null) headers.Authorization = "Bearer " + used;
    let answer = null;
    try {
      answer = await fetch(path, { ...about, headers: headers, credentials: "same-origin", redirect: "error" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem("The service does not answer. Look whether grownj serve still runs, and try again.");
    }
    if (answer.status !== 401) return answer;
    if (token === used) await askToken(used !== null);
  }
}

async function problemOf(answer) {
  const kind = answer.headers.get("Content-Type") || "";
  const told = kind.includes("json") ? await answer.json() : {};
  const words = typeof told.detail === "string" ? told.detail : told.title;
  return new Problem(words || "The service answered with the status " + answer.status + " and no reason.", {
    ...told,
    status: answer.status,
  });
}

// Ask the service; `json` or `form` is sent, and JSON comes back unless another kind is wanted.
export async function call(path, { method, json, form, signal, kind = "json" } = {}) {
  const about = {
    method: method || (json || form ? "POST" : "GET"),
    headers: { Accept: kind === "json" ? "application/json" : "*/*" },
    signal: signal,
  };
  if (json !== undefined) {
    about.body = JSON.stringify(json);
    about.headers["Content-Type"] = "application/json";
  } else if (form !== undefined) about.body = form;
  const answer = await send(path.startsWith("/") || path.startsWith("http") ? path : ROOT + path, about);
  if (!answer.ok) throw await problemOf(answer);
  if (kind === "answer") return answer;
  return answer.status === 204 ? null : answer.json();
}

// The name that the service gives a file; it is a name and no path.
function fileName(answer, otherwise) {
  const told = answer.headers.get("Content-Disposition") || "";
  const long = /filename\*=(?:UTF-8|utf-8)''([^;]+)/.exec(told);
  const short = /filename="?([^";]+)"?/.exec(told);
  let name = short === null ? otherwise : short[1];
  if (long !== null) name = decodeURIComponent(long[1]);
  return name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_");
}

export function keep(content, name) {
  const where = URL.createObjectURL(content);
  const link = make("a", { href: where, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(where), 60_000);
}

export async function download(path, about, otherwise) {
  const answer = await call(path, { ...about, kind: "answer" });
  const name = fileName(answer, otherwise);
  keep(await answer.blob(), name);
  say("Downloaded " + name);
  return name;
}
