// RAPS: APS plus a cost for every rank beyond the first few (core/conformal/scores/raps.py).

import { apsScores } from "./aps.js";
import { onGrid } from "./grid.js";
import { optionRanks } from "./ranking.js";

function rapsScores(p, k, { parameters }) {
  const scores = apsScores(p, k);
  const ranks = optionRanks(p, k);
  const { weight, freeRanks } = parameters;
  for (let at = 0; at < scores.length; at++) {
    scores[at] = onGrid(scores[at] + weight * Math.max(ranks[at] - freeRanks, 0), scores[at]);
  }
  return scores;
}

export const rapsScore = {
  scores: rapsScores,
  range: (k, { weight, freeRanks }) => [0, 1 + weight * Math.max(k - freeRanks, 0)],
};
