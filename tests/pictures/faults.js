// What is wrong with the page that is shown, as far as a script can tell: one sentence for each fault.
() => {
  const SLACK = 1.5; // pixels that rounding may add
  const CONTROLS = "a[href], button, input, select, textarea, summary, [role=button], [role=slider], [role=tab]";
  const found = [];

  const all = (root) =>
    [...root.querySelectorAll("*")].flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
  const up = (one) => one.parentElement ?? (one.getRootNode().host || null);
  const above = (one) => {
    const list = [];
    for (let each = up(one); each; each = up(each)) list.push(each);
    return list;
  };
  const within = (inner, outer) => above(inner).includes(outer);
  const words = (one) => (one.getAttribute("aria-label") || one.value || one.textContent || "").trim().slice(0, 60);
  const label = (one) => `<${one.tagName.toLowerCase()}> “${words(one).replace(/\s+/g, " ")}”`;
  const ownText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const scrolls = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const cuts = (one) => ["hidden", "clip"].includes(getComputedStyle(one).overflowX);
  const shown = (one) => {
    const box = one.getBoundingClientRect();
    return (
      box.width > 2 &&
      box.height > 2 &&
      box.right > 0 &&
      box.left < 4 * innerWidth &&
      one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    );
  };
  // Text for screen readers only is clipped to a pixel on purpose.
  const forEars = (one) =>
    [one, ...above(one)].some((each) => {
      const style = getComputedStyle(each);
      return style.clip === "rect(0px, 0px, 0px, 0px)" || (style.position === "absolute" && each.clientWidth === 1);
    });

  const elements = all(document.body).filter((one) => shown(one) && !forEars(one));

  // Something scrolls sideways that is neither a table nor made to scroll: the document, or Streamlit's main part.
  for (const one of [document.documentElement, ...document.querySelectorAll("[data-testid=stMain]")]) {
    if (one.scrollWidth > one.clientWidth + SLACK) {
      found.push(`the page scrolls sideways: ${one.scrollWidth} px in ${one.clientWidth} px`);
    }
  }
  for (const one of elements) {
    const box = one.getBoundingClientRect();
    if (box.right > innerWidth + SLACK && !above(one).some((each) => scrolls(each) || cuts(each))) {
      found.push(`beyond the right edge by ${Math.round(box.right - innerWidth)} px: ${label(one)}`);
    }
  }

  // Words that are cut off.
  for (const one of elements) {
    if (one instanceof SVGElement) continue;
    const input = one.matches("input:not([type=range], [type=checkbox], [type=radio], [type=file])");
    if (!(input || (ownText(one) && cuts(one)))) continue;
    // A choice that ends with three dots is whole in its list.
    if (input && getComputedStyle(one).textOverflow === "ellipsis") continue;
    if (one.scrollWidth > one.clientWidth + SLACK) {
      found.push(`text cut: ${label(one)}, ${one.scrollWidth} px in ${one.clientWidth} px`);
    }
  }
  for (const one of elements.filter((each) => !(each instanceof SVGElement) && ownText(each))) {
    const range = document.createRange();
    range.selectNodeContents(one);
    const text = range.getBoundingClientRect();
    const clip = above(one).find((each) => cuts(each) || scrolls(each));
    if (!clip || scrolls(clip) || clip.matches("html, body")) continue;
    const edge = clip.getBoundingClientRect();
    // Wholly outside is what a closed menu holds.
    const outside = text.left > edge.right || text.right < edge.left;
    if (text.width && !outside && (text.right > edge.right + SLACK || text.left < edge.left - SLACK)) {
      found.push(`text cut by what it lies in: ${label(one)}`);
    }
  }

  // Words of a drawing: cut at its edge, or one upon the other.
  for (const drawing of elements.filter((one) => one.tagName === "svg" && !within(one, document.head))) {
    const edge = drawing.getBoundingClientRect();
    const texts = [...drawing.querySelectorAll("text")].filter((one) => one.textContent.trim() && shown(one));
    const boxes = texts.map((one) => one.getBoundingClientRect());
    boxes.forEach((box, i) => {
      const out = Math.max(edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom);
      // A line of Source Sans is higher than its letters, and Vega counts the letters alone.
      if (out > 2.5 && cuts(drawing))
        found.push(`text cut at a drawing's edge: ${label(texts[i])} by ${Math.round(out)} px`);
      boxes.slice(i + 1).forEach((other, j) => {
        const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        const least = Math.min(box.width * box.height, other.width * other.height);
        if (wide > 2 && high > 3 && wide * high > 0.15 * least) {
          found.push(`words of a drawing overlap: ${label(texts[i])} and ${label(texts[i + 1 + j])}`);
        }
      });
    });
  }

  // Controls that lie upon each other.
  const controls = elements.filter((one) => one.matches(CONTROLS) && getComputedStyle(one).pointerEvents !== "none");
  controls.forEach((one, i) => {
    const box = one.getBoundingClientRect();
    for (const other of controls.slice(i + 1)) {
      if (within(one, other) || within(other, one)) continue;
      const next = other.getBoundingClientRect();
      const wide = Math.min(box.right, next.right) - Math.max(box.left, next.left);
      const high = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
      const inside = (a, b) =>
        a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
      if (wide > 3 && high > 3 && !inside(box, next) && !inside(next, box)) {
        found.push(`controls overlap: ${label(one)} and ${label(other)}`);
      }
    }
  });

  for (const one of document.querySelectorAll("[data-testid=stException]")) {
    found.push(`Streamlit shows an exception: ${one.textContent.slice(0, 200)}`);
  }
  return [...new Set(found)];
};
