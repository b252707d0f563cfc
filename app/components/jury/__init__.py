"""A jury's verdicts, live: the rule switched, the threshold moved, each answer opened.

Every rule's verdicts and figures are computed in Python and sent once; ``verdicts.js`` orders them, ``cases.js`` shows
an answer, ``jury.js`` joins them. As in the alpha lab, data stays the same between reruns and what the browser starts
from changes only where the view was changed by other than the component.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from app import state
from app.components.shared.seed import browser_shows, seed
from app.state.jury import JuryView
from charts.scripts import bundle
from core.jury.adjudication import RULES
from core.jury.experiment import MEASURES, JuryExperiment
from core.reports.jury import JurySplit

KEY = "jury"
HERE = Path(__file__).parent
SCRIPT = HERE / "jury.js"
NAMES = ("rule", "at", "cases", "order", "card")
"""What of a view the component shows and changes."""

_mount = st.components.v2.component(
    "hedge_jury",
    html=(HERE / "jury.html").read_text(encoding="utf-8"),
    css=(HERE / "jury.css").read_text(encoding="utf-8"),
    js=bundle(SCRIPT),
)


def jury(
    bench: JurySplit, found: JuryExperiment, risk: pd.DataFrame, *, version: str, view: JuryView, pairwise: bool
) -> None:
    """Mount one split's answers (``bench``) with what the experiment found of each rule, and what each is worth where
    it abstains (``risk``, :func:`core.reports.jury.risk`); ``version`` names the data. ``pairwise``: an answer is
    a pair, and True means that the first is better."""
    start = seed(KEY, version, _shown(view))
    texts = ["id", "question", "answer"]
    _mount(
        key=KEY,
        data={
            "version": version,
            "jurors": list(bench.jurors),
            "rules": [_rule(of, risk[risk["rule"] == of.rule]) for of in found.outcomes],
            "rows": pa.Table.from_pandas(_numbers(bench), preserve_index=False),
            "texts": pa.Table.from_pandas(bench.rows[texts], preserve_index=False),
            "pairwise": pairwise,
            "splits": len(found.protocol.seeds),
            "always_false": next(of.accuracy.value for of in found.outcomes if of.rule == "always_false"),
            "view": start.start,
            "revision": start.revision,
        },
        on_view_change=_take_view,
    )


def _numbers(bench: JurySplit) -> Any:
    """The rows without their texts, verdicts as 0 and 1."""
    rows = bench.rows.drop(columns=["id", "question", "answer"])
    flags = [name for name in rows.columns if rows[name].dtype == bool]
    return rows.astype(dict.fromkeys(flags, "uint8"))


def _rule(of: Any, risk: pd.DataFrame) -> dict[str, Any]:
    about = RULES[of.rule]
    return {
        "name": of.rule,
        "title": about.title,
        "sentence": about.sentence,
        "ties": about.ties,
        "published": about.published,
        "measures": {name: getattr(of, name).value for name in MEASURES},
        "intervals": {name: [getattr(of, name).low, getattr(of, name).high] for name in MEASURES},
        "gain": [of.to_majority.value, of.to_majority.low, of.to_majority.high],
        "risk": {
            name: [None if value != value else value for value in risk[name].tolist()]
            for name in ("answered", "wrong", "low", "high")
        },
    }


def _shown(view: JuryView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in NAMES}


def _take_view() -> None:
    reported: dict[str, Any] = st.session_state[KEY].get("view") or {}
    view = state.read_changes(JuryView, {name: str(reported[name]) for name in NAMES if name in reported})
    browser_shows(KEY, _shown(view))
