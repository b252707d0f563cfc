// Margin: how far the option's probability is below that of the best other option (core/conformal/scores/margin.py).

import { onGrid } from "./grid.js";
import { eachRow, unknownScores } from "./ranking.js";

function marginScores(p, k) {
  const scores = unknownScores(p);
  eachRow(p, k, (row, order, own) => {
    const best = p[row + order[own - 1]];
    const second = p[row + order[own - 2]];
    for (let j = 0; j < own; j++) {
      scores[row + order[j]] = onGrid((j === own - 1 ? second : best) - p[row + order[j]]);
    }
  });
  return scores;
}

export const marginScore = { scores: marginScores, range: () => [-1, 1] };
