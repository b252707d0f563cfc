// A page that changes its step opens at its top: Streamlit keeps the place to which the last one was scrolled.

const shown = new WeakMap();

export default function ({ data, parentElement }) {
  const before = shown.get(parentElement);
  shown.set(parentElement, data.step);
  if (before !== undefined && before !== data.step)
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
}
