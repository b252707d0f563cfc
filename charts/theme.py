"""What the colours of charts mean, and how Altair's and Plotly's charts name them.

The colours themselves stand in ``.streamlit/config.toml``, once a theme. A chart names a meaning, not a colour, and the
browser looks it up in the theme in force, so that light and dark change live. Colour is never the only signal; a shape,
a dash or a word goes with it.

- **Altair**: Streamlit makes ``chartCategoricalColors`` the range of every categorical scale. A scale whose domain is
  :data:`MEANINGS` so gives each meaning its colour.
- **Plotly**: Streamlit replaces the stand-ins ``#000001``, ``#000002`` … by ``chartCategoricalColors`` in turn, and
  ``#000038`` by the colour of the page (``streamlit/elements/lib/streamlit_plotly_theme.py``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt

from core.conformal.scores import SCORES
from core.settings import ROOT

LAC = "LAC"
APS = "APS"
TRUTH = "truth"
IN_SET = "in the set"
OUT_OF_SET = "out of the set"
GUARANTEE = "guarantee"

MEANINGS = (LAC, APS, TRUTH, IN_SET, OUT_OF_SET, GUARANTEE)
"""In the order of ``chartCategoricalColors``."""

COLOR_SCALE = alt.Scale(domain=list(MEANINGS))
"""A scale from meanings to the theme's colours."""


def score_meaning(score: str) -> str:
    """The meaning whose colour a score takes: LAC has one of its own, every other score has that of APS.

    Figures with several scores show two of them, one of which is LAC (:func:`core.reports.report.shown_with`).
    """
    return LAC if score == "lac" else APS


def score_scale(scores: Iterable[str]) -> alt.Scale:
    """The colour scale of a figure whose colours stand for the titles of ``scores``."""
    titles = {score_meaning(score): SCORES[score].title for score in scores}
    return alt.Scale(domain=[titles.get(meaning, meaning) for meaning in MEANINGS])


PLOTLY_COLORS = {meaning: f"#00000{place}" for place, meaning in enumerate(MEANINGS, start=1)}
"""From a meaning to the stand-in that Streamlit replaces by the theme's colour."""
PLOTLY_PAGE = "#000038"
"""The stand-in for the colour of the page."""
SHADE = 0.6
"""The opacity of a heat map's strongest cell: the text can still be read on it (tests/charts/test_theme.py)."""


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """The colours of one theme of ``.streamlit/config.toml``, for what is drawn without Streamlit."""

    background: str
    second: str
    text: str
    border: str
    colors: tuple[str, ...]
    font: str


@cache
def theme_colors(name: str) -> ThemeColors:
    """Those of ``light`` or ``dark``."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    of = settings[name]
    return ThemeColors(
        of["backgroundColor"],
        of["secondaryBackgroundColor"],
        of["textColor"],
        of["borderColor"],
        tuple(of["chartCategoricalColors"]),
        settings["font"],
    )


def painted(chart: alt.Chart, meaning: str) -> alt.Chart:
    """The chart with all its marks in the colour of one meaning, without a legend."""
    color = alt.Color("meaning:N", scale=COLOR_SCALE, legend=None)
    return chart.transform_calculate(meaning=f"'{meaning}'").encode(color=color)


def legend_symbols(meaning: str, *, lines: bool = False) -> dict[str, Any]:
    """The colour of a legend's shapes, or of its ``lines``, beside marks that are all :func:`painted` alike."""
    color = alt.ExprRef(f"scale('color', '{meaning}')")
    return {"symbolStrokeColor": color} if lines else {"symbolFillColor": color, "symbolStrokeWidth": 0}


FAINT = 0.68
"""How opaque the words of axes and legends are: as those of the components' own charts (``--faint``)."""


def ink() -> alt.ExprRef:
    """The text colour of the theme in force, for a property that takes an expression."""
    light, dark = theme_colors("light").text, theme_colors("dark").text
    return alt.ExprRef(f"luminance(background) > 0.5 ? '{light}' : '{dark}'")


def text_config() -> dict[str, dict[str, Any]]:
    """The colours of a chart's words, by the part of its configuration. Streamlit's own grey has 3.7 : 1 on white."""
    faint = {"labelColor": ink(), "titleColor": ink(), "labelOpacity": FAINT, "titleOpacity": FAINT}
    return {"axis": faint, "legend": faint, "header": {"labelColor": ink(), "titleColor": ink()}}


def plotly_layout(height: int, **more: Any) -> dict[str, Any]:
    """The layout of a Plotly figure: words in the text's colour, Streamlit's look for the rest, no zoom by accident."""
    words = {"color": PLOTLY_COLORS[TRUTH]}
    return {
        "template": "none",
        "height": height,
        "font": words,
        "legend": {"font": words},
        "dragmode": False,
        "hoverlabel": {"font": words, "align": "left"},
        **more,
    }
