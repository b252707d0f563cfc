// Explanations in `title` attributes, which a browser shows only to a mouse: here also on keyboard focus and on a tap.

import { make } from "./dom.js";

const EXPLAINED = "legend, label:not(:has(input)), .legend, .label, dt, th, .note, .badge, .corner, .explain *";
const GAP = 6;

// Makes the explained words of a component focusable and shows their explanation in a bubble. `root` is the component's
// root; words that are added later are made focusable too. Of words with the same explanation, only the first is a tab
// stop.
export function hints(root) {
  const bubble = make("div", "hint");
  bubble.setAttribute("role", "tooltip");
  bubble.popover = "manual";
  bubble.style.cssText =
    "position:fixed;inset:auto;margin:0;max-width:min(22rem,90vw);padding:.5rem .7rem;font:.9rem/1.4 var(--st-font);" +
    "color:var(--st-text-color);background:var(--st-background-color);border:1px solid var(--st-border-color);" +
    "border-radius:var(--st-base-radius);box-shadow:0 2px 10px rgb(0 0 0 / 25%);";
  root.append(bubble);
  const wordOf = (event) => {
    const word = event.target.closest?.("[title]");
    return word?.matches(EXPLAINED) ? word : null;
  };
  const reach = (element) => {
    const words = [...(element.querySelectorAll?.("[title]") ?? [])].filter((word) => word.matches(EXPLAINED));
    for (const word of words) {
      const known = [...root.querySelectorAll("[title][tabindex='0']")].some(({ title }) => title === word.title);
      word.tabIndex = known ? -1 : 0;
    }
  };
  const hide = () => {
    window.removeEventListener("scroll", hide, true);
    if (bubble.matches(":popover-open")) bubble.hidePopover();
  };
  const show = (word) => {
    bubble.textContent = word.title;
    bubble.showPopover();
    window.addEventListener("scroll", hide, true);
    const at = word.getBoundingClientRect();
    const left = Math.min(at.left, window.innerWidth - bubble.offsetWidth - GAP);
    const below = at.bottom + GAP;
    const above = at.top - GAP - bubble.offsetHeight;
    bubble.style.left = `${Math.max(GAP, left)}px`;
    bubble.style.top = `${below + bubble.offsetHeight <= window.innerHeight || above < 0 ? below : above}px`;
  };
  root.addEventListener("focusin", (event) => {
    const word = wordOf(event);
    if (word === event.target) show(word);
  });
  root.addEventListener("focusout", hide);
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  // A click on a label would move the focus to its control, and the explanation would vanish at once.
  root.addEventListener("click", (event) => {
    const word = wordOf(event);
    if (word?.tagName === "LABEL") {
      event.preventDefault();
      word.focus();
    }
  });
  reach(root);
  new MutationObserver((changes) => {
    for (const change of changes) for (const added of change.addedNodes) reach(added);
  }).observe(root, { childList: true, subtree: true });
}
