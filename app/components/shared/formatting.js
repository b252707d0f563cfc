// The Alpha lab's texts, and the decimals of numbers that decide what is in a set.

import { plainAlpha } from "./dom.js";

// A number with this many decimals. A half is rounded to the even digit, as Python rounds it: 6.25 is 6.2 and 6.75 is 6.8.
export function fixed(value, digits) {
  const halfAboveEven = (Math.abs(value) * 2 ** (digits + 1)) % 4 === 1;
  return (halfAboveEven ? value * (1 - Number.EPSILON) : value).toFixed(digits);
}

export const percent = (share, digits) => `${fixed(100 * share, digits)}%`;

const MOST_DECIMALS = 12; // scores are rounded to these
const MOST_ZEROS = 4; // of a small percentage, before it becomes a power of ten

// A number below 1 as a person writes it: 9.0 × 10⁻⁷.
export function powerOfTen(value) {
  const [digits, power] = value.toExponential(1).split("e-");
  return `${digits} × 10⁻${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
}

// The fewest decimals, at least `digits`, at which no number of `inside` looks like another number of `outside`.
export function decimalsApart(inside, outside, digits) {
  const others = outside.filter((value) => !inside.includes(value));
  const alike = (decimals) => {
    const texts = new Set(inside.map((value) => value.toFixed(decimals)));
    return others.some((value) => texts.has(value.toFixed(decimals)));
  };
  let decimals = digits;
  while (decimals < MOST_DECIMALS && alike(decimals)) decimals++;
  return decimals;
}

// How to write a threshold and the scores beside it: scores above it do not look like it or like those that are in, and
// it looks like a whole number only if it is one. core.reports.thresholds has the same rule.
export function besideThreshold(threshold, scores, digits) {
  const inside = [...scores.filter((score) => score <= threshold), threshold];
  const outside = [...scores.filter((score) => score > threshold), Math.round(threshold)];
  const decimals = Number.isFinite(threshold) ? decimalsApart(inside, outside, digits) : digits;
  return (value) => value.toFixed(decimals);
}

export function thresholdText(threshold, digits = 4) {
  if (threshold === Infinity) return "none";
  // A rank counts options.
  return Number.isInteger(threshold) && threshold > 1
    ? String(threshold)
    : besideThreshold(threshold, [], digits)(threshold);
}

// Probabilities as percentages. `sets` says which of them each score takes in: none looks like one that stays out.
export function percentsApart(shares, sets, digits = 1) {
  const values = shares.map((share) => 100 * share);
  const part = (members, side) => values.filter((_, j) => members[j] === side);
  const decimals = Math.max(...sets.map((members) => decimalsApart(part(members, true), part(members, false), digits)));
  const isTiny = (value) => decimals > MOST_ZEROS && value > 0 && value < 10 ** -digits;
  return values.map((value) => `${isTiny(value) ? powerOfTen(value) : value.toFixed(Math.min(decimals, MOST_ZEROS))}%`);
}

// A difference that stands beside its two terms: that of the terms as they are written, so that a person who subtracts
// finds it. Where the paired difference `exact` is of other questions than the terms, it is that one.
// core.estimates.difference_shown is the same.
export function differenceShown(value, other, digits, exact = value - other) {
  if (Math.abs(exact - (value - other)) > 1e-9) return exact;
  return Number((Number(fixed(value, digits)) - Number(fixed(other, digits))).toFixed(digits));
}

// P-values, as core.reports.p_values writes them.
export function pText(p) {
  return p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3);
}

export const pSaid = (p) => (p < 0.001 ? `p ${pText(p)}` : `p = ${pText(p)}`);

export function counted(count, singular, plural) {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

export function promise(alpha) {
  return (
    `For questions like the calibration questions, up to ${percent(alpha / 1000, 1)} of the sets may miss the truth: ` +
    `coverage should average ${percent(1 - alpha / 1000, 1)} or more.`
  );
}

// Says why every option is in every set, in the words of core.conformal.threshold.full_set_message.
export function fullSetText(n) {
  const smallest = Math.ceil(1000 / (n + 1)) / 1000;
  return (
    `With ${n} calibration question${n === 1 ? "" : "s"}, alpha can't be smaller than ${smallest.toFixed(3)}; ` +
    "below that, every option stays in every set."
  );
}

