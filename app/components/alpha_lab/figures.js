// The figures that compare the two chosen scores. Axes and curves are drawn once and at each change of size; while
// alpha moves, only a few attributes change. A slot is one of the two scores: {side, name, title, ink, mark}.

import { draw, put, say } from "../shared/dom.js";
import { thresholdText } from "../shared/formatting.js";
import {
  ALPHA_ACROSS,
  MARGIN,
  MARKS,
  areaPath,
  asPercent,
  axes,
  canvas,
  linePath,
  linear,
  roundTicks,
  steps,
} from "../shared/svg.js";

const MET = 8; // marks closer than this many pixels cover each other

// Coverage or mean set size against alpha, with one line and one mark per score. Returns a function that moves the
// marks.
export function curveFigure(host, label, slots, { curves, yMax, yTicks, yFormat, bands }) {
  const { svg, x, y } = axes(host, label, {
    ...ALPHA_ACROSS,
    yMax,
    yTicks,
    yFormat,
  });
  if (bands) {
    draw(svg, "path", { class: "test", d: areaPath(x, y, bands.testLow, bands.testHigh) });
    draw(svg, "path", { class: "chance", d: areaPath(x, y, bands.betaLow, bands.betaHigh) });
  }
  for (const { side, ink } of slots) draw(svg, "path", { class: `curve ${ink}`, d: linePath(x, y, curves[side]) });
  const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(yMax) });
  const marks = slots.map(({ ink, mark }) => draw(svg, "path", { class: `dot fill-${ink}`, d: MARKS[mark] }));
  return (alpha, values) => {
    const at = x(alpha / 1000);
    put(now, { x1: at, x2: at });
    const places = slots.map(({ side }) => y(values[side]));
    // The second mark would hide the first: where they meet, the first is drawn larger and looks out behind it.
    const met = places.length > 1 && Math.abs(places[0] - places[1]) < MET;
    places.forEach((place, i) =>
      marks[i].setAttribute("transform", `translate(${at},${place})${met && !i ? " scale(1.5)" : ""}`),
    );
  };
}

// The middle of each set size's position on the axis, and labels for those that have room.
function sizeAxis(host, label, k, yMax = 1) {
  const frame = axes(host, label, {
    xMax: k + 1,
    xTicks: [],
    xTitle: "options in the set",
    yMax,
    yTicks: steps(4, 0.25),
    yFormat: asPercent,
  });
  const every = Math.ceil(24 / (frame.x(1) - frame.x(0)));
  for (let size = 0; size <= k; size += every) {
    draw(frame.svg, "text", { x: frame.x(size + 0.5), y: frame.y(0) + 15, "text-anchor": "middle" }, String(size));
  }
  return frame;
}

// How many questions have sets of 0 ... k options, one score on the left and the other on the right.
export function sizesFigure(host, label, slots, k) {
  const { svg, x, y } = sizeAxis(host, label, k);
  const half = Math.max(1, Math.min(26, (x(1) - x(0)) * 0.42));
  const left = (i) => (slots.length === 1 ? -half / 2 : i ? 0.5 : -half - 0.5);
  const bars = slots.map(({ ink }, i) =>
    Array.from({ length: k + 1 }, (_, size) => ({
      bar: draw(svg, "rect", { class: `fill-${ink}`, x: x(size + 0.5) + left(i), width: half }),
      share: half < 21 ? null : draw(svg, "text", { x: x(size + 0.5) + left(i) + half / 2, "text-anchor": "middle" }),
    })),
  );
  return (m, sizes) =>
    slots.forEach(({ side }, i) =>
      bars[i].forEach(({ bar, share }, size) => {
        const top = y(sizes[side][size] / m);
        put(bar, { y: top, height: y(0) - top });
        if (!share) return;
        share.setAttribute("y", top - 3);
        say(share, String(Math.round((100 * sizes[side][size]) / m)));
      }),
    );
}

const ABOVE_ALL = 1.16; // the numbers of questions stand above 100%, where no mark can be

// Coverage of the questions by set size, with exact intervals. Sizes that no question has are left out.
export function bySizeFigure(host, label, slots, k, interval) {
  const { svg, x, y } = sizeAxis(host, label, k, ABOVE_ALL);
  const target = draw(svg, "line", { class: "target", x1: x(0), x2: x(k + 1) });
  const room = x(1) - x(0);
  const apart = slots.length === 1 ? 0 : Math.min(8, room / 5);
  const points = slots.map(({ ink, mark }, i) =>
    Array.from({ length: k + 1 }, (_, size) => {
      const at = x(size + 0.5) + (i ? apart : -apart);
      return {
        at,
        whisker: draw(svg, "line", { class: `whisker ${ink}`, x1: at, x2: at }),
        mark: draw(svg, "path", { class: `dot fill-${ink}`, d: MARKS[mark] }),
        count:
          room < 30
            ? null
            : draw(svg, "text", {
                class: `tiny fill-${ink}`,
                x: x(size + 0.5),
                y: y(ABOVE_ALL) + (i ? 8 : -4),
                "text-anchor": "middle",
              }),
      };
    }),
  );
  return (alpha, sizes, hits) => {
    put(target, { y1: y(1 - alpha / 1000), y2: y(1 - alpha / 1000) });
    slots.forEach(({ side }, i) =>
      points[i].forEach(({ at, whisker, mark, count }, size) => {
        const n = sizes[side][size];
        const shown = n > 0;
        whisker.style.display = mark.style.display = shown ? "" : "none";
        if (count) say(count, shown ? n.toLocaleString("en") : "");
        if (!shown) return;
        const [low, high] = interval(hits[side][size], n);
        put(whisker, { y1: y(low), y2: y(high) });
        mark.setAttribute("transform", `translate(${at},${y(hits[side][size] / n)})`);
      }),
    );
  };
}

