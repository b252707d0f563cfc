// The two scores side by side, with large figures for what changes with alpha.

import { say } from "../shared/dom.js";
import { bandSaid, counted, percent, thresholdText, tuningHint, tuningText, verdict } from "../shared/formatting.js";

const BAND_HINT =
  "If the guarantee holds, coverage on this test set lies in the band for 95% of the draws of calibration and test questions. " +
  "Dark: variation from the calibration draw alone. Light: variation from the test questions as well.";
const CARD = `
  <div class="score-head"><svg class="key" viewBox="-7 -7 14 14" aria-hidden="true"><path></path></svg><select></select>
    <span class="badge" hidden></span><span class="gloss"></span></div>
  <div class="figures-row">
    <div class="figure"><span class="label" title="The share of test questions whose prediction set holds the truth. It is promised to be at least 1 − alpha on average over many questions, never for a single one.">Coverage</span><span class="big" data-figure="coverage"></span>
      <span class="note" data-figure="band"></span></div>
    <div class="figure"><span class="label" title="The number of options in a prediction set. At the same coverage, smaller sets mean that the model's probabilities say more.">Mean set size</span><span class="big" data-figure="meanSize"></span>
      <span class="note" data-figure="of"></span></div>
  </div>
  <div class="strip"></div>
  <p class="verdict" data-figure="verdict"></p>
  <details class="about"><summary></summary><dl>
    <div><dt title="Options stay in the set if their score is at most this.">Threshold</dt><dd data-figure="threshold"></dd></div>
    <div><dt>Empty sets</dt><dd data-figure="emptyRate"></dd></div>
    <div><dt>One option</dt><dd data-figure="single"></dd></div>
    <div><dt>All options</dt><dd data-figure="full"></dd></div>
  </dl><p class="sentence"></p><p><code class="formula"></code></p><p class="source"></p></details>`;

export class Card {
  constructor(article) {
    this.article = article;
    article.innerHTML = CARD;
    this.find = (selector) => article.querySelector(selector);
    this.find("[data-figure=band]").title = BAND_HINT;
    const { side } = article.dataset;
    this.find("select").className = `${side}-score`;
    this.find("select").setAttribute("aria-label", `score on the ${side}`);
  }

  // Draws what does not change while alpha moves.
  seed(slot, score, prepared, path) {
    const { article, find } = this;
    article.dataset.score = slot.name;
    article.setAttribute("aria-label", slot.title);
    article.style.setProperty("--own", `var(--${slot.ink})`);
    find(".key path").setAttribute("d", path);
    say(find(".about summary"), `More about ${score.title}`);
    say(find(".gloss"), score.gloss);
    say(find(".sentence"), score.sentence);
    say(find(".formula"), score.formula);
    say(find(".source"), score.source);
    const badge = find(".badge");
    const text = tuningText(prepared);
    badge.hidden = !text;
    badge.classList.toggle("warn", prepared.tunedOn === 0);
    say(badge, text);
    if (text) badge.title = tuningHint(prepared);
  }

  show(result, { m, k, digits, band, by }) {
    const show = (figure, text, value) => {
      const element = this.find(`[data-figure=${figure}]`);
      say(element, text);
      if (value !== undefined) element.dataset.value = value;
    };
    show("coverage", percent(result.coverage, digits), result.coverage);
    show("meanSize", result.meanSize.toFixed(2), result.meanSize);
    show("band", band ? bandSaid(band, digits) : `of ${counted(m, "test question", "test questions")}`);
    this.find("[data-figure=band]").dataset.value = band ? `${band.low} ${band.high}` : "";
    show("of", `of ${k} options`);
    const limits = by === "all" ? [] : [...result.thresholds].filter((q) => !Number.isNaN(q));
    show("threshold", by === "all" ? thresholdText(result.threshold) : between(limits), result.threshold);
    show("emptyRate", percent(result.emptyRate, digits), result.emptyRate);
    show("single", percent(result.sizes[1] / m, digits));
    show("full", percent(result.sizes[k] / m, digits));
    show("verdict", verdict(result, by, band, k));
  }
}

function between(limits) {
  return `${thresholdText(Math.min(...limits), 2)} to ${thresholdText(Math.max(...limits), 2)}`;
}
