"""The published claims, tested on the chosen runs or on a published table."""

from __future__ import annotations

import math

import streamlit as st

from app import style
from app.background import arrived, in_place
from app.components.compare import compare_cache
from app.components.shared import downloads
from app.components.shared.controls import choice
from app.formatting import plain, signed
from core.reports.compare.benchmark import SetRule
from core.reports.compare.claims import PublishedClaim, family_words
from core.reports.file_names import About
from core.reports.p_values import p_said

HEIGHT = 560
"""Of the three columns with their charts, in a wide window."""


@in_place
def published_claims(run_ids: tuple[str, ...], rule: SetRule, score: str) -> None:
    """Show the three claims, tested on the chosen runs or on a published table."""
    tables = {"runs": "The chosen runs", "ye-2024": "Figures of Ye et al. 2024, as published"}
    which = choice("Tested on", tables, default="runs", key="claims_on")
    st.caption(
        "Certainty is measured by the mean set size. A verdict needs a 95% interval without 0 and a p-value below "
        "0.05. With eight models or fewer, the intervals are a little wide: they hold the true value in 95 to 98 of "
        "100 draws.",
        help="Each model counts once, with its mean over the sets of questions on which all of these models were "
        "tested. A correlation cannot contradict a claim that something “may” happen: a single instance can exist "
        "without a general tendency. The intervals treat the models as independent draws, which models of one family "
        "are not.",
    )
    asked = compare_cache.claims(run_ids, rule, score) if which == "runs" else compare_cache.published_claims(which)
    found = arrived(asked, "the tests of the claims", height=HEIGHT)
    if found is None:
        return
    about = downloads.about(run_ids, rule.alpha) if which == "runs" else About()
    drawn = [made for made in found if not math.isnan(made.figure)]
    if drawn:
        with style.stacked_when_narrow("claims"):
            columns = st.columns(len(drawn), gap="large")
        for column, made in zip(columns, drawn, strict=True):
            with column:
                _claim(made, which, about)
    if said := family_words([name for made in found for name in made.points["model"]]):
        st.caption(plain(said))
    for made in found:
        if math.isnan(made.figure):
            _head(made)
            st.caption(NOTHING_TO_TEST[made.name])


NOTHING_TO_TEST = {
    "accuracy": "It takes models whose accuracy differs.",
    "scale": "It takes models whose number of parameters is known.",
    "tuning": "It takes a model that was tuned on instructions beside its base model, such as pocket-3m-instruct "
    "beside pocket-3m.",
}
"""What a claim needs, where the runs do not have it."""


def _claim(made: PublishedClaim, which: str, about: About) -> None:
    with st.container(key=f"{style.LEVEL_KEY}_{made.name}"):
        _head(made)
    interval = f" ({signed(made.low, 2)} to {signed(made.high, 2)})" if math.isfinite(made.low) else ""
    p = "" if math.isnan(made.p_value) else f", {p_said(made.p_value)}"
    st.caption(plain(f"{made.measure}: {signed(made.figure, 2)}{interval}{p}, n = {made.n}."))
    # What draws with Altair is imported where it is needed: the first paint does not wait for it.
    from app.components.shared import figures
    from charts.claim import NAMED_MODELS, claim

    x_title = {"accuracy": "Accuracy", "scale": "Parameters", "tuning": "Mean set size of the base model"}[made.name]
    figure = claim(
        made.points,
        f"{made.name}-{which}",
        x_title,
        log=made.name == "scale",
        percent=made.name == "accuracy",
        diagonal=made.name == "tuning",
    )
    figures.show(
        figure,
        {"tuning": "Above the line, tuning made the sets larger."}.get(
            made.name,
            "Each mark is a model." + (" Hover over it to see the name." if len(made.points) > NAMED_MODELS else ""),
        ),
        about,
    )
    for said in filter(None, (made.instance, made.caveat)):
        st.caption(plain(said))


def _head(made: PublishedClaim) -> None:
    st.markdown(f"“{made.statement}”  \n**{plain(made.verdict[:1].upper() + made.verdict[1:])}**")
