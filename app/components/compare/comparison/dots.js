// Dot plots: one panel for each measure, one row for each run, a mark and an interval for each score.

import { draw, make, plainAlpha, put } from "../../shared/dom.js";
import { fixed, percent } from "../../shared/formatting.js";
import { MARKS, linear } from "../../shared/svg.js";
import { PANELS, cut, tickText, written, zoomed } from "./scales.js";

const ROW = 30;
const TOP = 6;
const AXIS = 24;
const PANEL_GAP = 20;
// Room at each end of an axis for the number of published models beyond it.
const COUNT = 28;
const LETTER = 7;
const PRINTED_LETTER = 7.8; // a published name has many capitals
const DIGIT = 6.2;
const APART = 5;
const WIDE = 1000;
const MIDDLE = 600;

// LAC is blue and APS orange in the whole app; another score takes the free colour.
export function looksOf(scores) {
  const names = scores.map(({ name }) => name);
  return scores.map(({ name, title }) => {
    const ink = name === "lac" || (name !== "aps" && !names.includes("lac")) ? "lac" : "aps";
    return { name, title, ink, mark: ink === "lac" ? "circle" : "diamond" };
  });
}

// A panel's marks of one run: the figure, its ends, and how it looks.
function marksOf(run, name, looks) {
  if (name === "accuracy" || name === "ece") return [{ figure: run[name], look: null, shift: 0 }];
  return looks.map((look, i) => ({
    figure: run[name][look.name],
    look,
    shift: looks.length > 1 ? (i ? APART : -APART) : 0,
  }));
}

export function drawDots(host, data, { tip, chosen, pick }) {
  const looks = looksOf(data.scores);
  const width = host.clientWidth || 400;
  const columns = width >= WIDE ? 4 : width >= MIDDLE ? 2 : 1;
  const longest = Math.max(...[...data.runs, ...data.published].map(({ name }) => name.length));
  const names = Math.min(
    longest * LETTER + (data.published.length ? 62 : 34),
    columns === 1 ? 0.36 * width : 0.17 * WIDE + 75,
  );
  host.style.columnGap = `${PANEL_GAP}px`;
  const plot = (width - PANEL_GAP * (columns - 1) - names) / columns;
  const panels = Object.entries(PANELS).map(([name, panel], i) => {
    const left = i % columns === 0 ? names : 0;
    return panelFigure(data, name, panel, { looks, left, columns, width: left + plot, tip, chosen, pick });
  });
  host.replaceChildren(...panels);
}

function panelFigure(data, name, panel, { looks, left, columns, width, tip, chosen, pick }) {
  const { runs, published } = data;
  const inset = published.length ? COUNT : 0;
  const target = 1 - data.alpha / 1000;
  const every = runs.flatMap((run) => marksOf(run, name, looks).flatMap(({ figure }) => figure));
  const { low, high, ticks, digits } = zoomed(
    name === "coverage" ? [...every, target] : every,
    panel,
    width - left - 2 * inset < 200 ? 4 : 6,
  );
  const rows = runs.length + published.length;
  const height = TOP + ROW * rows + AXIS;
  const figure = make("figure", { className: columns === 4 ? "panel stacked" : "panel" });
  const caption = make("figcaption", make("b", panel.title), make("span.gloss", GLOSSES[name]));
  figure.style.width = `${width}px`;
  figure.append(caption);
  const svg = draw(figure, "svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: left ? "group" : "img",
    "aria-label": `${panel.title} of ${runs.length} runs`,
  });
  const x = linear(low, high, left + 6 + inset, width - 10 - inset);
  const floor = TOP + ROW * rows;
  let free = -Infinity; // where the next number of the axis may begin
  for (const tick of ticks) {
    draw(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: TOP, y2: floor });
    const edge = x(tick) > width - 24 ? "end" : "middle";
    const at = x(tick) + (edge === "end" ? 10 : 0);
    const text = tickText(tick, panel, digits);
    const room = text.length * DIGIT;
    const from = at - (edge === "end" ? room : room / 2);
    if (from < free) continue;
    free = from + room + 2;
    draw(svg, "text", { x: at, y: floor + 16, "text-anchor": edge }, text);
  }
  if (name === "coverage") draw(svg, "line", { class: "target", x1: x(target), x2: x(target), y1: TOP, y2: floor });
  runs.forEach((run, i) => {
    const y = TOP + ROW * (i + 0.5);
    const row = rowAt(svg, i, y, width);
    if (left) label(row, run, i, { y, left, chosen });
    for (const {
      figure: [value, from, to],
      look,
      shift,
    } of marksOf(run, name, looks))
      drawMark(row, { value, from, to, look, x, y: y + shift, band: name === "coverage" });
    const lines = hoverLines(run, name, panel, looks);
    explain(row, lines, tip);
    if (left) {
      const measured = Object.entries(PANELS).flatMap(([figure, panel]) =>
        hoverLines(run, figure, panel, looks).slice(1),
      );
      focusable(row, [run.title, ...measured].join(". "), lines, tip);
    }
    if (pick) row.addEventListener("click", () => pick(i));
  });
  published.forEach((strip, i) => {
    const y = TOP + ROW * (runs.length + i + 0.5);
    drawStrip(svg, strip, name, panel, { alpha: data.alpha, i: runs.length + i, y, left, width, x, low, high, tip });
  });
  if (published.length) {
    const y = TOP + ROW * runs.length;
    draw(svg, "line", { class: "grid", x1: 0, x2: width, y1: y, y2: y });
  }
  return figure;
}

