// APS: the total probability of the options ranked up to and including this one (core/conformal/scores/aps.py).

import { onGrid } from "./grid.js";
import { eachRow, unknownScores } from "./ranking.js";

// 1 minus the mass of the options ranked below this one, summed in ascending order.
export function apsScores(p, k) {
  const scores = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    let after = 0;
    for (let j = 0; j < own; j++) {
      scores[row + order[j]] = onGrid(1 - after);
      after += p[row + order[j]];
    }
  });
  return scores;
}

export const apsScore = { scores: apsScores, range: () => [0, 1] };
