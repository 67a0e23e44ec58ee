// The base and the classes of area: drawn when they are first shown.
"use strict";

grownj.areas = function (map, data, groups) {
  const base = grownj.polygons(data.base.shapes, data.base.codes.length, 1e5);
  const counties = grownj.polygons(data.counties.shapes, data.counties.names.length, 1e5);
  const drawn = L.svg({ pane: "areas", padding: 0.4 });
  const outlines = L.canvas({ pane: "municipalities", padding: 0.2 });
  const classes = new Map();

  map.attributionControl.setPrefix('<a href="https://leafletjs.com">Leaflet</a>');
  const land = { renderer: outlines, interactive: false, smoothFactor: 1 };
  for (const polygons of base) {
    L.polygon(polygons, { ...land, color: "#9AA0A6", weight: 0.5, fill: !data.online, fillColor: "#FBFAF6", fillOpacity: 1 }).addTo(map);
  }
  for (const polygons of counties) {
    L.polygon(polygons, { ...land, color: "#5F6368", weight: 1.3, fill: false }).addTo(map);
  }

  function shapesOf(known) {
    if (known.polygons === undefined) {
      const own = known.shapes === null ? [] : grownj.polygons(known.shapes, known.own, 1e7);
      let at = 0;
      known.polygons = known.areas.map((area) => (area[3] < 0 ? own[at++] : base[area[3]]));
    }
    return known.polygons;
  }

  function style(known, sure) {
    const open = known.pattern === "outline";
    return {
      renderer: drawn,
      interactive: false,
      smoothFactor: 0.3,
      color: known.colour,
      weight: open ? 2 : 1.2,
      opacity: 0.95,
      dashArray: sure && !open ? null : "6 5",
      fill: !open,
      fillColor: known.pattern === "solid" ? known.colour : "url(#fill-" + known.id + ")",
      fillOpacity: (known.pattern === "solid" ? known.opacity : 1) * (sure ? 1 : 0.4),
    };
  }

  function fill(known) {
    shapesOf(known).forEach((polygons, i) => {
      const drawing = L.polygon(polygons, style(known, known.areas[i][1] === 1)).addTo(known.group);
      if (known.areas[i][4] > 0) known.bands.push([known.areas[i][4], drawing]);
    });
    known.filled = true;
    fit(known);
  }

  // A band of some feet either way shows where it is wide enough; elsewhere its two lines would be one.
  const BAND_PIXELS = 3;
  function fit(known) {
    const metres = (40075016.686 * Math.cos((map.getCenter().lat * Math.PI) / 180)) / (256 * 2 ** map.getZoom());
    for (const [band, drawing] of known.bands) {
      const wide = (2 * band) / metres >= BAND_PIXELS;
      if (wide && !known.group.hasLayer(drawing)) {
        drawing.addTo(known.group);
        drawing.bringToBack();
      } else if (!wide) known.group.removeLayer(drawing);
    }
  }
  map.on("zoomend", () => {
    for (const known of data.classes) if (known.filled) fit(known);
    order();
  });

  // Drawing order is that of the legend, whatever was switched on last; what may belong is below what does.
  function order() {
    for (const known of data.classes) {
      if (!map.hasLayer(known.group)) continue;
      const layers = known.group.getLayers();
      const bands = new Set(known.bands.map(([, drawing]) => drawing));
      layers.filter((drawing) => bands.has(drawing)).concat(layers.filter((drawing) => !bands.has(drawing))).forEach((drawing) => drawing.bringToFront());
    }
  }

  function show(id, on) {
    const known = classes.get(id);
    if (on && !known.filled) fill(known);
    if (on) known.group.addTo(map);
    else known.group.remove();
    order();
    map.fire("grownj:shown");
  }

  // Around which points a place is; the sphere's distance is within half a percent.
  function nearest(known, lat, lon) {
    if (known.radius === null) return "";
    const near = known.points.map((p) => [map.distance([lat, lon], [p[1], p[2]]), data.strings[p[0]]]);
    return near.filter((p) => p[0] <= known.radius * 1.005 + Math.max(0, ...known.areas.map((area) => area[4]))).sort((a, b) => a[0] - b[0]).slice(0, 4).map((p) => p[1]).join(", ");
  }

  // What is at a place: drawn or not, for a look only.
  function here(lat, lon) {
    const found = [];
    for (const known of data.classes) {
      const shapes = shapesOf(known);
      const within = shapes.map((polygons) => grownj.within(polygons, lat, lon));
      const sure = within.some((inside, i) => inside && known.areas[i][1] === 1);
      shapes.forEach((polygons, i) => {
        if (within[i] && !(sure && known.areas[i][1] !== 1)) found.push({ known: known, area: known.areas[i], near: nearest(known, lat, lon) });
      });
    }
    const municipality = base.findIndex((polygons) => grownj.within(polygons, lat, lon));
    return { municipality: municipality, found: found };
  }

  for (const known of data.classes) {
    known.group = groups[known.id];
    known.filled = false;
    known.bands = [];
    classes.set(known.id, known);
  }
  const patterns = document.getElementById("patterns");
  for (const known of data.classes.concat(data.missing)) {
    if (known.pattern !== "outline") patterns.append(grownj.pattern(known));
  }
  grownj.labels(map, data, base, counties, classes);
  return { classes: classes, show: show, here: here };
};

