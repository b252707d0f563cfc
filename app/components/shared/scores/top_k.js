// Top-k: the option's rank (core/conformal/scores/top_k.py).
//
// Rule for every score: use only + - * / and square roots, in rank order. Python computes the score too, and both must
// agree to the last bit; log and exp differ in the last bit between V8 and NumPy.

import { optionRanks } from "./ranking.js";

export const topKScore = { scores: optionRanks, range: (k) => [0, k] };
