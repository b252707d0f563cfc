// Sentences about one question's set.

import { plainAlpha, shownAlpha } from "../../shared/dom.js";

const LONGEST_NAME = 40; // characters of an option's text in a sentence
const MOST_NAMES = 4;
const MOST_CHARACTERS = 100; // of the names in a sentence
const MOST_IN_TABLE = 44;

function cut(text) {
  const words = text.trim().replace(/\s+/g, " ");
  if (words.length <= LONGEST_NAME) return words;
  const part = words.slice(0, LONGEST_NAME);
  const whole = words[LONGEST_NAME] === " " ? part : part.replace(/\s+\S*$/, "");
  return `${whole.replace(/[\s,;:.]+$/, "")}…`;
}

// What options are called in a sentence: their texts. Of a long one the beginning stands behind its letter, as do texts
// that look alike.
export function namesOf(options, letters) {
  const texts = options.map(cut);
  const isAlone = (text) => text && !text.endsWith("…") && texts.indexOf(text) === texts.lastIndexOf(text);
  return texts.map((text, j) => (isAlone(text) ? text : text ? `${letters[j]} (${text})` : letters[j]));
}

// "Toronto or Ottawa". Behind the first ones, many names end with the number of the others.
export function either(names, between = "or") {
  let shown = 0;
  for (let length = 0; shown < Math.min(names.length, MOST_NAMES); shown++) {
    length += names[shown].length;
    if (shown && length > MOST_CHARACTERS) break;
  }
  const others = names.length - shown;
  const parts = [...names.slice(0, shown), ...(others ? [others === 1 ? "1 other" : `${others} others`] : [])];
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${between} ${parts.at(-1)}`;
}

// What the set says: `members` are the names of its options, of k.
export function answer(members, k) {
  if (members.length === 0) return "Every option is ruled out";
  if (members.length === k) return "No option can be ruled out";
  return `${members.length === 1 ? "Only " : ""}${either(members)} can’t be ruled out`;
}

// A set in a cell of a table.
export function setInTable(members, k) {
  const names = either(members);
  return members.length && names.length <= MOST_IN_TABLE ? names : `${members.length} of ${k} options`;
}

export function leavesText(leaves, filled) {
  if (filled) return "kept as the top one";
  return leaves > 999 ? "stays at every alpha" : `leaves at ${shownAlpha(leaves)}`;
}

// How many options are left, and whether the truth is among them, if it is known.
export function verdict(members, k, truth) {
  const left = `${members.length} of ${k} options ${members.length === 1 ? "is" : "are"} in the set`;
  if (truth === null) return `${left}.`;
  if (!members.includes(truth)) return `${left}. The truth, ${truth}, is ruled out.`;
  return members.length === 1 ? `${left}, and it is the truth.` : `${left}. The truth, ${truth}, is one of them.`;
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

export function nextToLeave(members, names, leaves) {
  const inside = names.map((name, j) => ({ name, at: leaves[j] })).filter((_, j) => members[j]);
  const next = Math.min(...inside.map(({ at }) => at));
  if (inside.length === 0 || next > 999) return "";
  const leaving = inside.filter(({ at }) => at === next).map(({ name }) => name);
  return `Next to leave: ${either(leaving, "and")} at alpha ${plainAlpha(next)}.`;
}

export function summary(alpha, title, members, k, truth) {
  const held =
    truth === null ? "" : members.includes(truth) ? " The truth is in the set." : " The set misses the truth.";
  return `At alpha ${plainAlpha(alpha)} by ${title}: ${answer(members, k)}.${held}`;
}
