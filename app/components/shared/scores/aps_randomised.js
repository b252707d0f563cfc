// Randomised APS: APS minus a random share of the option's own probability (core/conformal/scores/aps_randomised.py).

import { apsScores } from "./aps.js";
import { onGrid } from "./grid.js";

// `u` has one uniform random number per question.
function apsRandomisedScores(p, k, { u }) {
  return apsScores(p, k).map((score, at) => onGrid(score - u[Math.floor(at / k)] * p[at]));
}

export const apsRandomisedScore = { scores: apsRandomisedScores, range: () => [0, 1] };
