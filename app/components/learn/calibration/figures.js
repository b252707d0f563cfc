// The figures of the lesson on calibration, by the names of its steps (../figures.js).

import { make, say } from "../../shared/dom.js";
import { counted, percent } from "../../shared/formatting.js";
import { mover } from "../mover.js";
import { points, share, shareSpan } from "../numbers.js";
import { reliabilityDiagram } from "./diagram.js";
import { CALIBRATION_FACTS, floorOf, withBins } from "./facts.js";
import { heatFigure, unchangedFigure } from "./heat.js";
import { perfectFigure } from "./perfect.js";

// Of the answers with a confidence of at least `least`: their number, their mean confidence, and those that are right.
export function surerThan({ confidence, right }, least) {
  let n = 0;
  let claimed = 0;
  let hits = 0;
  for (let i = 0; i < confidence.length; i++) {
    if (confidence[i] < least) continue;
    n++;
    claimed += confidence[i];
    hits += right[i];
  }
  return { n, claim: claimed / n, hits };
}

const claimsFigure = {
  alpha: false,
  questions: "test",
  caption: ({ open }) =>
    open
      ? "Each circle is a bin of confidence. Its height is the share that is right."
      : "Where the model’s claims lie: a tick for each bin of confidence.",
  build(host, { run, kept }) {
    kept.least ??= 0;
    const plot = make("div");
    const line = make("p", "figure-said");
    let open = false;
    const slider = mover({
      label: "only answers with a confidence of at least",
      max: 99,
      value: kept.least,
      shown: (value) => percent(value / 100, 0),
      moved: (value) => {
        kept.least = value;
        const { n, claim, hits } = surerThan(run, value / 100);
        const claims = n ? `, claimed ${share(claim)}` : "";
        const right = n && open ? `, right ${share(hits / n)} (${shareSpan(hits, n)})` : "";
        say(line, `${counted(n, "answer", "answers")}${claims}${right}`);
        return line.textContent;
      },
    });
    host.replaceChildren(plot, slider.row, line);
    const draw = reliabilityDiagram(plot, run.first.counts.length, "Share that is right by confidence");
    return (at, state) => {
      open = state.open;
      draw(run.first, { shown: open, guess: state.guess });
      slider.show();
    };
  },
  describe: (at, { open }) =>
    open
      ? `The mean confidence is ${CALIBRATION_FACTS.mean_confidence(at)}, and ${CALIBRATION_FACTS.right_share(at)} of the answers are right.`
      : `The mean confidence is ${CALIBRATION_FACTS.mean_confidence(at)}. The share that is right is hidden until you guess.`,
};

const filledBins = ({ counts }) => Array.from(counts.keys()).filter((b) => counts[b] > 0);

const binSaid = ({ counts, hits, confidence, accuracies }, b) =>
  `${counted(counts[b], "answer", "answers")}: claimed ${share(confidence[b])}, right ${share(accuracies[b])} ` +
  `(${shareSpan(hits[b], counts[b])})`;

const diagramFigure = {
  alpha: false,
  questions: "test",
  caption: ({ open }) =>
    open
      ? "Below the diagonal: too sure. Above it: not sure enough. Lines: 95% intervals (Clopper–Pearson)."
      : "The diagonal, and a tick for each bin of confidence.",
  build(host, { run, kept }) {
    const bins = filledBins(run.first);
    kept.bin ??= bins.length - 1;
    const plot = make("div");
    const line = make("p", "figure-said");
    let draw = null;
    let open = false;
    const show = () => draw?.(run.first, { shown: open, lit: open ? bins[kept.bin] : null });
    const slider = mover({
      label: "bin of confidence",
      max: bins.length - 1,
      value: kept.bin,
      shown: (value) => `${share(run.first.edges[bins[value]])} to ${share(run.first.edges[bins[value] + 1])}`,
      moved: (value) => {
        kept.bin = value;
        show();
        say(line, open ? binSaid(run.first, bins[value]) : "");
        return line.textContent;
      },
    });
    host.replaceChildren(plot, slider.row, line);
    draw = reliabilityDiagram(plot, run.first.counts.length, "Reliability diagram");
    return (at, state) => {
      open = state.open;
      slider.row.hidden = line.hidden = !open;
      slider.show();
    };
  },
  describe: ({ run }, { open }) =>
    open
      ? `By bin: ${filledBins(run.first)
          .map((b) => binSaid(run.first, b))
          .join("; ")}.`
      : "The shares that are right are hidden until you guess.",
};

const MOST_BINS = 50;

const binsFigure = {
  alpha: false,
  questions: "test",
  caption: ({ open }) =>
    open
      ? "The ECE is the mean length of the gaps, weighted by the answers in a bin. Change the number of bins."
      : "Upright lines are the gaps. The ECE is their mean length, weighted by the answers in a bin.",
  build(host, { run, kept }) {
    kept.bins ??= run.first.counts.length;
    const plot = make("div");
    const line = make("p", "figure-said");
    let draw = null;
    const slider = mover({
      label: "number of bins",
      min: 1,
      max: MOST_BINS,
      value: kept.bins,
      shown: String,
      moved: (value) => {
        kept.bins = value;
        const found = withBins(run, value);
        draw?.(found, {});
        say(line, `ECE ${points(found.ece)} points`);
        return line.textContent;
      },
    });
    host.replaceChildren(plot, slider.row, line);
    draw = reliabilityDiagram(plot, MOST_BINS, "Gaps between confidence and accuracy", { whiskers: false });
    return (at, { open }) => {
      slider.row.hidden = line.hidden = !open;
      if (open) slider.show();
      else draw(run.first, {});
    };
  },
  describe: (at, { open }) =>
    open
      ? `The ECE is ${CALIBRATION_FACTS.ece_points(at)} points with ${CALIBRATION_FACTS.bins(at)} bins; a perfect model would show ${points(floorOf(at.run, at.run.m))}.`
      : "The ECE is hidden until you guess.",
};

export const CALIBRATION_FIGURES = {
  confidence: claimsFigure,
  reliability: diagramFigure,
  ece: binsFigure,
  floor: perfectFigure,
  heat: heatFigure,
  unchanged: unchangedFigure,
};
