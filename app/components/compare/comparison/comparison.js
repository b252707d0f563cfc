// All runs side by side, and the matrix of all pairs. A chosen pair is sent to the inspector here in the browser, and
// to Python for the link.

import { draw, make, say } from "../../shared/dom.js";
import { hints } from "../../shared/hints.js";
import { Live, mountedLive } from "../../shared/live.js";
import { MARKS } from "../../shared/svg.js";
import { Tip } from "../../shared/tip.js";
import { drawDots, looksOf, markChosen } from "./dots.js";
import { MEASURES, Matrix, pairTable } from "./matrix.js";

export const PAIR_CHOSEN = "hedge:pair";

class Comparison extends Live {
  reportAfter = 150;

  constructor(root) {
    super(root, ".comparison");
    this.tip = new Tip(root);
    this.matrix = new Matrix(this.find(".matrix"), this.tip, (i, j) => this.choose(i, j));
    this.find(".measures").replaceChildren(
      ...Object.entries(MEASURES).map(([name, { title }]) => {
        const button = make("button", title);
        button.dataset.measure = name;
        button.onclick = () => this.measured(name);
        return button;
      }),
    );
    this.find(".group").onchange = (event) => this.grouped(Number(event.target.value));
    this.heard = (event) => event.detail.from !== this && this.hear(event.detail);
    window.addEventListener(PAIR_CHOSEN, this.heard);
    hints(root);
  }

  load(data) {
    this.data = data;
    this.ids = data.runs.map(({ id }) => id);
    this.width = null;
    this.section.classList.remove("fresh");
    this.legend();
    const select = this.find(".group");
    this.find(".of-group").hidden = data.groups.length < 2;
    select.replaceChildren(...data.groups.map(({ title, runs }, i) => new Option(`${title} (${runs.length} runs)`, i)));
    const own = data.groups.findIndex(({ runs }) => data.group.length && runs.includes(this.ids[data.group[0]]));
    select.value = String(Math.max(0, own));
  }

  // The matrix of all pairs arrives later.
  renew(data) {
    const arrived = Boolean(this.data.matrix) !== Boolean(data.matrix);
    this.data = data;
    if (arrived && this.revision === data.revision) this.pairs();
  }

  seed({ view }) {
    this.view = { ...view };
    this.paint();
  }

  // ---- input

  get chosen() {
    const { group } = this.data;
    const at = (id) => group.indexOf(this.ids.indexOf(id));
    let [first, second] = [at(this.view.first), at(this.view.second)];
    if (first < 0) first = second === 0 ? 1 : 0;
    if (second < 0 || second === first) second = first === 0 ? 1 : 0;
    return group.length < 2 ? [] : [first, second];
  }

  choose(i, j) {
    const [first, second] = [i, j].map((at) => this.ids[this.data.group[at]]);
    Object.assign(this.view, { first, second });
    window.dispatchEvent(new CustomEvent(PAIR_CHOSEN, { detail: { first, second, from: this } }));
    this.marked();
    this.report();
  }

  hear({ first, second }) {
    Object.assign(this.view, { first, second });
    this.marked();
  }

  measured(name) {
    this.view.measure = name;
    this.pairs();
    this.report();
  }

  grouped(i) {
    const [first, second] = this.data.groups[i].runs;
    Object.assign(this.view, { first, second });
    this.report();
  }

  // ---- drawing

  paint() {
    this.dots();
    this.pairs();
  }

  resized() {
    const width = this.find(".dots").clientWidth;
    if (this.data && width !== this.width) this.dots();
  }

  dots() {
    const host = this.find(".dots");
    this.width = host.clientWidth;
    this.tip.hide();
    drawDots(host, this.data, { tip: this.tip, chosen: this.chosen.map((at) => this.data.group[at]) });
  }

  // Another pair is chosen: the figures stay as they are.
  marked() {
    this.tip.hide();
    this.matrix.mark(this.chosen);
    this.details();
    markChosen(
      this.find(".dots"),
      this.chosen.map((at) => this.data.group[at]),
    );
  }

