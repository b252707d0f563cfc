// What the scripts of every component share: functions for elements of the page, and the text of alpha.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
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

// Setting a text triggers layout, even if the text is the same.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const COLOR_MEANINGS = ["lac", "aps", "truth", "in", "out", "guarantee"];

// Give an element the theme's colours by what they mean, as --lac, --aps, … (charts/theme.py has the same order).
export function setThemeColors(host, element) {
  const colors = getComputedStyle(host).getPropertyValue("--st-chart-categorical-colors").split(",");
  COLOR_MEANINGS.forEach((meaning, i) => element.style.setProperty(`--${meaning}`, (colors[i] ?? "").trim()));
}

// alpha in a column of figures or in a sentence that moves with it: its width stays.
export function shownAlpha(alpha) {
  return (alpha / 1000).toFixed(3);
}

// alpha without needless zeros.
export function plainAlpha(alpha) {
  return String(alpha / 1000);
}
