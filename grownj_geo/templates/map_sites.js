// Sites: drawn on one canvas, in clusters where there are many; found by click, by name and by list.
"use strict";

grownj.sites = function (map, data) {
  const own = data.sites;
  const count = own.names.length;
  const next = grownj.reader(own.places);
  const unplaced = new Set(own.unplaced);
  const lat = new Float64Array(count);
  const lon = new Float64Array(count);
  const east = new Float64Array(count);
  const south = new Float64Array(count);
  const look = grownj.bytes(own.floors);
  const ring = grownj.bytes(own.ceilings);
  let x = 0;
  let y = 0;
  for (let i = 0; i < count; i += 1) {
    if (unplaced.has(i)) {
      lat[i] = lon[i] = east[i] = south[i] = NaN;
      continue;
    }
    x += next();
    y += next();
    lon[i] = x / 1e7;
    lat[i] = y / 1e7;
    const sine = Math.sin((lat[i] * Math.PI) / 180);
    east[i] = lon[i] / 360 + 0.5;
    south[i] = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  }
  const MANY = 1200;
  const CELL = 64;
  const NEAR = 12;
  const canvas = L.DomUtil.create("canvas", "leaflet-zoom-hide", map.getPane("sites"));
  let shown = { points: [], clusters: [] };
  let chosen = -1;
  let visible = true;

  function view() {
    const scale = 256 * 2 ** map.getZoom();
    const origin = map.getPixelBounds().min;
    const size = map.getSize();
    const points = [];
    for (let i = 0; i < count; i += 1) {
      const px = east[i] * scale - origin.x;
      const py = south[i] * scale - origin.y;
      if (px > -20 && py > -20 && px < size.x + 20 && py < size.y + 20) points.push(i);
    }
    const place = (i) => [east[i] * scale - origin.x, south[i] * scale - origin.y];
    if (points.length <= MANY) return { points: points, clusters: [], place: place };
    const cells = new Map();
    for (const i of points) {
      const key = Math.floor((east[i] * scale) / CELL) + "," + Math.floor((south[i] * scale) / CELL);
      let cell = cells.get(key);
      if (cell === undefined) {
        cell = { count: 0, x: 0, y: 0, looks: new Array(data.tiers.length).fill(0), first: i };
        cells.set(key, cell);
      }
      const [px, py] = place(i);
      cell.count += 1;
      cell.x += px;
      cell.y += py;
      cell.looks[look[i]] += 1;
    }
    const clusters = [...cells.values()];
    for (const cell of clusters) {
      cell.x /= cell.count;
      cell.y /= cell.count;
      cell.radius = cell.count === 1 ? 7 : 11 + 3.2 * Math.log10(cell.count);
    }
    return { points: clusters.filter((c) => c.count === 1).map((c) => c.first), clusters: clusters.filter((c) => c.count > 1), place: place };
  }

  function draw() {
    const size = map.getSize();
    const ratio = window.devicePixelRatio || 1;
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    canvas.width = size.x * ratio;
    canvas.height = size.y * ratio;
    canvas.style.width = size.x + "px";
    canvas.style.height = size.y + "px";
    if (!visible) {
      shown = { points: [], clusters: [] };
      return;
    }
    shown = view();
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    for (const i of shown.points) {
      if (i !== chosen) grownj.mark(pen, ...shown.place(i), data.tiers[look[i]], data.tiers[ring[i]], 6.5);
    }
    for (const cell of shown.clusters) cluster(pen, cell);
    if (chosen >= 0 && isFinite(lat[chosen])) {
      const [px, py] = shown.place(chosen);
      pen.beginPath();
      pen.arc(px, py, 15, 0, 7);
      pen.strokeStyle = "#FFFFFF";
      pen.lineWidth = 6;
      pen.stroke();
      pen.strokeStyle = "#000000";
      pen.lineWidth = 2.5;
      pen.stroke();
      grownj.mark(pen, px, py, data.tiers[look[chosen]], data.tiers[ring[chosen]], 8.5);
    }
    map.getContainer().dataset.sites = String(shown.points.length);
    map.getContainer().dataset.clusters = String(shown.clusters.length);
  }

  function cluster(pen, cell) {
    pen.beginPath();
    pen.arc(cell.x, cell.y, cell.radius + 2, 0, 7);
    pen.fillStyle = "#FFFFFF";
    pen.fill();
    let from = -Math.PI / 2;
    cell.looks.forEach((n, k) => {
      if (!n) return;
      const to = from + (n / cell.count) * 2 * Math.PI;
      pen.beginPath();
      pen.arc(cell.x, cell.y, cell.radius, from, to);
      pen.lineWidth = 5;
      pen.strokeStyle = data.tiers[k].colour === "#FFFFFF" ? "#B0B4B8" : data.tiers[k].colour;
      pen.stroke();
      from = to;
    });
    pen.fillStyle = "#111111";
    pen.font = "600 11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const n = cell.count;
    pen.fillText(n < 1000 ? String(n) : n < 10000 ? (n / 1000).toFixed(1) + "k" : Math.round(n / 1000) + "k", cell.x, cell.y + 0.5);
  }

  // Sites at a point of the screen, the nearest first; or the cluster there.
  function at(point) {
    const near = [];
    for (const i of shown.points) {
      const [px, py] = shown.place(i);
      const off = Math.hypot(px - point.x, py - point.y);
      if (off <= NEAR) near.push([off, i]);
    }
    near.sort((a, b) => a[0] - b[0]);
    if (near.length) return { sites: near.map((n) => n[1]), cluster: null };
    const cell = shown.clusters.find((c) => Math.hypot(c.x - point.x, c.y - point.y) <= c.radius + 2);
    return { sites: [], cluster: cell || null };
  }

  let waiting = false;
  map.on("move moveend zoomend resize viewreset", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  });
  draw();
  return {
    count: count,
    at: at,
    draw: draw,
    place: (i) => (isFinite(lat[i]) ? L.latLng(lat[i], lon[i]) : null),
    choose: (i) => {
      chosen = i;
      draw();
    },
    show: (on) => {
      visible = on;
      draw();
    },
    open: (cell) => map.setView(map.containerPointToLatLng([cell.x, cell.y]), Math.min(map.getZoom() + 2, map.getMaxZoom())),
    bounds: () => {
      const found = L.latLngBounds([]);
      for (let i = 0; i < count; i += 1) if (isFinite(lat[i])) found.extend([lat[i], lon[i]]);
      return found;
    },
  };
};

