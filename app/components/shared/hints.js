// Explanations in `title` attributes, which a browser shows only to a mouse: here also on keyboard focus and on a tap.

import { Tip } from "./tip.js";

const EXPLAINED = "legend, label:not(:has(input)), .legend, .label, dt, th, .note, .badge, .corner, .explain *";

// Makes the explained words of a component focusable and shows their explanation in a bubble. `root` is the component's
// root; words that are added later are made focusable too. Of words with the same explanation, only the first is a tab
// stop.
export function hints(root) {
  const bubble = new Tip(root, { name: "hint", gap: 6, widest: "22rem" });
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
  root.addEventListener("focusin", (event) => {
    const word = wordOf(event);
    if (word === event.target) bubble.show(word, [word.title]);
  });
  root.addEventListener("focusout", bubble.hide);
  root.addEventListener("keydown", (event) => event.key === "Escape" && bubble.hide());
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
