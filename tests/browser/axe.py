"""axe-core's verdict on the page that a browser shows: the faults that shut people out."""

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page

from core.settings import ROOT
from tests import needs

SCRIPT = ROOT / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
RUN = """async options => {
  const byDefault = rule => rule.enabled && !rule.tags.some(tag => ['experimental', 'deprecated'].includes(tag));
  const grave = axe._audit.rules.filter(rule => byDefault(rule) && options.impacts.includes(rule.impact));
  const values = options.rules ?? grave.map(rule => rule.id);
  const found = await axe.run(options.context, { resultTypes: ['violations'], runOnly: { type: 'rule', values } });
  return found.violations.filter(one => options.impacts.includes(one.impact)).flatMap(one => one.nodes.map(node =>
    `${one.impact}: ${one.id} (${one.help}) at ${node.target.flat().join(' ')}: ${node.html.slice(0, 160)} ` +
    node.any.map(check => check.message).slice(0, 1).join('')));
}"""
NOT_OURS = {
    "[data-testid=stSidebarNavItems]": "a list whose groups of pages stand between it and its items",
}
"""Parts of Streamlit's own markup (1.67.0) that fail and that no setting changes: the selector, and what is wrong."""


COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that look at colours, of those that axe-core applies by default: in another theme only they can differ."""


def faults(page: Page, *, rules: Sequence[str] | None = None) -> list[str]:
    """Each serious or critical fault on the page: the rule, where, and the markup. Empty if there is none.

    ``rules`` names the rules that are applied; None stands for all grave ones that axe-core applies by default.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    context: dict[str, Any] = {"exclude": [[selector] for selector in NOT_OURS]}
    return list(page.evaluate(RUN, {"context": context, "impacts": GRAVE, "rules": rules}))


def required() -> None:
    """Skip the test without axe-core."""
    if not SCRIPT.is_file():
        needs.missing("ESLint, axe-core and esbuild")
