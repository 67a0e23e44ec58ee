// What the page holds, as arrays: geometry and sites are bytes, texts stand once each in one list.
"use strict";
const grownj = {};

grownj.read = function (id) {
  return JSON.parse(document.getElementById(id).textContent);
};

grownj.bytes = function (text) {
  const raw = atob(text);
  const found = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) found[i] = raw.charCodeAt(i);
  return found;
};

// Whole numbers of seven bits a byte, the sign in the lowest bit.
grownj.reader = function (text) {
  const bytes = grownj.bytes(text);
  let at = 0;
  return function () {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at];
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
};

// Areas as lists of polygons, of rings, of [latitude, longitude].
grownj.polygons = function (text, count, unit) {
  const next = grownj.reader(text);
  const found = [];
  let x = 0;
  let y = 0;
  for (let area = 0; area < count; area += 1) {
    const polygons = [];
    for (let parts = next(); parts > 0; parts -= 1) {
      const rings = [];
      for (let n = next(); n > 0; n -= 1) {
        const ring = [];
        for (let points = next(); points > 0; points -= 1) {
          x += next();
          y += next();
          ring.push([y / unit, x / unit]);
        }
        rings.push(ring);
      }
      polygons.push(rings);
    }
    found.push(polygons);
  }
  return found;
};

grownj.within = function (polygons, lat, lon) {
  for (const rings of polygons) {
    let inside = false;
    for (const ring of rings) {
      for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
        const a = ring[i];
        const b = ring[j];
        if (a[0] > lat !== b[0] > lat && lon < ((b[1] - a[1]) * (lat - a[0])) / (b[0] - a[0]) + a[1]) inside = !inside;
      }
    }
    if (inside) return true;
  }
  return false;
};

// Elements are made here and nowhere else: text is always text.
grownj.element = function (tag, about, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about || {})) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") made.append(child);
  }
  return made;
};

grownj.drawing = function (tag, about, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
};

// A name that a stranger wrote: it cannot turn the direction of what stands beside it.
grownj.name = function (text) {
  return grownj.element("bdi", {}, text);
};

grownj.short = function (text, most) {
  const signs = Array.from(text.slice(0, 2 * most + 2));
  return signs.length > most ? signs.slice(0, most - 1).join("") + "…" : text;
};

grownj.feet = function (value) {
  const feet = Math.abs(value);
  if (feet < 2640) return Math.round(feet).toLocaleString("en-US") + " ft";
  const miles = (feet / 5280).toFixed(2);
  return miles + (miles === "1.00" ? " mile" : " miles");
};

grownj.number = function (value) {
  return value.toLocaleString("en-US");
};
