// A bubble with lines of text beside what the pointer or the keyboard focus is on.

import { make } from "./dom.js";

const TIP_GAP = 10;

export class Tip {
  constructor(root) {
    this.bubble = make("div", "tip");
    this.bubble.setAttribute("role", "tooltip");
    this.bubble.popover = "manual";
    this.bubble.style.cssText =
      "position:fixed;inset:auto;margin:0;max-width:min(24rem,90vw);padding:.5rem .7rem;font:.9rem/1.4 var(--st-font);" +
      "color:var(--st-text-color);background:var(--st-background-color);border:1px solid var(--st-border-color);" +
      "border-radius:var(--st-base-radius);box-shadow:0 2px 10px rgb(0 0 0 / 25%);pointer-events:none;" +
      "font-variant-numeric:tabular-nums;";
    root.querySelectorAll(".tip").forEach((old) => old.remove()); // of a component that was mounted here before
    root.append(this.bubble);
    this.hide = this.hide.bind(this);
  }

  // The first line is bold.
  show(element, lines) {
    this.bubble.replaceChildren(
      ...lines.map((line, i) => {
        const text = make("div", "", line);
        if (i === 0) text.style.fontWeight = "600";
        return text;
      }),
    );
    this.bubble.showPopover();
    window.addEventListener("scroll", this.hide, true);
    const at = element.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.bubble;
    const left = Math.max(TIP_GAP, Math.min(at.left, window.innerWidth - width - TIP_GAP));
    const below = at.bottom + TIP_GAP;
    const above = at.top - TIP_GAP - height;
    this.bubble.style.left = `${left}px`;
    this.bubble.style.top = `${below + height <= window.innerHeight || above < 0 ? below : above}px`;
  }

  hide() {
    window.removeEventListener("scroll", this.hide, true);
    if (this.bubble.matches(":popover-open")) this.bubble.hidePopover();
  }
}
