"""Selective prediction, if a model may abstain: a promise about its answers, risk, coverage and cost."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.caches import run_cache
from app.components.compare import compare_cache
from app.components.shared import controls, downloads
from app.components.shared.selective import selective_panel
from app.formatting import plain, sentence
from app.state.compare import CompareView
from charts.run_names import full_names, told_apart
from core.errors import InputError
from core.reports import answer_or_pass
from core.reports.compare import selective
from core.reports.evaluation import Evaluation

BY_WORDS = {"confidence": "Confidence", "set-size": "Set size"}
BY_HELP = (
    "A question is answered if the probability of the top option is high enough, or if its prediction set at this "
    "alpha is small enough. An empty set is passed."
)


def abstaining(run_ids: Sequence[str], rows: pd.DataFrame, view: CompareView) -> None:
    """Show the accuracy of a model that may abstain: with a promise, by the share of the most confident answers, and by
    sets of one option."""
    # What draws with Altair is imported where it is needed: the first paint does not wait for it.
    from app.components.shared import figures
    from charts.abstention_cost import abstention_cost
    from charts.risk_curves import risk_curves
    from charts.run_figures import risk_frame

    names = told_apart(full_names(rows[rows["score"] == view.score]))
    runs = compare_cache.evaluations(run_ids)
    st.markdown("**Answer or pass, with a promise**")
    left, right = st.columns([2, 1])
    name = left.selectbox("Run", names, 0, key="abstaining_run")
    with right:
        controls.switch(view, "pass_by", "Answer by", BY_WORDS, key="answer_by", help=BY_HELP)
    place = names.index(name)
    run, run_id = runs[place], run_ids[place]
    _promise(run, run_id, name, view)
    curves = pd.concat([risk_frame(run, name) for run, name in zip(runs, names, strict=True)], ignore_index=True)
    figures.show(
        risk_curves(curves),
        "If a curve starts low and rises late, the model's confidence tells right answers from wrong ones.",
        figures.about(run_ids),
    )
    st.markdown("**Answer only if the set holds exactly one option**")
    price = st.slider(
        "Cost of not answering",
        0.0,
        1.0,
        0.3,
        0.05,
        key="abstaining_cost",
        help="A wrong answer costs 1 and a right one costs 0.",
    )
    curve = selective.abstention(run, view.score)
    frame = pd.DataFrame(
        {
            "alpha": curve.alphas / 1000,
            "answered": curve.answered,
            "accuracy": curve.accuracy,
            "cost": curve.cost(price),
        }
    )
    best = frame.iloc[int(frame["cost"].argmin())]
    here = frame.iloc[view.alpha - 1]
    figures.show(
        abstention_cost(frame),
        f"At alpha {here['alpha']:g}, the run answers {here['answered']:.0%} of the questions"
        + ("" if math.isnan(here["accuracy"]) else f" and is right on {here['accuracy']:.0%} of these")
        + (
            f". The cost is lowest at alpha {best['alpha']:g}: {best['cost']:.3f} per question. This alpha is "
            "chosen on the same test questions, so expect a higher cost on new ones."
        ),
        figures.about([run_id]),
    )


def _promise(run: Evaluation, run_id: str, name: str, view: CompareView) -> None:
    """Show from which confidence, or up to which set size, a run may answer."""
    try:
        sides = answer_or_pass.run_sides(
            run, by=view.pass_by, sets_alpha=view.alpha, score=view.score, empty=view.empty
        )
    except InputError as problem:  # the figures below need no calibration of this rule
        st.info(plain(sentence(str(problem))))
        return
    sets = f"{view.alpha}:{view.score}:{view.empty}" if sides.k else ""
    selective_panel(
        [name],
        sides.calibration,
        sides.judged,
        key="compare_selective",
        version=":".join([run_cache.version(run_id), run_id, "".join(run.letters), sets]),
        view=view,
        what="questions",
        k=sides.k,
    )
    for note in sides.notes:
        st.caption(plain(note))
    result = answer_or_pass.judge_rows(sides.selected(view.error, view.delta), [name], k=sides.k)
    downloads.download("Thresholds as CSV", result, "answer-or-pass", downloads.about([run_id], view.error))