const STRATA = { group: ["subject", "subjects"], class: ["option", "options"] };

// Says how many strata have too few calibration questions for a threshold of their own.
export function fullStrataText(by, full, count, alpha) {
  const [singular, plural] = STRATA[by];
  const needed = Math.ceil(1000 / alpha) - 1;
  return (
    `At alpha ${plainAlpha(alpha)}, a threshold needs at least ${counted(needed, "calibration question", "calibration questions")}, but ` +
    `${full} of ${counted(count, singular, plural)} ${full === 1 ? "has" : "have"} fewer. ${by === "class" ? "These options stay in every set." : "Their sets hold every option."}`
  );
}

// The band of coverage; where all true options have the same score, each draw gives the same coverage.
export const bandSaid = ({ low, high }, digits) =>
  low === high
    ? `${percent(low, digits)} in every draw`
    : `band ${(100 * low).toFixed(digits)} to ${percent(high, digits)}`;

// The result's sets at its thresholds, of k options each.
export function verdict({ thresholds, threshold, coverage, meanSize }, by, band, k) {
  if (threshold === Infinity || thresholds.every((q) => q === Infinity) || meanSize === k)
    return "Every option stays in every set, so no set misses the truth and no set tells you anything.";
  if (!band) return `Each ${STRATA[by][0]} has its own threshold and its own promise; see below.`;
  if (coverage < band.low) return "▼ Below the band: chance alone rarely gives coverage this low.";
  if (coverage > band.high) return "▲ Above the band: more than promised. Filled empty sets can cause this.";
  return by === "all"
    ? "✓ Within the band: what the guarantee promises, apart from chance."
    : `✓ Within the band for all questions together. Each ${STRATA[by][0]} has its own promise; see below.`;
}

// The lab's answer: what a score's sets leave of `k` options, and how often the truth is among them.
export function labAnswer(alpha, { model, title, result, k, digits }) {
  return (
    `At alpha ${plainAlpha(alpha)} ${model} leaves ${fixed(result.meanSize, 2)} of ${k} options (by ${title}), ` +
    `and the truth is among them on ${percent(result.coverage, digits)} of questions.`
  );
}

// What was promised, and whether chance alone explains what came of it.
export function promiseKept(alpha, by, { result, k, band }) {
  if (result.threshold === Infinity || result.meanSize === k) return verdict(result, by, band, k);
  const goal = 1 - alpha / 1000;
  const promised = `${alpha % 100 ? percent(goal, alpha % 10 ? 1 : 0) : `${10 - alpha / 100} in 10`} were promised`;
  if (!band) return `${promised}.`;
  if (result.coverage < band.low) return `${promised}. Chance alone rarely gives so little.`;
  if (result.coverage > band.high) return `${promised}. This is more than chance alone explains.`;
  if (result.coverage < goal) return `${promised}. Chance alone explains so small a difference.`;
  return `${promised}, and the promise is kept.`;
}

// For a screen reader, when the pointer rests.
export function summary(alpha, slots, results, digits) {
  const parts = slots.map(
    ({ side, title }) =>
      `${title} covers ${percent(results[side].coverage, digits)} with ${fixed(results[side].meanSize, 2)} options on average`,
  );
  return `At alpha ${plainAlpha(alpha)} ${parts.join("; ")}.`;
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

export function tuningHint({ tunedOn, n }) {
  return tunedOn
    ? `Chosen at alpha 0.1 on ${counted(tunedOn, "calibration question", "calibration questions")} that were set aside for this. The other ${n.toLocaleString("en")} set the threshold.`
    : "There are too few calibration questions to set some aside, so these are default values that were not chosen for this model.";
}
