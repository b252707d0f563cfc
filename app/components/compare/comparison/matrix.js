// The matrix of paired differences: a cell is the column's figure minus the row's. A click chooses the pair.

import { headRow, make } from "../../shared/dom.js";
import { differenceShown, fixed, pText, percent } from "../../shared/formatting.js";

export const SIGNIFICANT = 0.05;
export const MEASURES = {
  accuracy: {
    title: "Accuracy",
    scale: 100,
    digits: 1,
    unit: " points",
    value: (number) => percent(number, 1),
  },
  set_size: { title: "Mean set size", scale: 1, digits: 2, unit: "", value: (number) => fixed(number, 2) },
  uacc: { title: "UAcc", scale: 1, digits: 3, unit: "", value: (number) => fixed(number, 3) },
};

// Differences by both orders of a pair, "i j", each as seen from its first run.
export function byPair(pairs) {
  const pairsByPlace = new Map();
  for (const [i, j, value, low, high, p, corrected] of pairs) {
    pairsByPlace.set(`${i} ${j}`, { value, low, high, p, corrected });
    const turned = (number) => (number === null ? null : -number);
    pairsByPlace.set(`${j} ${i}`, { value: turned(value), low: turned(high), high: turned(low), p, corrected });
  }
  return pairsByPlace;
}

