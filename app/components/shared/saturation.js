// APS thresholds so close to 1 that tiny differences decide which options stay, described in the words of
// core.reports.alpha_lab.saturation.

import { powerOfTen } from "./formatting.js";

const NEAR = 1e-6;

const isNear = (threshold) => threshold > 1 - NEAR && threshold <= 1;

// Whether negligible differences decide what is in a set. At a threshold of 1 every option is.
export const isDecidedByLittle = (thresholds) => thresholds.some((threshold) => isNear(threshold) && threshold < 1);

// Whether a score of the table is a cumulative probability: APS, or RAPS if tuning gives ranks no cost.
export function canSaturate({ saturates, grid }, { weight }) {
  return saturates && (grid.length === 0 || weight === 0);
}

// A text on a score's thresholds close to 1, "" if there are none. `strata` names the groups that have a threshold
// each.
export function saturatedText(title, thresholds, strata = "") {
  const near = thresholds.filter(isNear);
  if (near.length === 0) return "";
  if (strata) {
    const total = `${thresholds.length} ${strata}`;
    return (
      `The ${title} thresholds of ${near.length} of ${total} are within 0.000001 of 1. There, an option stays unless the options ranked ` +
      "after it have almost no probability together, so negligible differences decide how large the sets are."
    );
  }
  if (near[0] === 1) return `The ${title} threshold is 1, so every option stays in every set.`;
  const distance = powerOfTen(1 - near[0]);
  return (
    `The ${title} threshold is ${distance} below 1. An option stays unless the options ranked after it have less than ${distance} of ` +
    "probability together, so negligible differences decide how large the sets are."
  );
}