grownj.pattern = function (known) {
  const about = { stroke: known.colour, "stroke-width": 1.3, "stroke-opacity": known.opacity, fill: "none" };
  const marks = {
    diagonal: ["path", { ...about, d: "M-2,2 l4,-4 M0,10 l10,-10 M8,12 l4,-4" }],
    antidiagonal: ["path", { ...about, d: "M-2,8 l4,4 M0,0 l10,10 M8,-2 l4,4" }],
    cross: ["path", { ...about, "stroke-width": 1, d: "M-2,2 l4,-4 M0,10 l10,-10 M8,12 l4,-4 M-2,8 l4,4 M0,0 l10,10 M8,-2 l4,4" }],
    dots: ["circle", { cx: 5, cy: 5, r: 1.6, fill: known.colour, "fill-opacity": known.opacity }],
    solid: ["rect", { width: 10, height: 10, fill: known.colour, "fill-opacity": known.opacity }],
  };
  const [tag, attributes] = marks[known.pattern];
  const tint = known.pattern === "solid" ? 0 : 0.1;
  return grownj.drawing(
    "pattern",
    { id: "fill-" + known.id, patternUnits: "userSpaceOnUse", width: 10, height: 10 },
    grownj.drawing("rect", { width: 10, height: 10, fill: known.colour, "fill-opacity": tint }),
    grownj.drawing(tag, attributes)
  );
};

// A swatch of the legend, drawn as the ground is.
grownj.swatch = function (known) {
  const open = known.pattern === "outline";
  return grownj.drawing(
    "svg",
    { viewBox: "0 0 30 18", width: 30, height: 18, class: "swatch", "aria-hidden": "true" },
    grownj.drawing("rect", {
      x: 1, y: 1, width: 28, height: 16, stroke: known.colour, "stroke-width": open ? 2 : 1.2,
      "stroke-dasharray": open ? "6 4" : "none", fill: open ? "none" : "url(#fill-" + known.id + ")",
    })
  );
};

// Names on the map, those that matter most first; none covers another.
grownj.labels = function (map, data, base, counties, classes) {
  const canvas = L.DomUtil.create("canvas", "leaflet-zoom-hide", map.getPane("labels"));
  const middle = (polygons) => {
    let best = null;
    for (const [ring] of polygons) {
      const bounds = L.latLngBounds(ring);
      const size = (bounds.getNorth() - bounds.getSouth()) * (bounds.getEast() - bounds.getWest());
      if (best === null || size > best.size) best = { size: size, at: bounds.getCenter() };
    }
    return best;
  };
  const of = (names, shapes, places) =>
    names.map((name, i) => ({ name: name, at: places ? L.latLng(places[i]) : middle(shapes[i]).at, size: middle(shapes[i]).size }));
  const county = of(data.counties.names, counties, data.counties.places);
  const municipality = of(data.base.names, base, data.base.places).sort((a, b) => b.size - a.size);

  function candidates(zoom) {
    const found = [];
    if (zoom < 11) county.forEach((c) => found.push({ ...c, text: c.name.toUpperCase(), font: "600 11px", colour: "#4A4F55" }));
    if (zoom >= 13) {
      for (const known of classes.values()) {
        if (map.hasLayer(known.group)) {
          known.points.forEach((p) => found.push({ at: L.latLng(p[1], p[2]), text: data.strings[p[0]], font: "500 11px", colour: "#0B3D63", dot: true }));
        }
      }
    }
    if (zoom >= 11) municipality.forEach((m) => found.push({ ...m, text: m.name, font: zoom > 12 ? "600 13px" : "500 11px", colour: "#3C4043" }));
    return found;
  }

  function draw() {
    const size = map.getSize();
    const ratio = window.devicePixelRatio || 1;
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    canvas.width = size.x * ratio;
    canvas.height = size.y * ratio;
    canvas.style.width = size.x + "px";
    canvas.style.height = size.y + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    // A page may keep places clear of names: those of its own marks.
    const taken = data.taken ? data.taken() : [];
    for (const label of candidates(map.getZoom())) {
      const at = map.latLngToContainerPoint(label.at);
      if (at.x < 0 || at.y < 0 || at.x > size.x || at.y > size.y) continue;
      pen.font = label.font + " system-ui, sans-serif";
      const wide = pen.measureText(label.text).width / 2 + 3;
      const high = 8;
      const y = label.dot ? at.y - 13 : at.y;
      if (taken.some((t) => Math.abs(t.x - at.x) < t.wide + wide && Math.abs(t.y - y) < t.high + high)) continue;
      taken.push({ x: at.x, y: y, wide: wide, high: high });
      if (label.dot) {
        pen.beginPath();
        pen.arc(at.x, at.y, 3.2, 0, 7);
        pen.fillStyle = "#FFFFFF";
        pen.strokeStyle = label.colour;
        pen.lineWidth = 1.6;
        pen.fill();
        pen.stroke();
      }
      pen.strokeStyle = "rgba(255,255,255,0.92)";
      pen.lineWidth = 3.5;
      pen.strokeText(label.text, at.x, y);
      pen.fillStyle = label.colour;
      pen.fillText(label.text, at.x, y);
    }
  }
  map.on("moveend zoomend resize viewreset grownj:shown", draw);
  draw();
};