export function signed(value, measure) {
  if (value === null) return "–";
  const { scale, digits } = MEASURES[measure];
  const text = fixed(Math.abs(scale * value), digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

// The difference of two runs' figures. It is null where one is not defined.
function between([first, second], difference, measure) {
  if (first === null || second === null) return signed(null, measure);
  const { scale, digits } = MEASURES[measure];
  const exact = difference ? scale * difference.value : undefined;
  return signed(differenceShown(scale * second, scale * first, digits, exact) / scale, measure);
}

// What a hover or a focus says of a cell.
export function cellLines(measure, first, second, values, difference, pairs) {
  const { title, unit, value } = MEASURES[measure];
  const written = (number) => (number === null ? "not defined" : value(number));
  const lines = [`${first} → ${second}`, `${title}: ${written(values[0])} → ${written(values[1])}`];
  if (!difference) {
    const plain = values.includes(null) ? "not defined" : between(values, null, measure) + unit;
    return [...lines, `Difference: ${plain}`, "The interval and the test are being computed."];
  }
  lines.push(
    `Difference: ${between(values, difference, measure)}${unit} (${signed(difference.low, measure)} to ${signed(difference.high, measure)})`,
  );
  lines.push(
    pairs > 1
      ? `p, corrected for ${pairs} pairs: ${pText(difference.corrected)} (alone ${pText(difference.p)})`
      : `p: ${pText(difference.p)}`,
  );
  lines.push(difference.corrected <= SIGNIFICANT ? "More than chance." : "This can be chance.");
  return lines;
}

export class Matrix {
  constructor(host, tip, choose) {
    this.host = host;
    this.tip = tip;
    this.choose = choose;
    host.addEventListener("keydown", (event) => this.moved(event));
  }

  // `names` and `titles` are those of the matrix's runs, `numbers` their numbers in the dot plots.
  show({ names, titles, numbers, measure, values, pairs, chosen }) {
    const focused = this.host.getRootNode().activeElement?.dataset?.cell;
    const differences = byPair(pairs ?? []);
    const count = (names.length * (names.length - 1)) / 2;
    const most = Math.max(1e-9, ...[...differences.values()].map(({ value }) => Math.abs(value ?? 0)));
    const table = make("table");
    const head = make("tr", make("th.corner"));
    numbers.forEach((number, j) => {
      const cell = make("th.column", { scope: "col", title: titles[j] }, String(number));
      if (names.length <= 6) cell.append(make("span.column-name", names[j]));
      head.append(cell);
    });
    const top = make("thead", head);
    const body = make("tbody");
    names.forEach((name, i) => {
      const row = make(
        "tr",
        make(
          "th.lead",
          { scope: "row", title: titles[i] },
          make("span.number", String(numbers[i])),
          make("span.lead-name", name),
        ),
      );
      names.forEach((_, j) =>
        row.append(this.cell({ i, j, titles, measure, values, found: differences, count, most, chosen })),
      );
      body.append(row);
    });
    table.append(
      make("caption.unseen", `Differences in ${MEASURES[measure].title}: the column's run minus the row's run`),
      top,
      body,
    );
    this.host.replaceChildren(table);
    this.size = names.length;
    const start = this.button(focused) ?? this.button(chosen.join(" ")) ?? this.host.querySelector("button");
    if (start) start.tabIndex = 0;
    if (focused) this.button(focused)?.focus({ preventScroll: true });
  }

  button(cell) {
    return cell ? this.host.querySelector(`[data-cell="${cell}"]`) : null;
  }

  cell({ i, j, titles, measure, values, found, count, most, chosen }) {
    const data = make("td");
    if (i === j) {
      data.className = "same";
      return data;
    }
    const difference = found.get(`${i} ${j}`);
    const lines = cellLines(measure, titles[i], titles[j], [values[i], values[j]], difference, count);
    const sure = difference && difference.corrected <= SIGNIFICANT;
    const button = make("button", { tabIndex: -1 }, between([values[i], values[j]], difference, measure));
    button.dataset.cell = `${i} ${j}`;
    button.className = !difference ? "waiting" : sure ? "sure" : "chance";
    button.setAttribute("aria-label", lines.join(". "));
    button.setAttribute("aria-pressed", String(chosen[0] === i && chosen[1] === j));
    if (sure) button.style.setProperty("--strength", `${Math.round(14 + (38 * Math.abs(difference.value)) / most)}%`);
    button.onclick = () => this.choose(i, j);
    button.onpointerenter = button.onfocus = () => this.tip.show(button, lines);
    button.onpointerleave = button.onblur = this.tip.hide;
    data.append(button);
    return data;
  }

  // Arrow keys move between cells, over the empty ones of the diagonal.
  moved(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const at = event.target.dataset?.cell?.split(" ").map(Number);
    if (!step || !at) return;
    event.preventDefault();
    let [i, j] = at;
    do {
      i += step[0];
      j += step[1];
    } while (i === j);
    const next = this.button(`${i} ${j}`);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  mark(chosen) {
    for (const button of this.host.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.cell === chosen.join(" ")));
  }
}

// The chosen pair in full: every figure of both runs, the difference, its interval and its test.
export function pairTable(first, second, matrix, [i, j]) {
  const table = make("table");
  const pairs = matrix.pairs.accuracy.length;
  const titles = ["", first, second, "Difference", "95% interval", ...(pairs > 1 ? ["p alone", "p, Holm"] : ["p"])];
  const body = make("tbody");
  for (const [name, { title, value, unit }] of Object.entries(MEASURES)) {
    const difference = byPair(matrix.pairs[name]).get(`${i} ${j}`);
    const written = (number) => (number === null ? "–" : value(number));
    const row = make("tr", make("th", { scope: "row" }, title));
    const values = [matrix.figures[name][i], matrix.figures[name][j]];
    const cells = [
      ...values.map(written),
      `${between(values, difference, name)}${unit}`,
      `${signed(difference.low, name)} to ${signed(difference.high, name)}`,
      ...(pairs > 1 ? [pText(difference.p)] : []),
      pText(difference.corrected),
    ];
    cells.forEach((text, at) =>
      row.append(
        make("td", { className: at === cells.length - 1 && difference.corrected <= SIGNIFICANT ? "sure" : "" }, text),
      ),
    );
    body.append(row);
  }
  table.append(make("caption", `${first} → ${second}`), make("thead", headRow(titles, "Figure")), body);
  return table;
}
