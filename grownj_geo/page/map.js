// The map: the site's marker, which is dragged or moved by arrow keys; lines to what was measured; clicks and Enter.
/* global grownj, L */
import { button, byId, make, say } from "./dom.js";
import { readyLines } from "./lines.js";

const NEW_JERSEY = [
  [38.92, -75.57],
  [41.36, -73.89],
];
const NEAR_METRES = 8000;
const STEP_PIXELS = 12;
const FAR_PIXELS = 60;
const REST_MS = 700;
const CLICK_MS = 230;
const METRES_PER_FOOT = 0.3048;
const HAND_PIXELS = 2;
const EXACT_PIXEL_FEET = 10;

// Names, from the lowest. The marker's own pane of Leaflet lies at 600.
const PANES = [
  ["municipalities", 250],
  ["areas", 350],
  ["labels", 450],
  ["site", 500],
  ["lines", 550],
  ["distances", 640],
];

// What a pixel of the map is on the ground, in feet, at its middle.
export function feetPerPixel(map) {
  const middle = map.getSize().divideBy(2);
  const [a, b] = [-50, 50].map((x) => map.containerPointToLatLng(middle.add([x, 0])));
  return map.distance(a, b) / 100 / METRES_PER_FOOT;
}

// How well a place is known that was put on the map by hand, in feet, upwards to two figures; null from so close that it
// is as good as exact. Nobody hits a pixel, and what lies under it is as wide as it is.
export function knownByHand(map) {
  const pixel = feetPerPixel(map);
  if (pixel <= EXACT_PIXEL_FEET) return null;
  const off = HAND_PIXELS * pixel;
  const step = 10 ** (Math.floor(Math.log10(off)) - 1);
  return Math.ceil(off / step) * step;
}