// A row of a published table: a hollow mark for each model. The axis is the runs' own, so that they stay as far apart
// as without it; models beyond its ends are counted there.
function drawStrip(svg, strip, name, panel, { alpha, i, y, left, width, x, low, high, tip }) {
  const row = rowAt(svg, i, y, width);
  if (left) {
    const room = Math.floor((left - 24) / PRINTED_LETTER);
    draw(row, "path", { class: "printed", d: MARKS.diamond, transform: `translate(10,${y}) scale(.7)` });
    draw(row, "text", { class: "name", x: 20, y: y + 4 }, cut(strip.name, room));
  }
  const printed = strip.models.filter((model) => (model[name] ?? null) !== null);
  // Set sizes at another alpha than the runs' would be read as if they were at the same.
  const isElsewhere = name === "set_size" && printed.length > 0 && alpha !== strip.alpha;
  const known = isElsewhere ? [] : printed;
  const says = (model) => `${model.name}: ${written([model[name], null, null], panel)}`;
  const sorted = [...known].sort((a, b) => b[name] - a[name]);
  const none = isElsewhere ? `only at alpha ${plainAlpha(strip.alpha)}` : "not printed";
  const empty = `${panel.title}: ${none}${!isElsewhere && (name === "accuracy" || name === "set_size") ? " for this task" : ""}`;
  const lines = [strip.title, ...strip.source, ...(sorted.length ? sorted.map(says) : [empty])];
  explain(row, lines, tip);
  if (left)
    focusable(
      row,
      [`${strip.title}, published`, ...strip.models.map((model) => spoken(model, strip.alpha))].join(". "),
      lines,
      tip,
    );
  const part = (element, own) => {
    element.addEventListener("pointerenter", () => tip.show(element, own));
    element.addEventListener("pointerleave", () => tip.show(row, lines));
  };
  if (!known.length) {
    draw(row, "text", { class: "absent", x: (left + width) / 2, y: y + 4, "text-anchor": "middle" }, none);
    return;
  }
  for (const model of known.filter((candidate) => candidate[name] >= low && candidate[name] <= high)) {
    const at = `translate(${x(model[name]).toFixed(1)},${y})`;
    const mark = draw(row, "g", { class: "printed-mark" });
    draw(mark, "path", { class: "printed", d: MARKS.diamond, transform: `${at} scale(.75)` });
    part(mark, [says(model), strip.title, ...strip.source]);
  }
  const under = known.filter((model) => model[name] < low);
  const over = known.filter((model) => model[name] > high);
  const count = (models, at, text, anchor) => {
    if (!models.length) return;
    const shown = draw(row, "text", { class: "beyond", x: at, y: y + 4, "text-anchor": anchor }, text);
    part(shown, [
      `${models.length} beyond the axis`,
      ...[...models].sort((a, b) => b[name] - a[name]).map(says),
      ...strip.source,
    ]);
  };
  count(under, left + COUNT - 4, `‹ ${under.length}`, "end");
  count(over, width - 2, `${over.length} ›`, "end");
}

