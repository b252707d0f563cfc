// Step 8: coverage at every alpha where one subject calibrates and another tests, on the band that questions alike
// would keep to. Unweighted and weighted.

import { draw, make, put, say } from "../../shared/dom.js";
import { bands } from "../../shared/coverage_distributions.js";
import { percent } from "../../shared/formatting.js";
import { ALPHA_ACROSS, MARKS, SHARE_UP, areaPath, axes, linePath, tall } from "../../shared/svg.js";
import { guessMark } from "../guess_mark.js";

const LINES = [
  ["coverage", "plain", "circle", "as calibrated"],
  ["weighted_coverage", "weighted", "square", "with weights"],
];
const TARGET = "M-9,0h18M0,-9v18";

// The key of the figure: each mark with its name and its value at alpha.
function keyOf(host) {
  const list = make("ul.marks-key");
  const entry = (className, path, words) => {
    const item = make("li");
    draw(draw(item, "svg", { viewBox: "-10 -10 20 20", "aria-hidden": "true" }), "path", { class: className, d: path });
    const value = make("b");
    item.append(`${words} `, value);
    list.append(item);
    return { item, value };
  };
  const texts = {
    target: entry("own-mark", TARGET, "target"),
    lines: LINES.map(([, kind, mark, words]) => entry(`dot ${kind}`, MARKS[mark], words)),
  };
  host.append(list);
  return texts;
}

export const movedFigure = {
  questions: (run) =>
    run.shift && `calibrated on ${run.shift.n} questions of one subject and tested on ${run.shift.m} of the other`,
  caption: "Coverage at every alpha. The band is where 95% of draws lie if the questions are alike.",
  build(host, { run: { shift } }) {
    host.replaceChildren();
    if (!shift) return () => {};
    const key = keyOf(host);
    const plot = make("div");
    plot.style.height = tall(390, 24);
    host.append(plot);
    const { svg, x, y } = axes(plot, `Coverage about ${shift.target}, calibrated on ${shift.source}, at every alpha`, {
      ...ALPHA_ACROSS,
      ...SHARE_UP,
      yTitle: "coverage",
    });
    const { testLow, testHigh } = bands(shift.n, shift.m);
    draw(svg, "path", { class: "test outlined", d: areaPath(x, y, testLow, testHigh) });
    draw(svg, "text", { class: "plain", x: x(0.36), y: y(0.64) + 5, "text-anchor": "middle" }, "promised");
    const now = draw(svg, "line", { class: "now", y1: y(0), y2: y(1) });
    const goal = draw(svg, "path", { class: "own-mark", d: TARGET });
    const marks = LINES.map(([name, kind, mark]) => {
      const group = draw(svg, "g");
      draw(group, "path", { class: `curve ${kind}`, d: linePath(x, y, shift.curves[name]) });
      return { group, dot: draw(group, "path", { class: `dot ${kind}`, d: MARKS[mark] }) };
    });
    const showGuess = guessMark(svg, { x1: -14, x2: 14 });
    return (at, { open, guess }) => {
      const place = x(at.alpha / 1000);
      const right = at.alpha < 600;
      put(now, { x1: place, x2: place });
      goal.setAttribute("transform", `translate(${place},${y(1 - at.alpha / 1000)})`);
      say(key.target.value, percent(1 - at.alpha / 1000, 1));
      LINES.forEach(([name], i) => {
        const { group, dot } = marks[i];
        const { item, value } = key.lines[i];
        group.style.display = item.style.display = open ? "" : "none";
        dot.setAttribute("transform", `translate(${place},${y(at.shifted(name))})`);
        say(value, percent(at.shifted(name), 1));
      });
      showGuess(guess === null ? null : [place, y(guess)], {
        y: open ? -8 : 4,
        x: right ? 20 : -20,
        "text-anchor": right ? "start" : "end",
      });
    };
  },
  describe(at, { open }) {
    if (!at.run.shift) return "";
    return open
      ? `Coverage is ${percent(at.shifted("coverage"), 1)} as calibrated and ${percent(at.shifted("weighted_coverage"), 1)} with weights.`
      : "The coverage is hidden until you guess.";
  },
};
