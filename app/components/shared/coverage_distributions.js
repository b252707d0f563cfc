// The distributions of coverage, as core/conformal/coverage.py defines them. Shares agree with Python's within 1e-9,
// counts exactly. All distributions here have integer parameters of at least 1.

const BAND_TAIL = 0.025;
const REACHED = 1e-10; // a cumulative probability this close to a tail counts as having reached it, here and in Python
const NEGLIGIBLE = 1e-25;
const TRIMMED = 1e-15;
const PRECISE = 1e-15;
const NEGLIGIBLE_TIED = 1e-18;
const TRIMMED_EVERY = 16;
const MOST_TERMS = 1e8;
const KEPT_BANDS = 16;
const KEPT_INTERVALS = 20000;
const LOG_ROOT_TAU = Math.log(2 * Math.PI) / 2;

// The parameters [n + 1 - l, l] with l = floor((n + 1) alpha), alpha in thousandths. If l = 0, every set is full.
export function betaParameters(n, alpha) {
  const product = (n + 1) * alpha;
  const l = (product - (product % 1000)) / 1000;
  return [n + 1 - l, l];
}

// The remainder of Stirling's formula for log gamma, for z from 10 up.
function stirlingRest(z) {
  const y = 1 / (z * z);
  return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - (y * 691) / 360360))))) / z;
}

// log B(a, b): a product if one of them is small, else Stirling's formula with its large terms combined.
function logBeta(a, b) {
  const few = Math.min(a, b);
  const many = Math.max(a, b);
  if (few < 10) {
    let sum = -Math.log(many + few - 1);
    for (let i = 1; i < few; i++) sum += Math.log(i) - Math.log(many + i - 1);
    return sum;
  }
  const rest = stirlingRest(a) + stirlingRest(b) - stirlingRest(a + b);
  return LOG_ROOT_TAU + rest - (a - 0.5) * Math.log1p(b / a) - b * Math.log1p(a / b) - 0.5 * Math.log(b);
}

function logDensity(a, b, x, constant) {
  const left = a === 1 ? 0 : (a - 1) * Math.log(x);
  const right = b === 1 ? 0 : (b - 1) * Math.log1p(-x);
  return left + right - constant;
}

// The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22).
function betaFraction(a, b, x) {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let i = 1; i < 10000; i++) {
    const even = (i * (b - i) * x) / ((a + 2 * i - 1) * (a + 2 * i));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= d * c;
    const odd = (-(a + i) * (a + b + i) * x) / ((a + 2 * i) * (a + 2 * i + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < PRECISE) break;
  }
  return value;
}

// P(X <= x) for X ~ Beta(a, b).
function betaUpTo(a, b, x, constant) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - constant);
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

// The x with P(X <= x) = share, by Newton's method. If a step leaves the bracket, it is replaced by bisection.
export function betaQuantile(a, b, share) {
  const constant = logBeta(a, b);
  const mean = a / (a + b);
  const spread = Math.sqrt((mean * (1 - mean)) / (a + b + 1));
  let low = 0;
  let high = 1;
  let x = mean + (share < 0.5 ? -2 : 2) * spread;
  for (let i = 0; i < 200; i++) {
    if (!(x > low && x < high)) x = (low + high) / 2;
    const off = betaUpTo(a, b, x, constant) - share;
    if (off > 0) high = x;
    else low = x;
    const step = off / Math.exp(logDensity(a, b, x, constant));
    if (Math.abs(step) < PRECISE || high - low < PRECISE) return Math.min(Math.max(x - step, low), high);
    x -= step;
  }
  return x;
}

// The central 95% of coverage over calibration draws of size n; [1, 1] if every set is full.
export function betaBand(n, alpha) {
  const [a, b] = betaParameters(n, alpha);
  return b === 0 ? [1, 1] : [betaQuantile(a, b, BAND_TAIL), betaQuantile(a, b, 1 - BAND_TAIL)];
}

export function betaDensity(n, alpha, x) {
  const [a, b] = betaParameters(n, alpha);
  if (b === 0) return x === 1 ? Infinity : 0;
  return x < 0 || x > 1 ? 0 : Math.exp(logDensity(a, b, x, logBeta(a, b)));
}

// Beta-Binomial probabilities, not yet normalised, written to `law` (m + 1). They are computed by the ratio of
// neighbours, from the likeliest count outwards, until they are negligible. Returns the first and last count, and the
// sum.
function fillLaw(law, m, a, b) {
  const mode = a + b > 2 ? Math.min(m, Math.max(0, Math.round((m * (a - 1)) / (a + b - 2)))) : 0;
  let first = mode;
  let last = mode;
  let total = 1;
  law[mode] = 1;
  while (first > 0 && law[first] > NEGLIGIBLE) {
    const x = --first;
    law[x] = (law[x + 1] * (x + 1) * (m - x - 1 + b)) / ((m - x) * (x + a));
    total += law[x];
  }
  while (last < m && law[last] > NEGLIGIBLE) {
    const x = last++;
    law[x + 1] = (law[x] * (m - x) * (x + a)) / ((x + 1) * (m - x - 1 + b));
    total += law[x + 1];
  }
  return { first, last, total };
}

