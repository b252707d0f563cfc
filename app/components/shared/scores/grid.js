// Figures that differ only by rounding become equal, exactly as on_grid of core/conformal/probabilities.py makes them.

const GRID = 1e12;
const NEAR_AN_END = 1e-6;

// A value rounded to 12 decimals. One whose `share` is less than a millionth from 0 or 1, and not equal to it, is kept
// as it is: there, the tiny probabilities of a confident model decide. `share` is the value without its cost.
export function onGrid(value, share = value) {
  const distance = Math.abs(share - Math.floor(share + 0.5));
  return distance > 0 && distance < NEAR_AN_END ? value : Math.floor(value * GRID + 0.5) / GRID;
}
