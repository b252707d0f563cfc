// Adaptive conformal inference, as tests/reference/adaptive.py defines it. Levels are whole numbers of millionths, so all
// of this is exact.

const THOUSANDTHS = 1000;
export const MILLION = 1000000;

// ceil((n + 1)(1 - level)) for a level in millionths, which may lie outside of 0 ... 1,000,000.
export function rankAt(n, level) {
  return Math.ceil(((n + 1) * (MILLION - level)) / MILLION);
}

// The levels before each question, and the thresholds of the sets; Infinity holds every option, -Infinity none.
// `sorted` are the rising calibration scores and `truth` the scores of the true options of the stream.
export function adaptiveSets(sorted, truth, alpha, gamma) {
  const n = sorted.length;
  const count = truth.length;
  const levels = new Int32Array(count);
  const thresholds = new Float64Array(count);
  const missed = new Uint8Array(count);
  let level = alpha * THOUSANDTHS;
  for (let t = 0; t < count; t++) {
    const rank = rankAt(n, level);
    const threshold = rank < 1 ? -Infinity : rank > n ? Infinity : sorted[rank - 1];
    const miss = truth[t] > threshold ? 1 : 0;
    levels[t] = level;
    thresholds[t] = threshold;
    missed[t] = miss;
    level += gamma * (alpha - THOUSANDTHS * miss);
  }
  return { levels, thresholds, missed };
}

// Between which values the coverage of this many questions has to lie, whatever the questions are.
export function promisedBand(questions, alpha, gamma) {
  if (gamma === 0 || questions === 0) return [0, 1];
  const target = (THOUSANDTHS - alpha) / THOUSANDTHS;
  const reach = (Math.max(alpha, THOUSANDTHS - alpha) + gamma) / (gamma * questions);
  return [Math.max(0, target - reach), Math.min(1, target + reach)];
}
