"""What the chart colours mean. The colours themselves stand in ``.streamlit/config.toml``, once a theme.

Charts and components name a meaning, not a colour: the browser looks it up in the theme in force, so that light
and dark change live. Colour is never the only signal; the shapes go with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from core.conformal.scores import SCORES

LAC = "LAC"
APS = "APS"
TRUTH = "truth"
IN_SET = "in the set"
OUT_OF_SET = "out of the set"
GUARANTEE = "guarantee"

MEANINGS = (LAC, APS, TRUTH, IN_SET, OUT_OF_SET, GUARANTEE)
"""In the order of ``chartCategoricalColors``."""

COLOR_SCALE: dict[str, Any] = {"domain": list(MEANINGS)}
"""A Vega-Lite colour scale whose range is the theme's."""


def score_meaning(score: str) -> str:
    """The meaning whose colour a score takes: LAC has one of its own, every other score has that of APS.

    Figures with several scores show two of them, one of which is LAC (:func:`core.reports.report.shown_with`).
    """
    return LAC if score == "lac" else APS


def score_scale(scores: Iterable[str]) -> dict[str, Any]:
    """The colour scale of a figure whose colours stand for the titles of ``scores``."""
    titles = {score_meaning(score): SCORES[score].title for score in scores}
    return {"domain": [titles.get(meaning, meaning) for meaning in MEANINGS]}


def color(meaning: str) -> dict[str, Any]:
    """The Vega-Lite encoding of one meaning's colour, without a legend."""
    return {"datum": meaning, "type": "nominal", "scale": COLOR_SCALE, "legend": None}


FAINT = 0.68
"""How opaque the words of axes and legends are: as those of the components' own charts (``--faint``)."""
BLACK_ABOVE = 0.179
"""Relative luminance above which black is easier to read than white: both have 4.58 : 1 at √(1.05 · 0.05) - 0.05."""


def ink() -> dict[str, str]:
    """The text colour of the theme in force, for a Vega-Lite property that takes an expression."""
    light, dark = (st.get_option(f"theme.{mode}.textColor") for mode in ("light", "dark"))
    return {"expr": f"luminance(background) > 0.5 ? '{light}' : '{dark}'"}


def on_shade(value: str) -> dict[str, Any]:
    """The colour of a text on a cell that the colour scale shades by ``value``: black or white, whichever reads better.

    Both have a contrast of at least 4.5 : 1 on every shade that they are chosen for.
    """
    shade = f"luminance(scale('color', datum['{value}']))"
    return {"condition": {"test": f"{shade} > {BLACK_ABOVE}", "value": "#000000"}, "value": "#ffffff"}


def text_config() -> dict[str, Any]:
    """The Vega-Lite configuration of a chart's words. Streamlit's own grey has 3.7 : 1 on a white page."""
    faint = {"labelColor": ink(), "titleColor": ink(), "labelOpacity": FAINT, "titleOpacity": FAINT}
    return {"axis": faint, "legend": faint, "header": {"labelColor": ink(), "titleColor": ink()}}


CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""What is chosen in a box for several choices, in the text's colour on the page's. Streamlit writes it in white on the
primary colour, which in the dark theme is too light for that."""
