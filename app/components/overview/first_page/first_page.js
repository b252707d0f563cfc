// The Overview's three ways in, its matrix of models and tasks, and the legend of its scatter plots.
//
// A card and a row's name are links, which can be copied. A cell opens its own run when it is clicked, or by Enter: the
// table is one stop of the Tab key, and the arrow keys move within it. A plain click tells Python to switch the page,
// which keeps the session and takes a tenth of a reload's time.

import { draw, make, put, setThemeColors, wayTo } from "../../shared/dom.js";
import { mounted } from "../../shared/mounted.js";

const RUNS = ["run-4", "run-5", "run-6", "run-7", "run-8"]; // further runs of the scatter plots

function link(target, className, open) {
  return wayTo(make("a", { className }), target.href, () => open({ page: target.page, query: target.query }));
}

// ---- the ways in

// Set size by alpha. Where the pointer is, the mark is.
function curve(card, anchor) {
  const { sizes, options } = card;
  const most = Math.max(...sizes.map(([, size]) => size));
  const x = (alpha) => alpha / 10;
  const y = (size) => 100 * (1 - size / most);
  const holder = make("div.curve");
  put(holder, { role: "img", "aria-label": card.label });
  const caption = make("p.strong");
  const plot = make("div.plot");
  const svg = draw(plot, "svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  const points = sizes.map(([alpha, size], i) => `${i ? "L" : "M"}${x(alpha)},${y(size).toFixed(2)}`);
  draw(svg, "path", { class: "line", d: points.join("") });
  const rule = plot.appendChild(make("span.rule"));
  const dot = plot.appendChild(make("span.dot"));
  holder.append(caption, plot, make("p.ends", make("span", "alpha 0"), make("span", "1")));
  const show = ([alpha, size]) => {
    dot.style.left = rule.style.left = `${x(alpha)}%`;
    dot.style.top = rule.style.top = `${y(size)}%`;
    caption.textContent = `alpha ${alpha / 1000} → ${size.toFixed(1)} of ${options} options`;
  };
  show(card.at);
  const nearest = (alpha) =>
    sizes.reduce((best, point) => (Math.abs(point[0] - alpha) < Math.abs(best[0] - alpha) ? point : best));
  anchor.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    show(nearest((1000 * (event.clientX - box.left)) / box.width));
  });
  anchor.addEventListener("pointerleave", () => show(card.at));
  return holder;
}

// A question's options, those in its set marked.
function question(card) {
  const holder = make("div.question-card", make("p.asked", card.question));
  const list = make("ul");
  card.options.forEach(({ text, inside }) => {
    const item = make("li", { className: inside ? "inside" : "" });
    item.append(make("span.mark", inside ? "✓" : ""), make("span.text", text));
    if (inside) item.append(make("span.unseen", "in the set"));
    list.append(item);
  });
  holder.append(list);
  return holder;
}

const PICTURES = { curve, question };

function waysIn(section, { cards }, open) {
  const list = make("div.cards");
  for (const card of cards) {
    const anchor = link(card.target, "card", open);
    anchor.append(make("div.head", make("h2", card.title), make("p", card.text)));
    if (PICTURES[card.kind]) anchor.append(make("div.picture", PICTURES[card.kind](card, anchor)));
    list.append(anchor);
  }
  section.replaceChildren(list);
}

// ---- the matrix

const NO_RUN = "No run of this model and these settings on this task.";

function cellOf(cell, open, none = NO_RUN) {
  const td = make("td", { tabIndex: -1 });
  if (!cell) {
    td.className = "none";
    td.title = none;
    td.append(make("span.unseen", "no run"));
    return td;
  }
  const box = make("div.cell");
  if (cell.target) opens(td, cell.target, open);
  if (cell.smallest) box.classList.add("smallest");
  box.style.setProperty("--shade", `${(cell.shade * 100).toFixed(1)}%`);
  // The name begins with the words that are seen, so that a person can say them to a voice control.
  if (cell.size) box.append(make("span.size", cell.size), " ");
  box.append(make("span.right", cell.right));
  if (cell.warning) box.append(make("span.warning", cell.warning));
  const tip = make("span.tip", { "aria-hidden": "true" });
  for (const line of cell.said) tip.append(make("span", line));
  box.append(make("span.unseen", ` ${cell.said.map((line) => line.replace(/\.$/, "")).join(". ")}`), tip);
  td.append(box);
  return td;
}

// A click or Enter opens the target; with Control or Command, or the middle button, it opens in a new tab.
function opens(td, { href, page, query }, open) {
  td.classList.add("opens");
  const go = (event) => {
    if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(href, "_blank", "noopener");
    else open({ page, query });
  };
  td.addEventListener("click", go);
  td.addEventListener("auxclick", (event) => event.button === 1 && go(event));
  td.addEventListener("keydown", (event) => event.key === "Enter" && go(event));
}

// A row: the model's name, which is a link where something opens, and its cells.
function rowOf({ title, details, target, cells }, open, none) {
  const name = target ? link(target, "title", open) : make("span.title", { tabIndex: -1 });
  name.append(title);
  const th = make("th", { scope: "row" }, name);
  if (details) th.append(make("span.below", details));
  return make("tr", th, ...cells.map((cell) => cellOf(cell, open, none)));
}

