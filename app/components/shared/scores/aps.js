// APS: the probability of the options ranked up to and with this one (core/conformal/scores/aps.py).
//
// Rule of every score: only + - * / and square roots, in rank order. Python computes it too, and equal to the last bit;
// log and exp differ there between V8 and NumPy.

import { eachRow, unknownScores } from "./ranking.js";

// One minus the mass ranked after an option, summed from the smallest up.
export function apsScores(p, k) {
  const scores = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    let after = 0;
    for (let j = 0; j < own; j++) {
      scores[row + order[j]] = 1 - after;
      after += p[row + order[j]];
    }
  });
  return scores;
}

export const apsScore = { scores: apsScores, range: () => [0, 1] };
