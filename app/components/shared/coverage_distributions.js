// The distributions of coverage, as core/conformal/coverage.py defines them. Shares agree with Python's within 1e-9,
// counts exactly. All distributions here have integer parameters of at least 1.

const BAND_TAIL = 0.025;
const TIE = 1e-10; // a cumulative probability this close to a tail counts as having reached it, here and in Python
const NEGLIGIBLE = 1e-25;
const TRIMMED = 1e-15;
const PRECISE = 1e-15;
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

// The central 95% of observed coverage on m test questions, as shares of m.
export function betaBinomialBand(n, m, alpha, scratch = new Float64Array(m + 1)) {
  const [a, b] = betaParameters(n, alpha);
  if (b === 0) return [1, 1];
  const { first, last, total } = fillLaw(scratch, m, a, b);
  const ends = [BAND_TAIL, 1 - BAND_TAIL].map((share) => (share - TIE) * total);
  let x = first;
  let sum = scratch[first];
  return ends.map((end) => {
    while (sum < end && x < last) sum += scratch[++x];
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

function convolved(one, other) {
  const law = new Float64Array(one.law.length + other.law.length - 1);
  for (let i = 0; i < one.law.length; i++) {
    for (let j = 0; j < other.law.length; j++) law[i + j] += one.law[i] * other.law[j];
  }
  return trimmed(one.first + other.first, law);
}

// The same band if each stratum has its own threshold: n[s] questions calibrate and m[s] test it.
export function strataBand(n, m, alpha) {
  let sum = { first: 0, law: Float64Array.of(1) };
  let tested = 0;
  m.forEach((asked, s) => {
    tested += asked;
    const [a, b] = betaParameters(n[s], alpha);
    const law = new Float64Array(asked + 1);
    if (b === 0) {
      sum = { first: sum.first + asked, law: sum.law };
      return;
    }
    const { first, last, total } = fillLaw(law, asked, a, b);
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
    while (cumulative < share - TIE && x < sum.law.length - 1) cumulative += sum.law[++x];
    return (sum.first + x) / tested;
  });
}

// The probabilities that 0 ... m of m questions are covered.
export function betaBinomialLaw(n, m, alpha) {
  const [a, b] = betaParameters(n, alpha);
  const law = new Float64Array(m + 1);
  if (b === 0) {
    law[m] = 1;
    return law;
  }
  const { total } = fillLaw(law, m, a, b);
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
function remembered(kept, most, key, compute) {
  if (!kept.has(key)) {
    if (kept.size >= most) kept.delete(kept.keys().next().value);
    kept.set(key, compute());
  }
  return kept.get(key);
}

const keptBands = new Map();
const keptIntervals = new Map();

// Both bands at each alpha from 1 to 999.
export function bands(n, m) {
  return remembered(keptBands, KEPT_BANDS, `${n} ${m}`, () => {
    const made = { betaLow: [], betaHigh: [], testLow: [], testHigh: [] };
    const scratch = new Float64Array(m + 1);
    for (const name of Object.keys(made)) made[name] = new Float64Array(999);
    for (let i = 0; i < 999; i++) {
      [made.betaLow[i], made.betaHigh[i]] = betaBand(n, i + 1);
      [made.testLow[i], made.testHigh[i]] = betaBinomialBand(n, m, i + 1, scratch);
    }
    return made;
  });
}

// The exact (Clopper-Pearson) 95% interval of a share; [0, 1] if n is 0.
export function shareInterval(hits, n) {
  return remembered(keptIntervals, KEPT_INTERVALS, `${hits} ${n}`, () => [
    hits === 0 ? 0 : betaQuantile(hits, n - hits + 1, BAND_TAIL),
    hits === n ? 1 : betaQuantile(hits + 1, n - hits, 1 - BAND_TAIL),
  ]);
}
