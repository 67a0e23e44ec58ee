// A parcel drawn corner by corner: with clicks, with the keyboard at the map's middle, or typed. All three show in the
// same list, so that each can mend what another one made.
/* global L */
import { byId, count, make, say } from "./dom.js";

const MOST_CORNERS = 2000;

export function readyDrawing(view, { opened, done, closed }) {
  const { map } = view;
  const panel = byId("draw");
  const field = byId("corners");
  const problem = byId("corners-problem");
  const group = L.featureGroup();
  let corners = [];
  let before = null;

  function read(text) {
    const found = [];
    const lines = text.split(/\r?\n/);
    for (let i = 0; i < lines.length; i += 1) {
      const line = lines[i].trim();
      if (line === "") continue;
      const parts = /^([+-]?\d+(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)$/.exec(line);
      if (parts === null)
        return {
          corners: found,
          words: "Line " + (i + 1) + " is “" + line.slice(0, 60) + "”; expected latitude and longitude, like 39.9259, -75.1196.",
        };
      let [lat, lon] = [Number(parts[1]), Number(parts[2])];
      // Longitude first is taken too: in New Jersey only one order is possible.
      if (lat < 0 && lon > 0) [lat, lon] = [lon, lat];
      if (lat < 38 || lat > 42 || lon < -77 || lon > -73)
        return {
          corners: found,
          words:
            "Line " + (i + 1) + " lies far from New Jersey; expected a latitude near 40 and a longitude near -74.5, with its minus sign.",
        };
      found.push([lat, lon]);
    }
    if (found.length > MOST_CORNERS)
      return {
        corners: found.slice(0, MOST_CORNERS),
        words: "That are more than " + MOST_CORNERS + " corners; upload the parcel as a file instead.",
      };
    return { corners: found, words: "" };
  }

  function write() {
    field.value = corners.map(([lat, lon]) => lat.toFixed(6) + ", " + lon.toFixed(6)).join("\n");
    trouble("");
  }

  function trouble(words) {
    problem.textContent = words;
    if (words === "") field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
  }

  function draw() {
    group.clearLayers();
    if (corners.length > 2)
      L.polygon(corners, { pane: "site", interactive: false, color: "#000", weight: 2.5, fillColor: "#0b57a4", fillOpacity: 0.25 }).addTo(
        group,
      );
    else if (corners.length === 2) L.polyline(corners, { pane: "site", interactive: false, color: "#000", weight: 2.5 }).addTo(group);
    corners.forEach((at, i) => {
      const icon = L.divIcon({ className: "corner" + (i === 0 ? " first" : ""), html: make("span", {}), iconSize: [14, 14] });
      const mark = L.marker(at, { icon: icon, draggable: true, keyboard: false, bubblingMouseEvents: false }).addTo(group);
      mark.on("dragend", () => {
        corners[i] = [mark.getLatLng().lat, mark.getLatLng().lng];
        write();
        draw();
      });
      mark.on("click", () => {
        if (i === 0 && corners.length > 2) finish();
      });
    });
  }

  function add(at) {
    corners.push([at.lat, at.lng]);
    write();
    draw();
    say("Corner " + corners.length + " at " + at.lat.toFixed(5) + ", " + at.lng.toFixed(5));
  }

  function undo() {
    if (corners.length === 0) {
      say("There is no corner to take back.");
      return;
    }
    corners.pop();
    write();
    draw();
    say("Corner taken back; " + count(corners.length, "corner") + " left.");
  }

  function finish() {
    const typed = read(field.value);
    if (typed.words !== "") {
      trouble(typed.words);
      field.focus();
      return;
    }
    corners = typed.corners;
    if (corners.length < 3) {
      trouble("A parcel has three corners at least; there " + (corners.length === 1 ? "is 1" : "are " + corners.length) + ".");
      field.focus();
      return;
    }
    const ring = [...corners, corners[0]].map(([lat, lon]) => [lon, lat]);
    close(false);
    done({ type: "Polygon", coordinates: [ring] });
  }

  function close(back = true) {
    if (panel.hidden) return;
    panel.hidden = true;
    group.remove();
    view.clicks(null);
    closed();
    if (back && before !== null && document.contains(before)) before.focus();
    before = null;
  }

  function open(start = []) {
    before = document.activeElement;
    opened();
    corners = start.map((at) => [...at]);
    write();
    group.addTo(map);
    draw();
    panel.hidden = false;
    view.clicks(add, "drawing");
    byId("draw-title").focus();
    panel.scrollIntoView({ block: "nearest" });
  }

  field.addEventListener("input", () => {
    const typed = read(field.value);
    corners = typed.corners;
    trouble("");
    draw();
  });
  field.addEventListener("change", () => {
    const typed = read(field.value);
    trouble(typed.words);
    if (typed.words === "" && corners.length > 0)
      map.fitBounds(L.latLngBounds(corners), { padding: [60, 60], maxZoom: 18, animate: false });
  });
  byId("draw-finish").addEventListener("click", finish);
  byId("draw-undo").addEventListener("click", undo);
  byId("draw-cancel").addEventListener("click", () => close());
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  map.getContainer().addEventListener("keydown", (event) => {
    if (panel.hidden) return;
    if (event.key === "Backspace") {
      event.preventDefault();
      undo();
    } else if (event.key === "Escape") close();
  });
  return { open: open, close: close };
}
