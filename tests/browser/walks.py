"""Walks by the keyboard alone: the keys, what has the focus after them, and what a screen reader says of it.

``docs/text/accessibility.md`` holds one table for each walk. Its rows are read here and followed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from core.settings import ROOT
from tests.browser.conftest import eventually, script_ended

WRITTEN = ROOT / "docs" / "text" / "accessibility.md"
KEYS = re.compile(r"`(?P<key>\w[\w+]*)`(?: × (?P<times>\d+))?|type “(?P<typed>.+?)”")
SLACK = 8
"""The number of stops that a page may gain before its walk has to be recorded again."""
TRIES, LOOKS, LOOK_MS = 3, 5, 60
BACK = {"Tab": "Shift+Tab", "Shift+Tab": "Tab"}
ROLES = {"DisclosureTriangle": "disclosure", "LabelText": "text", "Legend": "text", "generic": "text"}
STATES = ("checked", "expanded", "pressed", "selected", "disabled")
DEEPEST = """let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;"""
FOCUSED = f"(() => {{ {DEEPEST} return one; }})()"
OWN_WORDS = """function() {
  return [this.getAttribute('aria-valuetext') ?? '', this.textContent, this.matches('body')];
}"""
HIDDEN = f"""() => {{ {DEEPEST}
  if (!one || one === document.body || one.matches('[data-testid=stMain]')) return '';
  const at = (x, y) => {{
    let seen = document.elementFromPoint(x, y);
    while (seen?.shadowRoot) {{
      const inner = seen.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === seen) break;
      seen = inner;
    }}
    return seen;
  }};
  const box = one.getBoundingClientRect();
  const shares = [0.05, 0.5, 0.95];
  const seen = shares.flatMap(x => shares.map(y => at(box.x + box.width * x, box.y + box.height * y)));
  const own = other => other && (one.contains(other) || other.contains(one));
  return seen.some(own) ? '' : `${{one.outerHTML.slice(0, 120)}} is covered by ${{seen[4]?.outerHTML.slice(0, 120)}}`;
}}"""
"""What covers all of the element that has the focus; empty if a part of it is seen (WCAG 2.2, 2.4.11)."""
LIVE = """() => {
  const said = [];
  const walk = root => {
    for (const one of root.querySelectorAll('*')) {
      if (one.matches('[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]')
        && one.checkVisibility())
        said.push(one.textContent.trim().replace(/\\s+/g, ' '));
      if (one.shadowRoot) walk(one.shadowRoot);
    }
  };
  walk(document);
  return said.filter(text => text);
}"""

SMALL = """() => {
  const all = [];
  const walk = root => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) walk(one.shadowRoot);
      if (one.matches('a[href], button, input:not([type=file]), select, textarea, summary, [role=slider]')
        && !one.disabled && one.checkVisibility()) all.push(one);
    }
  };
  walk(document);
  const boxOf = one => {
    const around = [one, ...(one.matches('input') ? one.labels ?? [] : [])].map(part => part.getBoundingClientRect());
    const after = getComputedStyle(one, '::after');
    const grown = after.position === 'absolute' && after.content !== 'none' ? -parseFloat(after.top) || 0 : 0;
    const [left, top] = ['left', 'top'].map(side => Math.min(...around.map(box => box[side])));
    const [right, bottom] = ['right', 'bottom'].map(side => Math.max(...around.map(box => box[side])));
    return { left, right, top: top - grown, bottom: bottom + grown, wide: right - left, tall: bottom - top + 2 * grown,
      x: (left + right) / 2, y: (top + bottom) / 2 };
  };
  const boxes = all.map(boxOf);
  const isSmall = box => box.wide < 23.5 || box.tall < 23.5;
  return all.filter((one, i) => {
    const box = boxes[i];
    if (!isSmall(box) || box.wide <= 1 || one.closest('p, td, li, .text')) return false;
    return all.some((other, j) => {
      if (i === j || other.contains(one) || one.contains(other) || boxes[j].wide <= 1) return false;
      const near = boxes[j];
      const x = Math.max(near.left, Math.min(box.x, near.right)) - box.x;
      const y = Math.max(near.top, Math.min(box.y, near.bottom)) - box.y;
      const labelled = other.matches('input') && [...(other.labels ?? [])].some(label => label.contains(one));
      return !labelled && (Math.hypot(x, y) < 12 || isSmall(near) && Math.hypot(near.x - box.x, near.y - box.y) < 24);
    });
  }).map(one => one.outerHTML.slice(0, 160));
}"""


@dataclass(frozen=True)
class WalkStep:
    """A row of a walk: the keys, what is then spoken of the focus, and what a live region announces, if anything."""

    keys: str
    spoken: str
    announced: str


def written_walk(title: str) -> list[WalkStep]:
    """The steps of the walk below the heading ``title``."""
    section = WRITTEN.read_text(encoding="utf-8").split(f"### {title}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [WalkStep(*(cell.strip() for cell in row)) for row in rows[2:]]


class ScreenReader:
    """The parts of a page in Chromium's accessibility tree that a screen reader reads."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Accessibility.enable")

    def spoken(self) -> str:
        """The role, the name, the value, the states and the description of what has the focus."""
        focused = self._session.send("Runtime.evaluate", {"expression": FOCUSED})["result"]
        object_id = {"objectId": focused["objectId"]}
        node = self._session.send("Accessibility.getPartialAXTree", {**object_id, "fetchRelatives": False})["nodes"][0]
        call = {**object_id, "functionDeclaration": OWN_WORDS, "returnByValue": True}
        value_text, text, is_body = self._session.send("Runtime.callFunctionOn", call)["result"]["value"]
        if is_body:
            return "nothing"
        role = str(node["role"]["value"])
        properties = {property["name"]: property["value"].get("value") for property in node.get("properties", [])}
        words = [
            ROLES.get(role, role),
            _of(node, "name") or (text if role == "generic" else ""),
            value_text or _number(_of(node, "value")),
            *(_state(name, properties[name]) for name in STATES if properties.get(name) not in (None, "")),
            _of(node, "description"),
        ]
        return " · ".join(re.sub(r"\s+", " ", word).strip() for word in words if word).replace("|", "/")

    def announced(self) -> str:
        """The texts of all live regions."""
        return " / ".join(self.page.evaluate(LIVE)).replace("|", "/")


