// Tells Python which theme is shown, once it is not the one that a figure was drawn in.

export const themeOf = (color) => {
  const channels = (color.match(/^#(..)(..)(..)/) ?? []).slice(1).map((pair) => parseInt(pair, 16));
  if (channels.length < 3) return null;
  const [red, green, blue] = channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 127 ? "light" : "dark";
};

// Streamlit calls this when it mounts the component, and again whenever the data or the theme changes.
export default function ({ data, parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement;
  const seen = themeOf(getComputedStyle(host).getPropertyValue("--st-background-color").trim());
  if (seen && seen !== data.theme) setStateValue("theme", seen);
}