// The distribution of the true options' calibration scores. The part up to the threshold has the score's colour.
export function scoresFigure(host, label, { side, ink }, { counts, low, high }) {
  const most = Math.max(...counts, 1);
  const { ticks, digits } = roundTicks(low, high, 6);
  const { svg, x, y } = axes(host, label, {
    xMin: low,
    xMax: high,
    xTicks: ticks,
    xFormat: (tick) => tick.toFixed(digits),
    xTitle: "score, low is good",
    yMax: most,
    yTicks: [0, most],
    yFormat: (tick) => tick.toLocaleString("en"),
  });
  const wide = (high - low) / counts.length;
  const clip = draw(draw(svg, "clipPath", { id: `kept-${side}` }), "rect", { x: x(low), y: 0, height: y(0) });
  for (const inside of [false, true]) {
    const group = draw(
      svg,
      "g",
      inside ? { class: `fill-${ink}`, "clip-path": `url(#kept-${side})` } : { class: "fill-out" },
    );
    counts.forEach((count, i) =>
      draw(group, "rect", {
        x: x(low + i * wide),
        width: Math.max(1, x(low + wide) - x(low) - 1),
        y: y(count),
        height: y(0) - y(count),
      }),
    );
  }
  const line = draw(svg, "line", { class: "threshold", y1: MARGIN.top - 8, y2: y(0) });
  const note = draw(svg, "text", { class: "strong", y: MARGIN.top - 2 });
  return (threshold) => {
    if (Number.isNaN(threshold)) {
      // thresholds differ by stratum, so there is no single line
      clip.setAttribute("width", x(high) - x(low));
      line.style.display = "none";
      put(note, { "text-anchor": "end", x: x(high) });
      say(note, "a threshold for each");
      return;
    }
    const endless = threshold === Infinity;
    const at = x(endless ? high : threshold);
    const late = at > x((low + high) / 2);
    clip.setAttribute("width", Math.max(0, at - x(low)));
    put(line, { x1: at, x2: at });
    line.style.display = endless ? "none" : "";
    put(note, { "text-anchor": late ? "end" : "start", x: endless ? x(high) : at + (late ? -6 : 6) });
    say(note, endless ? "no threshold: every score stays" : thresholdText(threshold));
  };
}

// A close-up of coverage beside its target: the band and the mark, in percentage points around 1 - alpha.
export function stripFigure(host, label, { ink, mark }, reach) {
  const { svg, width } = canvas(host, label);
  const x = linear(-reach, reach, 12, width - 12);
  const clamped = (value) => x(Math.max(-reach, Math.min(reach, value)));
  const test = draw(svg, "rect", { class: "test", y: 4, height: 20 });
  const chance = draw(svg, "rect", { class: "chance", y: 4, height: 20 });
  draw(svg, "line", { class: "grid", x1: x(-reach), x2: x(reach), y1: 24, y2: 24 });
  draw(svg, "line", { class: "target", x1: x(0), x2: x(0), y1: 0, y2: 28 });
  for (const [at, anchor] of [
    [-reach, "start"],
    [reach, "end"],
  ]) {
    draw(
      svg,
      "text",
      { x: x(at) + (at < 0 ? -8 : 8), y: 40, "text-anchor": anchor },
      `${at < 0 ? "−" : "+"}${reach} points`,
    );
  }
  const target = draw(svg, "text", { x: x(0), y: 40, "text-anchor": "middle" });
  const dot = draw(svg, "path", { class: `dot fill-${ink}`, d: MARKS[mark] });
  const span = (rect, low, high) => put(rect, { x: clamped(low), width: Math.max(1, clamped(high) - clamped(low)) });
  return (alpha, coverage, bands) => {
    const goal = 1 - alpha / 1000;
    const points = (share) => 100 * (share - goal);
    test.style.display = chance.style.display = bands ? "" : "none";
    if (bands) {
      span(test, points(bands.testLow[alpha - 1]), points(bands.testHigh[alpha - 1]));
      span(chance, points(bands.betaLow[alpha - 1]), points(bands.betaHigh[alpha - 1]));
    }
    const off = Math.abs(points(coverage)) > reach;
    dot.setAttribute("transform", `translate(${clamped(points(coverage))},14)`);
    dot.setAttribute("d", off ? (coverage > goal ? "M-6,-7l12,7l-12,7z" : "M6,-7l-12,7l12,7z") : MARKS[mark]);
    say(target, `target ${(100 * goal).toFixed(1)}%`);
  };
}

// The range of the strip in percentage points: a round number, wide enough for the band at every alpha.
export function stripReach(bands) {
  let widest = 0;
  for (let i = 0; i < bands.testLow.length; i++) {
    for (const end of [bands.testLow[i], bands.testHigh[i]])
      widest = Math.max(widest, Math.abs(end - (1 - (i + 1) / 1000)));
  }
  return [1, 2, 3, 5, 8, 12, 20, 30, 50].find((reach) => reach >= 115 * widest) ?? 100;
}
