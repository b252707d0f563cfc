// A number in the text that a person drags, as in Bret Victor's Tangle. It is a slider for the keyboard and for screen
// readers. All such numbers show alpha in one form or another.

import { make, say, shownAlpha } from "../shared/dom.js";
import { percent } from "../shared/formatting.js";

const SMALL_STEP = 1;
const LARGE_STEP = 10;
const LAST_ALPHA = 999;

// Each form by its name in the texts: its text at an alpha, its label, and whether it grows or falls with alpha.
export const BOUND = {
  alpha: { label: "alpha", direction: 1, shown: (alpha) => shownAlpha(alpha) },
  alpha_percent: { label: "alpha, in percent", direction: 1, shown: (alpha) => percent(alpha / 1000, 1) },
  target: { label: "target coverage", direction: -1, shown: (alpha) => percent((1000 - alpha) / 1000, 1) },
};

export const withinAlphas = (alpha) => Math.max(1, Math.min(LAST_ALPHA, Math.round(alpha)));

// How far a key moves a slider, in thousandths; 0 for any other key.
export function keyStep({ key, shiftKey }) {
  const small = shiftKey ? LARGE_STEP : SMALL_STEP;
  const steps = { ArrowRight: small, ArrowUp: small, ArrowLeft: -small, ArrowDown: -small };
  return steps[key] ?? { PageUp: LARGE_STEP, PageDown: -LARGE_STEP }[key] ?? 0;
}

// `move(alpha)` is called while the number is dragged, `release()` afterwards, and `current()` gives alpha.
export function boundNumber(name, { move, release, current }) {
  const { label, direction, shown } = BOUND[name];
  let from = null;
  const node = make("span.bound", {
    tabIndex: 0,
    role: "slider",
    "aria-label": label,
    "aria-valuemin": direction > 0 ? 1 : 1000 - LAST_ALPHA,
    "aria-valuemax": LAST_ALPHA,
    onpointerdown: (event) => {
      from = { x: event.clientX, alpha: current() };
      node.setPointerCapture(event.pointerId);
      node.classList.add("dragged");
      event.preventDefault();
      node.focus({ preventScroll: true });
    },
    onpointermove: (event) => {
      if (from) move(withinAlphas(from.alpha + direction * (event.clientX - from.x)));
    },
  });
  node.onpointerup = node.onpointercancel = () => {
    if (!from) return;
    from = null;
    node.classList.remove("dragged");
    release();
  };
  node.onkeydown = (event) => {
    const step = keyStep(event);
    if (!step) return;
    event.preventDefault();
    move(withinAlphas(current() + direction * step));
    release();
  };
  return {
    node,
    update(alpha) {
      say(node, shown(alpha));
      node.setAttribute("aria-valuenow", direction > 0 ? alpha : 1000 - alpha);
      node.setAttribute("aria-valuetext", `${shown(alpha)}, at alpha ${shownAlpha(alpha)}`);
    },
  };
}
