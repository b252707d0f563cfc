// Every figure of the lesson on juries, computed from the jurors' probabilities. core/jury defines them, and
// tests/app/test_course.py compares them with Python's.

import { differenceShown, percent } from "../../shared/formatting.js";
import { mean, share, whole } from "../numbers.js";

// Probabilities of True and False that differ by no more than this are a tie, which counts half for each side.
const ROUNDING = 1e-12;
const sideOf = (lean) => (Math.abs(lean) <= ROUNDING ? 0.5 : lean > 0 ? 1 : 0);
const BETTER = { majority: "majority", weighted_log_odds: "weighted log-odds" };

export const answersOf = ({ labels }) => `${whole(labels.length)} judged answers`;

// A jury: for each juror its verdicts, whether they are right, and how far its probability of True is above that of False.
export function juryRun(data) {
  const { verdicts, jurors } = data;
  const column = (name) => verdicts.getChild(name).toArray();
  const labels = Uint8Array.from(column("label"));
  const leans = jurors.map((_, j) => {
    const against = column(`f${j}`);
    return Float64Array.from(column(`p${j}`), (p, i) => p - against[i]);
  });
  const votes = leans.map((lean) => lean.map((value) => sideOf(value)));
  const wrong = votes.map((verdicts) => verdicts.map((vote, i) => Math.abs(vote - labels[i])));
  const run = { jurors, labels, leans, votes, wrong, m: labels.length, k: jurors.length, n: 0 };
  Object.assign(run, { model: data.model, name: data.name, splits: data.splits, questions: answersOf });
  run.rules = new Map(data.rules.map((rule) => [rule.rule, rule]));
  run.errors = wrong.map(mean);
  run.wrongCounts = Float64Array.from(labels, (_, i) => wrong.reduce((sum, each) => sum + each[i], 0));
  const row = data.cases.getChild("row").toArray();
  run.examples = Array.from(row, (place, i) => ({
    place,
    question: data.cases.getChild("question").get(i),
    answer: data.cases.getChild("answer").get(i),
  }));
  return run;
}

// How many answers 0, 1, … k jurors get wrong. A juror that is tied is half wrong; a half is rounded up, except to k.
export function wrongTally({ wrongCounts, k }) {
  const tally = new Array(k + 1).fill(0);
  for (const count of wrongCounts) tally[count < k ? Math.min(Math.ceil(count), k - 1) : k]++;
  return tally;
}

// The probability that 0, 1, … of independent jurors with these shares of errors are wrong.
export function independentTally(errors) {
  return errors.reduce(
    (shares, error) =>
      [...shares, 0].map((share, count) => share * (1 - error) + (count ? shares[count - 1] * error : 0)),
    [1],
  );
}

// A tie is half right.
export function independentMajority(errors) {
  const k = errors.length;
  return independentTally(errors).reduce(
    (sum, part, count) => sum + (2 * count < k ? part : 2 * count === k ? part / 2 : 0),
    0,
  );
}

const independentOf = ({ run }) => independentMajority(run.errors);

// The share of the rows whose summed, weighted leans have the sign of the truth. `rows` is every row if it is null.
export function weightedAccuracy({ leans, labels }, weights, rows) {
  let hits = 0;
  for (const i of rows) {
    let sum = 0;
    for (let j = 0; j < weights.length; j++) sum += weights[j] * leans[j][i];
    hits += 1 - Math.abs(sideOf(sum) - labels[i]);
  }
  return { hits, n: rows.length };
}

export function majorityHits({ votes, labels, k }, rows) {
  let hits = 0;
  for (const i of rows) {
    const trues = votes.reduce((sum, verdicts) => sum + verdicts[i], 0);
    hits += 1 - Math.abs(sideOf(2 * trues - k) - labels[i]);
  }
  return hits;
}

const everyRow = ({ m }) => Array.from({ length: m }, (_, i) => i);
export const disputedRows = (run) =>
  everyRow(run).filter((i) => {
    const trues = run.votes.reduce((sum, verdicts) => sum + verdicts[i], 0);
    return trues > 0 && trues < run.k;
  });

const majorityShare = ({ run }) => majorityHits(run, everyRow(run)) / run.m;

// Pearson's correlation of two jurors' errors: (P(both wrong) − a b) / √(a (1 − a) b (1 − b)).
function errorCorrelation(run, first, second) {
  const [a, b] = [run.errors[first], run.errors[second]];
  let bothWrong = 0;
  for (let i = 0; i < run.m; i++) bothWrong += run.wrong[first][i] * run.wrong[second][i];
  const spread = Math.sqrt(a * (1 - a) * b * (1 - b));
  return spread > 0 ? (bothWrong / run.m - a * b) / spread : NaN;
}