// One site: its shape and colour say the amount surely reached, its rim the highest that is not out of reach.
grownj.mark = function (pen, x, y, look, rim, size) {
  const path = () => {
    pen.beginPath();
    if (look.shape === "square") pen.rect(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7);
    else if (look.shape === "diamond") {
      pen.moveTo(x, y - size * 1.2);
      pen.lineTo(x + size * 1.2, y);
      pen.lineTo(x, y + size * 1.2);
      pen.lineTo(x - size * 1.2, y);
      pen.closePath();
    } else if (look.shape === "triangle") {
      pen.moveTo(x, y - size * 1.15);
      pen.lineTo(x + size * 1.1, y + size * 0.85);
      pen.lineTo(x - size * 1.1, y + size * 0.85);
      pen.closePath();
    } else pen.arc(x, y, size, 0, 7);
  };
  path();
  pen.lineWidth = 6.5;
  pen.strokeStyle = "#FFFFFF";
  pen.stroke();
  path();
  pen.fillStyle = look.colour;
  pen.fill();
  pen.lineWidth = 3;
  pen.strokeStyle = rim.colour === look.colour || rim.colour === "#FFFFFF" ? "#1A1A1A" : rim.colour;
  if (pen.strokeStyle === "#1a1a1a") pen.lineWidth = 1.3;
  pen.stroke();
};

grownj.tierMark = function (look, rim) {
  const canvas = grownj.element("canvas", { width: 52, height: 52, class: "mark", "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  grownj.mark(pen, 13, 13, look, rim || look, 7);
  return canvas;
};
