// LAC: 1 minus the option's probability (core/conformal/scores/lac.py).
//
// Rule for every score: use only + - * / and square roots, in rank order. Python computes the score too, and both must
// agree to the last bit; log and exp differ in the last bit between V8 and NumPy.

import { onGrid } from "./grid.js";

function lacScores(p) {
  return p.map((value) => onGrid(1 - value));
}

export const lacScore = { scores: lacScores, range: () => [0, 1] };
