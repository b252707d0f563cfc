// What components share that follow a person's hand: one paint for each frame, what is reported and spoken once the
// hand rests, and how Streamlit's calls become data, a view and colours.

import { setThemeColors } from "./dom.js";
import { mounted } from "./mounted.js";

export class Live {
  reportAfter = 60; // milliseconds
  speakAfter = 500;

  // The `selector` names the section that has the theme's colours. A change of its size draws it again.
  constructor(root, selector) {
    this.root = root;
    this.host = root.host ?? root;
    this.find = (part) => root.querySelector(part);
    this.all = (part) => root.querySelectorAll(part);
    this.section = this.find(selector);
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.section);
  }

  resized() {
    this.build?.();
  }

  // Paints with the next frame. Every `paint` begins with `painted`.
  paintSoon() {
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  painted() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }

  // The view as it is sent to Python.
  get reported() {
    return { ...this.view };
  }

  report() {
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => this.send("view", this.reported), this.reportAfter);
  }

  speakSoon(speak) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(speak, this.speakAfter);
  }

  close() {
    clearTimeout(this.reporting);
    clearTimeout(this.speaking);
    cancelAnimationFrame(this.frame);
    this.presenter?.close({ gone: true });
    this.watch.disconnect();
  }
}

// The function that Streamlit calls: another `version` of the data is loaded, and another `revision` seeds the view.
export const mountedLive = (make) =>
  mounted(make, (shown, { data, setStateValue, setTriggerValue }) => {
    shown.send = setStateValue;
    shown.trigger = setTriggerValue;
    setThemeColors(shown.host, shown.section);
    const isNew = shown.version !== data.version;
    if (isNew) shown.load(data);
    else shown.renew?.(data);
    if (isNew || shown.revision !== data.revision) shown.seed(data);
    shown.version = data.version;
    shown.revision = data.revision;
  });
