// Top-k: the option's rank (core/conformal/scores/top_k.py).

import { optionRanks } from "./ranking.js";

export const topKScore = { scores: optionRanks, range: (k) => [0, k] };
