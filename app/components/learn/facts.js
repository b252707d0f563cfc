// Every figure that the lesson's texts mention, computed from the run's questions at one alpha. core/conformal defines
// them; tests/app/test_lesson.py compares them with Python's reports.

import { shownAlpha } from "../shared/dom.js";
import { betaBinomialBand } from "../shared/coverage_distributions.js";
import { counted, differenceShown, pSaid, percent, thresholdText } from "../shared/formatting.js";
import { accuracy, byGroup, evaluate, prepare, rank, strataTies } from "../shared/sets.js";
import { lookAt, poolOf } from "../alpha_lab/splits.js";
import { halved } from "./guess.js";
import { share, whole } from "./numbers.js";

const FEWEST_SETS = 20; // fewer sets of one size are not worth a sentence
const OFTEN = 0.05;
const BAND_MASS = 0.95;

// A run as the lesson needs it: LAC and APS prepared for any alpha, and what Python computed beside.
export function lessonRun(data) {
  const look = lookAt(poolOf(data));
  const lac = prepare("lac", look);
  return {
    look,
    lac,
    aps: prepare("aps", look),
    n: lac.n,
    m: lac.m,
    k: look.k,
    model: data.model,
    name: data.name,
    groupNames: data.group_names,
    sorted: lac.calibration.slice().sort(),
    leastCovered: data.least_covered.getChild("p_value").toArray(),
    shift: data.shift && { ...data.shift, curves: shiftCurves(data.curves) },
  };
}

function shiftCurves(table) {
  const names = ["coverage", "size", "weighted_coverage", "weighted_size"];
  return Object.fromEntries(names.map((name) => [name, table.getChild(name).toArray()]));
}

// The sets of a run at one alpha. Each figure is computed when it is first asked for.
export class At {
  constructor(run, alpha) {
    this.run = run;
    this.alpha = alpha;
    this.small = halved(alpha);
    this.kept = new Map();
  }

  once(name, compute) {
    if (!this.kept.has(name)) this.kept.set(name, compute());
    return this.kept.get(name);
  }

  get lac() {
    return this.once("lac", () => evaluate(this.run.lac, this.alpha));
  }

  get aps() {
    return this.once("aps", () => evaluate(this.run.aps, this.alpha));
  }

  get smaller() {
    return this.once("smaller", () => evaluate(this.run.lac, this.small));
  }

  get band() {
    return this.once("band", () =>
      betaBinomialBand(this.run.n, this.run.m, this.alpha, { ties: strataTies(this.run.lac)[0] }),
    );
  }

  // The tested subjects: {name, m, hits, coverage}.
  get subjects() {
    return this.once("subjects", () => {
      const { m, hits } = byGroup(this.run.lac, this.alpha);
      return this.run.groupNames
        .map((name, code) => ({
          name: name || "no subject",
          m: m[code],
          hits: hits[code],
          coverage: hits[code] / m[code],
        }))
        .filter((subject) => subject.m > 0);
    });
  }

  get worst() {
    return this.subjects.reduce((least, subject) => (subject.coverage < least.coverage ? subject : least));
  }

  get best() {
    return this.subjects.reduce((most, subject) => (subject.coverage > most.coverage ? subject : most));
  }

  shifted(name) {
    return this.run.shift ? this.run.shift.curves[name][this.alpha - 1] : NaN;
  }
}

// The middle score of the right options: at least half of them are at most this.
function medianScore({ run: { sorted } }) {
  return sorted[Math.ceil(sorted.length / 2) - 1];
}

// The values that a person guesses. A guess is not asked where the value is not finite.
export const TRUTHS = {
  single_share: (at) => at.lac.sizes[1] / at.run.m,
  median_score: medianScore,
  small_threshold: (at) => at.smaller.threshold,
  size: (at) => at.lac.meanSize,
  band_width: ({ band }) => differenceShown(100 * band[1], 100 * band[0], 1),
  worst_coverage: (at) => (at.subjects.length > 1 ? at.worst.coverage : NaN),
  smaller_score: (at) => (at.lac.meanSize === at.aps.meanSize ? "" : at.lac.meanSize < at.aps.meanSize ? "LAC" : "APS"),
  shift_coverage: (at) => at.shifted("coverage"),
};

const score = (value) => (Number.isFinite(value) ? thresholdText(value, 3) : "no score at all");
const options = (size) => size.toFixed(2);

function singles(at) {
  const count = at.lac.sizes[1];
  if (!count) return "At this alpha no set has a single option.";
  const right = at.lac.bySize[1];
  if (right === count) return "All of these sets hold the right answer.";
  return (
    `A single option does not mean that the model knows: **${share(right / count)}** of these sets hold the right ` +
    "answer, and in the others the one option is wrong."
  );
}

function endless(n) {
  return `There are only **${whole(n)}**, so there is no threshold and every option stays in every set.`;
}

function thresholdSaid({ run, lac }) {
  return Number.isFinite(lac.threshold)
    ? `Its score, **${score(lac.threshold)}**, is the **threshold**.`
    : endless(run.n);
}

function smallThresholdSaid({ run, lac, smaller }) {
  if (!Number.isFinite(smaller.threshold)) return endless(run.n);
  return smaller.threshold > lac.threshold
    ? `The threshold rises from **${score(lac.threshold)}** to **${score(smaller.threshold)}**, and more options stay.`
    : `The threshold stays at **${score(smaller.threshold)}**.`;
}

