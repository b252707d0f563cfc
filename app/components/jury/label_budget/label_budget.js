// The number of human labels, under the pointer: the share of right answers with the judge and without it. All figures
// are computed in Python, and the number at which a person releases the slider is sent to it.

import { draw, put, say } from "../../shared/dom.js";
import { hints } from "../../shared/hints.js";
import { Live, mountedLive } from "../../shared/live.js";
import { asPercent, axes, roundTicks } from "../../shared/svg.js";
import { placeOf, readRows, textsAt } from "./budget.js";

const TICKS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const FIRST_TICK_GAP = 0.07; // of the axis, between the labels of two numbers

class LabelBudget extends Live {
  reportAfter = 120;

  constructor(root) {
    super(root, ".labels");
    this.range = this.find("#labels");
    this.range.oninput = () => {
      this.place = Number(this.range.value);
      this.paintSoon();
    };
    this.range.onchange = () => this.report();
    hints(root);
  }

  load(data) {
    this.data = data;
    this.rows = readRows(data.rows);
    this.range.max = this.rows.n.length - 1;
    this.find("figure").hidden = this.rows.n.length < 2; // one number of labels makes no curve
    say(this.find("figcaption b"), data.pairwise ? "How often the first answer wins" : "The share of right answers");
    this.section.classList.remove("fresh");
    this.width = null;
  }

  seed({ labels }) {
    this.place = placeOf(this.rows, labels);
    this.range.value = this.place;
    this.build();
  }

  get reported() {
    return { labels: this.rows.n[this.place] };
  }

  build() {
    const host = this.find(".plot");
    if (this.find("figure").hidden) return this.paint();
    if (!this.rows || host.clientWidth === this.width) return this.rows && this.paint();
    this.width = host.clientWidth;
    const { n, low, high, alone_low, alone_high } = this.rows;
    const last = n.length - 1;
    const { ticks, digits } = roundTicks(Math.min(...low, ...alone_low), Math.max(...high, ...alone_high), 4);
    const ends = [Math.min(...low, ...alone_low, ...ticks), Math.max(...high, ...alone_high, ...ticks)];
    const { svg, x, y } = axes(host, `${this.find("figcaption b").textContent} by the number of labels`, {
      xMax: Math.max(last, 1),
      xTicks: this.places(),
      xFormat: (place) => n[place].toLocaleString("en"),
      xTitle: "Labels",
      yMin: ends[0],
      yMax: ends[1],
      yTicks: ticks,
      yFormat: digits > 2 ? (share) => `${(100 * share).toFixed(digits - 2)}%` : asPercent,
    });
    const path = (values) => values.map((share, i) => `${i ? "L" : "M"}${x(i).toFixed(1)},${y(share).toFixed(1)}`);
    const area = (below, above) =>
      `${path([...below]).join("")}${path([...above])
        .reverse()
        .join("")
        .replaceAll("M", "L")}z`;
    draw(svg, "path", { class: "band judged", d: area(low, high) });
    for (const side of [alone_low, alone_high]) draw(svg, "path", { class: "edge alone", d: path([...side]).join("") });
    draw(svg, "path", { class: "edge judged", d: path([...this.rows.value]).join("") });
    this.line = draw(svg, "line", { class: "here", y1: y(ends[0]), y2: y(ends[1]) });
    this.across = x;
    this.paint();
  }

  // The places of round numbers of labels, which do not stand too close.
  places() {
    const { n } = this.rows;
    const all = TICKS.filter((tick) => tick >= n[0] && tick <= n[n.length - 1]).map((tick) => placeOf(this.rows, tick));
    const places = [];
    for (const place of all)
      if (!places.length || place - places[places.length - 1] >= FIRST_TICK_GAP * n.length) places.push(place);
    return places;
  }

  paint() {
    this.painted();
    const texts = textsAt(this.rows, this.place, this.data.fewest);
    const cells = { judged: "judged", alone: "alone", worth: "worth", saved: "saved" };
    for (const [name, cell] of Object.entries(cells)) say(this.find(`[data-figure=${cell}]`), texts[name]);
    say(this.find("[data-figure=judged-interval]"), texts.judgedInterval);
    say(this.find("[data-figure=alone-interval]"), texts.aloneInterval);
    say(this.find(".at"), texts.labels);
    this.range.setAttribute("aria-valuetext", texts.labels);
    if (this.line) put(this.line, { x1: this.across(this.place), x2: this.across(this.place) });
    this.speakSoon(() =>
      say(
        this.find(".summary"),
        `${texts.labels}: with the judge ${texts.judged}, ${texts.judgedInterval}; alone ${texts.alone}, ` +
          `${texts.aloneInterval}. Worth ${texts.worth}.`,
      ),
    );
  }
}

export default mountedLive((root) => new LabelBudget(root));