def _of(node: dict[str, Any], name: str) -> str:
    return str(node.get(name, {}).get("value", ""))


def _number(value: str) -> str:
    """Chromium keeps numbers in single precision: 0.1 is 0.10000000149011612."""
    try:
        return f"{float(value):.6g}"
    except ValueError:
        return value


def _state(name: str, value: object) -> str:
    if value in (True, "true"):
        return name
    return {"expanded": "collapsed", "disabled": ""}.get(name, f"not {name}")


def follow(page: Page, steps: list[WalkStep]) -> Iterator[str]:
    """Follow a walk. Fails at the first step that is no longer possible; gives each fault of a stop on the way."""
    heard = ScreenReader(page)
    for step in steps:
        stops = 0
        for key, times, typed in (match.groups() for match in KEYS.finditer(step.keys)):
            if typed:
                page.keyboard.type(typed)
            for _ in range(int(times or 1) if key else 0):
                page.keyboard.press(key)
                if key in BACK:
                    stops += 1
                    yield from _faults(page, heard)
        if stops:
            _reach(page, heard, step, stops)
        eventually(page, lambda: _differs(heard, step))  # noqa: B023 - called at once
        if not stops:
            _quiet(page)


def _reach(page: Page, heard: ScreenReader, step: WalkStep, stops: int) -> None:
    """Go on to the stop of a step if the page has gained some, and start again if what was asked for came late."""
    key = "Shift+Tab" if "Shift" in step.keys else "Tab"
    for _ in range(TRIES):
        for further in range(SLACK + 1):
            if heard.spoken() == step.spoken:
                return
            page.keyboard.press(key if further < SLACK else BACK[key])
        for _ in range(SLACK - 1 + stops):
            page.keyboard.press(BACK[key])
        _quiet(page)
        for _ in range(stops):
            page.keyboard.press(key)


def _quiet(page: Page) -> None:
    """Wait until the page has answered: its script has ended, and for a while nothing came or went."""
    counts: list[int] = []

    def changes() -> bool:
        counts.append(page.evaluate("document.querySelectorAll('*').length"))
        page.wait_for_timeout(LOOK_MS)
        return len(counts) < LOOKS or len(set(counts[-LOOKS:])) > 1

    script_ended(page)
    eventually(page, changes)
    script_ended(page)


def _differs(heard: ScreenReader, step: WalkStep) -> str:
    spoken, announced = heard.spoken(), heard.announced()
    if spoken != step.spoken:
        return f"after {step.keys} the focus is on {spoken!r}, and not on {step.spoken!r}"
    return "" if step.announced in announced else f"{step.announced!r} is not announced, but {announced!r}"


def _faults(page: Page, heard: ScreenReader) -> Iterator[str]:
    if hidden := page.evaluate(HIDDEN):
        yield hidden
    spoken = heard.spoken()
    if " · " not in spoken and spoken not in ("nothing", "main"):
        yield f"a {spoken} without a name"


def small_targets(page: Page) -> list[str]:
    """Controls below 24 by 24 pixels with another one so near that a circle of 24 pixels touches it (WCAG 2.2, 2.5.8).

    A control in a sentence is exempt. The box of an input has its label's in it, for a press on the label counts.
    """
    return list(page.evaluate(SMALL))
