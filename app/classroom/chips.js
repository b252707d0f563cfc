// How taps become shares. Each tap puts a chip on an option, and an option's share is its part of all chips, so that
// every answer sums to 100%.

export const MOST_CHIPS = 10;

// Whole per cent of chips: what rounding down leaves goes to the options that lost most by it, the earlier one first.
export function sharesOf(chips) {
  const sum = chips.reduce((total, count) => total + count, 0);
  if (!sum) return null;
  const shares = chips.map((count) => Math.floor((100 * count) / sum));
  const lost = chips.map((count, i) => ({ i, rest: (100 * count) % sum }));
  lost.sort((a, b) => b.rest - a.rest || a.i - b.i);
  const left = 100 - shares.reduce((total, count) => total + count, 0);
  for (const { i } of lost.slice(0, left)) shares[i] += 1;
  return shares;
}

// The chips after one more on an option, or one fewer.
export function changed(chips, option, by) {
  return chips.map((count, i) => (i === option ? Math.min(MOST_CHIPS, Math.max(0, count + by)) : count));
}
