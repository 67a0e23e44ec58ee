// The page: legend, list of sites, sources, and what a click or a key does.
"use strict";

grownj.start = function (map, groups) {
  map.setMinZoom(6);
  map.setMaxZoom(19);
  const data = grownj.read("map-data");
  const make = grownj.element;
  const areas = grownj.areas(map, data, groups);
  const has = data.sites !== null;
  if (has) {
    grownj.floorOf = grownj.bytes(data.sites.floors);
    grownj.ceilingOf = grownj.bytes(data.sites.ceilings);
    if (data.sites.general) {
      const next = grownj.reader(data.sites.group);
      const group = new Int32Array(data.sites.names.length);
      for (let i = 0; i < group.length; i += 1) group[i] = next();
      data.sites.group = group;
    }
  }
  const sites = has ? grownj.sites(map, data) : null;
  const panel = grownj.panel(map, data, sites, areas);

  // -- legend ---------------------------------------------------------------------------------------
  const legend = document.getElementById("legend");
  for (const group of data.groups) {
    const own = data.classes.filter((known) => known.group_id === group.id);
    if (!own.length) continue;
    const list = own.map((known) => {
      const box = make("input", { type: "checkbox", id: "layer-" + known.id, checked: known.shown });
      box.addEventListener("change", () => {
        areas.show(known.id, box.checked);
        box.closest("li").dataset.shown = String(box.checked);
      });
      const notes = make("details", {}, make("summary", { "aria-label": "About: " + known.label }, "About"), make("ul", { class: "notes" }, known.notes.map((i) => make("li", {}, data.strings[i]))));
      return make("li", { class: "layer", "data-shown": String(known.shown) }, make("label", { for: "layer-" + known.id }, box, grownj.swatch(known), make("span", {}, known.label)), notes);
    });
    legend.append(make("fieldset", {}, make("legend", {}, group.label), make("ul", { class: "plain" }, list)));
  }
  for (const known of data.classes) if (known.shown) areas.show(known.id, true);
  legend.append(make("p", { class: "note screen" }, "Dashed, paler ground may belong: it lies between bounds, nearer to a line than a place is known (which shows from close by), or something is open. Click a place on the map to see what is drawn there; with the keyboard, move the map and press Enter for its middle."));
  if (data.missing.length) {
    const rows = data.missing.map((known) => make("li", {}, make("span", { class: "layer" }, grownj.swatch(known), make("span", {}, known.label, make("br"), make("small", {}, known.why + ": ", make("code", {}, known.how))))));
    legend.append(make("details", { class: "missing" }, make("summary", {}, "Not drawn: " + data.missing.length + " classes"), make("ul", { class: "plain" }, rows)));
  }

  // -- sites ----------------------------------------------------------------------------------------
  if (has) list(data, sites, panel);
  else document.getElementById("sites").hidden = true;

  // -- sources --------------------------------------------------------------------------------------
  document.getElementById("sources-body").replaceChildren(
    make("p", {}, data.words.made),
    make("ul", { class: "notes" }, data.sources.map((s) => make("li", {}, s))),
    make("p", {}, data.words.drawn),
    make("p", {}, data.words.disclaimer)
  );
  const corner = document.getElementById("sources");
  // Closed at first: open it would lie on sites.
  corner.open = false;
  map.getContainer().querySelector(".leaflet-bottom.leaflet-right").prepend(corner);
  corner.classList.add("leaflet-control");
  L.DomEvent.disableClickPropagation(corner);
  L.DomEvent.disableScrollPropagation(corner);

  // -- the map --------------------------------------------------------------------------------------
  map.fitBounds(data.view, { padding: [24, 24], animate: false, maxZoom: 14 });
  map.on("click", (event) => {
    const found = sites === null ? { sites: [], cluster: null } : sites.at(event.containerPoint);
    if (found.sites.length) panel.site(found.sites[0], found.sites);
    else if (found.cluster !== null && map.getZoom() < map.getMaxZoom()) sites.open(found.cluster);
    else if (found.cluster !== null) panel.site(found.cluster.first, []);
    else panel.here(event.latlng);
  });
  if (sites !== null) {
    const tip = L.tooltip({ direction: "top", offset: [0, -8], pane: "distances" });
    map.on("mousemove", (event) => {
      const found = sites.at(event.containerPoint);
      map.getContainer().classList.toggle("over", found.sites.length > 0 || found.cluster !== null);
      if (found.sites.length) tip.setLatLng(sites.place(found.sites[0])).setContent(make("span", {}, grownj.name(grownj.short(data.sites.names[found.sites[0]], 60)))).addTo(map);
      else tip.remove();
    });
    map.on("mouseout zoomstart", () => tip.remove());
  }
  const container = map.getContainer();
  container.setAttribute("role", "application");
  container.setAttribute("aria-label", "Map. Arrow keys move it, plus and minus zoom, Enter tells what is at its middle.");
  container.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== container) return;
    const found = sites === null ? { sites: [] } : sites.at(map.getSize().divideBy(2));
    if (found.sites.length) panel.site(found.sites[0], found.sites);
    else panel.here(map.getCenter());
  });
  for (const button of document.querySelectorAll("[data-drawer]")) {
    button.addEventListener("click", () => {
      const on = document.body.classList.toggle("drawer");
      button.setAttribute("aria-expanded", String(on));
      if (on) document.getElementById("side").focus();
    });
  }
  // On paper the map keeps its size in pixels, which nothing has to be drawn again for, and is scaled to the sheet.
  window.addEventListener("beforeprint", () => {
    const stage = document.getElementById("stage");
    const wide = stage.clientWidth;
    const high = stage.clientHeight;
    stage.style.setProperty("--wide", wide + "px");
    stage.style.setProperty("--high", high + "px");
    stage.style.setProperty("--scale", String(Math.min(940 / wide, 590 / high)));
  });
  document.documentElement.dataset.ready = "yes";
};

