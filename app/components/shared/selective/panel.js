// Answer or pass, live: how often an answer may be wrong and how often that promise may fail follow the pointer. The
// thresholds and what they answer are computed here (selective.js); what a person settles on is sent to Python.

import { draw, headRow, make, put, say } from "../dom.js";
import { counted, percent } from "../formatting.js";
import { hints } from "../hints.js";
import { Live, mountedLive } from "../live.js";
import { NumberDial } from "../number_dial.js";
import { SHARE_ACROSS, asPercent, axes, steps as ticks } from "../svg.js";
import { hold, leastPassed, riskCurve, selective } from "./selective.js";

const LEAST = 1;
const STYLES = 4;
const APART = 0.5;
const percent1 = (share) => percent(share, 1);
// A confidence with four decimals, or eight near 1, rounded up: who answers from there keeps the promise. The reports in
// Python write the same.
function confidenceText(value) {
  const decimals = value < 0.999 ? 4 : 8;
  const rounded = Number(value.toFixed(decimals));
  return String(rounded < value ? Number((rounded + 10 ** -decimals).toFixed(decimals)) : rounded);
}

// Points that are at least APART pixels from each other, and the last one: what changes on top is painted with them.
function apart(points, x) {
  let last = -Infinity;
  return points.filter(([share], i) => {
    if (i < points.length - 1 && x(share) - last < APART) return false;
    last = x(share);
    return true;
  });
}

function sideOf(table, judges) {
  const column = (name) => Float64Array.from(table.getChild(name).toArray());
  return Array.from({ length: judges }, (_, j) => ({ confidence: column(`c${j}`), wrong: column(`w${j}`) }));
}

export class Selective extends Live {
  reportAfter = 150;
  speakAfter = 600;

  constructor(root) {
    super(root, ".selective");
    const dial = (name, what) =>
      new NumberDial(this.find, name, {
        scale: 1000,
        least: LEAST,
        move: (value) => {
          this[name] = value;
          this.paintSoon();
        },
        released: () => this.report(),
        rule: () => `${what} must be between 0.001 and 0.5.`,
      });
    this.dials = { error: dial("error", "alpha"), delta: dial("delta", "delta") };
    hints(root);
  }

  load(data) {
    this.data = data;
    const { judges, calibration, judged } = data;
    this.held = hold({
      calibration: sideOf(calibration, judges.length),
      judged: sideOf(judged, judges.length),
    });
    say(this.find("label[for=error]"), data.verdicts ? "Against people, at most" : "Wrong answers, at most");
    this.rows();
    this.section.classList.remove("fresh");
    this.width = null;
  }

  seed({ view: { error, delta } }) {
    this.error = error;
    this.delta = delta;
    this.build();
  }

  get reported() {
    return { error: this.error, delta: this.delta };
  }

  // ---- the table of judges

  rows() {
    const { judges, verdicts } = this.data;
    const who = judges.length > 1 || verdicts ? "Judge" : "Run";
    const wrong = verdicts ? "Agrees" : "Wrong";
    this.find(".judges thead").replaceChildren(headRow([who, "Answers from", "Decides", wrong, "Asked"]));
    this.cells = judges.map((name, j) => {
      const key = make("td.judge");
      const svg = draw(key, "svg", { viewBox: "0 0 30 10", "aria-hidden": "true" });
      draw(svg, "line", { class: `judge-${j % STYLES}`, x1: 0, x2: 30, y1: 5, y2: 5 });
      key.append(name);
      return [key, ...["from", "decides", "wrong", "of"].map((cell) => make(`td.number.${cell}`))];
    });
    this.people = [
      make("td.judge", verdicts ? "People" : "Passed"),
      make("td"),
      make("td.number"),
      make("td"),
      make("td.number"),
    ];
    this.find(".judges tbody").replaceChildren(
      ...this.cells.map((cells) => make("tr", ...cells)),
      make("tr.people", ...this.people),
    );
  }

  from(threshold) {
    const { k } = this.data;
    if (threshold === null) return "never";
    if (!k) return confidenceText(threshold);
    const most = Math.round(k + 1 - threshold);
    return most === 1 ? "1 option" : `1 to ${most} options`;
  }

  // ---- drawing

  build() {
    const host = this.find("[data-plot=risk] .plot");
    const width = host.clientWidth;
    if (!this.held || width === this.width) return;
    this.width = width;
    const { judges, verdicts } = this.data;
    const curves = judges.map((_, j) => riskCurve(this.held.judged, j));
    const highest = Math.max(0.1, ...curves.flat().map(([share, risk]) => (share > 0.1 ? risk : 0)));
    const most = Math.min(1, Math.ceil(10 * highest) / 10);
    const title = verdicts ? "Against people" : "Wrong";
    say(
      this.find("[data-plot=risk] figcaption"),
      `${judges.length > 1 ? "Each line is one judge alone" : "The line"}: the share of errors among the most certain answers. The dot is the result above, with its bound; the dashed line is alpha.`,
    );
    const { svg, x, y } = axes(host, `${title} among the answers, by the share that is answered`, {
      ...SHARE_ACROSS,
      xTitle: "Answered",
      yMax: most,
      yTicks: ticks(2, most / 2),
      yFormat: asPercent,
      yTitle: title,
    });
    const alpha = draw(svg, "line", { class: "target", x1: x(0), x2: x(1) });
    curves.forEach((points, j) =>
      draw(svg, "path", {
        class: `judge-curve judge-${j % STYLES}`,
        d: apart(points, x)
          .map(([share, risk], i) => `${i ? "L" : "M"}${x(share).toFixed(1)},${y(Math.min(risk, most)).toFixed(1)}`)
          .join(""),
      }),
    );
    const whisker = draw(svg, "line", { class: "whisker result" });
    const dot = draw(svg, "circle", { class: "result", r: 6 });
    this.mark = ({ answered, n_judged: n, wrong, error_high: bound }) => {
      const height = y(Math.min(this.error / 1000, most));
      put(alpha, { y1: height, y2: height });
      dot.style.display = whisker.style.display = answered ? "" : "none";
      if (!answered) return;
      const at = x(answered / n);
      put(dot, { cx: at, cy: y(Math.min(wrong / answered, most)) });
      put(whisker, { x1: at, x2: at, y1: y(Math.min(wrong / answered, most)), y2: y(Math.min(bound, most)) });
    };
    this.paint();
  }