function spoken({ name, accuracy, set_size: size }, alpha) {
  const right = `accuracy ${written([accuracy, null, null], PANELS.accuracy)}`;
  return `${name}: ${right}${size === null ? "" : `, mean set size ${fixed(size, 2)} at alpha ${plainAlpha(alpha)}`}`;
}

const GLOSSES = {
  accuracy: "the share of right picks",
  set_size: "smaller is more certain",
  coverage: "on the band of what chance allows",
  ece: "0 is calibrated",
};

// The empty row at height y of a panel.
function rowAt(svg, i, y, width) {
  const row = draw(svg, "g", { class: "row" });
  row.dataset.run = i;
  draw(row, "rect", { class: "ground", x: 0, y: y - ROW / 2, width, height: ROW });
  return row;
}

// Under the pointer, a row explains itself and is marked in all panels.
function explain(row, lines, tip) {
  const mark = (pointed) => {
    for (const other of row.closest(".dots").querySelectorAll(".row"))
      other.classList.toggle("pointed", pointed && other.dataset.run === row.dataset.run);
  };
  row.addEventListener("pointerenter", () => {
    mark(true);
    tip.show(row, lines);
  });
  row.addEventListener("pointerleave", () => {
    mark(false);
    tip.hide();
  });
}

// A row that the keyboard reaches, and what a screen reader says of it.
function focusable(row, spokenText, lines, tip) {
  put(row, { tabindex: 0, role: "img", "aria-label": spokenText });
  row.addEventListener("focus", () => tip.show(row, lines));
  row.addEventListener("blur", tip.hide);
}

// Show the names of the chosen runs in bold, without drawing the dots again.
export function markChosen(host, chosen) {
  for (const name of host.querySelectorAll("text.name"))
    name.classList.toggle("strong", chosen.includes(Number(name.parentNode.dataset.run)));
}

function label(row, run, i, { y, left, chosen }) {
  const room = Math.floor((left - 30) / LETTER);
  const text = draw(row, "text", { class: "name", x: 20, y: y + 4 }, cut(run.name, room));
  text.classList.toggle("strong", chosen.includes(i));
  draw(text, "title", {}, run.title);
  draw(row, "text", { class: "number", x: 14, y: y + 4, "text-anchor": "end" }, String(i + 1));
}

function drawMark(row, { value, from, to, look, x, y, band }) {
  if (value === null) return;
  const ink = look?.ink ?? "truth";
  if (band && from !== null)
    draw(row, "rect", { class: "band", x: x(from), y: y - 4.5, width: Math.max(1, x(to) - x(from)), height: 9 });
  else if (from !== null) draw(row, "line", { class: `whisker ${ink}`, x1: x(from), x2: x(to), y1: y, y2: y });
  draw(row, "path", {
    class: `mark fill-${ink}`,
    d: MARKS[look?.mark ?? "circle"],
    transform: `translate(${x(value).toFixed(1)},${y}) scale(.86)`,
  });
}

// What a hover says of a run in one panel.
function hoverLines(run, name, panel, looks) {
  const lines = marksOf(run, name, looks).map(({ figure, look }) => {
    const lookText = look ? ` by ${look.title}` : "";
    if (name !== "coverage") return `${panel.title}${lookText}: ${written(figure, panel)}`;
    const [value, low, high] = figure;
    const where = value < low ? ", below it" : value > high ? ", above it" : "";
    return `Coverage${lookText}: ${percent(value, 1)}; band ${percent(low, 1)} to ${percent(high, 1)}${where}`;
  });
  return [run.title, ...lines, `${run.n.toLocaleString("en")} test questions, ${run.k} options`];
}
