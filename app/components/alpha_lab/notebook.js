// The Alpha lab as an anywidget (https://anywidget.dev). hedge/widget.py has the traits: `data` and `page` are what
// openLab takes, `themes` the colours of light and dark, and `alpha` goes both ways.

import { openLab } from "./outside.js";

const THEME_MARKS = ["class", "style", "data-jp-theme-light", "data-theme", "theme", "data-vscode-theme-kind"];

// JupyterLab says which theme it has. Elsewhere, as in VS Code or Colab, the text is light if the theme is dark.
function isDark(element) {
  const isLight = document.body.dataset.jpThemeLight;
  if (isLight) return isLight === "false";
  const [red, green, blue] = getComputedStyle(element)
    .color.match(/[\d.]+/g)
    .map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 128;
}

function render({ model, el }) {
  let lab = null;
  let theme = "";
  const frame = document.createElement("div");
  frame.style.padding = "0.75rem";
  el.append(frame);

  function paint() {
    const now = isDark(el) ? "dark" : "light";
    if (now === theme) return;
    theme = now;
    for (const [name, value] of Object.entries(model.get("themes")[now])) frame.style.setProperty(name, value);
    frame.style.background = "var(--st-background-color)";
    frame.style.colorScheme = now;
    lab?.show();
  }

  function released({ alpha }) {
    if (Math.round(model.get("alpha") * 1000) === alpha) return;
    model.set("alpha", alpha / 1000);
    model.save_changes();
  }

  // A notebook renders a widget before it puts it into the page, where its width and its colours are known.
  const seen = new ResizeObserver(() => {
    if (lab || !el.clientWidth) return;
    paint();
    lab = openLab(frame, { ...model.get("page"), data: model.get("data"), onView: released });
    moved();
  });
  const moved = () => lab?.show({ alpha: Math.round(model.get("alpha") * 1000) });
  const watch = new MutationObserver(() => lab && paint());
  const system = matchMedia("(prefers-color-scheme: dark)");
  const systemChanged = () => lab && paint();

  seen.observe(el);
  for (const whole of [document.documentElement, document.body])
    watch.observe(whole, { attributes: true, attributeFilter: THEME_MARKS });
  system.addEventListener("change", systemChanged);
  model.on("change:alpha", moved);
  return () => {
    seen.disconnect();
    watch.disconnect();
    system.removeEventListener("change", systemChanged);
    model.off("change:alpha", moved);
    lab?.close();
  };
}

export default { render };
