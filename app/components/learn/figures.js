// The figure of each step, by the step's name. A figure has a `caption` (a text, or a function of {open}), the
// `questions` that it shows ("calibration", "test", "both", or a function of the run that names them), perhaps a
// `height(run)` in pixels, `build(host, {run, examples, kept, hands, at, open})`, which draws what alpha does not change and
// returns `update(at, {open, guess})`, and `describe(at, {open})`, its text alternative. `open` says whether the answer
// may be seen, and `kept` is an object that stays as long as the run. `alpha` is false if nothing depends on alpha.

import { collectedFigure } from "./figures/collected.js";
import { countedFigure } from "./figures/counted_line.js";
import { movedFigure } from "./figures/moved_questions.js";
import { setsFigure } from "./figures/formed_sets.js";
import { sharesFigure } from "./figures/shares.js";
import { shuffledFigure } from "./figures/shuffled.js";
import { subjectsFigure } from "./figures/by_subject.js";
import { twoScoresFigure } from "./figures/two_scores.js";
import { ASKING_FIGURES } from "./asking/figures.js";
import { CALIBRATION_FIGURES } from "./calibration/figures.js";
import { JURY_FIGURES } from "./juries/figures.js";

export const captionOf = ({ caption }, state) => (typeof caption === "function" ? caption(state) : caption);

export const FIGURES = {
  certainty: sharesFigure,
  score: collectedFigure,
  threshold: countedFigure,
  sets: setsFigure,
  luck: shuffledFigure,
  average: subjectsFigure,
  scores: twoScoresFigure,
  breaks: movedFigure,
  ...CALIBRATION_FIGURES,
  ...JURY_FIGURES,
  ...ASKING_FIGURES,
};
