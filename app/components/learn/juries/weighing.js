// Step 5: how often rules are right on answers on which the jurors disagree, and weights of one's own.

import { shareInterval } from "../../shared/coverage_distributions.js";
import { make } from "../../shared/dom.js";
import { shareBars } from "../bars.js";
import { keptMover } from "../mover.js";
import { share } from "../numbers.js";
import { JURY_FACTS, disputedRows, weightedAccuracy } from "./facts.js";

const EVEN = 5;
const HEAVIEST = 10;

export const weighingFigure = {
  caption: "The rules are shown after your guess.",
  answered: "How often rules are right on disputed answers, with 95% intervals. The last bar has your weights.",
  build(host, { run, kept }) {
    kept.weights ??= run.jurors.map(() => EVEN);
    const rows = disputedRows(run);
    const plot = make("div");
    const line = make("p.figure-said");
    const rules = [...run.rules.values()].map(({ title, accuracy, low, high }) => ({
      title,
      value: accuracy,
      low,
      high,
    }));
    let bars = null;
    let open = false;
    const show = () => {
      const { hits, n } = weightedAccuracy(run, kept.weights, rows);
      const [low, high] = shareInterval(hits, n);
      const own = { value: hits / n, low, high };
      bars?.update([...rules, own].map((outcome) => (open ? outcome : null)));
      return `With these weights ${share(own.value)} of the ${n} disputed answers are judged right.`;
    };
    const sliders = run.jurors.map((name, j) =>
      keptMover(kept.weights, j, {
        label: `weight of ${name}`,
        max: HEAVIEST,
        line,
        shown: String,
        moved: () => show(),
      }),
    );
    host.replaceChildren(plot, ...sliders.map(({ row }) => row), line);
    bars = shareBars(
      plot,
      [...rules.map(({ title }) => ({ name: title })), { name: "your weights, on the same answers", ink: "aps" }],
      "How often each rule is right on disputed answers",
    );
    bars.guessed(null);
    return (at, state) => {
      open = state.open;
      for (const node of [line, ...sliders.map(({ row }) => row)]) node.hidden = !open;
      for (const slider of sliders) slider.show();
    };
  },
  hidden: "How often the rules are right is hidden until you guess.",
  describe: (at) =>
    `On disputed answers the majority is right on ${JURY_FACTS.majority_disputed(at)}, and weighted log-odds on ${JURY_FACTS.weighted_disputed(at)}.`,
};
