// A parcel drawn corner by corner: with clicks, with the keyboard at the map's middle, or typed. All three show in the
// same list, so that each can mend what another one made.
/* global L */
import { byId, count, make, say } from "./dom.js";

const MOST_CORNERS = 2000;

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

// The first two sides that cross, touch or lie on each other, by the numbers of their first corners; null where none do.
export function crossing(corners) {
  const n = corners.length;
  const turn = (a, b, c) => Math.sign((b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1]));
  const spans = (a, b, c, axis) => Math.min(a[axis], b[axis]) <= c[axis] && c[axis] <= Math.max(a[axis], b[axis]);
  const on = (a, b, c) => turn(a, b, c) === 0 && spans(a, b, c, 0) && spans(a, b, c, 1);
  for (let i = 0; i < n; i += 1) {
    const [a, b] = [corners[i], corners[(i + 1) % n]];
    for (let j = i + 1; j < n; j += 1) {
      const [c, d] = [corners[j], corners[(j + 1) % n]];
      // Sides that follow each other share a corner; they must not turn back on themselves.
      if (j === i + 1 || (j + 1) % n === i) {
        const [before, at, after] = j === i + 1 ? [a, b, d] : [c, a, b];
        if (on(at, before, after) || on(at, after, before)) return [i, j];
      } else if (
        (turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0) ||
        on(a, b, c) ||
        on(a, b, d) ||
        on(c, d, a) ||
        on(c, d, b)
      )
        return [i, j];
    }
  }
  return null;
}

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

  function show() {
    map.fitBounds(L.latLngBounds(corners), { padding: [60, 60], maxZoom: 18, animate: false });
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
    // Two clicks on one place are one corner.
    corners = typed.corners.filter((at, i, all) => i === 0 || !same(at, all[i - 1]));
    if (corners.length > 1 && same(corners[0], corners[corners.length - 1])) corners.pop();
    if (corners.length < 3) {
      trouble("A parcel has three corners at least; there " + (corners.length === 1 ? "is 1" : "are " + corners.length) + ".");
      field.focus();
      return;
    }
    const crossed = crossing(corners);
    if (crossed !== null) {
      const side = (i) => "the side from corner " + (i + 1) + " to " + (((i + 1) % corners.length) + 1);
      write();
      trouble("The sides cross: " + side(crossed[0]) + " meets " + side(crossed[1]) + ". Change the order of the corners, or move one.");
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
    delete document.body.dataset.drawing;
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
    document.body.dataset.drawing = "yes";
    if (corners.length > 0) show();
    view.clicks(add, "drawing");
    byId("draw-title").focus({ preventScroll: true });
    byId("stage").scrollIntoView({ block: "start" });
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
    if (typed.words === "" && corners.length > 0) show();
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
