/* global SECTIONS */
// The search of the manual: the sections that hold every word, those with a word in their heading first.
const MOST = 30;
const root = document.body.dataset.root;
const field = document.querySelector("search input");
const list = document.querySelector("search ol");
const status = document.querySelector("search [role=status]");

// SECTIONS is a file of its own, which is only loaded for a search; a script loads from disk, too, where fetch does not.
field.addEventListener(
  "focus",
  () => {
    const script = document.createElement("script");
    script.src = `${root}sections.js`;
    script.onload = search;
    document.head.append(script);
  },
  { once: true },
);
field.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") list.hidden = true;
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) list.hidden = true;
});
if (matchMedia("(max-width: 760px)").matches) document.querySelector("nav details").open = false;

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.hidden = !words.length || typeof SECTIONS === "undefined";
  if (list.hidden) return;
  const holds = (text) => words.filter((word) => text.toLowerCase().includes(word)).length;
  const matching = SECTIONS.filter((section) => holds(section.join(" ")) === words.length)
    .sort((a, b) => holds(b[0] + b[1]) - holds(a[0] + a[1]))
    .slice(0, MOST);
  list.replaceChildren(...matching.map((section) => entry(section, words[0])));
  if (!matching.length) list.textContent = "No section has all of these words.";
  status.textContent = matching.length ? `${matching.length} sections` : list.textContent;
}

function entry([page, heading, address, text], word) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const excerpt = document.createElement("small");
  const begin = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  link.href = root + address;
  link.textContent = heading === page ? page : `${page}: ${heading}`;
  excerpt.textContent = (begin ? "… " : "") + text.slice(begin, begin + 140);
  link.append(excerpt);
  item.append(link);
  return item;
}
