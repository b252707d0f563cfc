// Sets from scores that Python computed: nothing here but whole numbers and comparisons, so phones, projector and Python
// agree. alpha counts in thousandths.

// The 1-based rank ⌈(m + 1)(1 − alpha)⌉ of the threshold among m calibration scores.
export function rankAt(m, alpha) {
  return Math.ceil(((m + 1) * (1000 - alpha)) / 1000);
}

// The threshold among sorted calibration scores; Infinity if there are too few, and every option stays in.
export function thresholdAt(calibration, alpha) {
  const rank = rankAt(calibration.length, alpha);
  return rank > calibration.length ? Infinity : calibration[rank - 1];
}

// Which options of one question are in the set.
export function membersOf(options, threshold) {
  return options.map((score) => score <= threshold);
}

export function lettersIn(members) {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].filter((_, i) => members[i]);
  return letters.length ? letters.join(" ") : "none";
}

// How many sets hold the truth, and how many options they have together.
export function counted(scores, truths, alpha) {
  const threshold = thresholdAt(scores.calibration, alpha);
  const sets = scores.test.map((options) => membersOf(options, threshold));
  return {
    threshold,
    sets,
    covered: sets.filter((members, i) => members[truths[i]]).length,
    options: sets.reduce((total, members) => total + members.filter(Boolean).length, 0),
  };
}

// What so few calibration questions do not allow; empty where alpha is large enough.
export function tooFew(m, smallest, alpha) {
  if (rankAt(m, alpha) <= m) return "";
  return (
    `With ${m} calibration questions, alpha can't be smaller than ${(smallest / 1000).toFixed(3)}: ` +
    "below that, every option stays in every set."
  );
}