function worstLuck(at) {
  const p = at.run.leastCovered[at.alpha - 1];
  return (
    `A test that spreads the misses over the **${whole(at.subjects.length)}** subjects at random gives the lowest ` +
    `coverage **${pSaid(p)}**, so ` +
    (p > OFTEN ? "this may be no more than chance." : "chance alone hardly explains it.")
  );
}

function bestSaid({ subjects, best }) {
  const count = subjects.filter(({ coverage }) => coverage === best.coverage).length;
  const reached = `**${share(best.coverage)}**`;
  return count === 1
    ? `The most covered subject reaches ${reached}.`
    : `**${whole(count)}** subjects reach ${reached}, more than any other.`;
}

function bySize({ lac: { sizes, bySize: hits } }) {
  const shown = Array.from(sizes, (count, size) => ({ size, count, coverage: hits[size] / count })).filter(
    ({ size, count }) => size > 0 && count >= FEWEST_SETS,
  );
  if (!shown.length) return "";
  const { size, count, coverage } = shown.reduce((least, subject) =>
    subject.coverage < least.coverage ? subject : least,
  );
  return (
    `The size of the set matters too: of the **${whole(count)}** sets with **${counted(size, "option", "options")}**, ` +
    `**${share(coverage)}** hold the right answer. The promise is not made for each size.`
  );
}

const places = ({ run, alpha }) => ((run.n + 1) * (1000 - alpha)) / 1000;

// Figures that are whole sentences. They mark their numbers by ** and contain no text from data.
export const SENTENCES = [
  "singles",
  "threshold_said",
  "small_threshold_said",
  "worst_luck",
  "best_said",
  "by_size",
  "smaller_said",
  "kept_question",
];

// Every name that a text may contain, and its figure as text.
export const FACTS = {
  model: ({ run }) => run.model,
  n: ({ run }) => whole(run.n),
  m: ({ run }) => whole(run.m),
  k: ({ run }) => whole(run.k),
  accuracy: ({ run }) => share(accuracy(run.lac)),
  alpha: ({ alpha }) => shownAlpha(alpha),
  alpha_percent: ({ alpha }) => share(alpha / 1000),
  target: ({ alpha }) => share((1000 - alpha) / 1000),
  small_alpha: ({ small }) => shownAlpha(small),
  single_share: (at) => share(TRUTHS.single_share(at)),
  singles,
  median_score: (at) => score(medianScore(at)),
  median_probability: (at) => score(1 - medianScore(at)),
  places: ({ run }) => whole(run.n + 1),
  rank: ({ run, alpha }) => whole(rank(run.n, alpha)),
  exact_rank: (at) => places(at).toLocaleString("en", { maximumFractionDigits: 3 }),
  threshold: ({ lac }) => score(lac.threshold),
  threshold_said: thresholdSaid,
  small_rank: ({ run, small }) => whole(rank(run.n, small)),
  small_threshold_said: smallThresholdSaid,
  size: ({ lac }) => options(lac.meanSize),
  coverage: ({ lac }) => share(lac.coverage),
  small_size: ({ smaller }) => options(smaller.meanSize),
  small_coverage: ({ smaller }) => share(smaller.coverage),
  kept_question: ({ lac, alpha }) =>
    lac.coverage < 1 - alpha / 1000 ? "Is the promise broken?" : "Is that just chance?",
  band_mass: () => percent(BAND_MASS, 0),
  band_low: ({ band }) => share(band[0]),
  band_high: ({ band }) => share(band[1]),
  band_width: (at) => TRUTHS.band_width(at).toFixed(1),
  within: ({ lac, band }) => (band[0] <= lac.coverage && lac.coverage <= band[1] ? "inside" : "outside"),
  worst_subject: ({ worst }) => worst.name,
  worst_coverage: ({ worst }) => share(worst.coverage),
  worst_m: ({ worst }) => whole(worst.m),
  best_said: bestSaid,
  worst_luck: worstLuck,
  by_size: bySize,
  smaller_said: (at) => {
    const name = TRUTHS.smaller_score(at);
    return name ? `${name} makes the smaller sets here.` : "Both make sets of the same mean size here.";
  },
  other_size: ({ aps }) => options(aps.meanSize),
  empty: ({ lac }) => share(lac.emptyRate),
  other_empty: ({ aps }) => share(aps.emptyRate),
  other_coverage: ({ aps }) => share(aps.coverage),
  source: ({ run }) => run.shift?.source ?? "one subject",
  shifted_to: ({ run }) => run.shift?.target ?? "another",
  shift_coverage: (at) => share(at.shifted("coverage")),
  shift_size: (at) => options(at.shifted("size")),
  shift_weighted_coverage: (at) => share(at.shifted("weighted_coverage")),
  shift_weighted_size: (at) => options(at.shifted("weighted_size")),
  pairs: ({ run }) => whole(run.shift?.pairs ?? 0),
  search_alpha: ({ run }) => shownAlpha(run.shift?.searched_at ?? 0),
  shift_p: ({ run }) => (run.shift ? pSaid(run.shift.p_value) : ""),
};
