// The rules of Hedge's JavaScript. `npm run lint` checks them, `npm run format` fixes what can be fixed.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/", "assets/", ".hedge/", ".venv/", "site/"] },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "one-var": ["error", "never"],
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
  { files: ["app/**/*.js", "docs/**/*.js", "tests/pictures/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/**/*.mjs", "*.js"], languageOptions: { globals: globals.node } },
];
