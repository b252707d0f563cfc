// Rows of options in ascending order of probability, and their ranks, exactly as in core/conformal/scores/ranking.py. A
// matrix of n questions and k options is one Float64Array, row by row. An option that a question lacks has the
// probability NaN and the score NaN, which no threshold admits. A question's own options come before such options.
// Probabilities that differ only by rounding are equal.

import { onGrid } from "./grid.js";

// Stable insertion sort of one row's option positions by ascending value. Rows are short, and equal options keep their
// order.
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

// How many options the question has whose row begins at `row`.
function ownOptions(p, row, k) {
  let own = k;
  while (Number.isNaN(p[row + own - 1])) own--;
  return own;
}

// Calls visit(row, order, own) for each question: the start of its row, its own options in ascending order of
// probability, and their number.
export function eachRow(p, k, visit) {
  const order = new Int32Array(k);
  const compared = p.map((value) => onGrid(value));
  for (let row = 0; row < p.length; row += k) {
    const own = ownOptions(p, row, k);
    const mine = own === k ? order : order.subarray(0, own);
    sortRising(compared, row, mine);
    visit(row, mine, own);
  }
}

// One value per option, NaN until it is computed.
export function unknownScores(p) {
  return new Float64Array(p.length).fill(NaN);
}

// The rank of each option in descending order of probability, from 1. Of equal options the later comes first.
export function optionRanks(p, k) {
  const ranks = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    for (let j = 0; j < own; j++) ranks[row + order[j]] = own - j;
  });
  return ranks;
}

// The most probable option of each question. Of equal options it is the later one, which has rank 1.
export function topOptions(p, k) {
  const top = new Int32Array(p.length / k);
  const compared = p.map((value) => onGrid(value));
  for (let i = 0; i < top.length; i++) {
    for (let j = 1; j < k; j++) if (compared[i * k + j] >= compared[i * k + top[i]]) top[i] = j;
  }
  return top;
}
