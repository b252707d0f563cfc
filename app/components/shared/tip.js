// A bubble with lines of text beside what the pointer or the keyboard focus is on. The first of several lines is bold.

import { make } from "./dom.js";

export class Tip {
  constructor(root, { name = "tip", gap = 10, widest = "24rem" } = {}) {
    this.gap = gap;
    this.bubble = make(`div.${name}`, { role: "tooltip", popover: "manual" });
    this.bubble.style.cssText =
      `position:fixed;inset:auto;margin:0;max-width:min(${widest},90vw);padding:.5rem .7rem;font:.9rem/1.4 var(--st-font);` +
      "color:var(--st-text-color);background:var(--st-background-color);border:1px solid var(--st-border-color);" +
      "border-radius:var(--st-base-radius);box-shadow:0 2px 10px rgb(0 0 0 / 25%);pointer-events:none;" +
      "font-variant-numeric:tabular-nums;";
    root.querySelectorAll(`.${name}`).forEach((old) => old.remove()); // of a component that was mounted here before
    root.append(this.bubble);
    this.hide = this.hide.bind(this);
  }

  show(element, lines) {
    this.bubble.replaceChildren(
      ...lines.map((line, i) => {
        const text = make("div", line);
        if (i === 0 && lines.length > 1) text.style.fontWeight = "600";
        return text;
      }),
    );
    this.bubble.showPopover();
    window.addEventListener("scroll", this.hide, true);
    const at = element.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.bubble;
    const { gap } = this;
    const left = Math.max(gap, Math.min(at.left, window.innerWidth - width - gap));
    const below = at.bottom + gap;
    const above = at.top - gap - height;
    this.bubble.style.left = `${left}px`;
    this.bubble.style.top = `${below + height <= window.innerHeight || above < 0 ? below : above}px`;
  }

  hide() {
    window.removeEventListener("scroll", this.hide, true);
    if (this.bubble.matches(":popover-open")) this.bubble.hidePopover();
  }
}
