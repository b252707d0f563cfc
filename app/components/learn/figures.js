// The figure of each step, by the step's name. A figure has a `caption`, perhaps another one once it is `answered`, the
// `questions` that it shows ("calibration", "test", "both", or a function of the run that names them), perhaps a
// `height(run)` in pixels, `build(host, {run, examples, kept, hands, at, open})`, which draws what alpha does not change and
// returns `update(at, {open, guess})`, and `describe(at, {open})`, its text alternative, or the text `hidden` before the answer. `open` says whether the answer
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
import { testedOf } from "./asking/facts.js";
import { CALIBRATION_FIGURES } from "./calibration/figures.js";
import { answersOf } from "./juries/facts.js";
import { JURY_FIGURES } from "./juries/figures.js";

export const describedBy = (figure, at, state) =>
  figure.hidden && !state.open ? figure.hidden : figure.describe(at, state);
export const captionOf = ({ caption, answered }, { open }) => (open && answered ? answered : caption);

const alike = (figures, shared) =>
  Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, { ...shared, ...figure }]));

export const FIGURES = {
  certainty: sharesFigure,
  score: collectedFigure,
  threshold: countedFigure,
  sets: setsFigure,
  luck: shuffledFigure,
  average: subjectsFigure,
  scores: twoScoresFigure,
  breaks: movedFigure,
  ...alike(CALIBRATION_FIGURES, { alpha: false, questions: "test" }),
  ...alike(JURY_FIGURES, { alpha: false, questions: answersOf }),
  ...alike(ASKING_FIGURES, { alpha: false, questions: testedOf }),
};
