// Computing time of one temperature's figures: 10,000 questions of six options, half of them calibrate.
//
//     node tests/benchmarks/temperature_frames.mjs
//
// Time is this process's own on the processor, so that other work on the machine does not count.
import { atTemperature, hold } from "../../app/components/calibration/temperature/tempering.js";

const N = 10_000;
const K = 6;
const MOVES = 300;
const MICRO = 1000;
let state = 7;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
const p = new Float64Array(N * K);
const labels = new Int32Array(N);
const own = new Uint8Array(N);
for (let i = 0; i < N; i++) {
  let sum = 0;
  for (let j = 0; j < K; j++) sum += p[i * K + j] = Math.exp(4 * random());
  for (let j = 0; j < K; j++) p[i * K + j] /= sum;
  labels[i] = Math.floor(K * random());
  own[i] = i % 2;
}
const held = hold({ logs: p.map(Math.log), labels, own, k: K });
for (const by of ["width", "mass"]) {
  const times = [];
  for (let move = 0; move < MOVES; move++) {
    const before = process.cpuUsage();
    atTemperature(held, { temperature: 0.2 + (4.8 * move) / MOVES, alpha: 100, bins: 15, by });
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / MICRO);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${by}: median ${times[MOVES / 2].toFixed(1)} ms, p95 ${times[Math.floor(0.95 * MOVES)].toFixed(1)} ms of ${MOVES} moves`,
  );
}
