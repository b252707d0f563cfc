// Every score that the browser computes. Titles, texts, parameters and tuning grids come from Python's table with the
// data (core/conformal/scores/table.py); here stand the functions alone.

import { lacScore } from "./scores/lac.js";
import { apsScore } from "./scores/aps.js";
import { apsRandomisedScore } from "./scores/aps_randomised.js";
import { rapsScore } from "./scores/raps.js";
import { sapsScore } from "./scores/saps.js";
import { marginScore } from "./scores/margin.js";
import { topKScore } from "./scores/top_k.js";

// Each score by name: `scores(p, k, { u, parameters })` are the scores of all options, `range(k, parameters)` are two
// numbers between which they lie.
export const SCORES = {
  lac: lacScore,
  aps: apsScore,
  "aps-randomised": apsRandomisedScore,
  raps: rapsScore,
  saps: sapsScore,
  margin: marginScore,
  "top-k": topKScore,
};

// The scores of all options of all questions. A randomised score needs `u`, a tuned one `parameters`.
export function scoresOf(name, p, k, { u = null, parameters = null } = {}) {
  return SCORES[name].scores(p, k, { u, parameters });
}

// The scores of the true options, picked out.
export function trueScores(scores, labels, k) {
  return Float64Array.from(labels, (label, i) => scores[i * k + label]);
}