// The groups of equal scores among the true options' scores of calibration and test questions, sorted together: for
// each, how many scores are smaller, and how many are smaller or equal. Null if no two scores are equal.
export function tiesOf(calibration, test) {
  const ordered = new Float64Array(calibration.length + test.length);
  ordered.set(calibration);
  ordered.set(test, calibration.length);
  ordered.sort();
  const starts = [];
  const ends = [];
  for (let start = 0, at = 1; at <= ordered.length; at++) {
    if (at < ordered.length && ordered[at] === ordered[start]) continue;
    if (at - start > 1) {
      starts.push(start);
      ends.push(at);
    }
    start = at;
  }
  return starts.length ? { starts, ends, key: `${starts} ${ends}` } : null;
}

// Adds to `tied` the counts of covered questions for thresholds with s = low ... high test questions before them, where
// equal scores reach to where s would be `end`. `rest` - s places follow the threshold, and each holds a test question,
// which is covered, with probability (m - s) / (rest - s).
function addEquals(tied, law, low, high, end, rest, m) {
  if (end === rest) {
    for (let s = low; s <= high; s++) tied[m] += law[s]; // the largest score: every test question is covered
    return;
  }
  const moving = new Float64Array(end - low + 2);
  let a = 0;
  let b = 0;
  for (let s = low; s < end; s++) {
    if (s <= high) {
      moving[s - low] += law[s];
      b = s - low + 1;
    }
    for (let i = b - 1; i >= a; i--) {
      const tested = moving[i] * ((m - low - i) / (rest - s));
      moving[i] -= tested;
      moving[i + 1] += tested;
    }
    b++;
    if (s % TRIMMED_EVERY === 0) {
      while (a < b - 1 && moving[a] < NEGLIGIBLE_TIED) a++;
      while (b > a + 1 && moving[b - 1] < NEGLIGIBLE_TIED) b--;
    }
  }
  if (end <= high) moving[end - low] += law[end];
  for (let i = 0; i <= Math.min(end - low, m - low); i++) tied[low + i] += moving[i];
}

// The law of the number of covered questions, with the ties counted: `law` (m + 1), the first and last likely count,
// and the sum.
function lawOf(n, m, alpha, ties, scratch = new Float64Array(m + 1)) {
  const [a, b] = betaParameters(n, alpha);
  if (b === 0) {
    scratch.fill(0);
    scratch[m] = 1;
    return { law: scratch, first: m, last: m, total: 1 };
  }
  const { first, last, total } = fillLaw(scratch, m, a, b);
  if (!ties) return { law: scratch, first, last, total };
  let from = first;
  let to = last;
  while (from < to && scratch[from] <= NEGLIGIBLE_TIED * total) from++;
  while (to > from && scratch[to] <= NEGLIGIBLE_TIED * total) to--;
  const { starts, ends } = ties;
  const near = starts.map((_, i) => i).filter((i) => starts[i] < a + to && ends[i] > a + from);
  if (near.length === 0) return { law: scratch, first, last, total };
  const law = new Float64Array(m + 1);
  for (let s = from; s <= to; s++) law[s] = scratch[s] / total;
  const tied = law.slice();
  for (const i of near) tied.fill(0, Math.max(starts[i] + 1 - a, from), Math.max(Math.min(ends[i] - a, to) + 1, 0));
  for (const i of near) {
    const low = Math.max(starts[i] + 1 - a, from);
    addEquals(tied, law, low, Math.min(ends[i] - a, to), ends[i] - a, n + m - a, m);
  }
  return { law: tied, first: from, last: m, total: 1 };
}

// The central 95% of observed coverage on m test questions, as shares of m.
export function betaBinomialBand(n, m, alpha, { ties = null, scratch = new Float64Array(m + 1) } = {}) {
  const [, b] = betaParameters(n, alpha);
  if (b === 0) return [1, 1];
  const { law, first, last, total } = lawOf(n, m, alpha, ties, scratch);
  const ends = [BAND_TAIL, 1 - BAND_TAIL].map((share) => (share - REACHED) * total);
  let x = first;
  let sum = law[first];
  return ends.map((end) => {
    while (sum < end && x < last) sum += law[++x];
    return x / m;
  });
}

// Probabilities of the counts from `first` on, without the negligible ends.
function trimmed(first, law) {
  let low = 0;
  let high = law.length;
  while (low < high - 1 && law[low] < TRIMMED) low++;
  while (high > low + 1 && law[high - 1] < TRIMMED) high--;
  return { first: first + low, law: law.subarray(low, high) };
}

function convolved(first, second) {
  const law = new Float64Array(first.law.length + second.law.length - 1);
  for (let i = 0; i < first.law.length; i++) {
    for (let j = 0; j < second.law.length; j++) law[i + j] += first.law[i] * second.law[j];
  }
  return trimmed(first.first + second.first, law);
}

