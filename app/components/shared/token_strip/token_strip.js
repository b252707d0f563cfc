// A message's tokens in three strips, coloured by loss under A, by loss under B, and by the prompt that makes them
// more likely.

import { draw, headRow, make, put, say, setThemeColors } from "../dom.js";
import { mounted } from "../mounted.js";
import { axes, roundTicks } from "../svg.js";

// The colour of a strip is full from this share of its values on, and at the earliest at this many nats.
const FULL_FROM = 0.95;
const LEAST_FULL = { loss: 4, change: 1 };
const TICKS = 4;

// A colour's share in percent, and the thickness of the line below in pixels, which shows the same without colour.
function shade(share, most) {
  const part = Math.min(1, Math.abs(share) / most);
  return { "--share": `${(part * 60).toFixed(1)}%`, "--thick": `${Math.round(part * 4)}px` };
}

// The whole number of nats at which a strip's colour is full.
function fullAt(values, least) {
  const sorted = values.map(Math.abs).sort((first, other) => first - other);
  return Math.max(least, Math.ceil(sorted[Math.floor(FULL_FROM * (sorted.length - 1))]));
}

const nats = (value) => value.toFixed(2);
const signed = (value) => `${value < 0 ? "−" : "+"}${nats(Math.abs(value))}`;
const times = (factor) =>
  factor.toLocaleString("en", {
    maximumSignificantDigits: factor < 1000 ? 3 : 15,
    maximumFractionDigits: factor < 1000 ? 2 : 0,
    roundingPriority: "lessPrecision",
  });

class Strip {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.watch = new ResizeObserver(() => this.chart());
    this.watch.observe(this.find(".words"));
  }

  load(data) {
    const text = JSON.stringify(data);
    if (text === this.said) return;
    this.said = text;
    this.data = data;
    this.width = null;
    const changes = data.a.map((loss, i) => loss - data.b[i]);
    const fullLoss = fullAt([...data.a, ...data.b], LEAST_FULL.loss);
    const fullChange = fullAt(changes, LEAST_FULL.change);
    const rows = [
      ["Under A", data.names[0], data.a, fullLoss, () => "loss-a"],
      ["Under B", data.names[1], data.b, fullLoss, () => "loss-b"],
      ["A − B", "", changes, fullChange, (value) => (value < 0 ? "for-a" : "for-b")],
    ];
    this.tokens = [];
    this.find(".strips").replaceChildren(...rows.map((row, place) => this.row(row, place)));
    say(
      this.find(".legend"),
      `A stronger colour and a thicker line mean a larger loss. Both are strongest from ${fullLoss} nats on. ` +
        `In the last strip, a full line marks tokens that A makes more likely, and a dashed line those that B makes more likely (strongest from ${fullChange} ${fullChange === 1 ? "nat" : "nats"} on).`,
    );
    this.table();
    this.chart();
    this.point(data.changed.length ? data.changed[0].at : 0);
  }

  row([title, name, values, most, kind], place) {
    const { pieces } = this.data;
    const row = make("div.row");
    const label = make("div.name", make("b", title), name ? ` ${name}` : "");
    const tokens = make("div.tokens", { role: "group", "aria-label": `${title} ${name}`.trim() });
    this.tokens.push(
      values.map((value, i) => {
        const token = make("span", { className: `token ${kind(value)}${pieces[i] ? "" : " part"}` }, pieces[i]);
        for (const [property, set] of Object.entries(shade(value, most))) token.style.setProperty(property, set);
        token.dataset.value = value;
        token.tabIndex = i === 0 ? 0 : -1;
        token.addEventListener("pointerenter", () => this.point(i));
        token.addEventListener("focus", () => this.point(i));
        token.addEventListener("keydown", (event) => this.key(event, place, i));
        return token;
      }),
    );
    tokens.append(...this.tokens[place]);
    row.append(label, tokens);
    return row;
  }

  key(event, place, i) {
    const to = {
      ArrowRight: [place, i + 1],
      ArrowLeft: [place, i - 1],
      ArrowDown: [place + 1, i],
      ArrowUp: [place - 1, i],
    }[event.key];
    const token = to && this.tokens[to[0]]?.[to[1]];
    if (!token) return;
    event.preventDefault();
    token.focus();
  }

  point(i) {
    const { tokens, a, b } = this.data;
    const [name, part] = tokens[i];
    this.at = i;
    for (const row of this.tokens) {
      row.forEach((token, j) => {
        token.classList.toggle("same", j === i);
        token.tabIndex = j === i ? 0 : -1;
      });
    }
    const change = a[i] - b[i];
    const by =
      Math.abs(change) < 0.005
        ? "It is equally likely under both"
        : `It is ${times(Math.exp(Math.abs(change)))} times as likely under ${change < 0 ? "A" : "B"}`;
    say(
      this.find(".readout"),
      `“${name.trim() || "space"}”${part ? `, ${part},` : ""} has a loss of ${nats(a[i])} nats under A and ${nats(b[i])} under B (A − B is ${signed(change)}). ${by}.`,
    );
    if (this.now) put(this.now, { x1: this.x(i + 1), x2: this.x(i + 1) });
  }

  table() {
    const body = make("tbody");
    for (const word of this.data.changed) {
      const row = make(
        "tr",
        make("td.word", word.text),
        ...[nats(word.a), nats(word.b), signed(word.a - word.b)].map((text) => make("td.number", text)),
      );
      row.addEventListener("pointerenter", () => this.point(word.at));
      body.append(row);
    }
    this.find(".most table").replaceChildren(make("thead", headRow(["Word", "A", "B", "A − B"])), body);
  }

  chart() {
    const width = this.find(".plot").clientWidth;
    if (!this.data || !width || width === this.width) return;
    this.width = width;
    const { a, b } = this.data;
    const n = a.length;
    const top = Math.max(1, ...a, ...b);
    const tall = roundTicks(0, top, TICKS);
    const wide = roundTicks(0, n, 6);
    const xTicks = [...new Set([1, ...wide.ticks.map(Math.round).filter((tick) => tick > 1 && tick <= n)])];
    const { svg, x, y } = axes(this.find(".plot"), `Loss of each of ${n} tokens under A and under B`, {
      xMin: 0.5,
      xMax: n + 0.5,
      xTicks,
      xFormat: String,
      xTitle: "Token",
      yMax: top,
      yTicks: tall.ticks,
      yFormat: (tick) => tick.toFixed(tall.digits),
    });
    this.x = x;
    this.now = draw(svg, "line", { class: "now", y1: y(0), y2: y(top) });
    for (const [kind, values] of [
      ["a", a],
      ["b", b],
    ]) {
      draw(svg, "path", {
        class: `curve ${kind}`,
        d: values.map((loss, i) => `${i ? "L" : "M"}${x(i + 1).toFixed(1)},${y(loss).toFixed(1)}`).join(""),
      });
      values.forEach((loss, i) =>
        draw(
          svg,
          kind === "a" ? "circle" : "rect",
          kind === "a"
            ? { class: "dot a", cx: x(i + 1), cy: y(loss), r: 3 }
            : { class: "dot b", x: x(i + 1) - 2.6, y: y(loss) - 2.6, width: 5.2, height: 5.2 },
        ),
      );
    }
    put(this.now, { x1: x(this.at + 1 || 1), x2: x(this.at + 1 || 1) });
  }

  close() {
    this.watch.disconnect();
  }
}

export default mounted(
  (root) => new Strip(root),
  (strip, { data, parentElement }) => {
    setThemeColors(parentElement.host ?? parentElement, strip.find(".words"));
    strip.load(data);
  },
);
