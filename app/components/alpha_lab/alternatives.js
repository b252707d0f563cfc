// What a screen reader says in place of each figure: its title, and the figures that it shows at this alpha.

import { plainAlpha } from "../shared/dom.js";
import { counted, percent, thresholdText } from "../shared/formatting.js";

// Texts by the figure's name; in `strips` by side. `results` are the figures of the slots' scores at `alpha`, `m` is the
// number of test questions and `k` that of options.
export function alternatives({ alpha, slots, results, bands, digits, m, k }) {
  const names = slots.map(({ title }) => title).join(" and ");
  const shown = (share) => percent(share, digits);
  const target = `target ${percent(1 - alpha / 1000, 1)}`;
  const each = (textOf) => slots.map((slot) => `${slot.title} ${textOf(results[slot.side], slot)}`).join("; ");
  const at = `At alpha ${plainAlpha(alpha)}:`;
  const sizes = Array.from({ length: k + 1 }, (_, size) => size);
  const options = (size) => counted(size, "option", "options");
  const ofSizes = (describe) => (result) =>
    sizes
      .filter((size) => result.sizes[size])
      .map((size) => describe(result, size))
      .join(", ");
  const shareOf = ({ sizes: counts }, size) => `${options(size)} ${shown(counts[size] / m)}`;
  const coveredOf = ({ sizes: counts, bySize }, size) =>
    `${options(size)} ${percent(bySize[size] / counts[size], 1)} of ${counts[size].toLocaleString("en")}`;
  const texts = {
    coverage: `Coverage against alpha by ${names}. ${at} ${each(({ coverage }) => shown(coverage))}, ${target}.`,
    size: `Mean set size against alpha by ${names}. ${at} ${each(({ meanSize }) => meanSize.toFixed(2))} of ${k} options.`,
    sizes: `Share of test questions by set size. ${at} ${each(ofSizes(shareOf))}.`,
    bysize: `Coverage by set size. ${at} ${each(ofSizes(coveredOf))} questions.`,
    strips: {},
  };
  for (const { side, title } of slots) {
    const { threshold, coverage } = results[side];
    texts[side] = `${title} scores of the calibration questions. ${limit(threshold)}`;
    texts.strips[side] = `${title} coverage ${shown(coverage)}, ${target}${bandText(bands[side], alpha, shown)}.`;
  }
  return texts;
}

function limit(threshold) {
  if (Number.isNaN(threshold)) return "Thresholds differ, so there is no single line.";
  return threshold === Infinity
    ? "There is no threshold: every score stays."
    : `The threshold is ${thresholdText(threshold)}.`;
}

function bandText(band, alpha, shown) {
  return band ? `, band ${shown(band.testLow[alpha - 1])} to ${shown(band.testHigh[alpha - 1])}` : "";
}