// The same band if each stratum has its own threshold: n[s] questions calibrate and m[s] test it, with ties[s].
export function strataBand(n, m, alpha, ties = []) {
  let sum = { first: 0, law: Float64Array.of(1) };
  let tested = 0;
  m.forEach((count, s) => {
    tested += count;
    if (betaParameters(n[s], alpha)[1] === 0) {
      sum = { first: sum.first + count, law: sum.law };
      return;
    }
    const { law, first, last, total } = lawOf(n[s], count, alpha, ties[s] ?? null);
    sum = convolved(
      sum,
      trimmed(
        first,
        law.subarray(first, last + 1).map((value) => value / total),
      ),
    );
  });
  let x = 0;
  let cumulative = sum.law[0];
  return [BAND_TAIL, 1 - BAND_TAIL].map((share) => {
    while (cumulative < share - REACHED && x < sum.law.length - 1) cumulative += sum.law[++x];
    return (sum.first + x) / tested;
  });
}

// The probabilities that 0 ... m of m questions are covered.
export function betaBinomialLaw(n, m, alpha, ties = null) {
  const { law, total } = lawOf(n, m, alpha, ties);
  return law.map((value) => value / total);
}

// The probability that at most `hits` of m questions are covered if the guarantee holds.
export function guaranteePValue(hits, n, m, alpha) {
  if (betaParameters(n, alpha)[1] === 0) return 1;
  const law = betaBinomialLaw(n, m, alpha);
  let sum = 0;
  for (let x = 0; x <= hits; x++) sum += law[x];
  return Math.min(1, sum);
}

// The value of a key, computed once. If there are too many values, the oldest is dropped.
function remembered(cache, most, key, compute) {
  if (!cache.has(key)) {
    if (cache.size >= most) cache.delete(cache.keys().next().value);
    cache.set(key, compute());
  }
  return cache.get(key);
}

const keptBands = new Map();
const keptIntervals = new Map();

// A share of endless test questions at most at this level, as coverage of a threshold with ties: up to the last equal
// score.
function upToEquals(level, count, ties) {
  const place = Math.ceil(level * count);
  const i = ties.ends.findIndex((end) => end >= place);
  return i >= 0 && ties.starts[i] < place ? ties.ends[i] / count : level;
}

// How many alphas apart the bands with ties are computed, so that large groups of equal scores take no longer than a
// moment; those between are drawn as straight lines.
function strideOf(n, m, ties) {
  if (!ties) return 1;
  const wide = 16 * Math.sqrt((n * m) / (4 * (n + m))) + 16;
  const work = ties.starts.reduce(
    (sum, start, i) => sum + Math.min(ties.ends[i] - start, wide) * (ties.ends[i] - start),
    0,
  );
  const share = Math.min(1, (2 * wide) / (n + m));
  return Math.max(1, Math.min(37, Math.ceil((999 * share * work) / MOST_TERMS)));
}

// Both bands at each alpha from 1 to 999. at(alpha) is the band on test questions, never interpolated.
export function bands(n, m, ties = null) {
  return remembered(keptBands, KEPT_BANDS, `${n} ${m} ${ties ? ties.key : ""}`, () => {
    const bands = { betaLow: [], betaHigh: [], testLow: [], testHigh: [] };
    const scratch = new Float64Array(m + 1);
    for (const name of Object.keys(bands)) bands[name] = new Float64Array(999);
    const stride = strideOf(n, m, ties);
    for (let i = 0; i < 999; i++) {
      [bands.betaLow[i], bands.betaHigh[i]] = betaBand(n, i + 1).map((end) =>
        ties ? upToEquals(end, n + m, ties) : end,
      );
      if (i % stride) continue;
      [bands.testLow[i], bands.testHigh[i]] = betaBinomialBand(n, m, i + 1, { ties, scratch });
    }
    const end = Math.floor(998 / stride) * stride;
    for (let i = 0; stride > 1 && i < 999; i++) {
      const before = i - (i % stride);
      const after = Math.min(before + stride, end);
      const share = after > before ? (i - before) / (after - before) : 0;
      if (i % stride)
        for (const ends of [bands.testLow, bands.testHigh])
          ends[i] = ends[before] + share * (ends[after] - ends[before]);
    }
    bands.at = (alpha) =>
      stride === 1
        ? [bands.testLow[alpha - 1], bands.testHigh[alpha - 1]]
        : remembered(keptBands, KEPT_BANDS * 64, `${n} ${m} ${ties.key} ${alpha}`, () =>
            betaBinomialBand(n, m, alpha, { ties }),
          );
    return bands;
  });
}

// The exact (Clopper-Pearson) 95% interval of a share; [0, 1] if n is 0.
export function shareInterval(hits, n) {
  return remembered(keptIntervals, KEPT_INTERVALS, `${hits} ${n}`, () => [
    hits === 0 ? 0 : betaQuantile(hits, n - hits + 1, BAND_TAIL),
    hits === n ? 1 : betaQuantile(hits + 1, n - hits, 1 - BAND_TAIL),
  ]);
}