// The list of sites: all, or those whose names have what was typed.
function list(data, sites, panel) {
  const make = grownj.element;
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase("en");
  const names = data.sites.names.map((name) => plain(name.slice(0, 400)));
  const field = document.getElementById("search");
  const results = document.getElementById("results");
  const count = document.getElementById("count");
  const STEP = 50;
  let matching = [];
  let until = 0;

  const key = document.getElementById("tiers");
  data.tiers.forEach((tier, k) => {
    const n = grownj.floorOf.reduce((sum, f) => sum + (f === k), 0);
    if (n || tier.always) key.append(make("li", {}, grownj.tierMark(tier), make("span", {}, tier.label + " (" + grownj.number(n) + ")")));
  });
  const box = document.getElementById("layer-sites");
  box.addEventListener("change", () => sites.show(box.checked));
  const notes = document.getElementById("site-notes");
  notes.append(...data.sites.notes.map((words) => make("p", { class: "note" }, words)));
  if (data.sites.refused.length) {
    const rows = data.sites.refused.map(([name, problem]) => make("li", {}, grownj.name(grownj.short(name, 80)), ": ", grownj.name(grownj.short(problem, 400))));
    notes.append(make("details", {}, make("summary", {}, "Without an answer: " + grownj.number(data.sites.refusedCount)), make("ul", { class: "notes" }, rows)));
  }

  function more() {
    const from = until;
    until = Math.min(until + STEP, matching.length);
    for (let k = from; k < until; k += 1) results.append(make("li", {}, panel.button(matching[k])));
    const rest = document.getElementById("more");
    rest.hidden = until >= matching.length;
    count.textContent = matching.length ? "Showing " + grownj.number(until) + " of " + grownj.number(matching.length) + (matching.length === 1 ? " site" : " sites") : "No site has that in its name.";
  }
  function search() {
    const wanted = plain(field.value.trim());
    matching = [];
    for (let i = 0; i < names.length; i += 1) if (wanted === "" || names[i].includes(wanted)) matching.push(i);
    until = 0;
    results.replaceChildren();
    more();
  }
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    const first = results.querySelector("button");
    if (first === null) return;
    if (event.key === "ArrowDown") {
      event.preventDefault();
      first.focus();
    } else if (event.key === "Enter" && field.value.trim() !== "") panel.go(matching[0]);
  });
  results.addEventListener("keydown", (event) => {
    const item = event.target.closest("li");
    if (item === null || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const other = event.key === "ArrowDown" ? item.nextElementSibling : item.previousElementSibling;
    (other === null ? (event.key === "ArrowUp" ? field : event.target) : other.querySelector("button")).focus();
  });
  document.getElementById("more").addEventListener("click", () => {
    const from = until;
    more();
    results.children[from].querySelector("button").focus();
  });
  search();
}
