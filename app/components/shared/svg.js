// Axes, paths and marks as SVG. Colours are CSS variables, so that a change of theme needs no redraw.

import { draw } from "./dom.js";

export const MARGIN = { left: 40, right: 14, top: 14, bottom: 34 };
const TITLE_ROOM = 14;
const LINE_ROOM = 12; // between the labels of an axis that stand below each other
const HALF_LETTER = 4.5; // of a wide font
export const MARKS = {
  circle: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0",
  diamond: "M0,-6.5l6.5,6.5l-6.5,6.5l-6.5,-6.5z",
  triangle: "M0,-6l6.2,11h-12.4z",
  square: "M-5,-5h10v10h-10z",
};

// A figure is drawn in its own pixels. The presenter view shows each of them as large as --figure-zoom says.
export const zoomOf = (host) => Number(getComputedStyle(host).getPropertyValue("--figure-zoom")) || 1;

// The height of an element that holds a figure of this many of its own pixels. Where the presenter view has only so much
// room (--figure-room), it is less; `beside` is the height of what stands above and below it.
export const tall = (height, beside = 0) =>
  `min(${height}px * var(--figure-zoom, 1), var(--figure-room, 9999px) - ${beside}px * var(--figure-zoom, 1))`;

// A hidden element has no size. It is drawn at a default size, and drawn again when it is shown.
export function canvas(host, label, { height = host.clientHeight / zoomOf(host) || 200 } = {}) {
  const width = Math.max(host.clientWidth / zoomOf(host) || 400, 120);
  host.replaceChildren();
  const svg = draw(host, "svg", {
    class: "chart",
    role: "img",
    viewBox: `0 0 ${width} ${height}`,
    "aria-label": label,
  });
  return { svg, width, height };
}

export const linear = (from, to, start, end) => (value) => start + ((value - from) / (to - from)) * (end - start);
export const steps = (count, size, from = 0) => Array.from({ length: count + 1 }, (_, i) => from + i * size);
export const asPercent = (share) => `${Math.round(share * 100)}%`;
const tenths = (tick) => tick.toFixed(1);
// Parts of what `axes` takes: alpha or a share from 0 to 1 on either axis, and a y axis that is only the ground.
export const ALPHA_ACROSS = { xMax: 1, xTicks: steps(5, 0.2), xFormat: tenths, xTitle: "alpha" };
export const SHARE_ACROSS = { xMax: 1, xTicks: steps(4, 0.25), xFormat: asPercent };
export const SHARE_UP = { yMax: 1, yTicks: steps(4, 0.25), yFormat: asPercent };
export const GROUND = { yTicks: [0], yFormat: () => "", left: 14 };

// Axes that do not move with alpha. A title of the y axis stands above it and takes TITLE_ROOM.
export function axes(
  host,
  label,
  { xMin = 0, xMax, xTicks, xFormat, xTitle, yMin = 0, yMax, yTicks, yFormat, yTitle = "", left = MARGIN.left },
) {
  const { svg, width, height } = canvas(host, label);
  const x = linear(xMin, xMax, left, width - MARGIN.right);
  const y = linear(yMin, yMax, height - MARGIN.bottom, MARGIN.top + (yTitle ? TITLE_ROOM : 0));
  if (yTitle) draw(svg, "text", { x: 0, y: 12 }, yTitle);
  let lowest = Infinity;
  for (const tick of yTicks) {
    draw(svg, "line", { class: tick ? "grid faint" : "grid", x1: x(xMin), x2: x(xMax), y1: y(tick), y2: y(tick) });
    if (lowest - y(tick) < LINE_ROOM) continue;
    lowest = y(tick);
    draw(svg, "text", { x: x(xMin) - 6, y: y(tick) + 4, "text-anchor": "end" }, yFormat(tick));
  }
  for (const tick of xTicks) {
    const words = xFormat(tick);
    const within = width - HALF_LETTER * words.length; // a long label at the right end is not cut
    draw(svg, "text", { x: Math.min(x(tick), within), y: y(yMin) + 15, "text-anchor": "middle" }, words);
  }
  draw(svg, "text", { x: x((xMin + xMax) / 2), y: y(yMin) + 30, "text-anchor": "middle" }, xTitle);
  return { svg, x, y, width, height };
}

// Ticks at round numbers, at most `most` of them, and the number of decimals that they need.
export function roundTicks(low, high, most = 6) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step)) + (step / power === 2.5 ? 1 : 0));
  return { ticks: Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step), digits };
}

// A line over alphas of 1 … 999 thousandths.
export function linePath(x, y, values) {
  let d = "";
  for (let i = 0; i < values.length; i++)
    d += `${i ? "L" : "M"}${x((i + 1) / 1000).toFixed(1)},${y(values[i]).toFixed(1)}`;
  return d;
}

export function areaPath(x, y, low, high) {
  const back = Array.from(high, (value, i) => `L${x((i + 1) / 1000).toFixed(1)},${y(value).toFixed(1)}`).reverse();
  return `${linePath(x, y, low)}${back.join("")}z`;
}
