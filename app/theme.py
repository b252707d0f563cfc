"""What the chart colours mean. The colours themselves stand in ``.streamlit/config.toml``, once a theme.

Charts and components name a meaning, not a colour: the browser looks it up in the theme in force, so that light
and dark change live. Colour is never the only signal; the shapes go with it.
"""

from __future__ import annotations

from typing import Any

LAC = "LAC"
APS = "APS"
TRUTH = "truth"
IN_SET = "in the set"
OUT_OF_SET = "out of the set"
GUARANTEE = "guarantee"

MEANINGS = (LAC, APS, TRUTH, IN_SET, OUT_OF_SET, GUARANTEE)
"""In the order of ``chartCategoricalColors``."""

SCORE_MEANINGS = {"lac": LAC, "aps": APS}
"""From a score's name to its meaning."""

COLOR_SCALE: dict[str, Any] = {"domain": list(MEANINGS)}
"""A Vega-Lite colour scale whose range is the theme's."""


def color(meaning: str) -> dict[str, Any]:
    """The Vega-Lite encoding of one meaning's colour, without a legend."""
    return {"datum": meaning, "type": "nominal", "scale": COLOR_SCALE, "legend": None}


CHOSEN = """<style>
[data-tag] { background: transparent !important; color: inherit !important; border: 1px solid currentColor; }
[data-tag] button { color: inherit !important; }
</style>"""
"""What is chosen in a box for several choices, in the text's colour on the page's. Streamlit writes it in white on the
primary colour, which in the dark theme is too light for that."""
