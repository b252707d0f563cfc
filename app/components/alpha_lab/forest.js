// Coverage within each subject or option, one row each: the numbers of calibration and test questions, and an exact
// interval.

import { draw, put } from "../shared/dom.js";
import { MARKS, asPercent, canvas, linear } from "../shared/svg.js";

const ROW = 26;
const TOP = 22;
const BOTTOM = 26;
const BEGINS = [0.8, 0.6, 0.4, 0.2, 0]; // where the axis can begin
const PARTS = 4;

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// `rows` are {name, n, m} in display order. Returns the function that moves the marks: (alpha, {left, right: {hits,
// m}}), with hits and m per row.
export function forestFigure(host, label, slots, rows, interval) {
  const height = TOP + BOTTOM + ROW * rows.length;
  host.style.height = `${height}px`;
  const { svg, width } = canvas(host, label, { height });
  const names = Math.min(230, width * 0.32);
  const counts = 104;
  const middle = (i) => TOP + ROW * (i + 0.5);
  const end = TOP + ROW * rows.length;
  draw(svg, "text", { x: names + 44, y: 12, "text-anchor": "end" }, "calibrated");
  draw(svg, "text", { x: names + 88, y: 12, "text-anchor": "end" }, "tested");
  const grid = draw(svg, "g");
  let from = null;
  let x = null;
  // The axis begins below the lowest interval, at one of a few places, so that it rarely moves with alpha.
  const scale = (lowest) => {
    const begins = BEGINS.find((begin) => begin <= lowest);
    if (begins === from) return;
    from = begins;
    x = linear(from, 1, names + counts, width - 18);
    grid.replaceChildren();
    for (let i = 0; i <= PARTS; i++) {
      const tick = from + ((1 - from) * i) / PARTS;
      draw(grid, "line", { class: "grid faint", x1: x(tick), x2: x(tick), y1: TOP, y2: end });
      draw(grid, "text", { x: x(tick), y: end + 16, "text-anchor": "middle" }, asPercent(tick));
    }
  };
  const target = draw(svg, "line", { class: "target", y1: TOP - 4, y2: end });
  const points = rows.map((row, i) => {
    const name = draw(
      svg,
      "text",
      { class: "plain", x: 0, y: middle(i) + 4 },
      shortened(row.name, Math.floor(names / 7)),
    );
    draw(name, "title", {}, row.name);
    draw(svg, "text", { x: names + 44, y: middle(i) + 4, "text-anchor": "end" }, row.n.toLocaleString("en"));
    draw(svg, "text", { x: names + 88, y: middle(i) + 4, "text-anchor": "end" }, row.m.toLocaleString("en"));
    return slots.map(({ ink, mark }, side) => {
      const y = middle(i) + (side ? 5 : -5);
      return {
        y,
        whisker: draw(svg, "line", { class: `whisker ${ink}`, y1: y, y2: y }),
        dot: draw(svg, "path", { class: `dot small fill-${ink}`, d: MARKS[mark] }),
      };
    });
  });
  return (alpha, strata) => {
    const ends = rows.map(({ code, m }) => slots.map(({ side }) => (m ? interval(strata[side].hits[code], m) : null)));
    scale(Math.min(1 - alpha / 1000, ...ends.flat().map((pair) => pair?.[0] ?? 1)));
    put(target, { x1: x(1 - alpha / 1000), x2: x(1 - alpha / 1000) });
    points.forEach((pair, i) =>
      slots.forEach(({ side }, place) => {
        const { y, whisker, dot } = pair[place];
        const m = rows[i].m;
        const shown = m > 0;
        whisker.style.display = dot.style.display = shown ? "" : "none";
        if (!shown) return;
        const hits = strata[side].hits[rows[i].code];
        const [low, high] = ends[i][place];
        put(whisker, { x1: x(low), x2: x(high) });
        dot.setAttribute("transform", `translate(${x(hits / m)},${y}) scale(.75)`);
      }),
    );
  };
}

const FALSE_ALARMS = 0.05;

// Says which strata are covered below the target by more than chance. All strata are tested, so each is tested at 5%
// divided by their number (Bonferroni): if the guarantee holds in every stratum, one is named in at most 5% of draws.
// `pValue(hits, code, m)` is the probability of at most this many hits if the guarantee holds there.
export function strataSaid(alpha, rows, hits, pValue, by) {
  const goal = 1 - alpha / 1000;
  const tested = rows.filter(({ m }) => m > 0);
  const level = FALSE_ALARMS / tested.length;
  const below = tested.filter(({ code, m }) => hits[code] < goal * m && pValue(hits[code], code, m) <= level);
  const ofStrata = `of the ${tested.length} ${by === "class" ? "options" : "subjects"}`;
  const short = `covered significantly below ${(100 * goal).toFixed(1)}%`;
  if (!below.length) return `None ${ofStrata} is ${short}, at the 5% level for all of them together.`;
  const named =
    below
      .slice(0, 3)
      .map(({ name }) => name)
      .join(", ") + (below.length > 3 ? " …" : "");
  return `${below.length} ${ofStrata} ${below.length === 1 ? "is" : "are"} ${short}, at the 5% level for all of them together: ${named}.`;
}