const MOVES = {
  ...{ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
}; // rows down and columns to the right

// One element of the table is a stop of the Tab key; the arrow keys, Home and End move it.
function oneStop(table) {
  const rows = [...table.querySelectorAll("tbody tr")]
    .map((tr) => [...tr.querySelectorAll("th[scope=row] .title, td[tabindex]")])
    .filter((row) => row.length);
  for (const part of rows.flat()) part.tabIndex = -1;
  if (rows.length) rows[0][0].tabIndex = 0;
  table.addEventListener("keydown", (event) => {
    const at = rows.findIndex((row) => row.includes(event.target));
    if (at < 0 || !(event.key in MOVES) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [down, right] = MOVES[event.key];
    const row = rows[at + down] ?? rows[at];
    row[Math.max(0, Math.min(row.length - 1, rows[at].indexOf(event.target) + right))].focus();
  });
  table.addEventListener("focusin", ({ target }) => {
    if (target.tabIndex !== -1) return;
    for (const part of rows.flat()) part.tabIndex = part === target ? 0 : -1;
  });
}

// Rows of a published table: below the runs, in the columns of their tasks, with the questions named again.
function publishedRows({ title, note, says, heads, rows }, open) {
  const tbody = make("tbody.published");
  const source = make(
    "tr.source",
    make("th", { scope: "rowgroup", colSpan: heads.length + 1 }, make("span.title", title), make("span.below", note)),
  );
  const banks = make("tr.banks", make("td"));
  for (const { title: bank, below } of heads) {
    banks.append(make("td", make("span.title", bank), make("span.below", below)));
  }
  tbody.append(source, banks);
  const whole = (cell) => cell && { ...cell, said: [...cell.said, ...says] };
  const none = "Nothing is published of this model on this task.";
  for (const row of rows) tbody.append(rowOf({ ...row, cells: row.cells.map(whole) }, open, none));
  return tbody;
}

function matrix(section, data, open) {
  const scroll = make("div.scroll");
  const table = make("table", make("caption.unseen", data.caption));
  put(table, { role: "grid", "aria-readonly": "true" });
  const heads = make("tr", make("td.corner", make("span", data.corner.title), make("span.below", data.corner.below)));
  for (const { title, below } of data.columns) {
    heads.append(make("th", { scope: "col" }, make("span.title", title), make("span.below", below)));
  }
  const thead = make("thead", heads);
  const tbody = make("tbody", ...data.rows.map((row) => rowOf(row, open)));
  table.append(thead, tbody, ...data.published.map((block) => publishedRows(block, open)));
  oneStop(table);
  scroll.append(table);
  section.style.setProperty("--own", `var(--${data.meaning})`);
  section.replaceChildren(scroll, key(data));
  placeTips(scroll);
}

// What the colour and the outline mean.
function key(data) {
  const scale = make("span.scale", make("span", data.key.most), make("span.ramp"), make("span", data.key.least));
  const outline = make("span.outlined", make("span.sample.smallest"), make("span", data.key.smallest));
  const holder = make("p.key", scale);
  if (data.key.smallest) holder.append(outline);
  if (data.published.length) {
    holder.append(make("span.outlined", make("span.sample.printed"), make("span", "published, not computed here")));
  }
  if (data.key.warning) holder.append(make("span", data.key.warning));
  return holder;
}

// A cell's details stand above or below it, wherever the window has room: the table scrolls, so they are fixed.
function placeTips(scroll) {
  const place = (event) => {
    const box = event.target.closest?.("td")?.querySelector(".cell");
    if (!box) return;
    const tip = box.querySelector(".tip");
    const cell = box.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(cell.left + cell.width / 2 - width / 2, innerWidth - width - 8));
    const top = cell.bottom + height + 8 < innerHeight ? cell.bottom + 6 : cell.top - height - 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${top}px`;
  };
  scroll.addEventListener("pointerover", place);
  scroll.addEventListener("focusin", place);
}

// ---- the legend of the scatter plots

function legend(section, { models, published }) {
  const list = make("ul.legend");
  for (const { name, meaning, path } of models) {
    const item = make("li");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    put(svg, { viewBox: "-1.1 -1.1 2.2 2.2", "aria-hidden": "true" });
    draw(svg, "path", { d: path, style: `fill: var(--${meaning})` });
    item.append(svg, make("span", name));
    list.append(item);
  }
  if (published) {
    list.append(make("li", make("span.ring"), make("span", published)));
  }
  section.replaceChildren(list);
}

const KINDS = { ways: waysIn, matrix, legend };

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export default mounted(
  () => ({}),
  (_, { data, parentElement, setTriggerValue }) => {
    const section = parentElement.querySelector(".first-page");
    setThemeColors(parentElement.host ?? parentElement, section, RUNS);
    const version = JSON.stringify(data);
    if (section.dataset.version === version) return;
    section.dataset.version = version;
    section.classList.toggle("ways", data.kind === "ways");
    KINDS[data.kind](section, data, (target) => setTriggerValue("open", target));
  },
);
