// LAC: 1 minus the option's probability (core/conformal/scores/lac.py).

import { onGrid } from "./grid.js";

function lacScores(p) {
  return p.map((value) => onGrid(1 - value));
}

export const lacScore = { scores: lacScores, range: () => [0, 1] };
