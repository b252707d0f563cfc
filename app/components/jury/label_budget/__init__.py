"""How few human labels are enough: the share of right answers, with a judge and without one, by the number of labels.

Every figure is computed in Python for each number of labels that the slider has (:mod:`core.jury.label_budget`), so the
browser shows the same numbers to the bit. The order of the labels is a seeded random one.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from app import state
from app.caches import jury_cache
from app.components.shared.bundled import component
from app.components.shared.downloads import download
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows, seed
from app.formatting import plain
from app.state.jury import JuryView
from core.jury.label_budget import FEWEST
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.file_names import About
from core.reports.label_budget import about_units, without_probabilities

KEY = "label_budget"
USE_KEY = "label_use"
USE_HELP = (
    "The estimate can use a judge's probabilities, or only its verdicts. Choose before you look at the labels: the "
    "best of several judges on the same labels looks a little better than it is."
)

_mount = component(KEY, Path(__file__).with_name("label_budget.html"))


def label_budget(record: JuryRecord, view: JuryView, pairwise: bool) -> None:
    """Show the figures of a label budget. Computes nothing while folded."""
    with st.expander("How few human labels are enough?", on_change="rerun", key="label_budget_open") as folded:
        if not folded.open:
            return
        uses = {use.key: use for use in jury_cache.judge_uses(record.jury_id)}
        name = view.use if view.use in uses else next(iter(uses))
        st.session_state[USE_KEY] = name
        st.selectbox("Judge", list(uses), key=USE_KEY, on_change=_take_use, help=USE_HELP)
        for note in without_probabilities(list(uses.values())):
            st.caption(plain(note))
        curve = jury_cache.label_curve(record.jury_id, name)
        _show(curve, record, name, view, pairwise)
        download("Data as CSV", curve, "label-budget", About([record.name]))
        judged, what = jury_cache.judgements(record.jury_id), "pairs" if pairwise else "answers"
        st.caption(
            plain(
                f"The slider takes the first labels in a random order of all {record.answers:,} {what}, and the "
                f"judge's verdicts on all of them. The intervals are for new {what} like these. In simulations with "
                "30, 100 and 300 labels, they held the true value in 93 to 97 of 100 cases. With few labels on the "
                "rarer side, or few errors of the judge, they are wider than necessary, and hold the true value in 93 "
                + " ".join(["to 100 of 100 cases.", *about_units(judged)])
            )
        )
        st.caption(
            "If you have verdicts and no labels yet, Hedge draws the answers to label at random, and checks the draw "
            "when the labels come back. FILE is your table of judgements:"
        )
        st.code(
            "hedge jury draw FILE --labels 50 --out to-label.csv\nhedge jury estimate FILE --labelled to-label.csv",
            "sh",
        )


def _show(curve: pd.DataFrame, record: JuryRecord, name: str, view: JuryView, pairwise: bool) -> None:
    key = jury_cache.jury_key(record.jury_id)
    version = f"{key.jury_id}:{key.stamp}:{name}"
    start = seed(KEY, version, _shown(view))
    _mount(
        key=KEY,
        data={
            "version": version,
            "rows": pa.Table.from_pandas(curve.astype({"n": "int32"}), preserve_index=False),
            "pairwise": pairwise,
            "fewest": FEWEST,
            "labels": start.start["labels"],
            "revision": start.revision,
        },
        on_view_change=_take_view,
    )


def _shown(view: JuryView) -> dict[str, Any]:
    return {"labels": view.labels}


def _take_use() -> None:
    state.change(JuryView, use=st.session_state[USE_KEY])


def _take_view() -> None:
    reported = message_texts(KEY, "view")
    view = state.read_changes(JuryView, {"labels": reported.get("labels", "")})
    browser_shows(KEY, _shown(view))
