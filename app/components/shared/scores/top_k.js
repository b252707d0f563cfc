// Top-k: the option's rank (core/conformal/scores/top_k.py).
//
// Rule of every score: only + - * / and square roots, in rank order. Python computes it too, and equal to the last bit;
// log and exp differ there between V8 and NumPy.

import { optionRanks } from "./ranking.js";

export const topKScore = { scores: optionRanks, range: (k) => [0, k] };
