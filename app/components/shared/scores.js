// The scores of core/conformal/scores.py, number for number: the same definitions in the same order of additions.
// A matrix of n questions and k options is one Float64Array, row by row. An option that a question lacks has the
// probability NaN and the score NaN, which no threshold admits; a question's own options stand before those.

export const UNTUNED = { weight: 0.1, freeRanks: 1 };

// Stable insertion sort of one row's option places by rising value: rows are short, and equal options keep their order.
function sortRising(p, row, order) {
  for (let j = 0; j < order.length; j++) {
    let at = j;
    while (at > 0 && p[row + order[at - 1]] > p[row + j]) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = j;
  }
}

// How many options the question has whose row begins there.
function ownOptions(p, row, k) {
  let own = k;
  while (Number.isNaN(p[row + own - 1])) own--;
  return own;
}

// Calls visit(row, order, own) for each question: where its row begins, its own options by rising probability, and
// how many they are.
export function eachRow(p, k, visit) {
  const order = new Int32Array(k);
  for (let row = 0; row < p.length; row += k) {
    const own = ownOptions(p, row, k), mine = own === k ? order : order.subarray(0, own);
    sortRising(p, row, mine);
    visit(row, mine, own);
  }
}

// One value an option, NaN until it is computed.
const unknown = (p) => new Float64Array(p.length).fill(NaN);

// The rank of each option by falling probability, from 1; of equal ones the later comes first.
export function optionRanks(p, k) {
  const ranks = unknown(p);
  eachRow(p, k, (row, order, own) => {
    for (let j = 0; j < own; j++) ranks[row + order[j]] = own - j;
  });
  return ranks;
}

// 1 - p.
function lacScores(p) {
  return p.map((value) => 1 - value);
}

// One minus the mass ranked after an option, summed from the smallest up; with u less u times its own probability.
function apsScores(p, k, { u = null } = {}) {
  const scores = unknown(p);
  eachRow(p, k, (row, order, own) => {
    let after = 0;
    for (let j = 0; j < own; j++) {
      const mass = p[row + order[j]];
      scores[row + order[j]] = u ? 1 - after - u[row / k] * mass : 1 - after;
      after += mass;
    }
  });
  return scores;
}

// APS, and the weight for every rank beyond the free ones.
function rapsScores(p, k, { parameters }) {
  const scores = apsScores(p, k), ranks = optionRanks(p, k), { weight, freeRanks } = parameters;
  for (let at = 0; at < scores.length; at++) scores[at] += weight * Math.max(ranks[at] - freeRanks, 0);
  return scores;
}

// The largest probability, and the weight for every rank after the first.
function sapsScores(p, k, { parameters }) {
  const scores = unknown(p);
  eachRow(p, k, (row, order, own) => {
    const largest = p[row + order[own - 1]];
    for (let j = 0; j < own; j++) scores[row + order[j]] = largest + parameters.weight * (own - j - 1);
  });
  return scores;
}

// The best other option's probability less the option's own.
function marginScores(p, k) {
  const scores = unknown(p);
  eachRow(p, k, (row, order, own) => {
    const best = p[row + order[own - 1]], second = p[row + order[own - 2]];
    for (let j = 0; j < own; j++) scores[row + order[j]] = (j === own - 1 ? second : best) - p[row + order[j]];
  });
  return scores;
}

function topKScores(p, k) {
  return optionRanks(p, k);
}

// Every score by name: what computes it from (p, k, {u, parameters}), and the least and largest value it can take.
export const SCORES = {
  lac: { scores: lacScores, range: () => [0, 1] },
  aps: { scores: apsScores, range: () => [0, 1] },
  "aps-randomised": { scores: apsScores, range: () => [0, 1], randomised: true },
  raps: { scores: rapsScores, range: (k, { weight, freeRanks }) => [0, 1 + weight * Math.max(k - freeRanks, 0)], tuned: true },
  saps: { scores: sapsScores, range: (k, { weight }) => [0, 1 + weight * (k - 1)], tuned: true },
  margin: { scores: marginScores, range: () => [-1, 1] },
  "top-k": { scores: topKScores, range: (k) => [0, k] },
};

// The scores of all options of all questions; `u` is needed by a randomised one alone.
export function scoresOf(name, p, k, { u = null, parameters = UNTUNED } = {}) {
  const { scores, randomised } = SCORES[name];
  return scores(p, k, { u: randomised ? u : null, parameters });
}

// The scores of the true options, picked out.
export function trueScores(scores, labels, k) {
  return Float64Array.from(labels, (label, i) => scores[i * k + label]);
}

// The most probable option of each question; of equal ones the later, which has rank 1.
export function topOptions(p, k) {
  const top = new Int32Array(p.length / k);
  for (let i = 0; i < top.length; i++) {
    for (let j = 1; j < k; j++) if (p[i * k + j] >= p[i * k + top[i]]) top[i] = j;
  }
  return top;
}
