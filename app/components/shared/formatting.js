// The Alpha lab's texts.

import { shownAlpha } from "./dom.js";

export function percent(share, digits) {
  return `${(100 * share).toFixed(digits)}%`;
}

export function counted(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function promise(alpha) {
  return (
    `Of questions like the calibrated ones ${percent(alpha / 1000, 1)} may have a set that misses the truth; ` +
    `so coverage should be ${percent(1 - alpha / 1000, 1)} or more, give or take luck.`
  );
}

// Says why every option is in every set, in the words of core.conformal.threshold.full_set_message.
export function fullSetText(n) {
  const smallest = Math.ceil(1000 / (n + 1)) / 1000;
  return (
    `With ${n} calibration question${n === 1 ? "" : "s"} alpha can be no smaller than ${smallest.toFixed(3)}; ` +
    "below it every option stays in the set."
  );
}

const STRATA = { group: ["subject", "subjects"], class: ["letter", "letters"] };

// Says how many strata have too few calibration questions for a threshold of their own.
export function fullStrataText(by, full, of, alpha) {
  const [one, many] = STRATA[by];
  const needed = Math.ceil(1000 / alpha) - 1;
  return (
    `At alpha ${shownAlpha(alpha)} a threshold needs at least ${counted(needed, "calibration question", "calibration questions")}: ` +
    `${full} of ${counted(of, one, many)} ${full === 1 ? "has" : "have"} fewer, and there every option stays in the set.`
  );
}

export function verdict({ thresholds, threshold, coverage }, by, band) {
  if (threshold === Infinity || thresholds.every((q) => q === Infinity))
    return "Every option stays in every set, so nothing is missed and nothing is said.";
  if (!band) return `A threshold for each ${STRATA[by][0]}: the promise is made within each, see below.`;
  if (coverage < band.low) return "▼ Below the band: luck alone seldom brings so little.";
  if (coverage > band.high) return "▲ Above the band: more than promised, as tied scores and filled sets can bring.";
  return by === "all"
    ? "✓ Within the band: what the guarantee promises, give or take luck."
    : `✓ Within the band of all together; the promise is made within each ${STRATA[by][0]}, see below.`;
}

// For a screen reader, when the pointer rests.
export function summary(alpha, slots, results, digits) {
  const said = slots.map(
    ({ side, title }) =>
      `${title} covers ${percent(results[side].coverage, digits)} with ${results[side].meanSize.toFixed(2)} options on average`,
  );
  return `At alpha ${shownAlpha(alpha)} ${said.join("; ")}.`;
}

// A text on a tuned score's parameters, which are never tuned on questions that calibrate or test.
export function tuningText({ name, look, tunedOn, parameters }) {
  if (tunedOn === null) return "";
  const hasFreeRanks = look.pool.scoreTable.get(name).parameters.includes("free_ranks");
  const values =
    `λ ${parameters.weight}` +
    (hasFreeRanks ? ` after ${counted(parameters.freeRanks, "free rank", "free ranks")}` : "");
  return tunedOn ? `tuned: ${values}` : `not tuned: ${values}`;
}

export function tuningHint({ tunedOn }) {
  return tunedOn
    ? `Chosen at alpha 0.1 on ${counted(tunedOn, "calibration question", "calibration questions")} set aside, which then do not calibrate.`
    : "Too few calibration questions to set some aside, so these are defaults and not chosen for this model.";
}
