// APS, randomised: APS less a random part of the option's own probability (core/conformal/scores/aps_randomised.py).
//
// Rule of every score: only + - * / and square roots, in rank order. Python computes it too, and equal to the last bit;
// log and exp differ there between V8 and NumPy.

import { apsScores } from "./aps.js";

// `u` holds one uniform number for each question.
function apsRandomisedScores(p, k, { u }) {
  return apsScores(p, k).map((score, at) => score - u[Math.floor(at / k)] * p[at]);
}

export const apsRandomisedScore = { scores: apsRandomisedScores, range: () => [0, 1] };
