// What lies below the site: outlines and names of municipalities, and the classes of area with their legend.
/* global grownj, L */
import { call, Problem } from "./api.js";
import { byId, make, say, visible } from "./dom.js";
import { feetPerPixel } from "./map.js";

// From far the ground tells where areas are; from near it lies on ground, lots and lines, where several fills over each
// other would be one dull colour: they are a tint then, and the lines tell.
const TINTS = [
  [16, 0.15],
  [14, 0.25],
  [12, 0.5],
  [0, 1],
];

// A band of some feet either way is drawn where it is so wide; elsewhere its two lines would be one.
const BAND_PIXELS = 3;

function tint(zoom) {
  return TINTS.find(([from]) => zoom >= from)[1];
}

// Latitude first, as the drawing code has it.
function polygons(geometry) {
  const depth = { Polygon: 1, MultiPolygon: 2 };
  if (geometry === null || !(geometry.type in depth)) return [];
  const found = L.GeoJSON.coordsToLatLngs(geometry.coordinates, depth[geometry.type]);
  const flat = (rings) => rings.map((ring) => ring.map((at) => [at.lat, at.lng]));
  return geometry.type === "Polygon" ? [flat(found)] : found.map(flat);
}

function outlines(map, renderer, found, look) {
  const shapes = found.features.map((feature) => polygons(feature.geometry));
  for (const shape of shapes) L.polygon(shape, { ...look, renderer: renderer, interactive: false, smoothFactor: 1 }).addTo(map);
  const about = found.features.map((feature) => feature.properties);
  return {
    shapes: shapes,
    names: about.map((one) => visible(one.name)),
    places: about.map((one) => [one.label_at[1], one.label_at[0]]),
    byCode: new Map(about.map((one, i) => [one.code, shapes[i]])),
  };
}

