// Which questions the inspector shows, and in which order. Nothing here touches the page.

export const FULL = 10_000; // probabilities come in hundredths of a percent
const SURE = 8_000;
const UNSURE = 5_000;
const MORE_CERTAIN = 2_000;
const WORDS_AT_MOST = 8;

export const COUNTS = {
  both: "Both right",
  first: "Only the first right",
  second: "Only the second right",
  neither: "Neither right",
};
export const CHANGES = {
  all: "any change of the set",
  grew: "the second set is larger",
  shrank: "the second set is smaller",
  same: "sets of the same size",
};
export const SURENESS = {
  all: "any confidence",
  both: "both at 80% or more",
  neither: "both below 50%",
  first: "the first more certain by 20 points",
  second: "the second more certain by 20 points",
};
export const ORDERS = {
  grew: "sets that grew most",
  shrank: "sets that shrank most",
  confidence: "confidence that moved most",
  file: "as in the file",
};

const IN_ONE_NUMBER = 32; // options of a part of a set

// The columns of an Arrow table, as arrays. A run's `holds(i, j)` says whether option j is in the set of question i, and
// `sizes` how many are.
export function readNumbers(table, runs, k) {
  const column = (name) => table.getChild(name)?.toArray() ?? null;
  const parts = (i) => Array.from({ length: Math.ceil(k / IN_ONE_NUMBER) }, (_, word) => column(`set${i}_${word}`));
  const read = Array.from({ length: runs }, (_, i) => ({
    pick: column(`pick${i}`),
    ...setsOf(parts(i), table.numRows),
    p: Array.from({ length: k }, (_, j) => column(`p${i}_${j}`)),
    ids: table.getChild(`id${i}`),
  }));
  return { m: table.numRows, k, label: column("label"), runs: read };
}

function setsOf(parts, m) {
  const sizes = Uint8Array.from({ length: m }, (_, i) => parts.reduce((sum, part) => sum + sizeOf(part[i]), 0));
  return { sizes, holds: (i, j) => ((parts[j >> 5][i] >>> (j & 31)) & 1) === 1 };
}

export function sizeOf(set) {
  let left = set;
  let size = 0;
  for (; left; left = (left & (left - 1)) >>> 0) size++;
  return size;
}

// Which of COUNTS a question belongs to.
export function countOf({ label, runs }, first, second, i) {
  const firstIsRight = runs[first].pick[i] === label[i];
  const other = runs[second].pick[i] === label[i];
  return firstIsRight ? (other ? "both" : "first") : other ? "second" : "neither";
}

const confidence = (run, i) => run.p[run.pick[i]]?.[i] ?? 0;

function passes({ sure, change }, runA, runB, i) {
  const apart = runB.sizes[i] - runA.sizes[i];
  if (change === "grew" && apart <= 0) return false;
  if (change === "shrank" && apart >= 0) return false;
  if (change === "same" && apart !== 0) return false;
  if (sure === "all") return true;
  const [a, b] = [confidence(runA, i), confidence(runB, i)];
  if (sure === "both") return a >= SURE && b >= SURE;
  if (sure === "neither") return a < UNSURE && b < UNSURE;
  return sure === "first" ? a - b >= MORE_CERTAIN : b - a >= MORE_CERTAIN;
}

export function wordsOf(search) {
  return search.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_AT_MOST);
}

// The questions that pass the filters, in order, and how many of each of the four counts pass the other filters.
// `texts.group(i)` is a question's subject, and `texts.holds(i, words)` says whether it contains all words.
export function chosenRows(numbers, first, second, view, texts) {
  const [runA, runB] = [numbers.runs[first], numbers.runs[second]];
  const words = wordsOf(view.search);
  const counts = { both: 0, first: 0, second: 0, neither: 0 };
  const changes = { grew: 0, shrank: 0, same: 0 };
  const rows = [];
  for (let i = 0; i < numbers.m; i++) {
    if (view.subject && texts.group(i) !== view.subject) continue;
    if (!passes(view, runA, runB, i)) continue;
    if (words.length && !texts.holds(i, words)) continue;
    const count = countOf(numbers, first, second, i);
    counts[count]++;
    if (view.right !== "all" && view.right !== count) continue;
    const apart = runB.sizes[i] - runA.sizes[i];
    changes[apart > 0 ? "grew" : apart < 0 ? "shrank" : "same"]++;
    rows.push(i);
  }
  const key = {
    grew: (i) => runA.sizes[i] - runB.sizes[i],
    shrank: (i) => runB.sizes[i] - runA.sizes[i],
    confidence: (i) => -Math.abs(confidence(runA, i) - confidence(runB, i)),
    file: () => 0,
  }[view.order];
  const keys = new Map(rows.map((i) => [i, key(i)]));
  rows.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  return { found: rows, counts, changes };
}
