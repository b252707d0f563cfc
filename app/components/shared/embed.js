// A component as a file of its own: charts/embed.py writes the page with its data.

import { openOutside } from "./outside.js";

export function embed(mount) {
  const embedded = JSON.parse(document.getElementById("embedded").textContent);
  const opened = openOutside(mount, document.getElementById("embed"), embedded);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => opened.show());
}
