// Ordinal APS: the total probability of an interval of levels that grows from the most probable one, up to and including
// this level (core/conformal/scores/ordinal_aps.py).

import { onGrid } from "./grid.js";
import { eachRow, unknownScores } from "./ranking.js";

// The question's own levels in the order in which they enter the interval: the most probable one, then always the more
// probable neighbour. Of equal levels the later enters first.
function entryOrder(compared, row, top, own) {
  const order = new Int32Array(own);
  order[0] = top;
  for (let place = 1, low = top, high = top; place < own; place++) {
    const up = high + 1 < own ? compared[row + high + 1] : -1;
    const down = low > 0 ? compared[row + low - 1] : -1;
    order[place] = up >= down ? ++high : --low;
  }
  return order;
}

// 1 minus the mass of the levels that enter later, the last one first.
function ordinalApsScores(p, k) {
  const scores = unknownScores(p);
  const compared = p.map((value) => onGrid(value));
  eachRow(p, k, (row, rising, own) => {
    const order = entryOrder(compared, row, rising[own - 1], own);
    let after = 0;
    for (let j = own - 1; j >= 0; j--) {
      scores[row + order[j]] = onGrid(1 - after);
      after += p[row + order[j]];
    }
  });
  return scores;
}

export const ordinalApsScore = { scores: ordinalApsScores, range: () => [0, 1] };
