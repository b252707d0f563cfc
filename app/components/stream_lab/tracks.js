// The three figures over the questions of a stream, with one axis and one line at the change.

import { draw, put, say } from "../shared/dom.js";
import { asPercent, axes, roundTicks, steps, zoomOf } from "../shared/svg.js";
import { MILLION } from "./adaptive.js";
import { logarithmOf } from "./betting.js";

const ALARM_LOG = Math.log10(20);
const FLOORS = [0.5, 0];
const LEVEL_REACHES = [0.2, 0.5, 1.2];
const LOG_REACHES = [3, 6, 12, 30];
const LOG_HIGH = 6; // the bets are about 20, not about how absurd a capital becomes

const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LEFT = 46;

export function powerOfTen(exponent) {
  if (exponent >= -3 && exponent <= 3) return (10 ** exponent).toLocaleString("en", { maximumFractionDigits: 3 });
  const digits = [...String(Math.abs(exponent))].map((digit) => POWERS[digit]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

function mostTicks(host) {
  const width = host.clientWidth / zoomOf(host);
  return width < 300 ? 2 : width < 600 ? 4 : 8;
}

// The last question on each pixel, and the beginning of its point in a path.
function columnsOf(longest, width, x) {
  const count = Math.min(longest, Math.ceil(width));
  return Array.from({ length: count }, (_, i) => {
    const t = Math.round(((i + 1) * longest) / count) - 1;
    return { t, x: `${x(t + 1).toFixed(1)},` };
  });
}

// `value(t)` is NaN where there is none.
function path(columns, count, y, value) {
  let d = "";
  for (const { t, x } of columns) {
    if (t >= count) break;
    const at = value(t);
    if (at === at) d += (d ? "L" : "M") + x + Math.round(y(at) * 10) / 10;
  }
  return d;
}

// A figure whose axis reaches as far as its lines need, in a few steps, so that it mostly stays still.
class Track {
  constructor(host, label, lines, longest, yAxis) {
    this.host = host;
    this.label = label;
    this.lines = lines;
    this.longest = longest;
    this.yAxis = yAxis;
    this.reach = null;
  }

  build(reach) {
    this.reach = reach;
    const { ticks } = roundTicks(0, this.longest, mostTicks(this.host));
    const { svg, x, y, width } = axes(this.host, this.label, {
      xMax: this.longest,
      xTicks: ticks,
      xFormat: (tick) => tick.toLocaleString("en"),
      xTitle: "questions",
      left: LEFT,
      ...this.yAxis(reach),
    });
    Object.assign(this, { svg, x, y, width, columns: columnsOf(this.longest, x(this.longest) - x(0), x) });
    const [top, bottom] = [y(this.yAxis(reach).yMax), y(this.yAxis(reach).yMin)];
    this.second = draw(svg, "rect", { class: "second", y: top, height: bottom - top });
    this.target = draw(svg, "line", { class: "target", x1: x(0), x2: x(this.longest) });
    this.paths = this.lines.map((line) => draw(svg, "path", { class: line }));
    this.change = draw(svg, "line", { class: "change", y1: top - 6, y2: bottom });
    this.grip = draw(svg, "path", { class: "grip", d: `M-6,${top - 10}h12l-6,8z` });
    this.label20 = draw(svg, "text", { class: "strong" });
    this.noticed = draw(svg, "path", { class: "noticed", d: "M0,-6.5l6.5,6.5l-6.5,6.5l-6.5,-6.5z" });
    this.noticed.style.display = "none";
  }

  // `target` is where the dashed line lies, or null.
  paint(reach, { count, change, changes, target, values }) {
    if (String(reach) !== String(this.reach)) this.build(reach);
    const { x, y } = this;
    const at = x(change);
    put(this.change, { x1: at, x2: at });
    this.grip.setAttribute("transform", `translate(${at},0)`);
    put(this.second, { x: at, width: Math.max(0, x(count) - at) });
    for (const mark of [this.change, this.grip, this.second]) mark.style.display = changes ? "" : "none";
    put(this.target, { y1: y(target), y2: y(target) });
    values.forEach((value, i) => this.paths[i].setAttribute("d", path(this.columns, count, y, value)));
  }

  // The question at a place of the window, from 0 to the last one.
  questionAt(clientX) {
    const box = this.svg.getBoundingClientRect();
    const inside = ((clientX - box.left) * this.width) / box.width;
    return Math.round(((inside - this.x(0)) / (this.x(this.longest) - this.x(0))) * this.longest);
  }
}

const lowest = (lines) => {
  let least = 1;
  for (const line of lines) for (const value of line) if (value < least) least = value;
  return least;
};

export class Tracks {
  constructor(plot, longest, ink) {
    this.coverage = new Track(plot("coverage"), "Coverage", ["fixed", `adaptive ${ink}`], longest, (floor) => ({
      yMin: floor,
      yMax: 1,
      yTicks: steps(floor ? 5 : 4, floor ? 0.1 : 0.25, floor),
      yFormat: asPercent,
    }));
    this.level = new Track(plot("level"), "Adaptive level", [`adaptive ${ink}`], longest, (reach) => ({
      yMin: -reach / 10,
      yMax: reach,
      yTicks: steps(4, Math.min(1, reach) / 4),
      yFormat: (tick) => String(Number(tick.toFixed(3))),
    }));
    this.capital = new Track(plot("capital"), "Capital of the bets", ["capital"], longest, ([low, high]) => {
      const step = low < -12 ? 6 : 3;
      return { yMin: low, yMax: high, yTicks: steps((high - low) / step, step, low), yFormat: powerOfTen };
    });
  }

  paint({ stream, found, alpha, alarm, coverage }) {
    const { change, drawn, capital } = stream;
    const shared = { count: stream.rows.length, change, changes: drawn.pool.secondCount > 0 };
    const target = 1 - alpha / 1000;
    const floor = FLOORS.find((limit) => Math.min(lowest(coverage), target) >= limit);
    this.coverage.paint(floor, { ...shared, target, values: coverage.map((line) => (t) => line[t]) });
    const { levels } = found.adaptive;
    let highest = alpha * 1000;
    for (const level of levels) if (level > highest) highest = level;
    const reach = LEVEL_REACHES.find((limit) => highest <= limit * MILLION) ?? LEVEL_REACHES.at(-1);
    this.level.paint(reach, { ...shared, target: alpha / 1000, values: [(t) => levels[t] / MILLION] });
    this.paintCapital(capital, alarm, shared);
  }

  // The capital depends on neither alpha nor gamma.
  paintCapital(capital, alarm, shared) {
    if (capital !== this.shown) {
      this.logs = Float64Array.from(capital.mantissas, (_, t) => logarithmOf(capital, t));
      this.shown = capital;
      let low = 0;
      for (const log of this.logs) if (log < low) low = log;
      const reach = LOG_REACHES.find((limit) => -low <= limit) ?? LOG_REACHES.at(-1);
      this.span = [-reach, LOG_HIGH];
    } else if (this.capital.reach) return;
    const { logs } = this;
    this.capital.paint(this.span, {
      ...shared,
      target: ALARM_LOG,
      values: [(t) => Math.max(this.span[0], Math.min(LOG_HIGH, logs[t]))],
    });
    const { noticed, label20, x, y } = this.capital;
    put(label20, { x: x(0) + 4, y: y(ALARM_LOG) - 4 });
    say(label20, "20");
    noticed.style.display = alarm < 0 ? "none" : "";
    if (alarm >= 0) noticed.setAttribute("transform", `translate(${x(alarm + 1)},${y(logs[alarm])})`);
  }
}
