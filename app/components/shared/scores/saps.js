// SAPS: the largest probability plus a cost for every further rank (core/conformal/scores/saps.py).

import { onGrid } from "./grid.js";
import { eachRow, unknownScores } from "./ranking.js";

function sapsScores(p, k, { parameters }) {
  const scores = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    const largest = p[row + order[own - 1]];
    for (let j = 0; j < own; j++) {
      scores[row + order[j]] = onGrid(largest + parameters.weight * (own - j - 1), largest);
    }
  });
  return scores;
}

export const sapsScore = { scores: sapsScores, range: (k, { weight }) => [0, 1 + weight * (k - 1)] };
