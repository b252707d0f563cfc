// Steps 1 and 4: what a crowd of independent jurors reaches, and how many votes correlated jurors are worth.

import { draw, make, put } from "../../shared/dom.js";
import { SHARE_UP, axes, steps, tall } from "../../shared/svg.js";
import { shareBars } from "../bars.js";
import { keptMover } from "../mover.js";
import { JURY_FACTS, JURY_TRUTHS, independentMajority, meanCorrelation, votesOf } from "./facts.js";
import { guessMark } from "../guess_mark.js";

const MOST_JURORS = 25;
const ODD = Array.from({ length: (MOST_JURORS + 1) / 2 }, (_, i) => 2 * i + 1);
const MOST_VOTES = 15;

const pathOf = (xs, ys, x, y) =>
  xs.map((at, i) => `${i ? "L" : "M"}${x(at).toFixed(1)},${y(ys[i]).toFixed(1)}`).join("");

// `accurate(run)` gives each juror's share of right verdicts with its interval.
export const crowdFigure = (accurate, written) => ({
  caption: "How often each juror is right, with 95% intervals (Clopper–Pearson).",
  answered: "Above: each juror, with 95% intervals. Below: a majority of independent jurors who are all equally good.",
  build(host, { run, kept, open: isOpen }) {
    const above = make("div");
    const below = make("div");
    below.style.height = tall(190);
    below.hidden = !isOpen;
    const line = make("p.figure-said");
    let show = null;
    const moved = () => {
      const right = ODD.map((j) => independentMajority(new Array(j).fill(1 - kept.accuracy / 100)));
      show?.(right);
      return `${ODD[kept.crowd]} independent ${kept.crowd ? "jurors" : "juror"} of ${kept.accuracy}%: right on ${written(right[kept.crowd])}`;
    };
    kept.crowd ??= 1;
    const accuracy = keptMover(kept, "accuracy", {
      label: "each juror is right on",
      min: 40,
      max: 95,
      line,
      start: Math.round(100 * (1 - run.errors.reduce((sum, error) => sum + error, 0) / run.k)),
      shown: (value) => `${value}%`,
      moved,
    });
    const crowd = keptMover(kept, "crowd", {
      label: "jurors",
      max: ODD.length - 1,
      line,
      shown: (value) => String(ODD[value]),
      moved,
    });
    host.replaceChildren(above, below, accuracy.row, crowd.row, line);
    const bars = shareBars(
      above,
      run.jurors.map((name) => ({ name })),
      "How often each juror is right",
    );
    bars.update(accurate(run));
    bars.guessed(null);
    return (at, { open }) => {
      for (const node of [below, accuracy.row, crowd.row, line]) node.hidden = !open;
      if (open) show ??= crowdPlot(below, kept);
      accuracy.show();
      crowd.show();
    };
  },
  describe: (at, { open }) =>
    open
      ? `Independent jurors with these accuracies would be right on ${JURY_FACTS.independent(at)} by majority.`
      : `${JURY_FACTS.jurors_said(at).replaceAll("*", "")} Their majority is hidden until you guess.`,
});

function crowdPlot(host, kept) {
  const { svg, x, y } = axes(host, "How often a majority of independent jurors is right", {
    xMin: 1,
    xMax: MOST_JURORS,
    xTicks: [1, 5, 10, 15, 20, 25],
    xFormat: String,
    xTitle: "independent jurors",
    ...SHARE_UP,
    yTitle: "majority is right",
  });
  const curve = draw(svg, "path", { class: "curve plain" });
  const dots = ODD.map((j) => draw(svg, "circle", { class: "dot plain", cx: x(j), r: 3.5 }));
  return (right) => {
    put(curve, { d: pathOf(ODD, right, x, y) });
    dots.forEach((dot, i) => put(dot, { cy: y(right[i]), r: i === kept.crowd ? 6.5 : 3.5 }));
  };
}

export const votesFigure = {
  caption: "Dashed: independent jurors, who are worth one vote each. The curve appears after your guess.",
  answered: "What jurors are worth whose errors correlate so much. Dashed: independent ones. The cross: this jury.",
  build(host, { run, kept }) {
    kept.many ??= run.k;
    const plot = make("div");
    const line = make("p.figure-said");
    const all = Array.from({ length: MOST_VOTES }, (_, i) => i + 1);
    let show = null;
    const moved = () => {
      show?.(all.map((j) => votesOf(j, kept.rho / 1000)));
      return `${kept.many} jurors are worth ${votesOf(kept.many, kept.rho / 1000).toFixed(2)} votes`;
    };
    const rho = keptMover(kept, "rho", {
      label: "correlation of errors",
      max: 1000,
      line,
      start: Math.round(1000 * meanCorrelation(run)),
      shown: (value) => (value / 1000).toFixed(2),
      moved,
    });
    const many = keptMover(kept, "many", {
      label: "jurors",
      min: 1,
      max: MOST_VOTES,
      line,
      shown: String,
      moved,
    });
    host.replaceChildren(plot, rho.row, many.row, line);
    plot.style.height = tall(300);
    const { svg, x, y } = axes(plot, "Effective votes by the number of jurors", {
      xMin: 1,
      xMax: MOST_VOTES,
      xTicks: [1, 3, 5, 7, 9, 11, 13, 15],
      xFormat: String,
      xTitle: "jurors",
      yMax: 8,
      yTicks: steps(4, 2),
      yFormat: String,
      yTitle: "effective votes",
    });
    draw(svg, "line", { class: "target", x1: x(1), y1: y(1), x2: x(8), y2: y(8) });
    const curve = draw(svg, "path", { class: "curve plain" });
    const dot = draw(svg, "circle", { class: "dot plain", r: 6 });
    const own = draw(svg, "path", { class: "guess-dot" });
    const at = { x: x(run.k), y: y(votesOf(run.k, meanCorrelation(run))) };
    put(own, { d: `M${at.x - 7},${at.y - 7}l14,14m0,-14l-14,14` });
    const showGuess = guessMark(svg, { x1: x(1), x2: x(run.k) }, { x: x(run.k) + 8, y: 4 });
    show = (votes) => {
      const kept8 = votes.map((value) => Math.min(8, value));
      put(curve, { d: pathOf(all, kept8, x, y) });
      put(dot, { cx: x(kept.many), cy: y(kept8[kept.many - 1]) });
    };
    return (_, { open, guess }) => {
      for (const node of [curve, dot, own]) node.style.display = open ? "" : "none";
      for (const node of [rho.row, many.row, line]) node.hidden = !open;
      showGuess(guess === null ? null : [0, y(guess)]);
      rho.show();
      many.show();
    };
  },
  hidden: "The number of votes is hidden until you guess.",
  describe: (at) =>
    `${at.run.k} jurors with a mean correlation of ${JURY_FACTS.correlation(at)} are worth ${JURY_TRUTHS.votes(at).toFixed(2)} votes, and any number of them at most ${JURY_FACTS.limit(at)}.`,
};
