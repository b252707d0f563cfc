// Step 8: coverage at every alpha where one subject calibrates and another tests, on the band that questions alike
// would keep to. Unweighted and weighted.

import { draw, put, say } from "../../shared/dom.js";
import { bands } from "../../shared/coverage_distributions.js";
import { percent } from "../../shared/formatting.js";
import { MARKS, areaPath, asPercent, axes, linePath, steps } from "../../shared/svg.js";

const LINES = [
  ["coverage", "plain", "circle", "as calibrated"],
  ["weighted_coverage", "weighted", "square", "with weights"],
];

export const movedFigure = {
  caption: "Coverage at every alpha. The band is where 95% of draws lie if the questions are alike.",
  height: () => 400,
  build(host, { run: { shift } }) {
    if (!shift) {
      host.replaceChildren();
      return () => {};
    }
    const { svg, x, y } = axes(host, `Coverage about ${shift.target}, calibrated on ${shift.source}, at every alpha`, {
      xMax: 1,
      xTicks: steps(5, 0.2),
      xFormat: (tick) => tick.toFixed(1),
      xTitle: "alpha",
      yMax: 1,
      yTicks: steps(4, 0.25),
      yFormat: asPercent,
    });
    const { testLow, testHigh } = bands(shift.n, shift.m);
    draw(svg, "path", { class: "test", d: areaPath(x, y, testLow, testHigh) });
    draw(svg, "text", { class: "plain", x: x(0.36), y: y(0.64) + 5, "text-anchor": "middle" }, "promised");
    const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(1) });
    const goal = draw(svg, "path", { class: "own-mark", d: "M-9,0h18M0,-9v18" });
    const marks = LINES.map(([name, kind, mark, words]) => {
      const group = draw(svg, "g");
      draw(group, "path", { class: `curve ${kind}`, d: linePath(x, y, shift.curves[name]) });
      return {
        group,
        dot: draw(group, "path", { class: `dot ${kind}`, d: MARKS[mark] }),
        text: draw(group, "text", { class: "strong" }),
        words,
      };
    });
    const guessed = draw(svg, "g", { class: "your-guess" });
    draw(guessed, "line", { x1: -14, x2: 14 });
    const guessedText = draw(guessed, "text", { y: 4 }, "your guess");
    return (at, { open, guess }) => {
      const place = x(at.alpha / 1000);
      const right = at.alpha < 600;
      put(now, { x1: place, x2: place });
      goal.setAttribute("transform", `translate(${place},${y(1 - at.alpha / 1000)})`);
      LINES.forEach(([name], i) => {
        const { group, dot, text, words } = marks[i];
        const value = at.shifted(name);
        group.style.display = open ? "" : "none";
        dot.setAttribute("transform", `translate(${place},${y(value)})`);
        put(text, {
          x: place + (right ? 12 : -12),
          y: y(value) + (i ? -10 : 16),
          "text-anchor": right ? "start" : "end",
        });
        say(text, `${words}: ${percent(value, 1)}`);
      });
      guessed.style.display = guess === null ? "none" : "";
      guessed.setAttribute("transform", `translate(${place},${y(guess ?? 0)})`);
      put(guessedText, { x: right ? 20 : -20, "text-anchor": right ? "start" : "end" });
    };
  },
  describe(at, { open }) {
    if (!at.run.shift) return "";
    return open
      ? `Coverage is ${percent(at.shifted("coverage"), 1)} as calibrated and ${percent(at.shifted("weighted_coverage"), 1)} with weights.`
      : "The coverage is hidden until you guess.";
  },
};
