// Every figure of the lesson on calibration, computed from a run's log-probabilities. core/calibration defines them, and
// tests/app/test_course.py compares them with Python's.

import { shownAlpha } from "../../shared/dom.js";
import { differenceShown, percent } from "../../shared/formatting.js";
import { uniformsAt } from "../../shared/random_numbers.js";
import { mean, points, share, whole } from "../numbers.js";
import { atTemperature, binEdges, binOf, hold, nll, reliability } from "../../calibration/temperature/tempering.js";

const WIDTH = "width";
const BINS = 15;
const FEW_BINS = 5;
const MANY_BINS = 50;
const EXAMPLE = 0.8; // the confidence that the texts take as an example
const HOT = 200; // hundredths
export const PLAIN_TEMPERATURE = 100;
const MOST_DRAWS = 200;
const FEWEST_DRAWS = 20;
const MOST_DRAWN = 2_000_000; // draws times questions
const OFTEN_BY_CHANCE = 0.05;
const WORTH_A_SENTENCE = 20; // answers in a bin

// What a run's questions look like at 1, and everything that is asked of them later, computed once.
export function calibrationRun(data) {
  const { rows } = data;
  let k = 0;
  while (rows.getChild(`l${k}`)) k++;
  const columns = Array.from({ length: k }, (_, j) => rows.getChild(`l${j}`).toArray());
  const logs = Float64Array.from({ length: rows.numRows * k }, (_, i) => columns[i % k][Math.floor(i / k)]);
  const own = Uint8Array.from(rows.getChild("own").toArray());
  const labels = Int32Array.from(rows.getChild("y").toArray());
  const held = hold({ logs, k, own, labels, frequencies: Boolean(rows.getChild("frequency")) });
  const run = { held, k, n: held.calibration.length, m: held.test.length, kept: new Map() };
  Object.assign(run, { model: data.model, name: data.name, fitted: data.fitted });
  run.first = atTemperature(held, { temperature: 1, alpha: PLAIN_TEMPERATURE, bins: BINS, by: WIDTH });
  run.right = held.right;
  run.confidence = Float64Array.from(held.test, (row) => held.hot[row * k + k - 1]);
  run.rising = run.confidence.slice().sort();
  return run;
}

export const once = (run, name, compute) => {
  if (!run.kept.has(name)) run.kept.set(name, compute());
  return run.kept.get(name);
};

// The run at a temperature in hundredths and an alpha in thousandths.
export const temperedRun = (run, hundredths, alpha) =>
  atTemperature(run.held, { temperature: hundredths / PLAIN_TEMPERATURE, alpha, bins: BINS, by: WIDTH });

const temperedOnce = ({ run, alpha }, hundredths) =>
  once(run, `tempered ${hundredths} ${alpha}`, () => temperedRun(run, hundredths, alpha));

export const withBins = (run, bins) =>
  once(run, `bins ${bins}`, () => reliability(run.confidence, run.right, bins, WIDTH));

// The confidences of n questions that are spread as the run's own: those at equal steps of their order.
export function spreadConfidences({ rising, m }, n) {
  return Float64Array.from({ length: n }, (_, i) => rising[Math.floor(((2 * i + 1) * m) / (2 * n))]);
}

export const drawsFor = (n) => Math.max(FEWEST_DRAWS, Math.min(MOST_DRAWS, Math.floor(MOST_DRAWN / n)));

// The ECE of a perfectly calibrated model with n such confidences, once per draw, from the draw `from` on. An answer is
// right if its random number is below its confidence.
export function perfectErrors(run, n, draws = drawsFor(n), from = 0) {
  const confidence = spreadConfidences(run, n);
  const edges = binEdges(confidence, BINS, WIDTH);
  const bins = Uint8Array.from(confidence, (value) => binOf(edges, value));
  const places = Int32Array.from({ length: n }, (_, i) => i);
  const claimed = new Float64Array(BINS);
  for (let i = 0; i < n; i++) claimed[bins[i]] += confidence[i];
  return Float64Array.from({ length: draws }, (_, draw) => {
    const numbers = uniformsAt(places, from + draw);
    const gaps = new Float64Array(BINS);
    for (let i = 0; i < n; i++) if (numbers[i] < confidence[i]) gaps[bins[i]]++;
    let sum = 0;
    for (let b = 0; b < BINS; b++) sum += Math.abs(gaps[b] - claimed[b]);
    return sum / n;
  });
}

// The mean of the perfect model's ECE with n questions.
export const floorOf = (run, n) => once(run, `floor ${n}`, () => mean(perfectErrors(run, n)));

const quarter = ({ m }) => Math.max(1, Math.floor(m / 4));
export const shownTemperature = (hundredths) => (hundredths / PLAIN_TEMPERATURE).toFixed(2);
const meanConfidence = ({ run }) => mean(run.confidence);
const fittedRun = (at) => temperedOnce(at, at.run.fitted ?? PLAIN_TEMPERATURE);
const hotRun = (at) => temperedOnce(at, HOT);

function meanSaid(at) {
  const gap = differenceShown(100 * meanConfidence(at), 100 * at.run.first.accuracy, 1);
  if (gap === 0) return "On average its claims come true.";
  return gap > 0
    ? `On average it claims **${gap.toFixed(1)}** points too much.`
    : `On average it claims **${(-gap).toFixed(1)}** points too little.`;
}

