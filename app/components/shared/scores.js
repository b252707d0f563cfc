// Every score that the browser computes. Only the functions are here. Titles, texts, parameters and tuning grids come
// with the data, from Python's table (core/conformal/scores/table.py).
//
// Rule for every score: use only + - * / and square roots, in rank order. Python computes the score too, and both must
// agree to the last bit; log and exp differ in the last bit between V8 and NumPy.

import { lacScore } from "./scores/lac.js";
import { apsScore } from "./scores/aps.js";
import { apsRandomisedScore } from "./scores/aps_randomised.js";
import { rapsScore } from "./scores/raps.js";
import { sapsScore } from "./scores/saps.js";
import { marginScore } from "./scores/margin.js";
import { topKScore } from "./scores/top_k.js";
import { ordinalApsScore } from "./scores/ordinal_aps.js";

// Each score by name. `scores(p, k, { u, parameters })` gives the scores of all options, and `range(k, parameters)`
// gives the two bounds between which they lie.
export const SCORES = {
  lac: lacScore,
  aps: apsScore,
  "aps-randomised": apsRandomisedScore,
  raps: rapsScore,
  saps: sapsScore,
  margin: marginScore,
  "top-k": topKScore,
  "ordinal-aps": ordinalApsScore,
};

// The scores of all options of all questions. A randomised score needs `u`, a tuned one `parameters`.
export function scoresOf(name, p, k, { u = null, parameters = null } = {}) {
  return SCORES[name].scores(p, k, { u, parameters });
}

// The scores of the true options.
export function trueScores(scores, labels, k) {
  return Float64Array.from(labels, (label, i) => scores[i * k + label]);
}
