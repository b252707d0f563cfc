// The betting test of exchangeability, as tests/reference/exchangeability.py defines it. Only + - * / in that order, so
// that both languages get the same bits.

const JUMP = 0.01;
const SCALE_BITS = 100;
const SCALE = 2 ** SCALE_BITS;
export const ALARM = 20;

// Counts that grow, and how many of them lie at places up to one (a Fenwick tree).
class Counts {
  constructor(size) {
    this.tree = new Int32Array(size + 1);
  }

  add(place) {
    for (let at = place + 1; at < this.tree.length; at += at & -at) this.tree[at]++;
  }

  // How many were added at places below this one.
  below(place) {
    let sum = 0;
    for (let at = place; at > 0; at -= at & -at) sum += this.tree[at];
    return sum;
  }
}

// The place of each score among the different scores of all, and how many different ones there are.
export function placesOf(scores) {
  const sorted = scores.slice().sort();
  let size = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[size++] = sorted[i];
  const different = sorted.subarray(0, size);
  const places = Int32Array.from(scores, (score) => {
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (different[middle] < score) low = middle + 1;
      else high = middle;
    }
    return low;
  });
  return { places, size };
}

// The smoothed p-value of each score among all before it. Scores are given by their places, from 0 to `size` − 1.
export function onlinePValues(past, places, size, u) {
  const counts = new Counts(size);
  for (const place of past) counts.add(place);
  const pValues = new Float64Array(places.length);
  let earlier = past.length;
  for (let t = 0; t < places.length; t++) {
    const place = places[t];
    const low = counts.below(place);
    const high = counts.below(place + 1);
    pValues[t] = (earlier - high + u[t] * (high - low + 1)) / (earlier + 1);
    counts.add(place);
    earlier++;
  }
  return pValues;
}

// The capital of the Simple Jumper after each p-value: mantissas[t] * 2 ** exponents[t].
export function simpleJumper(pValues) {
  const count = pValues.length;
  const mantissas = new Float64Array(count);
  const exponents = new Int32Array(count);
  let lower = 1 / 3;
  let none = 1 / 3;
  let upper = 1 / 3;
  let exponent = 0;
  for (let t = 0; t < count; t++) {
    const p = pValues[t];
    const shared = ((lower + none + upper) * JUMP) / 3;
    lower = (lower * (1 - JUMP) + shared) * (1 - (p - 0.5));
    none = none * (1 - JUMP) + shared;
    upper = (upper * (1 - JUMP) + shared) * (1 + (p - 0.5));
    let capital = lower + none + upper;
    if (capital >= SCALE || capital < 1 / SCALE) {
      const large = capital >= SCALE;
      const factor = large ? 1 / SCALE : SCALE;
      lower *= factor;
      none *= factor;
      upper *= factor;
      capital *= factor;
      exponent += large ? SCALE_BITS : -SCALE_BITS;
    }
    mantissas[t] = capital;
    exponents[t] = exponent;
  }
  return { mantissas, exponents };
}

// The first question, from 0, after which the capital is `limit` or more; -1 if it never is.
export function alarmOf({ mantissas, exponents }, limit = ALARM) {
  for (let t = 0; t < mantissas.length; t++)
    if (exponents[t] > 0 || (exponents[t] === 0 && mantissas[t] >= limit)) return t;
  return -1;
}

// The decimal logarithm of the capital, for drawing.
export function logarithmOf({ mantissas, exponents }, t) {
  return Math.log10(mantissas[t]) + exponents[t] * Math.LOG10E * Math.LN2;
}
