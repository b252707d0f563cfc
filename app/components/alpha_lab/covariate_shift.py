"""The Alpha lab's section on covariate shift: calibrate on one kind of questions, test on another."""

import streamlit as st

from app import state
from app.caches import alpha_lab_cache, run_cache
from app.components.alpha_lab.shift import shift_figure
from app.components.shared.runs import titles
from app.formatting import counted, plain, sentence
from app.state.alpha_lab import AlphaLabView
from core.conformal.alpha import THOUSAND
from core.errors import HedgeError
from core.reports.alpha_lab.covariate_shift import FEWEST, SEARCHED_AT, Search, Shifted
from core.reports.p_values import p_said
from core.reports.titles import record_task_title
from core.runs.store import RunRecord

SOURCE_KEY = "shift_source"
TARGET_KEY = "shift_target"
OPEN_KEY = "shift_open"
TITLE = "When it breaks: calibrate on one kind of question, test on another"
OTHER_RUN = "run:"
LIKELY = 0.05

Choices = dict[str, tuple[str, str | None]]
"""Maps the name of a choice in the link to its run and subject. The subject is None for all questions of a run."""


def section(record: RunRecord, view: AlphaLabView) -> None:
    """Draw the section: two sides to choose, the coverage, and whether weights restore it. Computes nothing while
    folded.
    """
    is_chosen = bool(view.source or view.target)
    with st.expander(TITLE, expanded=is_chosen, key=OPEN_KEY, on_change="rerun") as folded:
        if not folded.open:
            return
        choices = _choices(record)
        if len(choices) < 2:
            st.caption(
                f"This needs two subjects with at least {FEWEST} questions each, or another finished run of "
                f"{plain(record.spec.model_name)} with the same number of options."
            )
            return
        search = alpha_lab_cache.worst_pair(record.run_id, view.left)
        source, target = _sides(view, choices, search)
        left, right = st.columns(2)
        with left:
            _pick("Calibrate on", SOURCE_KEY, choices, source)
        with right:
            _pick("Test on", TARGET_KEY, choices, target)
        if source == target:
            st.info("Both sides have the same questions. Choose another kind of question for one of them.")
            return
        try:
            shifted = alpha_lab_cache.shifted(choices[source], choices[target], view.left)
        except HedgeError as error:
            st.error(plain(sentence(str(error))))
            return
        searched = search if search and (source, target) == (search.source, search.target) else None
        shift_figure(shifted, alpha=view.alpha, pairs=searched.pairs if searched else 0, key="shift")
        st.caption(plain(f"{_said(shifted)} {searched_words(searched) if searched else chosen_words(shifted)}"))


def _choices(record: RunRecord) -> Choices:
    """The run's subjects, and other finished runs of the same model that ask other questions in the same form."""
    choices: Choices = {name: (record.run_id, name) for name in alpha_lab_cache.subjects(record.run_id) if name}
    own = record.spec
    for other in run_cache.runs().finished:
        spec = other.spec
        alike = (spec.model_name, spec.model_fingerprint, spec.form, spec.strategy) == (
            own.model_name, own.model_fingerprint, own.form, own.strategy
        )  # fmt: skip
        if alike and record_task_title(other) != record_task_title(record):
            choices[OTHER_RUN + other.run_id] = (other.run_id, None)
    if any(name.startswith(OTHER_RUN) for name in choices):
        choices[OTHER_RUN + record.run_id] = (record.run_id, None)
    return choices


def _sides(view: AlphaLabView, choices: Choices, search: Search | None) -> tuple[str, str]:
    """The two sides in the link. A side that is missing or unknown falls back to the subjects that differ most."""
    pair = (search.source, search.target) if search else tuple(choices)[:2]
    source = view.source if view.source in choices else pair[0]
    target = view.target if view.target in choices else next(name for name in (*pair[::-1], *choices) if name != source)
    return source, target


def _pick(label: str, key: str, choices: Choices, chosen: str) -> None:
    names = titles(run_cache.runs().finished)
    st.session_state[key] = chosen
    st.selectbox(
        label,
        list(choices),
        format_func=lambda name: names[choices[name][0]] if name.startswith(OTHER_RUN) else name,
        key=key,
        on_change=_picked,
    )


def _picked() -> None:
    state.change(AlphaLabView, source=st.session_state[SOURCE_KEY], target=st.session_state[TARGET_KEY])


def _said(shifted: Shifted) -> str:
    """Say in words what the weights are worth."""
    return (
        f"{counted(shifted.n, 'question calibrates', 'questions calibrate')} and "
        f"{counted(shifted.m, 'question tests', 'questions test')}. Weights count a calibration question for "
        "more if the model's probabilities look like those of the test questions (Tibshirani et al. 2019). "
        f"The weighted questions are worth {shifted.effective:,.0f} equally weighted ones. Weights can correct "
        "for a different mix of questions, but not for questions on which the same probabilities mean "
        "something else."
    )


def searched_words(search: Search) -> str:
    """Say in words what the p-value means for a pair found by searching all pairs."""
    how_often = "rarely" if search.p_value < LIKELY else "often"
    return (
        f"This pair was found by searching {search.pairs:,} pairs: its coverage at alpha "
        f"{SEARCHED_AT / THOUSAND:g}, {100 * search.coverage:.1f}%, is furthest below the target. Chance alone "
        f"{how_often} gives a pair this bad: with the subjects shuffled over the questions, the worst pair of a search "
        f"is as bad with {p_said(search.p_value)} (corrected p-value, {search.shuffles} shuffles)."
    )


def chosen_words(shifted: Shifted) -> str:
    """Say in words what the p-value means for a pair that a person chose."""
    far = "would be rare" if shifted.p_value < LIKELY else "would be common"
    return (
        "This pair was chosen, not found by a search. If the two kinds of question were alike, scores this "
        f"far apart {far} ({p_said(shifted.p_value)} by a test of exchangeability, valid if the pair was chosen "
        "before anyone saw its figures)."
    )
