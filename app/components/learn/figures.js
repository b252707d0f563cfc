// The figure of each step, by the step's name. A figure has a `caption`, perhaps a `height(run)` in pixels, `build(host,
// {run, examples, kept, hands, at})`, which draws what alpha does not change and returns `update(at, {open, guess})`, and
// `describe(at, {open})`, its text alternative. `open` says whether the answer may be seen, and `kept` is an object that
// stays as long as the run.

import { collectedFigure } from "./figures/collected.js";
import { countedFigure } from "./figures/counted_line.js";
import { movedFigure } from "./figures/moved_questions.js";
import { setsFigure } from "./figures/formed_sets.js";
import { sharesFigure } from "./figures/shares.js";
import { shuffledFigure } from "./figures/shuffled.js";
import { subjectsFigure } from "./figures/by_subject.js";
import { twoScoresFigure } from "./figures/two_scores.js";

export const FIGURES = {
  certainty: sharesFigure,
  score: collectedFigure,
  threshold: countedFigure,
  sets: setsFigure,
  luck: shuffledFigure,
  average: subjectsFigure,
  scores: twoScoresFigure,
  breaks: movedFigure,
};
