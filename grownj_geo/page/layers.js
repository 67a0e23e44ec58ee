// The panel of layers: which edition of each is used on the day, what is missing, and how that is loaded.
import { call, Problem } from "./api.js";
import { byId, make, number, sign, visible } from "./dom.js";

const STATES = { loaded: ["yes", "Loaded"], missing: ["undetermined", "Not loaded"], unusable: ["no", "Could not be used"] };

function edition(layer) {
  const [outcome, word] = STATES[layer.status] || ["none", String(layer.status)];
  const day = layer.edition ? "edition of " + layer.edition : layer.status === "missing" ? null : "without an edition date of its own";
  const holds =
    layer.valid_from || layer.valid_until
      ? "holds " +
        [layer.valid_from ? "from " + layer.valid_from : null, layer.valid_until ? "until " + layer.valid_until : null]
          .filter((one) => one)
          .join(" ")
      : null;
  const known =
    layer.status === "loaded" && layer.accuracy_ft
      ? "lines known to " + layer.accuracy_ft.toLocaleString("en-US", { maximumFractionDigits: 0 }) + " ft"
      : null;
  const parts = [
    make("h4", {}, layer.title),
    make("p", { class: "state" }, [word, day, holds, known].filter((one) => one).join("; ")),
    layer.problem ? make("p", { class: "problem" }, visible(layer.problem)) : null,
    layer.status !== "loaded" && layer.words ? make("p", { class: "note" }, visible(layer.words)) : null,
    layer.status !== "loaded" && (layer.waiting || []).length > 0
      ? make("p", { class: "note" }, "Waiting for it: " + layer.waiting.join(", "))
      : null,
    layer.status !== "loaded" && layer.how
      ? make("p", { class: "note" }, "To load it, whoever runs this service types: ", make("code", {}, layer.how))
      : null,
    make(
      "p",
      { class: "cite" },
      [layer.publisher, layer.origin, layer.sha256 ? "fingerprint " + layer.sha256.slice(0, 12) : null]
        .filter((one) => one)
        .map(visible)
        .join("; "),
    ),
  ];
  return make("li", { class: "finding", "data-layer": layer.id, "data-status": layer.status }, sign(outcome), make("div", {}, parts));
}

export async function showLayers(asOf, about) {
  const into = byId("layers-body");
  into.setAttribute("aria-busy", "true");
  try {
    const found = await call("layers" + (asOf === null ? "" : "?as_of=" + encodeURIComponent(asOf)));
    const of = (states) => found.layers.filter((one) => states.includes(one.status));
    const part = (title, layers, open) =>
      layers.length === 0
        ? null
        : make(
            "details",
            { open: open },
            make("summary", {}, make("h3", {}, title + " (" + layers.length + ")")),
            make("ul", { class: "plain" }, layers.map(edition)),
          );
    const lots = about.parcels;
    const parcels =
      lots === null || lots.loaded === false
        ? "No parcels are loaded: a parcel number or a block and lot gives the municipality only, and addresses are found by online locators alone, if any is switched on. Whoever runs this service loads them with grownj layers import parcels FILE."
        : "Parcels are loaded" +
          (lots.count ? ": " + number(lots.count) : "") +
          (lots.address_points ? ", and " + number(lots.address_points) + " address points" : "") +
          (lots.edition ? ", kept as " + lots.edition + " (named by what was loaded last; grownj layers status has the day of each file)" : "") +
          ".";
    byId("layers-note").textContent =
      "What the answers of this day are measured on. A layer that is not loaded never makes an answer no; what waits for it is undetermined.";
    into.replaceChildren(
      ...[
        make(
          "p",
          { class: "box", id: "parcels-note" },
          parcels,
          ...(about.locators_left_out || []).map((one) => " " + visible(one.name) + " is left out: " + visible(one.words)),
        ),
        part("Could not be used", of(["unusable"]), true),
        part("Loaded", of(["loaded"]), true),
        part("Not loaded", of(["missing"]), true),
      ].filter((one) => one !== null),
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    into.replaceChildren(make("p", { class: "problem", role: "alert" }, error.message));
  } finally {
    into.setAttribute("aria-busy", "false");
  }
}
