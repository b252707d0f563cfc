// The lesson's texts as elements: paragraphs, *stress*, **terms**, and {names} of figures that follow alpha.

import { make } from "../shared/dom.js";
import { ALL_FACTS, ALL_SENTENCES } from "./every_lesson.js";
import { BOUND, boundNumber } from "./tangle.js";

const PART = /\*\*(.+?)\*\*|\*(.+?)\*|\{(\w+)\}/gs;

// One line of a text, as pieces of plain text, terms, stress and names.
export function pieces(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(PART)) {
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    const [, term, stress, name] = match;
    parts.push(
      term ? { kind: "term", text: term } : stress ? { kind: "stress", text: stress } : { kind: "name", text: name },
    );
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

const TAGS = { term: "b", stress: "em" };

// Writes texts into elements and keeps the figures in them up to date. `hands` moves alpha (tangle.js).
export class Words {
  constructor(hands) {
    this.hands = hands;
    this.meanings = {}; // by term, in lower case
    this.live = [];
  }

  clear() {
    this.live = [];
  }

  paragraphs(host, text, className = "") {
    const blocks = text.trim().split(/\n\s*\n/);
    host.replaceChildren(
      ...blocks.map((block) => this.line(make("p", { className }), block.replaceAll(/\s*\n\s*/g, " "))),
    );
  }

  line(host, text) {
    for (const { kind, text: content } of pieces(text)) {
      if (kind === "text") host.append(content);
      else if (kind === "name") host.append(this.figure(content));
      else {
        const node = this.line(make(TAGS[kind]), content);
        const meaning = kind === "term" && this.meanings[content.toLowerCase()];
        if (meaning) node.title = meaning;
        host.append(node);
      }
    }
    return host;
  }

  figure(name) {
    if (name in BOUND) {
      const bound = boundNumber(name, this.hands);
      this.live.push((at) => bound.update(at.alpha));
      return bound.node;
    }
    const node = make("span", { className: ALL_SENTENCES.includes(name) ? "" : "live" });
    node.dataset.fact = name;
    let shown = null;
    this.live.push((at) => {
      const text = ALL_FACTS[name](at);
      if (text === shown) return;
      shown = text;
      node.replaceChildren();
      if (ALL_SENTENCES.includes(name)) this.line(node, text);
      else node.append(text);
    });
    return node;
  }

  update(at) {
    for (const update of this.live) update(at);
  }
}

// A text with its figures at one alpha, without elements.
export function filled(text, at) {
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => ALL_FACTS[name](at)).replaceAll("*", "");
}
