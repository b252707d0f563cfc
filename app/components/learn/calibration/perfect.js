// Step 4: a perfectly calibrated model with n questions. One toss as a diagram, and the ECE of many tosses.

import { draw, make, put, say } from "../../shared/dom.js";
import { counted } from "../../shared/formatting.js";
import { uniformsAt } from "../../shared/random_numbers.js";
import { GROUND, axes, steps, tall } from "../../shared/svg.js";
import { reliability } from "../../calibration/temperature/tempering.js";
import { keptMover } from "../mover.js";
import { points } from "../numbers.js";
import { reliabilityDiagram } from "./diagram.js";
import { CALIBRATION_FACTS, floorOf, perfectErrors, spreadConfidences } from "./facts.js";

const QUESTION_COUNTS = [25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800];
const WIDEST = 0.2; // the axis of the ECE
const CELLS = 40;

// One toss of a perfect model with n questions: the bins of its answers.
function tossed(run, n, bins, draws) {
  const confidence = spreadConfidences(run, n);
  const numbers = uniformsAt(
    Int32Array.from(confidence, (_, i) => i),
    draws,
  );
  return reliability(
    confidence,
    Uint8Array.from(numbers, (number, i) => (number < confidence[i] ? 1 : 0)),
    bins,
    "width",
  );
}

// The ECEs of many tosses as bars, with their mean and the ECE of the run.
function errorsPlot(host, own) {
  const { svg, x, y } = axes(host, "ECE of a perfectly calibrated model, over many tosses", {
    xMax: WIDEST,
    xTicks: steps(4, WIDEST / 4),
    xFormat: (tick) => points(tick),
    xTitle: "ECE in points",
    yMax: 1,
    ...GROUND,
  });
  const bars = Array.from({ length: CELLS }, (_, i) =>
    draw(svg, "rect", { class: "fill-out", x: x((i * WIDEST) / CELLS) + 0.5, width: x(WIDEST / CELLS) - x(0) - 1 }),
  );
  const vertical = (className, words, row) => {
    const group = draw(svg, "g", { class: className });
    draw(group, "line", { y1: row + 4, y2: y(0) });
    draw(group, "text", { y: row }, words);
    return (at) => {
      group.style.display = at === null ? "none" : "";
      group.setAttribute("transform", `translate(${x(Math.min(WIDEST, at ?? 0))},0)`);
      put(group.lastChild, { "text-anchor": (at ?? 0) > WIDEST / 2 ? "end" : "start", x: 0 });
    };
  };
  const floor = vertical("answer-mark", "perfect model, mean", 10);
  const seen = vertical("answer-mark", "this model", 26);
  const guessed = vertical("your-guess", "your guess", 42);
  return (errors, mean, guess) => {
    const heights = new Float64Array(CELLS);
    for (const error of errors) heights[Math.min(CELLS - 1, Math.floor((error / WIDEST) * CELLS))]++;
    const most = Math.max(...heights, 1);
    bars.forEach((bar, i) =>
      put(bar, { y: y((0.62 * heights[i]) / most), height: y(0) - y((0.62 * heights[i]) / most) }),
    );
    floor(mean);
    seen(own);
    guessed(guess);
  };
}

export const perfectFigure = {
  caption: "One toss of the perfect model. Its claims are exactly true, and yet its circles leave the diagonal.",
  answered: "Above: one toss of the perfect model. Below: the ECE of many tosses.",
  build(host, { run, kept, open }) {
    const sizes = [...new Set([...QUESTION_COUNTS, run.m])].sort((first, other) => first - other);
    kept.toss ??= 0;
    const plot = make("div");
    const more = make("button", "Toss again");
    const errors = make("div");
    errors.style.height = tall(150);
    errors.hidden = !open;
    const line = make("p.figure-said");
    let state = null;
    let diagram = null;
    let plotErrors = null;
    const slider = keptMover(kept, "size", {
      label: "questions",
      max: sizes.length - 1,
      start: sizes.indexOf(run.m),
      shown: (value) => sizes[value].toLocaleString("en"),
      moved: () => show(),
    });
    const show = () => {
      const n = sizes[kept.size];
      const toss = tossed(run, n, run.first.counts.length, kept.toss);
      diagram?.(toss, {});
      if (!state?.open) return "";
      const mean = floorOf(run, n);
      plotErrors ??= errorsPlot(errors, run.first.ece);
      plotErrors(perfectErrors(run, n), mean, state.guess === null ? null : state.guess / 100);
      say(line, `This toss: ECE ${points(toss.ece)} points. Mean of many tosses: ${points(mean)} points.`);
      return line.textContent;
    };
    more.onclick = () => {
      kept.toss++;
      slider.show();
    };
    host.replaceChildren(plot, more, errors, slider.row, line);
    diagram = reliabilityDiagram(plot, run.first.counts.length, "One toss of a perfectly calibrated model", {
      whiskers: false,
      height: 230,
    });
    return (at, now) => {
      state = now;
      errors.hidden = slider.row.hidden = line.hidden = !now.open;
      slider.show();
    };
  },
  hidden: "One toss of a perfectly calibrated model. Its ECE is hidden until you guess.",
  describe: (at) =>
    `With ${counted(at.run.m, "question", "questions")} a perfectly calibrated model shows an ECE of ${CALIBRATION_FACTS.floor_points(at)} points on average.`,
};
