// Dot plots: one panel for each measure, one row for each run, a mark and an interval for each score.

import { draw, make } from "../../shared/dom.js";
import { percent } from "../../shared/formatting.js";
import { MARKS, linear } from "../../shared/svg.js";
import { PANELS, cut, tickText, written, zoomed } from "./scales.js";

const ROW = 30;
const TOP = 6;
const AXIS = 24;
const PANEL_GAP = 20;
const LETTER = 7;
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
  const longest = Math.max(...data.runs.map(({ name }) => name.length));
  const names = Math.min(longest * LETTER + 34, columns === 1 ? 0.38 * width : 0.17 * WIDE + 60);
  const plot = (width - PANEL_GAP * (columns - 1) - names) / columns;
  const panels = Object.entries(PANELS).map(([name, panel], i) => {
    const left = i % columns === 0 ? names : 0;
    return panelFigure(data, name, panel, { looks, left, width: left + plot, tip, chosen, pick });
  });
  host.replaceChildren(...panels);
}

function panelFigure(data, name, panel, { looks, left, width, tip, chosen, pick }) {
  const { runs } = data;
  const target = 1 - data.alpha / 1000;
  const every = runs.flatMap((run) => marksOf(run, name, looks).flatMap(({ figure }) => figure));
  const { low, high, ticks, digits } = zoomed(
    name === "coverage" ? [...every, target] : every,
    panel,
    width - left < 200 ? 4 : 6,
  );
  const height = TOP + ROW * runs.length + AXIS;
  const figure = make("figure", "panel");
  const caption = make("figcaption");
  caption.append(make("b", "", panel.title), make("span", "gloss", GLOSSES[name]));
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
  const x = linear(low, high, left + 6, width - 10);
  const floor = TOP + ROW * runs.length;
  for (const tick of ticks) {
    draw(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: TOP, y2: floor });
    const edge = x(tick) > width - 24 ? "end" : "middle";
    draw(
      svg,
      "text",
      { x: x(tick) + (edge === "end" ? 10 : 0), y: floor + 16, "text-anchor": edge },
      tickText(tick, panel, digits),
    );
  }
  if (name === "coverage") draw(svg, "line", { class: "target", x1: x(target), x2: x(target), y1: TOP, y2: floor });
  runs.forEach((run, i) => {
    const y = TOP + ROW * (i + 0.5);
    const row = draw(svg, "g", { class: "row" });
    row.dataset.run = i;
    draw(row, "rect", { class: "ground", x: 0, y: y - ROW / 2, width, height: ROW });
    if (left) label(row, run, i, { y, left, chosen });
    for (const {
      figure: [value, from, to],
      look,
      shift,
    } of marksOf(run, name, looks))
      drawMark(row, { value, from, to, look, x, y: y + shift, band: name === "coverage" });
    const lines = said(run, name, panel, looks);
    row.addEventListener("pointerenter", () => {
      host(svg).forEach((one) => one.classList.toggle("pointed", one.dataset.run === String(i)));
      tip.show(row, lines);
    });
    row.addEventListener("pointerleave", () => {
      host(svg).forEach((one) => one.classList.remove("pointed"));
      tip.hide();
    });
    if (left) {
      row.setAttribute("tabindex", "0");
      row.setAttribute("role", "img");
      row.setAttribute(
        "aria-label",
        [run.title, ...Object.entries(PANELS).flatMap(([of, one]) => said(run, of, one, looks).slice(1))].join(". "),
      );
      row.addEventListener("focus", () => tip.show(row, lines));
      row.addEventListener("blur", tip.hide);
    }
    if (pick) row.addEventListener("click", () => pick(i));
  });
  return figure;
}

const GLOSSES = {
  accuracy: "the share of right picks",
  set_size: "smaller is more certain",
  coverage: "on the band of what luck allows",
  ece: "0 is calibrated",
};

// All rows of all panels.
const host = (svg) => [...svg.closest(".dots").querySelectorAll(".row")];

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
function said(run, name, panel, looks) {
  const told = marksOf(run, name, looks).map(({ figure, look }) => {
    const of = look ? ` by ${look.title}` : "";
    if (name !== "coverage") return `${panel.title}${of}: ${written(figure, panel)}`;
    const [value, low, high] = figure;
    const where = value < low ? ", below it" : value > high ? ", above it" : "";
    return `Coverage${of}: ${percent(value, 1)}; band ${percent(low, 1)} to ${percent(high, 1)}${where}`;
  });
  return [run.title, ...told, `${run.n.toLocaleString("en")} test questions, ${run.k} options`];
}
