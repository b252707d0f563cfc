// The zoomed axis of a dot plot, and how its figures are written. Nothing here touches the page.

import { fixed, percent } from "../../shared/formatting.js";
import { roundTicks } from "../../shared/svg.js";

const PADDING = 0.06;
const NARROWEST = 1e-3;

export const PANELS = {
  accuracy: { title: "Accuracy", percent: true, floor: 0, ceiling: 1 },
  set_size: { title: "Mean set size", percent: false, floor: 0, ceiling: Infinity },
  coverage: { title: "Coverage", percent: true, floor: 0, ceiling: 1 },
  ece: { title: "ECE beyond chance", percent: false, floor: 0, ceiling: 1 },
};

// The part of the axis that the values need, with ticks at round numbers. `values` may hold null.
export function zoomed(values, { floor, ceiling }, most = 4) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  if (!known.length) return { low: 0, high: 1, ticks: [0, 0.5, 1], digits: 1 };
  let low = Math.min(...known);
  let high = Math.max(...known);
  const pad = Math.max(PADDING * (high - low), NARROWEST);
  low = Math.max(floor, low - pad);
  high = Math.min(ceiling, high + pad);
  if (high - low < NARROWEST) [low, high] = [Math.max(floor, low - NARROWEST), Math.min(ceiling, high + NARROWEST)];
  return { low, high, ...roundTicks(low, high, most) };
}

export function tickText(value, { percent }, digits) {
  return percent ? `${(100 * value).toFixed(Math.max(0, digits - 2))}%` : value.toFixed(digits);
}

// A figure with its interval, as in "61.2% (58.0% to 64.3%)".
export function written([value, low, high], panel, { ends = true } = {}) {
  const written = (number) =>
    number === null ? "–" : panel.percent ? percent(number, 1) : fixed(number, panel.title.startsWith("ECE") ? 3 : 2);
  if (value === null) return "not defined";
  return ends && low !== null ? `${written(value)} (${written(low)} to ${written(high)})` : written(value);
}

// The name in as many characters as there is room for.
export function cut(name, characters) {
  return name.length <= characters ? name : `${name.slice(0, Math.max(1, characters - 1))}…`;
}
