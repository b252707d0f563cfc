"""Two runs question by question, with paired tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import compare_cache, run_cache
from app.components.shared import figures
from app.components.shared.runs import titles
from app.formatting import counted, plain
from app.state.compare import CompareView
from core.errors import InputError
from core.reports.compare import paired
from core.reports.question_identity import question_set
from core.reports.titles import record_task_title

SHOWN_QUESTIONS = 200
TESTS_HELP = (
    "The p-value, corrected for the three hypotheses in this table (Holm). Below 0.05, luck alone would "
    "rarely give a difference this large."
)
TEST_HELP = (
    "There is one test for each hypothesis. The permutation test swaps the two runs question by "
    "question, on the calibration and the test side, and computes both thresholds again, because all "
    "sets of a run share the luck of its calibration questions."
)
INTERVAL_HELP = (
    "Bootstrap over questions. For set size and UAcc, the calibration questions are redrawn too. If the "
    "two runs are nearly alike, these two intervals are wider than necessary: they hold the expected "
    "difference for 98 of 100 pairs or more."
)


def _asked_questions(run_id: str) -> tuple[str, str]:
    """What two runs should have in common: the task with its bank, and the same questions."""
    return record_task_title(run_cache.record(run_id)), question_set(run_id)


def two_runs(run_ids: Sequence[str], view: CompareView) -> None:
    """Show two runs question by question, with paired tests."""
    found = titles([run_cache.record(name) for name in run_ids])
    left, right = st.columns(2)
    first = left.selectbox("First run", list(found), 0, format_func=found.__getitem__, key="pair_first")
    asked = _asked_questions(first)
    others = sorted((name for name in found if name != first), key=lambda name: _asked_questions(name) != asked)
    if not others:
        st.info("This part compares two runs, and only one is chosen. Choose a second run at the top of the page.")
        return
    second = right.selectbox("Second run", others, 0, format_func=found.__getitem__, key="pair_second")
    try:
        pair, questions = compare_cache.pair(first, second, view.alpha, view.score)
    except InputError as error:
        st.info(plain(f"{error}."))
        return
    a, b, c, d = st.columns(4)
    a.metric("Both right", f"{pair.both_right:,}")
    b.metric("Only the first right", f"{pair.only_first:,}")
    c.metric("Only the second right", f"{pair.only_second:,}")
    d.metric("Both wrong", f"{pair.both_wrong:,}")
    st.caption(
        f"On {counted(pair.n, 'shared test question')}, the second run's set is larger {pair.grew:,} times, "
        f"smaller {pair.shrank:,} times and of the same size {pair.same:,} times."
    )
    rows = [
        ("Accuracy", pair.accuracy, "accuracy"),
        ("Mean set size", pair.set_size, "set_size"),
        ("UAcc", pair.uacc, "uacc"),
    ]
    table = pd.DataFrame(
        [
            {
                "Figure": name,
                "Difference": of.mean,
                "95% interval": f"{of.low:+.3f} to {of.high:+.3f}",
                "Cohen's d": "–" if math.isnan(of.cohens_d) else f"{of.cohens_d:.2f}",
                "Test": paired.TESTS[key],
                "p": pair.p_values[key],
                "p, Holm": pair.holm[key],
            }
            for name, of, key in rows
        ]
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "Difference": st.column_config.NumberColumn(format="%+.3f", help="The second run minus the first."),
            "95% interval": st.column_config.TextColumn(help=INTERVAL_HELP),
            "Cohen's d": st.column_config.TextColumn(
                help="The difference in units of its standard deviation over questions, at these two thresholds."
            ),
            "Test": st.column_config.TextColumn(help=TEST_HELP),
            "p": st.column_config.NumberColumn(format="%.3g"),
            "p, Holm": st.column_config.NumberColumn(format="%.3g", help=TESTS_HELP),
        },
        alt="Differences of the two runs with paired tests",
    )
    if any(pair.alone):
        st.caption(
            f"{counted(pair.n_calibration, 'calibration question')} of both runs are swapped by the permutation test. "
            f"{pair.alone[0]:,} and {pair.alone[1]:,} calibrate only one run and are not swapped."
        )
    st.dataframe(
        questions.head(SHOWN_QUESTIONS),
        hide_index=True,
        height=260,
        column_config={
            "first_right": st.column_config.CheckboxColumn("first right"),
            "second_right": st.column_config.CheckboxColumn("second right"),
            "first_size": "first set",
            "second_size": "second set",
            "change": st.column_config.NumberColumn("larger by", format="%+d"),
        },
        alt="The questions whose sets grew most come first",
    )
    figures.download("All shared questions as CSV", questions, "two-runs")