export function readyMap({ placed, moved }) {
  const map = L.map("map", {
    minZoom: 6,
    maxZoom: 19,
    zoomControl: true,
    attributionControl: true,
    bounceAtZoomLimits: false,
    fadeAnimation: false,
  });
  for (const [name, height] of PANES) {
    const pane = map.createPane(name);
    pane.style.zIndex = String(height);
    pane.style.pointerEvents = "none";
  }
  map.attributionControl.setPrefix('<a href="https://leafletjs.com" rel="noreferrer">Leaflet</a>');
  L.control.scale({ imperial: true, metric: false, position: "bottomleft" }).addTo(map);
  const shapes = L.featureGroup().addTo(map);
  const marks = L.featureGroup().addTo(map);
  let measured = [];
  let onClick = null;
  let clicking = 0;

  // -- the marker -----------------------------------------------------------------------------------------

  const pin = () =>
    grownj.drawing(
      "svg",
      { viewBox: "0 0 32 42", width: 32, height: 42, "aria-hidden": "true" },
      grownj.drawing("path", {
        d: "M16 1.500C8 1.500 1.500 8 1.500 15.800 1.500 26.500 16 40.500 16 40.500s14.500-14 14.500-24.700C30.500 8 24 1.500 16 1.500z",
        fill: "#0b57a4",
        stroke: "#ffffff",
        "stroke-width": 2,
      }),
      grownj.drawing("circle", { cx: 16, cy: 15.5, r: 5.5, fill: "#ffffff" }),
    );
  const marker = L.marker([0, 0], {
    draggable: true,
    autoPan: true,
    keyboard: true,
    bubblingMouseEvents: false,
    icon: L.divIcon({ className: "pin", html: pin(), iconSize: [32, 42], iconAnchor: [16, 41] }),
  });
  const lines = readyLines(map, marker, shapes);
  let resting = 0;
  let ofPoint = true;

  function label() {
    const icon = marker.getElement();
    if (!icon) return;
    const at = marker.getLatLng();
    icon.setAttribute("role", "button");
    icon.setAttribute("aria-roledescription", "movable marker");
    icon.setAttribute(
      "aria-label",
      (ofPoint ? "Marker of the site at " : "Marker inside the parcel at ") +
        at.lat.toFixed(6) +
        ", " +
        at.lng.toFixed(6) +
        ". Arrow keys move it, with Shift farther; Enter checks the place at once." +
        (ofPoint ? "" : " Moved, it is a point, and no longer the parcel."),
    );
  }

  function rest() {
    window.clearTimeout(resting);
    resting = 0;
    label();
    moved(marker.getLatLng(), knownByHand(map), "marker");
  }

  marker.on("dragend", rest);
  marker.on("add", () => {
    const icon = marker.getElement();
    label();
    icon.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.key in ways) {
        event.preventDefault();
        event.stopPropagation();
        const step = event.shiftKey ? FAR_PIXELS : STEP_PIXELS;
        const at = map.latLngToContainerPoint(marker.getLatLng()).add(L.point(ways[event.key]).multiplyBy(step));
        marker.setLatLng(map.containerPointToLatLng(at));
        map.panInside(marker.getLatLng(), { padding: [50, 50], animate: false });
        window.clearTimeout(resting);
        resting = window.setTimeout(rest, REST_MS);
      } else if (event.key === "Enter") {
        event.preventDefault();
        event.stopPropagation();
        if (resting) rest();
      }
    });
  });

  // -- clicks and keys ------------------------------------------------------------------------------------

  // Who takes clicks for now: drawing, or one click that moves the marker; by default a click asks about a place.
  function take(at) {
    if (onClick !== null) onClick(at);
    else placed(at);
  }

  map.on("click", (event) => {
    window.clearTimeout(clicking);
    // Two clicks zoom; only one alone is an answer. While corners are drawn each click counts.
    if (onClick !== null) take(event.latlng);
    else clicking = window.setTimeout(() => take(event.latlng), CLICK_MS);
  });
  map.on("dblclick", () => window.clearTimeout(clicking));
  map.getContainer().addEventListener("keydown", (event) => {
    if (event.target !== map.getContainer() || event.key !== "Enter") return;
    event.preventDefault();
    take(map.getCenter());
  });

  function clicks(act, className = "") {
    map.getContainer().classList.remove("drawing", "placing");
    onClick = act;
    if (act !== null && className !== "") map.getContainer().classList.add(className);
    if (className === "drawing") map.doubleClickZoom.disable();
    else map.doubleClickZoom.enable();
  }

  // -- what is shown --------------------------------------------------------------------------------------

  // Where the legend leaves the map free.
  function free(padding) {
    const legend = byId("legend");
    const wide = legend.open && map.getSize().x > 700 ? legend.offsetWidth + 20 : 0;
    return { paddingTopLeft: [padding, padding], paddingBottomRight: [padding + wide, padding], animate: false };
  }

  // The whole State, where the legend leaves it free; between whole zooms, so that it fills its place.
  function home() {
    map.options.zoomSnap = 0.25;
    const around = free(14);
    // On a narrow map the closed legend lies above the State.
    if (map.getSize().x <= 700) around.paddingTopLeft = [14, byId("legend").offsetHeight + 16];
    map.fitBounds(NEW_JERSEY, around);
    map.options.zoomSnap = 1;
  }

  const STYLES = {
    municipality: { color: "#1b1e23", weight: 2, dashArray: "2 4", fill: false },
    neighbour: { color: "#1b1e23", weight: 1.2, dashArray: "2 6", fill: false },
    uncertainty: { color: "#0b57a4", weight: 1.5, dashArray: "5 4", fillColor: "#0b57a4", fillOpacity: 0.12 },
    site: { color: "#000000", weight: 2.5, fillColor: "#0b57a4", fillOpacity: 0.35 },
  };

  function showLine(finding, { fit = true } = {}) {
    const feature = measured.find((line) => line.properties.findings.includes(finding));
    if (feature === undefined) return null;
    lines.clear();
    if (fit) {
      map.fitBounds(L.latLngBounds(L.GeoJSON.coordsToLatLngs(feature.geometry.coordinates)), { ...free(60), maxZoom: 16 });
      map.getContainer().scrollIntoView({ block: "nearest" });
    }
    lines.draw(feature);
    map.fire("grownj:shown");
    return feature;
  }

  // Show a record's site and what the service drew for it. A marker that the user holds is not taken away.
  function showSite(record, overlay, { fit }) {
    shapes.clearLayers();
    lines.clear();
    marks.clearLayers();
    measured = overlay.features.filter((f) => f.properties.role === "line");
    const point = record.site.kind !== "municipality" && record.site.latitude !== null;
    ofPoint = record.site.kind === "point";
    if (point) {
      marker.setLatLng([record.site.latitude, record.site.longitude]).addTo(map);
      label();
    } else marker.remove();
    const bounds = L.latLngBounds([]);
    for (const role of ["municipality", "neighbour", "uncertainty", "site"]) {
      for (const feature of overlay.features.filter((f) => f.properties.role === role)) {
        if (feature.geometry === null || feature.geometry.type === "Point") continue;
        const drawn = L.geoJSON(feature, { pane: "site", interactive: false, style: { ...STYLES[role], pane: "site" } });
        drawn.role = role;
        drawn.addTo(shapes);
        if (role === "site" || role === "uncertainty" || (role === "municipality" && record.site.kind === "municipality"))
          bounds.extend(drawn.getBounds());
      }
    }
    if (point) bounds.extend(marker.getLatLng());
    const first = measured[0];
    // The line that decides by the narrowest margin is shown at once, unless that is a long way off.
    const ends = first === undefined ? null : L.latLngBounds(L.GeoJSON.coordsToLatLngs(first.geometry.coordinates));
    const near = ends !== null && ends.getNorthWest().distanceTo(ends.getSouthEast()) < NEAR_METRES;
    if (near) bounds.extend(ends);
    if (!bounds.isValid()) return;
    if (fit) map.fitBounds(bounds, { ...free(70), maxZoom: ofPoint && !near ? 14 : 17 });
    else if (point) map.panInside(marker.getLatLng(), free(40));
    if (near) lines.draw(first);
    map.fire("grownj:shown");
  }

  function clear({ keepMarker = false } = {}) {
    shapes.clearLayers();
    lines.clear();
    marks.clearLayers();
    if (!keepMarker) marker.remove();
    measured = [];
  }

  // While a parcel is drawn nothing of the answer before lies where its corners may be.
  let held = [];
  function hide() {
    held = [shapes, lines.group, marks, marker].filter((layer) => map.hasLayer(layer));
    for (const layer of held) layer.remove();
  }

  function unhide() {
    for (const layer of held) layer.addTo(map);
    held = [];
  }

  // Places that one text can mean, each with the number that its button has.
  function showChoices(choices, choose) {
    marks.clearLayers();
    const bounds = L.latLngBounds([]);
    choices.forEach((choice, i) => {
      if (choice.lat === null || choice.lat === undefined) return;
      const icon = L.divIcon({ className: "choice-mark", html: make("span", {}, String(i + 1)), iconSize: [26, 26] });
      const mark = L.marker([choice.lat, choice.lon], { icon: icon, keyboard: false, bubblingMouseEvents: false }).addTo(marks);
      mark.on("click", () => choose(i));
      bounds.extend([choice.lat, choice.lon]);
    });
    if (bounds.isValid()) map.fitBounds(bounds, { ...free(70), maxZoom: 15 });
  }

  return {
    map,
    marker,
    clicks,
    home,
    taken: lines.taken,
    hide,
    unhide,
    showSite,
    showLine,
    showChoices,
    clear,
    lineOf: (id) => measured.find((line) => line.properties.findings.includes(id)),
  };
}

// A button that lets the next click on the map move the marker: the same as dragging it, without dragging.
export function moveByClick(view, moved) {
  const pressed = button(
    "Move by a click on the map",
    () => {
      const on = pressed.getAttribute("aria-pressed") !== "true";
      pressed.setAttribute("aria-pressed", String(on));
      view.clicks(on ? once : null, on ? "placing" : "");
      if (on) {
        say("Click the map, or move it with the arrow keys and press Enter, to set the site at its middle.");
        byId("map").scrollIntoView({ block: "nearest" });
      }
    },
    { "aria-pressed": "false" },
  );
  function once(at) {
    view.clicks(null);
    pressed.setAttribute("aria-pressed", "false");
    moved(at, knownByHand(view.map), "click");
  }
  return pressed;
}
