// Sentences about one question's set.

import { plainAlpha, shownAlpha } from "../../shared/dom.js";
import { listed } from "../../shared/many_options.js";

export function setText(letters) {
  return letters.length ? `{${listed(letters)}}` : "{ }";
}

export function leavesText(leaves, filled) {
  if (filled) return "kept as the top one";
  return leaves > 999 ? "stays at every alpha" : `leaves at ${shownAlpha(leaves)}`;
}

// How many options are left, and whether the truth is among them, if it is known.
export function verdict(members, k, truth) {
  const left =
    members.length === 0
      ? "Every option is ruled out"
      : members.length === k
        ? `None of the ${k} options is ruled out`
        : `${members.length} of ${k} options can’t be ruled out`;
  if (truth === null) return `${left}.`;
  const held = members.includes(truth);
  if (members.length === 0) return `${left}, even the truth, ${truth}.`;
  if (members.length === 1)
    return held ? `${left}: ${truth}, the truth.` : `${left}. The truth, ${truth}, is ruled out.`;
  return held ? `${left}. The truth, ${truth}, is among them.` : `${left}. The truth, ${truth}, is ruled out.`;
}

// What the set means, in one true sentence: the guarantee is about many questions together, on average.
export function meaning(alpha, isOwn) {
  const held = shownPercent(1000 - alpha);
  const together = `For questions like the calibration questions, at least ${held} of the sets at this alpha hold the right answer, on average`;
  return isOwn
    ? `${together}. Your question is not one of them, so take its set as a guide.`
    : `${together}. Nothing is promised for a single question.`;
}

function shownPercent(thousandths) {
  return `${thousandths % 10 ? (thousandths / 10).toFixed(1) : thousandths / 10}%`;
}

export function nextToLeave(standing, members, letters, leaves) {
  const inside = letters.map((letter, j) => ({ letter, at: leaves[j] })).filter((_, j) => members[j]);
  const next = Math.min(...inside.map(({ at }) => at));
  if (inside.length === 0 || next > 999) return "";
  const who = listed(
    inside.filter(({ at }) => at === next).map(({ letter }) => letter),
    " and ",
  );
  return `Next to leave: ${who} at alpha ${plainAlpha(next)}.`;
}

export function summary(alpha, title, members, truth) {
  const held = truth === null ? "" : members.includes(truth) ? ", which holds the truth" : ", which misses the truth";
  return `At alpha ${plainAlpha(alpha)} the ${title} set is ${members.length ? listed(members) : "empty"}${held}.`;
}
