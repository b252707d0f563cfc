// Scrolls to the top when a page changes its step, because Streamlit keeps the scroll position of the last step.

const shown = new WeakMap();

export default function ({ data, parentElement }) {
  const before = shown.get(parentElement);
  shown.set(parentElement, data.step);
  if (before !== undefined && before !== data.step)
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
}
