// LAC: one minus the option's probability (core/conformal/scores/lac.py).
//
// Rule of every score: only + - * / and square roots, in rank order. Python computes it too, and equal to the last bit;
// log and exp differ there between V8 and NumPy.

function lacScores(p) {
  return p.map((value) => 1 - value);
}

export const lacScore = { scores: lacScores, range: () => [0, 1] };