// Read the base once; classes and legend are read for a day, and again for another one.
export async function readyAreas(map, taken) {
  const drawn = L.svg({ pane: "areas", padding: 0.4 });
  const classes = new Map();
  let day = "";
  const [municipalities, counties] = await Promise.all([call("areas/municipalities"), call("areas/counties")]);
  const canvas = L.canvas({ pane: "municipalities", padding: 0.2 });
  const base = outlines(map, canvas, municipalities, { color: "#9AA0A6", weight: 0.5, fill: true, fillColor: "#FBFAF6", fillOpacity: 1 });
  const county = outlines(map, canvas, counties, { color: "#5F6368", weight: 1.3, fill: false });
  const names = [];
  grownj.labels(map, { base: base, counties: county, strings: names, taken: taken }, base.shapes, county.shapes, classes);

  let thin = tint(map.getZoom());
  map.on("zoomend", () => {
    if (thin === tint(map.getZoom())) return;
    thin = tint(map.getZoom());
    for (const own of classes.values()) for (const area of own.drawings) area.setStyle(style(own, area.sure));
  });
  map.on("zoomend", order);

  function style(own, sure) {
    const open = own.pattern === "outline";
    return {
      renderer: drawn,
      interactive: false,
      smoothFactor: 0.3,
      color: own.colour,
      weight: open || thin < 1 ? 2 : 1.2,
      opacity: 0.95,
      dashArray: sure && !open ? null : "6 5",
      fill: !open,
      fillColor: own.pattern === "solid" ? own.colour : "url(#fill-" + own.id + ")",
      fillOpacity: (own.pattern === "solid" ? own.opacity : 1) * (sure ? 1 : 0.4) * thin,
    };
  }

  // Bands come and go with the scale. Drawing order is that of the legend, whatever was switched on last; what may belong
  // is below what does.
  function order() {
    const pixel = feetPerPixel(map);
    for (const own of classes.values()) {
      if (!map.hasLayer(own.group)) continue;
      for (const area of own.drawings) {
        if (area.band === 0 || (2 * area.band) / pixel >= BAND_PIXELS) own.group.addLayer(area);
        else own.group.removeLayer(area);
      }
      const rank = (area) => (area.sure ? 2 : area.band > 0 ? 0 : 1);
      for (const area of own.group.getLayers().sort((a, b) => rank(a) - rank(b))) area.bringToFront();
    }
  }

  async function fill(own) {
    const found = await call("areas/" + encodeURIComponent(own.id) + day);
    own.group.clearLayers();
    own.points = [];
    own.drawings = [];
    for (const feature of found.features) {
      const about = feature.properties;
      // What radii are drawn around has its name and a dot from close by.
      if (feature.geometry !== null && feature.geometry.type === "Point") {
        const [lon, lat] = feature.geometry.coordinates;
        own.points.push([names.push(visible(about.name)) - 1, lat, lon]);
        continue;
      }
      const shape = feature.geometry === null ? base.byCode.get(about.mun_code) : polygons(feature.geometry);
      if (shape === undefined) continue;
      const area = L.polygon(shape, style(own, about.sureness === "sure"));
      area.sure = about.sureness === "sure";
      area.band = about.band_ft;
      own.drawings.push(area);
    }
    own.filled = true;
  }

  async function show(own, on) {
    if (on && !own.filled) await fill(own);
    // Another day may have been asked for meanwhile.
    if (classes.get(own.id) !== own) return;
    if (on) own.group.addTo(map);
    else own.group.remove();
    order();
    map.fire("grownj:shown");
  }

  // -- legend ---------------------------------------------------------------------------------------------

  function row(own) {
    const box = make("input", { type: "checkbox", id: "area-" + own.id, checked: own.shown });
    const trouble = make("p", { class: "problem" });
    async function change() {
      trouble.textContent = "";
      try {
        await show(own, box.checked);
        if (document.activeElement === box) say(own.label + (box.checked ? " is shown." : " is hidden."));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        box.checked = false;
        trouble.textContent = error.message;
      }
    }
    box.addEventListener("change", change);
    const made = make(
      "li",
      { class: "layer" },
      make("label", { for: box.id }, box, grownj.swatch(own), make("span", {}, own.label)),
      trouble,
    );
    return { made: made, change: change, own: own };
  }

  function legend(known) {
    const rows = [];
    const parts = [];
    for (const group of known.groups) {
      const own = known.classes.filter((one) => one.group === group.id).map((one) => row(classes.get(one.id)));
      if (own.length === 0) continue;
      rows.push(...own);
      parts.push(
        make(
          "fieldset",
          {},
          make("legend", {}, group.label),
          make(
            "ul",
            { class: "plain" },
            own.map((one) => one.made),
          ),
        ),
      );
    }
    parts.push(
      make(
        "p",
        { class: "note" },
        "Dashed, paler ground may belong: it lies between bounds, or something is open. Lines are simplified for drawing; answers are measured on the layers themselves.",
      ),
    );
    if (known.missing.length > 0) {
      const missing = known.missing.map((own) =>
        make(
          "li",
          { class: "layer" },
          make(
            "span",
            { class: "pair" },
            grownj.swatch(own),
            make("span", {}, own.label, " ", make("small", {}, "(" + visible(own.why) + ")")),
          ),
        ),
      );
      parts.push(
        make(
          "details",
          {},
          make("summary", {}, "Not drawn: " + known.missing.length + " classes"),
          make("p", { class: "note" }, "Under Layers it is said how each can be loaded."),
          make("ul", { class: "plain" }, missing),
        ),
      );
    }
    byId("legend-body").replaceChildren(...parts);
    return rows;
  }

  async function setDay(asOf, readings) {
    const asks = new URLSearchParams(asOf === null ? {} : { as_of: asOf });
    for (const [id, option] of Object.entries(readings)) asks.append("reading", id + "=" + option);
    day = asks.size === 0 ? "" : "?" + asks;
    const asked = day;
    const known = await call("areas" + asked);
    if (asked !== day) return;
    for (const own of classes.values()) own.group.remove();
    classes.clear();
    for (const own of known.classes) classes.set(own.id, { ...own, group: L.layerGroup(), points: [], drawings: [], filled: false });
    byId("patterns").replaceChildren(
      ...[...known.classes, ...known.missing].filter((own) => own.pattern !== "outline").map(grownj.pattern),
    );
    const rows = legend(known);
    await Promise.all(rows.filter((one) => one.own.shown).map((one) => one.change()));
    map.getContainer().dataset.day = asOf || "default";
  }

  return { setDay: setDay };
}
