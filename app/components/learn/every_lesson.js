// The lessons of the course by their names in links. `prepare(data)` makes a run of what Python sent, and `at(run, alpha)`
// is what the lesson's facts, truths and figures take. A lesson's steps and its own figures have names of their own, so
// that one list of each serves all lessons.

import { ASKING_FACTS, ASKING_SENTENCES, ASKING_TRUTHS, askingRun } from "./asking/facts.js";
import { CALIBRATION_FACTS, CALIBRATION_SENTENCES, CALIBRATION_TRUTHS, calibrationRun } from "./calibration/facts.js";
import { JURY_FACTS, JURY_SENTENCES, JURY_TRUTHS, juryRun } from "./juries/facts.js";
import { At, FACTS, SENTENCES, TRUTHS, lessonRun } from "./facts.js";

const plainly = (run, alpha) => ({ run, alpha });

export const LESSONS = {
  sets: { prepare: lessonRun, at: (run, alpha) => new At(run, alpha) },
  calibration: { prepare: calibrationRun, at: plainly },
  juries: { prepare: juryRun, at: plainly },
  asking: { prepare: askingRun, at: plainly },
};

export const ALL_FACTS = { ...FACTS, ...CALIBRATION_FACTS, ...JURY_FACTS, ...ASKING_FACTS };
export const ALL_TRUTHS = { ...TRUTHS, ...CALIBRATION_TRUTHS, ...JURY_TRUTHS, ...ASKING_TRUTHS };
export const ALL_SENTENCES = [...SENTENCES, ...CALIBRATION_SENTENCES, ...JURY_SENTENCES, ...ASKING_SENTENCES];