  paint() {
    this.painted();
    if (!this.mark) return;
    const { error, delta } = this;
    const result = selective(this.held, error, delta);
    this.dials.error.show(error, percent1(error / 1000));
    this.dials.delta.show(delta, `the promise fails in ${percent1(delta / 1000)}`);
    result.stages.forEach((stage, j) => {
      const [, from, decides, wrong, of] = this.cells[j];
      const share = stage.wrong / stage.answered;
      say(from, this.from(stage.threshold));
      say(decides, percent1(stage.answered / result.n_judged));
      say(wrong, stage.answered ? percent1(this.data.verdicts ? 1 - share : share) : "–");
      say(of, stage.reached.toLocaleString("en"));
    });
    const left = result.n_judged - result.answered;
    say(this.people[2], percent1(left / result.n_judged));
    say(this.people[4], left.toLocaleString("en"));
    say(this.find(".lab-answer"), this.headline(result));
    say(this.find(".promise"), this.promised(result));
    this.notes(result);
    this.mark(result);
    this.section.dataset.result = JSON.stringify(result); // full precision, for scripts that read the page
    this.speakSoon(() => say(this.find(".summary"), this.headline(result)));
  }

  get sure() {
    return `with confidence ${percent1(1 - this.delta / 1000).replace(".0%", "%")}`;
  }

  headline({ answered, n_judged: n, wrong, error_high: bound, stages }) {
    const { what, verdicts } = this.data;
    if (!answered)
      return stages.every(({ threshold }) => threshold === null)
        ? "No threshold keeps this promise"
        : `The threshold keeps this promise, but none of the judged ${what} reaches it`;
    const share = percent1(answered / n);
    return verdicts
      ? `${share} of the ${what} get a verdict, and ${percent1(1 - wrong / answered)} of these agree with people (at least ${percent1(1 - bound)} ${this.sure})`
      : `${share} of the ${what} are answered, and ${percent1(wrong / answered)} of the answers are wrong (at most ${percent1(bound)} ${this.sure})`;
  }

  promised({ n_calibration: n, n_judged: judged }) {
    const { what, verdicts } = this.data;
    const alpha = this.error / 1000;
    const kept = verdicts
      ? `at least ${percent1(1 - alpha)} of the verdicts agree with people`
      : `at most ${percent1(alpha)} of the answers are wrong`;
    return `The promise: ${this.sure}, ${kept}, for ${what} like the ${counted(n, "that calibrates", "that calibrate")}, if alpha and delta were chosen beforehand. The other ${counted(judged, "judges", "judge")} it.`;
  }

  notes({ stages }) {
    const { judges } = this.data;
    const notes = stages.flatMap((stage, j) =>
      this.stageNotes(stage).map((note) => (judges.length > 1 ? `${judges[j]}: ${note}` : note)),
    );
    const list = this.find(".notes");
    if (list.dataset.notes === notes.join("\n")) return;
    list.dataset.notes = notes.join("\n");
    list.replaceChildren(...notes.map((note) => make("li", note)));
  }

  // As core.reports.answer_or_pass.stage_notes.
  stageNotes(stage) {
    const alpha = this.error / 1000;
    const { k } = this.data;
    const notes = [];
    const { n_calibration: n, fewest, first, first_answered: answered, first_wrong: wrong } = stage;
    if (stage.threshold === null) {
      if (!n) notes.push("No calibration answer reaches it.");
      else if (n < fewest)
        notes.push(
          `At alpha ${alpha} a threshold needs at least ${counted(fewest, "labelled answer", "labelled answers")}, even if all are right, and ${counted(n, "calibrates", "calibrate")}.`,
        );
      else if (first === null) notes.push(k ? "All sets are empty." : "No answer has a confidence.");
      else if (answered < fewest)
        notes.push(
          `Only ${counted(answered, "calibration answer reaches", "calibration answers reach")} the strictest threshold, and it needs ${fewest.toLocaleString("en")}, even if all are right.`,
        );
      else
        notes.push(
          `Already at the strictest threshold, ${wrong.toLocaleString("en")} of ${counted(answered, "calibration answer", "calibration answers")} ${wrong === 1 ? "is" : "are"} wrong.`,
        );
    }
    if (stage.levels === 1 && n > 1 && first !== null)
      notes.push(
        `All its ${k ? "sets have the same size" : "answers have the same confidence"}, so it can only answer all questions or none.`,
      );
    const least = leastPassed(stage.base_error, alpha);
    if (least > 0 && this.data.judges.length === 1)
      notes.push(
        `If it answered everything, about ${percent1(stage.base_error)} would be wrong, so about ${percent1(least)} must be passed at least.`,
      );
    return notes;
  }
}

export default mountedLive((root) => new Selective(root));
