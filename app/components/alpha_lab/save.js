// Save figures as files: as a standalone SVG, and as a PNG at twice the size.

const KEPT = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
  "display",
  "clip-path",
];

// A copy of the figure with its colours written into it, on the page's background, with its caption above.
export function standAlone(svg, caption, host) {
  const { width, height } = svg.viewBox.baseVal;
  const head = 26;
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[i].style.setProperty(name, style.getPropertyValue(name));
  });
  const whole = getComputedStyle(host);
  const text = document.createElementNS(svg.namespaceURI, "text");
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ x: -8, y: -head, width: width + 16, height: height + head + 8 }))
    paper.setAttribute(name, value);
  paper.style.fill = whole.getPropertyValue("--st-background-color") || "white";
  text.textContent = caption;
  text.setAttribute("y", -9);
  text.setAttribute("style", `fill:${whole.color};font:600 12px ${whole.fontFamily}`);
  copy.prepend(paper, text);
  copy.setAttribute("xmlns", svg.namespaceURI);
  copy.setAttribute("viewBox", `-8 ${-head} ${width + 16} ${height + head + 8}`);
  copy.setAttribute("width", width + 16);
  copy.setAttribute("height", height + head + 8);
  return new XMLSerializer().serializeToString(copy);
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveSvg(text, name) {
  download(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function savePng(text, name) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const paper = document.createElement("canvas");
  paper.width = image.width * 2;
  paper.height = image.height * 2;
  paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
  URL.revokeObjectURL(image.src);
  paper.toBlob((blob) => download(blob, `${name}.png`), "image/png");
}
