// Random numbers that equal Python's bit for bit, as core/conformal/draws.py defines them.

const WORD_SIZE = 4294967296;
const UNIFORMS = 1;
const SPLIT = 2;
const FEWER = 3;
const TUNING = 4;
const REDRAW = 5;
const ORDER = 7;
const SMOOTHING = 8;
export const PURPOSES = { UNIFORMS, SPLIT, FEWER, TUNING, REDRAW, ORDER, SMOOTHING };
const DIGIT_BITS = 12;

function stir(x) {
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return x ^ (x >>> 15);
}

// A whole number modulo 2^32, as a 32-bit integer.
function word(value) {
  return (((value % WORD_SIZE) + WORD_SIZE) % WORD_SIZE) | 0;
}

// A number from 0 to 2^32 - 1 for each place. Different places have different numbers.
export function hashes(places, seed, purpose, draw = 0, into = new Uint32Array(places.length)) {
  const first = stir(stir(stir(purpose) ^ word(seed)) + word(draw));
  const second = stir(first + purpose);
  for (let i = 0; i < places.length; i++) into[i] = stir(stir(places[i] ^ first) + second);
  return into;
}

// A number in [0, 1) with 53 random bits for each place.
export function uniformsAt(places, seed, purpose = UNIFORMS) {
  const high = hashes(places, seed, purpose, 0);
  const low = hashes(places, seed, purpose, 1);
  return Float64Array.from(high, (value, i) => (value * 2097152 + (low[i] >>> 11)) / 9007199254740992);
}

// The size-th smallest of 32-bit numbers, counted from 1: select by the first twelve bits, then sort the few that
// remain.
export function smallestAt(values, size) {
  const counts = new Int32Array(1 << DIGIT_BITS);
  const shift = 32 - DIGIT_BITS;
  for (let i = 0; i < values.length; i++) counts[values[i] >>> shift]++;
  let digit = 0;
  let before = 0;
  while (before + counts[digit] < size) before += counts[digit++];
  const few = new Uint32Array(counts[digit]);
  for (let i = 0, at = 0; i < values.length; i++) if (values[i] >>> shift === digit) few[at++] = values[i];
  return few.sort()[size - before - 1];
}

// Marks the rows in a random subset of `size` rows with 1, the others with 0. Rows of one place are marked alike.
export function firstPart(places, size, seed, purpose, draw = 0) {
  const drawn = hashes(places, seed, purpose, draw);
  const inside = new Uint8Array(drawn.length);
  if (size < 1) return inside;
  const cut = smallestAt(drawn, size);
  for (let i = 0; i < drawn.length; i++) inside[i] = drawn[i] <= cut ? 1 : 0;
  return inside;
}

// A split into rows that calibrate (1) and rows that test (0). `target` rows calibrate, or more if the cluster at the
// cut would be divided.
export function splitCut(clusters, target, seed, draw = 0) {
  return firstPart(clusters, target, seed, SPLIT, draw);
}
