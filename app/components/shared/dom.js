// What the scripts of every component share: functions for elements of the page, and the text of alpha.

const SVG = "http://www.w3.org/2000/svg";

// An element such as "p.note.wide", perhaps with properties and attributes ({ title, "aria-label": … }), and what it
// holds: texts and elements. Nothing is made of an empty text.
export function make(selector, ...content) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.type = "button";
  if (content[0]?.constructor === Object) {
    for (const [name, value] of Object.entries(content.shift()))
      if (name.includes("-") || name === "role") element.setAttribute(name, value);
      else if (name !== "className" || value) element[name] = value;
  }
  element.append(...content.filter(Boolean));
  return element;
}

export function draw(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  put(element, attributes);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

export function put(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

// A link that the app opens by `go` without reloading the page; with a modifier key the browser opens it in its own way.
export function wayTo(link, href, go) {
  link.href = href;
  link.onclick = (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    go();
  };
  return link;
}

// The titles of a table's columns. A column without one may have a title that is only read aloud.
export function headRow(titles, unseen = "") {
  const cell = (title) => (title ? make("th", { scope: "col" }, title) : make("td"));
  return make("tr", ...titles.map((title) => cell(title || (unseen && make("span.unseen", unseen)))));
}

export const choices = (select, pairs) =>
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));

// Setting a text triggers layout, even if the text is the same.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const COLOR_MEANINGS = ["lac", "aps", "truth", "in", "out", "guarantee"];

// Give an element the theme's colours by what they mean, as --lac, --aps, … (charts/theme.py has the same order).
export function setThemeColors(host, element, further = []) {
  const colors = getComputedStyle(host).getPropertyValue("--st-chart-categorical-colors").split(",");
  [...COLOR_MEANINGS, ...further].forEach((meaning, i) =>
    element.style.setProperty(`--${meaning}`, (colors[i] ?? "").trim()),
  );
}

// alpha in a column of figures or in a sentence that moves with it: its width stays.
export function shownAlpha(alpha) {
  return (alpha / 1000).toFixed(3);
}

// alpha without needless zeros.
export function plainAlpha(alpha) {
  return String(alpha / 1000);
}
