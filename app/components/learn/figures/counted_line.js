// Step 3: the scores of right options in line, from low to high. A person drags the place where the count ends.

import { draw, put, say, shownAlpha } from "../../shared/dom.js";
import { thresholdText } from "../../shared/formatting.js";
import { rank } from "../../shared/sets.js";
import { axes, roundTicks, steps } from "../../shared/svg.js";
import { withinAlphas } from "../tangle.js";
import { guessMark } from "../guess_mark.js";

const MOST_POINTS = 600;
const LABEL_ROW = 17;

export const countedFigure = {
  questions: "calibration",
  caption: "The scores of right options in line. Drag the vertical line to change the cut-off.",
  height: () => 380,
  build(host, { run, hands }) {
    const { n, sorted } = run;
    const { ticks } = roundTicks(0, n, 5);
    const { svg, x, y } = axes(host, "Scores of right options from low to high, and the threshold", {
      xMax: n,
      xTicks: ticks,
      xFormat: (tick) => tick.toLocaleString("en"),
      xTitle: "place in the line",
      yMax: 1,
      yTicks: steps(5, 0.2),
      yFormat: (tick) => tick.toFixed(1),
      yTitle: "score of the right option",
    });
    const every = Math.max(1, Math.floor(n / MOST_POINTS));
    let line = "";
    for (let i = 0; i < n; i += every) line += `${i ? "L" : "M"}${x(i + 1).toFixed(1)},${y(sorted[i]).toFixed(1)}`;
    line += `L${x(n).toFixed(1)},${y(sorted[n - 1]).toFixed(1)}`;
    const area = `${line}L${x(n)},${y(0)}L${x(1)},${y(0)}z`;
    const clip = draw(draw(svg, "clipPath", { id: "counted-off" }), "rect", { x: x(0), y: 0, height: y(0) });
    draw(svg, "path", { class: "fill-out rest", d: area });
    draw(svg, "path", { class: "counted-off", d: area, "clip-path": "url(#counted-off)" });
    draw(svg, "path", { class: "curve lac", d: line });
    const showGuess = guessMark(svg, { x1: x(0), x2: x(n) }, { x: x(0) + 6 });
    const halved = draw(svg, "g", { class: "answer-mark" });
    const halvedLine = draw(halved, "line", { y2: y(0) });
    const halvedDot = draw(halved, "circle", { class: "knob hollow", r: 5 });
    const halvedText = draw(halved, "text");
    const level = draw(svg, "line", { class: "target", x1: x(0) });
    const vertical = draw(svg, "line", { class: "threshold", y2: y(0) });
    const knob = draw(svg, "circle", { class: "knob", r: 8 });
    const text = draw(svg, "text", { class: "strong" });
    const strip = draw(svg, "rect", { class: "grab", y: 0, width: 44, height: y(0) });

    const alphaAt = (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const place = ((at - x(0)) / (x(n) - x(0))) * n;
      return withinAlphas(1000 - (1000 * place) / (n + 1));
    };
    strip.onpointerdown = (event) => {
      strip.setPointerCapture(event.pointerId);
      strip.onpointermove = (moved) => hands.move(alphaAt(moved));
      event.preventDefault();
    };
    strip.onpointerup = strip.onpointercancel = () => {
      if (!strip.onpointermove) return;
      strip.onpointermove = null;
      hands.release();
    };
    const named = (alpha, place, threshold) =>
      `alpha ${shownAlpha(alpha)}: number ${place.toLocaleString("en")}, score ${thresholdText(threshold, 3)}`;
    const label = (node, lineAt, height, words) => {
      const left = lineAt > x(n / 2);
      put(node, { x: left ? lineAt - 12 : lineAt + 12, y: height, "text-anchor": left ? "end" : "start" });
      say(node, words);
    };
    return (at, { open, guess }) => {
      const place = rank(n, at.alpha);
      const { threshold } = at.lac;
      const endless = !Number.isFinite(threshold);
      const middle = x(Math.min(place, n));
      const height = y(endless ? 1 : threshold);
      clip.setAttribute("width", Math.max(0, middle - x(0)));
      put(vertical, { x1: middle, x2: middle, y1: height });
      put(level, { x2: middle, y1: height, y2: height });
      put(knob, { cx: middle, cy: height });
      strip.setAttribute("x", middle - 22);
      const smallPlace = rank(n, at.small);
      const twice = open && smallPlace <= n;
      const smallAt = x(Math.min(smallPlace, n));
      const smallHeight = y(Math.min(1, at.smaller.threshold));
      halved.style.display = twice ? "" : "none";
      put(halvedLine, { x1: smallAt, x2: smallAt, y1: smallHeight });
      put(halvedDot, { cx: smallAt, cy: smallHeight });
      // Each label stands on the upper left of its own line, or on the right where the count ends early.
      const highest = Math.max(LABEL_ROW, smallHeight - 12);
      const beside = Math.max(LABEL_ROW, height - 14);
      label(halvedText, smallAt, highest, named(at.small, smallPlace, at.smaller.threshold));
      label(
        text,
        middle,
        twice ? Math.max(beside, highest + LABEL_ROW) : beside,
        endless ? "no threshold" : named(at.alpha, place, threshold),
      );
      showGuess(guess === null ? null : [0, y(guess)], { y: guess > 0.1 ? 15 : -5 });
    };
  },
  describe(at) {
    const place = rank(at.run.n, at.alpha);
    return Number.isFinite(at.lac.threshold)
      ? `Number ${place} of ${at.run.n} scores is ${thresholdText(at.lac.threshold, 3)}.`
      : `Number ${place} is beyond the ${at.run.n} scores.`;
  },
};