function leanSaid({ run: { first } }) {
  const over = `**${points(first.over)}** points`;
  const under = `**${points(first.under)}** points`;
  if (first.over === first.under) return `Both are alike: ${over} each.`;
  const claim = first.over > first.under ? "more than it can keep" : "less than it could";
  return `Claims that are too high add up to ${over} over all bins, and claims that are too low to ${under}: the model claims ${claim}.`;
}

function worstBinSaid({ run: { first } }) {
  const bins = Array.from(first.counts, (count, b) => ({
    count,
    claim: first.confidence[b],
    right: first.accuracies[b],
  })).filter(({ count }) => count >= WORTH_A_SENTENCE);
  if (!bins.length) return "";
  const { count, claim, right } = bins.reduce((most, bin) =>
    Math.abs(bin.claim - bin.right) > Math.abs(most.claim - most.right) ? bin : most,
  );
  return (
    `Of the bins with at least **${WORTH_A_SENTENCE}** answers, the one with the largest gap has **${whole(count)}**: ` +
    `they claim **${share(claim)}**, and **${share(right)}** of them are right.`
  );
}

function binsSaid({ run }) {
  return withBins(run, MANY_BINS).ece > withBins(run, FEW_BINS).ece
    ? "More bins make it larger, though no answer has changed."
    : "No answer has changed.";
}

function aboveFloorSaid({ run }) {
  const seen = run.first.ece;
  const drawn = perfectErrors(run, run.m);
  const reached = drawn.filter((error) => error >= seen).length;
  return (
    `The ECE of ${run.model}, **${points(seen)}** points, is reached by the perfect model in **${whole(reached)}** of the ` +
    `**${whole(drawn.length)}** draws${reached > OFTEN_BY_CHANCE * drawn.length ? ", so it may be chance alone." : ", so chance alone hardly explains it."}`
  );
}

function fittedSaid(at) {
  const { nll: before } = at.run.first;
  if (Number.isNaN(before)) return "Frequencies have no loss, because an option without a pick can be right.";
  const after = fittedRun(at);
  if (after.nll < before && after.ece < at.run.first.ece)
    return "Both are better, on questions that had no part in it.";
  if (after.nll < before)
    return "The loss is better, and the ECE, which has a floor and varies much by chance, is not.";
  return "There was little to gain: the claims were about as bold as they should be.";
}

// The values that a person guesses.
export const CALIBRATION_TRUTHS = {
  right_share: ({ run }) => run.first.accuracy,
  lean: ({ run: { first } }) =>
    first.over === first.under ? "" : first.over > first.under ? "overconfident" : "underconfident",
  ece_points: ({ run }) => 100 * run.first.ece,
  floor_points: ({ run }) => 100 * floorOf(run, run.m),
  fitted: ({ run }) => (run.fitted ? run.fitted / PLAIN_TEMPERATURE : NaN),
  hot_right: (at) => hotRun(at).accuracy,
};

export const CALIBRATION_SENTENCES = [
  "mean_said",
  "lean_said",
  "worst_bin_said",
  "bins_said",
  "above_floor_said",
  "fitted_said",
];

export const CALIBRATION_FACTS = {
  model: ({ run }) => run.model,
  m: ({ run }) => whole(run.m),
  alpha: ({ alpha }) => shownAlpha(alpha),
  mean_confidence: (at) => share(meanConfidence(at)),
  example_confidence: () => percent(EXAMPLE, 0),
  interval_mass: () => percent(0.95, 0),
  right_share: ({ run }) => share(run.first.accuracy),
  mean_said: meanSaid,
  bins: () => whole(BINS),
  lean_said: leanSaid,
  worst_bin_said: worstBinSaid,
  ece_points: ({ run }) => points(run.first.ece),
  few_bins: () => whole(FEW_BINS),
  many_bins: () => whole(MANY_BINS),
  ece_few: ({ run }) => points(withBins(run, FEW_BINS).ece),
  ece_many: ({ run }) => points(withBins(run, MANY_BINS).ece),
  bins_said: binsSaid,
  draws: ({ run }) => whole(drawsFor(run.m)),
  floor_points: ({ run }) => points(floorOf(run, run.m)),
  quarter_n: ({ run }) => whole(quarter(run)),
  floor_quarter: ({ run }) => points(floorOf(run, quarter(run))),
  fourfold_n: ({ run }) => whole(4 * run.m),
  floor_fourfold: ({ run }) => points(floorOf(run, 4 * run.m)),
  above_floor_said: aboveFloorSaid,
  plain_temperature: () => shownTemperature(PLAIN_TEMPERATURE),
  fitted: ({ run }) => (run.fitted ? shownTemperature(run.fitted) : "not known"),
  fitted_ece: (at) => points(fittedRun(at).ece),
  nll: ({ run }) => nll(run.first),
  fitted_nll: (at) => nll(fittedRun(at)),
  fitted_said: fittedSaid,
  hot: () => shownTemperature(HOT),
  hot_confidence: (at) => share(hotConfidence(at)),
  hot_right: (at) => share(hotRun(at).accuracy),
  cold_coverage: (at) => share(temperedOnce(at, PLAIN_TEMPERATURE).sets.lac.coverage),
  cold_size: (at) => temperedOnce(at, PLAIN_TEMPERATURE).sets.lac.meanSize.toFixed(2),
  hot_coverage: (at) => share(hotRun(at).sets.lac.coverage),
  hot_size: (at) => hotRun(at).sets.lac.meanSize.toFixed(2),
};

// Σ over bins of the summed confidence, divided by the number of questions.
function hotConfidence(at) {
  const { counts, confidence } = hotRun(at);
  return counts.reduce((sum, count, b) => sum + (count ? count * confidence[b] : 0), 0) / at.run.m;
}
