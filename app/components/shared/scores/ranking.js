// Rows of options by rising probability, and their ranks: core/conformal/scores/ranking.py, number for number.
// A matrix of n questions and k options is one Float64Array, row by row. An option that a question lacks has the
// probability NaN and the score NaN, which no threshold admits; a question's own options stand before those.

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
    const own = ownOptions(p, row, k);
    const mine = own === k ? order : order.subarray(0, own);
    sortRising(p, row, mine);
    visit(row, mine, own);
  }
}

// One value an option, NaN until it is computed.
export function unknownScores(p) {
  return new Float64Array(p.length).fill(NaN);
}

// The rank of each option by falling probability, from 1; of equal ones the later comes first.
export function optionRanks(p, k) {
  const ranks = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    for (let j = 0; j < own; j++) ranks[row + order[j]] = own - j;
  });
  return ranks;
}

// The most probable option of each question; of equal ones the later, which has rank 1.
export function topOptions(p, k) {
  const top = new Int32Array(p.length / k);
  for (let i = 0; i < top.length; i++) {
    for (let j = 1; j < k; j++) if (p[i * k + j] >= p[i * k + top[i]]) top[i] = j;
  }
  return top;
}