  legend() {
    const sample = (paint) => {
      const svg = draw(make("span"), "svg", { viewBox: "-13 -7 26 14" });
      paint(svg);
      return svg;
    };
    const entry = (svg, text) => {
      return make("span", svg, text);
    };
    const line = (svg, ink) => draw(svg, "line", { class: `whisker ${ink}`, x1: -12, x2: 12, y1: 0, y2: 0 });
    this.find(".legend-row").replaceChildren(
      ...(this.data.heading ? [make("strong", this.data.heading)] : []),
      ...looksOf(this.data.scores).map(({ title, ink, mark }) =>
        entry(
          sample((svg) => {
            line(svg, ink);
            draw(svg, "path", { class: `mark fill-${ink}`, d: MARKS[mark], transform: "scale(.86)" });
          }),
          `sets by ${title}`,
        ),
      ),
      entry(
        sample((svg) => line(svg, "truth")),
        "95% interval",
      ),
      entry(
        sample((svg) => draw(svg, "rect", { class: "band", x: -12, y: -4.5, width: 24, height: 9 })),
        "where coverage lies if the guarantee holds",
      ),
      ...(this.data.published.length
        ? [
            entry(
              sample((svg) => draw(svg, "path", { class: "printed", d: MARKS.diamond, transform: "scale(.8)" })),
              "published, not computed here",
            ),
          ]
        : []),
      entry(make("span", ""), "The axes are zoomed to the runs."),
    );
  }

  pairs() {
    const { data } = this;
    const { group, matrix, problem } = data;
    const { measure } = this.view;
    const waiting = !matrix && !problem;
    say(this.find(".problem"), problem);
    for (const button of this.all(".measures button"))
      button.setAttribute("aria-pressed", String(button.dataset.measure === measure));
    // A matrix of two runs would hold one difference twice. The table of the pair has it.
    const alone = group.length === 2;
    this.find(".bar-of-controls").hidden = data.groups.length < 2 && (alone || Boolean(problem));
    this.find(".measures").hidden = alone || Boolean(problem);
    this.find(".wide").hidden = alone;
    this.find(".beside").hidden = Boolean(problem);
    const count = (group.length * (group.length - 1)) / 2;
    say(
      this.find(".waiting-line"),
      waiting ? `Computing intervals and tests of ${count === 1 ? "this pair" : `${count} pairs`} …` : "",
    );
    say(
      this.find(".about"),
      problem || alone
        ? ""
        : "A cell is the column's run minus the row's run. Shaded and bold: more than chance, at 5% after the correction. Click a cell to see its questions below.",
    );
    if (problem) return;
    if (alone) this.details();
    else this.differences();
  }

  differences() {
    const { data } = this;
    const { group, matrix } = data;
    const { measure } = this.view;
    this.matrix.show({
      names: group.map((at) => data.runs[at].name),
      titles: group.map((at) => data.runs[at].title),
      numbers: group.map((at) => at + 1),
      measure,
      values: matrix ? matrix.figures[measure] : this.values(measure),
      pairs: matrix?.pairs[measure],
      chosen: this.chosen,
    });
    this.details();
  }

  // The chosen pair in full, beside the matrix.
  details() {
    const { group, matrix, runs } = this.data;
    const [first, second] = this.chosen.map((at) => runs[group[at]].name);
    this.find(".details").classList.toggle("awaited", !matrix);
    this.find(".details").replaceChildren(...(matrix ? [pairTable(first, second, matrix, this.chosen)] : []));
  }

  // The runs' figures on all of their own questions, until those on the shared ones arrive.
  values(measure) {
    const score = this.data.scores[0].name;
    return this.data.group.map((at) => {
      const run = this.data.runs[at];
      const [right] = run.accuracy;
      const [size] = run.set_size[score];
      if (measure === "accuracy") return right;
      return measure === "set_size" ? size : size ? (right * Math.sqrt(run.k)) / size : null;
    });
  }

  close() {
    super.close();
    window.removeEventListener(PAIR_CHOSEN, this.heard);
    this.tip.hide();
  }
}

export default mountedLive((root) => new Comparison(root));
