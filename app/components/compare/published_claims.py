"""The published claims, tested on the chosen runs or on a published table."""

import math
from collections.abc import Sequence

import streamlit as st

from app import style
from app.background import arrived, in_place
from app.components.compare import compare_cache
from app.components.shared import downloads
from app.components.shared.controls import choice
from app.formatting import plain, signed
from app.state.compare import CompareView
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim, family_words
from core.reports.file_names import About
from core.reports.p_values import p_said

TABLE = "ye-2024"
"""The published table on which the claims can be tested."""
TABLES = {"runs": "The chosen runs", TABLE: "Figures of Ye et al. 2024, as published"}
HEIGHT = 560
"""Of the columns with their charts, in a wide window."""


@in_place
def published_claims(run_ids: tuple[str, ...], rule: SetRule, view: CompareView) -> None:
    """Show, folded, the claims that can be tested on the chosen runs, or on a published table if published figures are
    shown. Nothing is shown if there are none.
    """
    of_runs = arrived(compare_cache.claims(run_ids, rule, view.score)) or []
    offered = ["runs"] * any(claim.tested for claim in of_runs) + [TABLE] * (view.published == "on")
    if not offered:
        return
    with st.expander("Claims of a paper, tested", on_change="rerun", key="claims_open") as folded:
        if folded.open:
            _claims(of_runs, offered, downloads.about(run_ids, rule.alpha))


def _claims(of_runs: list[PublishedClaim], offered: Sequence[str], about: About) -> None:
    which = choice("Tested on", TABLES, offered, default=offered[0], key="claims_on")
    st.caption(
        "Certainty is measured by the mean set size. A verdict needs a 95% interval without 0 and a p-value below "
        "0.05. With eight models or fewer, the intervals are a little wide: they hold the true value in 95 to 98 of "
        "100 draws.",
        help="Each model counts once, with its mean over the sets of questions on which all of these models were "
        "tested. A correlation cannot contradict a claim that something “may” happen: a single instance can exist "
        "while most models go the other way. The intervals treat the models as independent draws, which models of one "
        "family are not.",
    )
    claims = of_runs
    if which == TABLE:
        claims = arrived(compare_cache.published_claims(TABLE), "the tests of the claims", height=HEIGHT) or []
    tested = [claim for claim in claims if claim.tested]
    if not tested:
        return
    with style.stacked_when_narrow("claims"):
        columns = st.columns(len(tested), gap="large")
    for column, claim in zip(columns, tested, strict=True):
        with column:
            _claim(claim, which, about if which == "runs" else About())
    if families := family_words([name for claim in tested for name in claim.points["model"]]):
        st.caption(plain(families))


def _claim(tested: PublishedClaim, which: str, about: About) -> None:
    with st.container(key=f"{style.LEVEL_KEY}_{tested.name}"):
        _head(tested)
    interval = f" ({signed(tested.low, 2)} to {signed(tested.high, 2)})" if math.isfinite(tested.low) else ""
    p = "" if math.isnan(tested.p_value) else f", {p_said(tested.p_value)}"
    st.caption(plain(f"{tested.measure}: {signed(tested.figure, 2)}{interval}{p}, n = {tested.n}."))
    # What draws with Altair is imported where it is needed: the first paint does not wait for it.
    from app.components.shared import figures
    from charts.claim import NAMED_MODELS, claim

    x_title = {"accuracy": "Accuracy", "scale": "Parameters", "tuning": "Mean set size of the base model"}[tested.name]
    figure = claim(
        tested.points,
        f"{tested.name}-{which}",
        x_title,
        log=tested.name == "scale",
        percent=tested.name == "accuracy",
        diagonal=tested.name == "tuning",
    )
    figures.show(
        figure,
        {"tuning": "Above the line, tuning made the sets larger."}.get(
            tested.name,
            "Each mark is a model." + (" Hover over it to see the name." if len(tested.points) > NAMED_MODELS else ""),
        ),
        about,
    )
    for sentence in filter(None, (tested.instance, tested.caveat)):
        st.caption(plain(sentence))


def _head(claim: PublishedClaim) -> None:
    st.markdown(f"“{claim.statement}”  \n**{plain(claim.verdict[:1].upper() + claim.verdict[1:])}**")
