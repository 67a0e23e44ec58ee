// Lines to what was measured, and where their labels stand: clear of the marker, of the lot and of the legend.
/* global L */
import { byId, feet, make, named } from "./dom.js";

// Along the line, from its middle outwards, then beside it.
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 1, 0];
const BESIDE = [0, 1, -1, 2, -2];
const GAP_PIXELS = 8;
const PIN = { wide: 16, high: 42 };

const overlap = (a, b) =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
const around = (at, wide, high) => ({ left: at.x - wide / 2, right: at.x + wide / 2, top: at.y - high / 2, bottom: at.y + high / 2 });

export function readyLines(map, marker, shapes) {
  const group = L.featureGroup().addTo(map);
  let shown = null;

  // What a label must not cover, in pixels of the map.
  function taken() {
    const found = [];
    if (map.hasLayer(marker)) {
      const at = map.latLngToContainerPoint(marker.getLatLng());
      found.push({ left: at.x - PIN.wide, right: at.x + PIN.wide, top: at.y - PIN.high, bottom: at.y + 4 });
    }
    const size = map.getSize();
    shapes.eachLayer((shape) => {
      if (shape.role !== "site") return;
      const bounds = shape.getBounds();
      const [a, b] = [map.latLngToContainerPoint(bounds.getNorthWest()), map.latLngToContainerPoint(bounds.getSouthEast())];
      // From so close that the lot is most of the map, a label cannot but lie on it.
      if ((b.x - a.x) * (b.y - a.y) < (size.x * size.y) / 3) found.push({ left: a.x, right: b.x, top: a.y, bottom: b.y });
    });
    const box = map.getContainer().getBoundingClientRect();
    const legend = byId("legend").getBoundingClientRect();
    found.push({
      left: legend.left - box.left,
      right: legend.right - box.left,
      top: legend.top - box.top,
      bottom: legend.bottom - box.top,
    });
    return found;
  }

  function boxOf({ tip }) {
    const drawn = tip.getElement();
    return drawn ? around(map.latLngToContainerPoint(tip.getLatLng()), drawn.offsetWidth, drawn.offsetHeight) : around(L.point(0, 0), 0, 0);
  }

  function place() {
    if (shown === null) return;
    const drawn = shown.tip.getElement();
    if (!drawn) return;
    const [wide, high] = [drawn.offsetWidth + GAP_PIXELS, drawn.offsetHeight + GAP_PIXELS];
    const [from, to] = [shown.ends[0], shown.ends[shown.ends.length - 1]].map((end) => map.latLngToContainerPoint(end));
    const way = to.subtract(from);
    const long = Math.hypot(way.x, way.y) || 1;
    const aside = L.point(-way.y / long, way.x / long);
    // Half of the label as it is seen from the line, so that beside it is wholly beside it.
    const half = (Math.abs(aside.x) * wide + Math.abs(aside.y) * high) / 2 + GAP_PIXELS;
    const avoid = [...taken(), around(to, 14, 14)];
    const { x, y } = map.getSize();
    let best = null;
    for (const beside of BESIDE) {
      for (const along of ALONG) {
        const at = from.add(way.multiplyBy(along)).add(aside.multiplyBy(beside * half));
        const box = around(at, wide, high);
        const inside = overlap(box, { left: 0, right: x, top: 0, bottom: y });
        const worse = avoid.reduce((sum, one) => sum + overlap(box, one), 0) + 2 * (wide * high - inside);
        if (best === null || worse < best.worse) best = { worse: worse, at: at };
      }
    }
    shown.tip.setLatLng(map.containerPointToLatLng(best.at));
  }

  function draw(feature) {
    const ends = L.GeoJSON.coordsToLatLngs(feature.geometry.coordinates);
    const common = { pane: "lines", interactive: false };
    L.polyline(ends, { ...common, color: "#FFFFFF", weight: 6, opacity: 0.9 }).addTo(group);
    L.polyline(ends, { ...common, color: "#000000", weight: 2.5, dashArray: "8 5" }).addTo(group);
    L.circleMarker(ends[ends.length - 1], {
      ...common,
      radius: 5,
      color: "#000000",
      weight: 2,
      fillColor: "#FFFFFF",
      fillOpacity: 1,
    }).addTo(group);
    const tip = L.tooltip({ permanent: true, direction: "center", pane: "distances", className: "distance-label", interactive: false })
      .setLatLng(L.latLngBounds(ends).getCenter())
      .setContent(make("span", {}, feet(feature.properties.feet) + " to ", named(feature.properties.to, 32)))
      .addTo(group);
    shown = { ends: ends, tip: tip };
    place();
  }

  function clear() {
    group.clearLayers();
    shown = null;
  }

  map.on("zoomend resize", place);
  byId("legend").addEventListener("toggle", place);
  // Names on the map keep clear of the same places, as middles with half of their sizes.
  const clearOf = () =>
    [...taken(), ...(shown === null ? [] : [boxOf(shown)])].map((box) => ({
      x: (box.left + box.right) / 2,
      y: (box.top + box.bottom) / 2,
      wide: (box.right - box.left) / 2,
      high: (box.bottom - box.top) / 2,
    }));

  return { group: group, draw: draw, clear: clear, taken: clearOf };
}