export function errorPairs(run) {
  const pairs = [];
  for (let a = 0; a < run.k; a++)
    for (let b = a + 1; b < run.k; b++)
      pairs.push({ names: [run.jurors[a], run.jurors[b]], rho: errorCorrelation(run, a, b) });
  return pairs;
}

export const meanCorrelation = (run) => mean(errorPairs(run).map(({ rho }) => rho));

// j jurors whose errors correlate by rho are worth j / (1 + (j − 1) rho) votes, at most 2 j.
export const votesOf = (j, rho) => j / Math.max(1 + (j - 1) * rho, 0.5);

const unanimousRight = ({ run }) => wrongTally(run)[0];
const unanimousWrong = ({ run }) => wrongTally(run)[run.k];
const rule = ({ run }, name) => run.rules.get(name);
const two = (value) => value.toFixed(2);

function jurorsSaid({ run }) {
  const each = run.jurors.map((name, j) => `${name} is right on **${share(1 - run.errors[j])}**`);
  return `${each.slice(0, -1).join(", ")}, and ${each.at(-1)}.`;
}

function againstBestSaid({ run }) {
  const best = 1 - Math.min(...run.errors);
  const gap = 100 * (majorityShare({ run }) - best);
  if (Math.abs(gap) < 0.05) return "That is no more than the best of them reaches alone.";
  return gap > 0
    ? `The best of them alone is right on **${share(best)}**.`
    : `The best of them alone is right on **${share(best)}**: the vote gains nothing.`;
}

function pairsSaid({ run }) {
  const pairs = errorPairs(run);
  const most = pairs.reduce((pair, other) => (other.rho > pair.rho ? other : pair));
  return `Here the correlations lie between **${two(Math.min(...pairs.map(({ rho }) => rho)))}** and **${two(most.rho)}**, the largest between ${most.names.join(" and ")}.`;
}

function gainSaid(at) {
  const { accuracy, gain: exact, gain_low: low, gain_high: high } = rule(at, "weighted_log_odds");
  const gain = differenceShown(100 * accuracy, 100 * rule(at, "majority").accuracy, 1, 100 * exact) / 100;
  const signed = (value) => `${value < 0 ? "−" : ""}${(100 * Math.abs(value)).toFixed(1)}`;
  if (low === null) return `The difference is **${signed(gain)}** points. So few answers give it no interval.`;
  const span = `**${signed(gain)}** points (**${percent(0.95, 0)}** interval **${signed(low)}** to **${signed(high)}**)`;
  if (low > 0) return `It gains ${span}.`;
  return high < 0 ? `It loses: ${span}.` : `The difference of ${span} may be chance.`;
}

export const JURY_TRUTHS = {
  independent: independentOf,
  majority: majorityShare,
  unanimous_wrong: (at) => unanimousWrong(at) / (unanimousRight(at) + unanimousWrong(at)),
  votes: ({ run }) => votesOf(run.k, meanCorrelation(run)),
  better_rule: (at) => {
    const [first, second] = Object.keys(BETTER).map((name) => rule(at, name));
    return first.accuracy === second.accuracy ? "" : BETTER[(first.accuracy > second.accuracy ? first : second).rule];
  },
};

export const JURY_SENTENCES = ["jurors_said", "against_best_said", "pairs_said", "gain_said"];

export const JURY_FACTS = {
  judges: ({ run }) => whole(run.k),
  answers: ({ run }) => whole(run.m),
  jurors_said: jurorsSaid,
  independent: (at) => share(independentOf(at)),
  majority: (at) => share(majorityShare(at)),
  against_best_said: againstBestSaid,
  all_wrong: (at) => share(unanimousWrong(at) / at.run.m),
  all_wrong_independent: ({ run }) => share(independentTally(run.errors)[run.k]),
  unanimous: (at) => share((unanimousRight(at) + unanimousWrong(at)) / at.run.m),
  unanimous_wrong: (at) => share(JURY_TRUTHS.unanimous_wrong(at)),
  unanimous_wrong_independent: ({ run }) => {
    const shares = independentTally(run.errors);
    return share(shares[run.k] / (shares[0] + shares[run.k]));
  },
  pairs_said: pairsSaid,
  correlation: ({ run }) => two(meanCorrelation(run)),
  votes: (at) => two(JURY_TRUTHS.votes(at)),
  limit: ({ run }) => two(1 / meanCorrelation(run)),
  disputed: ({ run }) => whole(disputedRows(run).length),
  splits: ({ run }) => whole(run.splits),
  majority_disputed: (at) => share(rule(at, "majority").accuracy),
  weighted_disputed: (at) => share(rule(at, "weighted_log_odds").accuracy),
  gain_said: gainSaid,
};
