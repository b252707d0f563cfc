"""How charts name the colours whose meanings :mod:`charts.palette` lists.

The colours themselves stand in ``.streamlit/config.toml``, once a theme. A chart names a meaning, not a colour, and the
browser looks it up in the theme in force, so that light and dark change live. Colour is never the only signal; a shape,
a dash or a word goes with it.

Streamlit makes ``chartCategoricalColors`` the range of every categorical scale. A scale whose domain is
:data:`MEANINGS` so gives each meaning its colour.
"""

from collections.abc import Iterable
from typing import Any

import altair as alt

from charts.palette import APS as APS
from charts.palette import FAINT as FAINT
from charts.palette import GUARANTEE as GUARANTEE
from charts.palette import IN_SET as IN_SET
from charts.palette import LAC as LAC
from charts.palette import MEANINGS as MEANINGS
from charts.palette import MORE_RUNS as MORE_RUNS
from charts.palette import OUT_OF_SET as OUT_OF_SET
from charts.palette import TRUTH as TRUTH
from charts.palette import ThemeColors as ThemeColors
from charts.palette import score_meaning as score_meaning
from charts.palette import theme_colors as theme_colors
from core.conformal.scores import SCORES

COLOR_SCALE = alt.Scale(domain=list(MEANINGS))
"""A scale from meanings to the theme's colours."""


def score_scale(scores: Iterable[str]) -> alt.Scale:
    """The colour scale of a figure whose colours stand for the titles of ``scores``."""
    titles = {score_meaning(score): SCORES[score].title for score in scores}
    return alt.Scale(domain=[titles.get(meaning, meaning) for meaning in MEANINGS])


SHADE = 0.6
"""The opacity of a heat map's strongest cell: the text can still be read on it (tests/charts/test_theme.py)."""


def painted(chart: alt.Chart, meaning: str) -> alt.Chart:
    """The chart with all its marks in the colour of one meaning, without a legend."""
    color = alt.Color("meaning:N", scale=COLOR_SCALE, legend=None)
    return chart.transform_calculate(meaning=f"'{meaning}'").encode(color=color)


def legend_symbols(meaning: str, *, lines: bool = False) -> dict[str, Any]:
    """The colour of a legend's shapes, or of its ``lines``, beside marks that are all :func:`painted` alike."""
    color = alt.ExprRef(f"scale('color', '{meaning}')")
    return {"symbolStrokeColor": color} if lines else {"symbolFillColor": color, "symbolStrokeWidth": 0}


def ink(meaning: str | None = None) -> alt.ExprRef:
    """The colour of a meaning, or of texts, in the theme in force, for a property that takes an expression.

    It is for a mark beside others whose colours stand for something else, such as jurors. With :func:`painted`, the two
    would need a colour scale each, so layers within a layer, and Altair copies those many times.
    """
    themes = [theme_colors(name) for name in ("light", "dark")]
    light, dark = (theme.colors[MEANINGS.index(meaning)] if meaning else theme.text for theme in themes)
    return alt.ExprRef(f"luminance(background) > 0.5 ? '{light}' : '{dark}'")


def text_config() -> dict[str, dict[str, Any]]:
    """The colours of a chart's words, by the part of its configuration. Streamlit's own grey has 3.7 : 1 on white."""
    faint = {"labelColor": ink(), "titleColor": ink(), "labelOpacity": FAINT, "titleOpacity": FAINT}
    return {"axis": faint, "legend": faint, "header": {"labelColor": ink(), "titleColor": ink()}}
