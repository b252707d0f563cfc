"""How much the jurors agree, and how often they are right when they agree."""

import pandas as pd
import streamlit as st

from app import style
from app.caches import jury_cache
from app.components.shared import figures
from app.components.shared.controls import choice
from app.components.shared.static_table import static_table
from app.formatting import plain
from charts.juror_pairs import PAIR_MEASURES, juror_pairs
from core.estimates import Estimate
from core.jury.agreement import Pairwise
from core.jury.pipeline.jury_store import JuryRecord
from core.reports.file_names import About

PAIR_KEY = "pair_measure"


def agreement_figures(record: JuryRecord, pairwise: bool) -> None:
    """Show the agreement of the whole jury and of each pair of jurors."""
    agreement = jury_cache.agreed(record.jury_id)
    then = "and do they then agree with the label?" if pairwise else "and are they then right?"
    st.subheader(f"Do the jurors agree, {then}", anchor=False)
    with style.stacked_when_narrow("agreement"):
        left, right = st.columns([3, 2], gap="large")
    of_questions = f" to {agreement.n_questions:,} questions" if agreement.n_questions < agreement.n else ""
    with right:
        st.markdown(
            plain(
                f"The jurors are unanimous on {percent(agreement.unanimous)} of all {agreement.n:,} "
                f"{'pairs' if pairwise else 'answers'}{of_questions}. Even so, {percent(agreement.unanimous_wrong)} of "
                f"these unanimous verdicts are {'against the label' if pairwise else 'wrong'}."
            )
            if agreement.n_unanimous
            else "There is no answer on which the jurors are unanimous."
        )
        rows = [
            _coefficient("Fleiss' kappa", agreement.fleiss),
            _coefficient("Krippendorff's alpha", agreement.krippendorff),
            _coefficient("Effective number of votes", agreement.effective_votes),
        ]
        static_table(pd.DataFrame(rows), alt="Agreement of the whole jury")
        st.caption(
            "Kappa and alpha are 1 for full agreement and 0 for the agreement that chance gives. If jurors make "
            "the same errors, the effective number of votes is smaller than the number of jurors."
        )
    with left:
        measure = choice("For each pair of jurors", PAIR_MEASURES, default="agreement", key=PAIR_KEY, wrap=True)
        one_way = [
            {"first": a, "second": b, **_measured(pair)}
            for pair in agreement.pairs
            for a, b in ((pair.first, pair.second), (pair.second, pair.first))
        ]
        selves = [{"first": name, "second": name, **dict.fromkeys(PAIR_MEASURES, 1.0)} for name in record.jurors]
        figures.show(
            juror_pairs(pd.DataFrame([*selves, *one_way]), measure),
            "A vote can't correct errors that several jurors share. Point at a cell to see its 95% interval.",
            About([record.name]),
        )


def _measured(pair: Pairwise) -> dict[str, float]:
    """Each measure of a pair of jurors, with the ends of its interval."""
    ends: dict[str, float] = {}
    for name in PAIR_MEASURES:
        estimate: Estimate = getattr(pair, name)
        ends |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return ends


def _coefficient(title: str, estimate: Estimate) -> dict[str, str]:
    known = estimate.value == estimate.value
    return {
        "Agreement": title,
        "Figure": f"{estimate.value:.2f}" if known else "not defined",
        "95% interval": f"{estimate.low:.2f} to {estimate.high:.2f}"
        if estimate.low == estimate.low
        else "none"
        if known
        else "",
    }


def percent(estimate: Estimate) -> str:
    """A share with its 95% interval."""
    return (
        f"{estimate.value:.1%} ({estimate.low:.1%} to {estimate.high:.1%})"
        if estimate.low == estimate.low
        else f"{estimate.value:.1%} (no interval)"
    )
