// The panel of a site: its findings, margins and reasons. All of it is text; nothing in it is read as markup.
"use strict";

grownj.panel = function (map, data, sites, areas) {
  const panel = document.getElementById("panel");
  const body = document.getElementById("panel-body");
  const title = document.getElementById("panel-title");
  const make = grownj.element;
  const lines = L.featureGroup().addTo(map);
  const shape = L.featureGroup().addTo(map);
  const text = (i) => (i < 0 ? "" : data.strings[i]);
  const WORDS = { 1: "Yes", 0: "Undetermined", "-1": "No" };
  const SIGNS = { 1: "✓", 0: "?", "-1": "✕" };
  let before = null;

  function close() {
    if (panel.hidden) return;
    panel.hidden = true;
    lines.clearLayers();
    shape.clearLayers();
    if (sites) sites.choose(-1);
    // What was used before may be in the drawer of a phone, which is shut by now.
    const seen = before !== null && before.getClientRects().length > 0 && getComputedStyle(before).visibility === "visible";
    const back = seen ? before : map.getContainer();
    before = null;
    back.focus({ preventScroll: true });
  }

  function open(heading, children) {
    if (panel.hidden) before = document.activeElement === document.body ? map.getContainer() : document.activeElement;
    title.replaceChildren(grownj.name(heading));
    body.replaceChildren(...children.flat().filter((child) => child !== null));
    body.scrollTop = 0;
    panel.hidden = false;
    title.focus({ preventScroll: true });
  }

  // As margin_words does: only what is decided is cleared or missed.
  function margin(outcome, feet) {
    if (outcome === 0) return "computed: " + (feet >= 0 ? "inside by " : "outside by ") + grownj.feet(feet);
    return (feet >= 0 ? "cleared by " : "missed by ") + grownj.feet(feet);
  }

  function finding(row, about, site) {
    const [outcome, leans, feet, why, assumed, needs, status] = row;
    const known = data.categories[about];
    const parts = [make("h4", {}, known.label)];
    const facts = [];
    if (outcome === 0 && leans !== 0) facts.push("leans " + WORDS[leans].toLowerCase());
    if (typeof feet === "string") facts.push(feet);
    else if (feet !== null) facts.push(margin(outcome, feet));
    if (assumed) facts.push("rests on an assumption");
    if (status >= 0 && text(status)) facts.push(text(status));
    if (facts.length) parts.push(make("p", { class: "facts" }, facts.join("; ")));
    if (why >= 0 && text(why)) parts.push(make("p", { class: "why" }, text(why)));
    if (needs >= 0 && text(needs)) parts.push(make("p", { class: "needs" }, "Could be decided by: " + text(needs)));
    parts.push(make("p", { class: "cite" }, known.citation));
    const line = site.lines.findIndex((l) => l[0].includes(about));
    if (line >= 0) {
      const button = make("button", { type: "button", class: "link" }, "Show the line on the map");
      button.addEventListener("click", () => draw(site, line, true));
      parts.push(button);
    }
    return make("li", { class: "finding" }, make("span", { class: "sign sign" + outcome, "aria-hidden": "true" }, SIGNS[outcome]), make("div", {}, parts));
  }

  // Where the panel leaves the map free.
  function free() {
    const size = map.getSize();
    const narrow = window.innerWidth <= 760;
    return { paddingTopLeft: [60, 60], paddingBottomRight: narrow ? [40, Math.round(size.y * 0.62) + 20] : [Math.min(500, Math.round(size.x * 0.6)), 60], animate: false };
  }

  function draw(site, at, fit) {
    lines.clearLayers();
    const line = site.lines[at];
    if (line === undefined) return;
    const ends = [[line[2], line[1]], [line[4], line[3]]];
    if (fit) map.fitBounds(L.latLngBounds(ends), { ...free(), maxZoom: 16 });
    const common = { pane: "lines", interactive: false };
    L.polyline(ends, { ...common, color: "#FFFFFF", weight: 6, opacity: 0.9 }).addTo(lines);
    L.polyline(ends, { ...common, color: "#000000", weight: 2.5, dashArray: "8 5" }).addTo(lines);
    L.circleMarker(ends[1], { ...common, radius: 5, color: "#000000", weight: 2, fillColor: "#FFFFFF", fillOpacity: 1 }).addTo(lines);
    const label = make("span", { class: "distance" }, text(line[5]));
    // Above the line: at its middle the site's own mark may stand, where the line cuts the site.
    L.tooltip({ permanent: true, direction: "top", offset: [0, -18], pane: "distances", className: "distance-label", interactive: false })
      .setLatLng([(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2]).setContent(label).addTo(lines);
  }

  function pointCommand(where) {
    return "grownj check " + where.lat.toFixed(6) + "," + where.lng.toFixed(6) + " " + data.words.options;
  }

  function record(words, command, note) {
    return make("p", { class: "cite" }, words ? words + " " : null, make("code", {}, command), note ? " (" + note + ")" : null);
  }

  // As the report does: what waits for facts of the project is by itself, whatever it comes to.
  function group(name, outcome, rows, site, isOpen) {
    const chosen = rows.map((row, k) => [row, k]).filter(([row, k]) => (data.categories[k].project ? outcome === null : row[0] === outcome));
    if (!chosen.length) return null;
    const list = make("ul", { class: "findings" }, chosen.map(([row, k]) => finding(row, k, site)));
    return make("details", { open: isOpen }, make("summary", {}, make("h3", {}, name + " (" + chosen.length + ")")), list);
  }

  function general(i) {
    const own = data.sites.groups[data.sites.group[i]];
    const rows = own[1].map((row) => [row[0], row[1], null, row[2], row[3], -1, -1]);
    data.sites.margins.forEach(([category, positions, feet]) => {
      const at = positions.indexOf(i);
      if (at >= 0) rows[category][2] = feet[at];
    });
    return { place: text(own[0]), typed: "", tier: "", rows: rows, lines: [], remarks: [], command: "", note: "", general: true };
  }

  function whole(i) {
    const own = data.sites.panels[i];
    return { typed: text(own[0]), place: text(own[1]), tier: text(own[2]), rows: own[3], lines: own[4], remarks: own[5].map(text), shape: own[6], command: text(own[7]), note: text(own[8]), general: false };
  }

  function site(i, others, near) {
    const about = data.sites.general ? general(i) : whole(i);
    const name = data.sites.names[i];
    const place = sites.place(i);
    const floor = data.tiers[grownj.floorOf[i]];
    const rim = data.tiers[grownj.ceilingOf[i]];
    const more = (others || []).filter((k) => k !== i).slice(0, 20);
    const nearest = about.lines.map((line, k) => {
      const button = make("button", { type: "button", class: "link" }, text(line[6]));
      button.addEventListener("click", () => draw(about, k, true));
      return make("li", {}, button);
    });
    open(grownj.short(name, 120), [
      make("p", { class: "tier" }, grownj.tierMark(floor, rim), make("span", {}, make("strong", {}, grownj.tierWords(floor, rim)), about.tier ? make("span", { class: "why" }, about.tier) : null)),
      make("p", { class: "where" }, about.place),
      Array.from(name).length > 120 ? make("details", {}, make("summary", {}, "Name in full"), make("p", { class: "long" }, grownj.name(name))) : null,
      about.typed && about.typed !== name ? make("p", { class: "cite" }, "Given as ", grownj.name(grownj.short(about.typed, 300))) : null,
      about.general ? make("p", { class: "note" }, data.words.general) : null,
      place === null ? make("p", { class: "note" }, "Only the municipality of this site is known, so it has no place on the map.") : null,
      nearest.length ? make("h3", {}, "Deciding lines") : null,
      nearest.length ? make("ul", { class: "plain" }, nearest) : null,
      group("Yes", 1, about.rows, about, true),
      group("Undetermined", 0, about.rows, about, true),
      group("No", -1, about.rows, about, false),
      group("Depends on the project", null, about.rows, about, false),
      about.remarks.length ? make("details", {}, make("summary", {}, make("h3", {}, "Cautions and assumptions (" + about.remarks.length + ")")), make("ul", { class: "notes" }, about.remarks.map((r) => make("li", {}, r)))) : null,
      more.length ? make("h3", {}, "At the same place") : null,
      more.length ? make("ul", { class: "plain" }, more.map((k) => make("li", {}, button(k)))) : null,
      about.command ? record("The whole record:", about.command, about.note) : null,
      about.general && place !== null ? record("The record of a point here, without what else the site's own row says:", pointCommand(place), data.words.optionsNote) : null,
      make("p", { class: "cite" }, data.words.disclaimer),
    ]);
    sites.choose(i);
    shape.clearLayers();
    if (about.shape) {
      const polygons = grownj.polygons(about.shape, 1, 1e7)[0];
      L.polygon(polygons, { pane: "lines", interactive: false, color: "#000000", weight: 2.5, fillColor: floor.colour, fillOpacity: 0.35 }).addTo(shape);
    }
    // From the list, the map goes where the deciding line can be seen, unless that is a long way.
    const close_by = near && place !== null && about.lines.length > 0 && map.distance(place, [about.lines[0][4], about.lines[0][3]]) < 8000;
    if (near && place !== null && !close_by) map.setView(place, Math.max(map.getZoom(), 12), { animate: false });
    draw(about, 0, close_by);
    if (place !== null) map.panInside(place, free());
    panel.dataset.site = String(i);
  }

  function button(i) {
    const made = make("button", { type: "button", class: "site" }, grownj.tierMark(data.tiers[grownj.floorOf[i]], data.tiers[grownj.ceilingOf[i]]), make("span", {}, grownj.name(grownj.short(data.sites.names[i], 120))));
    made.addEventListener("click", () => go(i));
    return made;
  }

  function go(i) {
    document.body.classList.remove("drawer");
    site(i, [], true);
  }

  function here(where) {
    const seen = areas.here(where.lat, where.lng);
    const name = seen.municipality < 0 ? "Outside the municipalities" : data.base.names[seen.municipality] + ", " + data.base.counties[seen.municipality] + " County";
    const rows = seen.found.map(({ known, area, near }) => {
      const sure = area[1] === 1;
      const words = [text(area[0]), near, text(area[2])].filter((w) => w).join("; ");
      return make("li", { class: "finding" }, grownj.swatch(known), make("div", {}, make("h4", {}, known.label + (sure ? "" : " (may belong)")), make("p", { class: "why" }, words)));
    });
    open("What is drawn here", [
      make("p", { class: "where" }, name),
      make("p", { class: "cite" }, where.lat.toFixed(6) + ", " + where.lng.toFixed(6)),
      rows.length ? make("ul", { class: "findings" }, rows) : make("p", {}, "None of the areas that are drawn."),
      data.words.notDrawn ? make("p", { class: "note" }, data.words.notDrawn) : null,
      make("p", { class: "note" }, "Lines are simplified for drawing. To decide, measure:"),
      record("", pointCommand(where), data.words.optionsNote),
    ]);
    if (sites) sites.choose(-1);
    lines.clearLayers();
    shape.clearLayers();
    L.circleMarker(where, { pane: "lines", interactive: false, radius: 7, color: "#000000", weight: 2, fillOpacity: 0 }).addTo(lines);
    delete panel.dataset.site;
  }

  document.getElementById("panel-close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (!panel.hidden) close();
    else document.body.classList.remove("drawer");
  });
  return { site: site, here: here, close: close, button: button, go: go };
};

grownj.tierWords = function (floor, rim) {
  if (floor === rim) return floor.label;
  return floor.label + "; at most " + rim.label.charAt(0).toLowerCase() + rim.label.slice(1);
};
