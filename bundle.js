// Bundles the scripts and styles of the components into assets/bundles, minified. `npm run bundle` writes the bundles
// that are checked in, so that the app needs no Node.js; `npm run bundle -- FOLDER` writes them elsewhere.

import { build } from "esbuild";

const COMPONENTS = "app/components";
const FOLDER = process.argv[2] ?? "assets/bundles";

// The scripts that Streamlit, a notebook, a report and a phone load, and the styles that go with them.
const MODULES = {
  alpha_lab: "alpha_lab/alpha_lab",
  classroom: "classroom/classroom",
  comparison: "compare/comparison/comparison",
  dropped_paths: "data/dropped_paths",
  first_page: "overview/first_page/first_page",
  inspector: "compare/inspector/inspector",
  jury: "jury/jury",
  label_budget: "jury/label_budget/label_budget",
  lesson: "learn/lesson",
  notebook: "alpha_lab/notebook",
  option_bars: "one_question/option_bars/option_bars",
  phone: "../classroom/phone",
  ranges: "shared/ranges/ranges",
  report: "alpha_lab/report",
  selective: "shared/selective/panel",
  shift: "alpha_lab/shift/shift",
  shortcuts: "shared/shortcuts/shortcuts",
  stream_lab: "stream_lab/stream_lab",
  temperature: "calibration/temperature/temperature",
  token_strip: "shared/token_strip/token_strip",
  tokens: "tokens/tokens",
};
const STYLES = {
  alpha_lab: "alpha_lab/presented",
  alpha_lab_embed: "shared/live",
  classroom: "classroom/presented",
  comparison: "compare/comparison/comparison",
  first_page: "overview/first_page/first_page",
  inspector: "compare/inspector/inspector",
  jury: "jury/jury",
  label_budget: "jury/label_budget/label_budget",
  lesson: "learn/presented",
  lesson_embed: "learn/lesson",
  option_bars: "one_question/option_bars/presented",
  option_bars_embed: "one_question/option_bars/option_bars",
  phone: "../classroom/phone",
  ranges: "shared/ranges/ranges",
  selective: "shared/selective/selective",
  shift: "alpha_lab/shift/shift",
  shortcuts: "shared/shortcuts/shortcuts",
  stream_lab: "stream_lab/presented",
  stream_lab_embed: "stream_lab/stream_lab",
  temperature: "calibration/temperature/temperature",
  token_strip: "shared/token_strip/token_strip",
  tokens: "tokens/tokens",
};
const EMBEDDED = ["alpha_lab", "lesson", "option_bars", "stream_lab"];

// Streamlit takes a text of one line for the path of a file.
const banner = "/* npm run bundle wrote this file. */";
const options = {
  banner: { css: banner, js: banner },
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  minify: true,
};
const paths = (entries, ending) =>
  Object.entries(entries).map(([out, path]) => ({ in: `${COMPONENTS}/${path}.${ending}`, out }));

await build({ ...options, entryPoints: [...paths(MODULES, "js"), ...paths(STYLES, "css")], outdir: FOLDER });
for (const name of EMBEDDED) {
  const contents = `import mount from "./${MODULES[name]}.js"; import { embed } from "./shared/embed.js"; embed(mount);`;
  const outfile = `${FOLDER}/${name}_embed.js`;
  await build({ ...options, stdin: { contents, resolveDir: COMPONENTS }, outfile });
}
