// The figures of the lesson on calibration, by the names of its steps (../figures.js).

import { make } from "../../shared/dom.js";
import { counted, percent } from "../../shared/formatting.js";
import { keptMover } from "../mover.js";
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
  caption: "Where the model’s claims lie: a tick for each bin of confidence.",
  answered: "Each circle is a bin of confidence. Its height is the share that is right.",
  build(host, { run, kept }) {
    const plot = make("div");
    const line = make("p.figure-said");
    let open = false;
    const slider = keptMover(kept, "least", {
      label: "only answers with a confidence of at least",
      max: 99,
      line,
      start: 0,
      shown: (value) => percent(value / 100, 0),
      moved: (value) => {
        const { n, claim, hits } = surerThan(run, value / 100);
        const claims = n ? `, claimed ${share(claim)}` : "";
        const right = n && open ? `, right ${share(hits / n)} (${shareSpan(hits, n)})` : "";
        return `${counted(n, "answer", "answers")}${claims}${right}`;
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
  caption: "The diagonal, and a tick for each bin of confidence.",
  answered: "Below the diagonal: too sure. Above it: not sure enough. Lines: 95% intervals (Clopper–Pearson).",
  build(host, { run, kept }) {
    const bins = filledBins(run.first);
    const plot = make("div");
    const line = make("p.figure-said");
    let draw = null;
    let open = false;
    const show = () => draw?.(run.first, { shown: open, lit: open ? bins[kept.bin] : null });
    const slider = keptMover(kept, "bin", {
      label: "bin of confidence",
      max: bins.length - 1,
      line,
      start: bins.length - 1,
      shown: (value) => `${share(run.first.edges[bins[value]])} to ${share(run.first.edges[bins[value] + 1])}`,
      moved: (value) => {
        show();
        return open ? binSaid(run.first, bins[value]) : "";
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
  hidden: "The shares that are right are hidden until you guess.",
  describe: ({ run }) =>
    `By bin: ${filledBins(run.first)
      .map((b) => binSaid(run.first, b))
      .join("; ")}.`,
};

const MOST_BINS = 50;

const binsFigure = {
  caption: "Vertical lines are the gaps. The ECE is their mean length, weighted by the answers in a bin.",
  answered: "The ECE is the mean length of the gaps, weighted by the answers in a bin. Change the number of bins.",
  build(host, { run, kept }) {
    const plot = make("div");
    const line = make("p.figure-said");
    let draw = null;
    const slider = keptMover(kept, "bins", {
      label: "number of bins",
      min: 1,
      max: MOST_BINS,
      line,
      start: run.first.counts.length,
      shown: String,
      moved: (value) => {
        const binned = withBins(run, value);
        draw?.(binned, {});
        return `ECE ${points(binned.ece)} points`;
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
  hidden: "The ECE is hidden until you guess.",
  describe: (at) =>
    `The ECE is ${CALIBRATION_FACTS.ece_points(at)} points with ${CALIBRATION_FACTS.bins(at)} bins; a perfect model would show ${points(floorOf(at.run, at.run.m))}.`,
};

export const CALIBRATION_FIGURES = {
  confidence: claimsFigure,
  reliability: diagramFigure,
  ece: binsFigure,
  floor: perfectFigure,
  heat: heatFigure,
  unchanged: unchangedFigure,
};
