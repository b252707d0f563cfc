"""The meanings of the colours of charts, and the colours of both themes.

This module does not need Altair, which takes half a second to import: the first paint does not wait for it.
"""

import tomllib
from dataclasses import dataclass
from functools import cache

from core.settings import ROOT

LAC = "LAC"
APS = "APS"
TRUTH = "truth"
IN_SET = "in the set"
OUT_OF_SET = "out of the set"
GUARANTEE = "guarantee"

MEANINGS = (LAC, APS, TRUTH, IN_SET, OUT_OF_SET, GUARANTEE)
"""The first of ``chartCategoricalColors``, in their order."""
MORE_RUNS = ("fourth run", "fifth run", "sixth run", "seventh run", "eighth run")
"""The rest of them: colours for runs after the third (:mod:`charts.run_styles`)."""

FAINT = 0.68
"""How opaque the words of axes and legends are: as those of the components' own charts (``--faint``)."""


def score_meaning(score: str) -> str:
    """The meaning whose colour a score takes: LAC has one of its own, every other score has that of APS.

    Figures with several scores show two of them: LAC and another (:func:`core.reports.report.shown_with`).
    """
    return LAC if score == "lac" else APS


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
    theme = settings[name]
    return ThemeColors(
        theme["backgroundColor"],
        theme["secondaryBackgroundColor"],
        theme["textColor"],
        theme["borderColor"],
        tuple(theme["chartCategoricalColors"]),
        settings["font"],
    )
