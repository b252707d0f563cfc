"""The answer, one figure of every way of asking, and what selects them."""

from collections.abc import Sequence

import streamlit as st

from app import state, style
from app.background import arrived, in_place
from app.caches import prompting_cache
from app.components.prompting.experiment import ShownExperiment, experiment_choice, set_rule
from app.components.shared import controls, figures
from app.components.shared.controls import choice
from app.components.shared.page_head import answer
from app.formatting import counted, plain, sentence
from app.state.prompting import PromptingView
from charts.measures import MEASURES as MEASURE_TITLES
from charts.methods_by_shots import by_method
from core.errors import InputError
from core.reports.file_names import About
from core.reports.prompting import experiments as reports
from core.reports.prompting.answer import prompting_answer
from core.reports.prompting.experiments import CONTINUED, METHODS, PUBLISHED, PromptingMethod

BASE_FIELDS = ("method", "shots", "strategy")
SECOND_FIELDS = ("beside", "beside_shots", "beside_strategy")
METHODS_KEY = "prompting_methods"
MEASURE_KEY = "prompting_measure"
MEASURES = ("accuracy", "mean_set_size", "coverage")
FIRST = (*PUBLISHED, CONTINUED)
SETS_NOTE = (
    "Sets are calibrated separately for each way of asking, so all ways make the same promise, and "
    "smaller sets mean a more certain model. E and F are left out by letter, because they are not "
    "offered by text. In the figure of set sizes, a line is the 95% interval, which covers the random draw of "
    "the calibration questions."
)


def overview(chosen: ShownExperiment, view: PromptingView) -> tuple[PromptingMethod, ...]:
    """Show the answer, one figure of every way of asking, and below them what is compared. Returns the ways shown."""
    first = st.container()
    picked, measure = _switches(chosen, view)
    base = chosen.base(view)
    shown = tuple(reading for reading in chosen.readings if reading.method in picked)
    with first:
        if not shown:
            st.caption("Choose one or more ways of asking.")
            return ()
        _answer(base, tuple(reading for reading in shown if reading != base), view)
        rows = prompting_cache.figures(shown, set_rule(view))
        figures.show(by_method(rows, measure), EXPLANATIONS[measure], _about(chosen, view))
    if guessing := reports.against_guessing(rows):
        st.markdown(plain(guessing))
    return shown


@in_place
def _answer(base: PromptingMethod, others: tuple[PromptingMethod, ...], view: PromptingView) -> None:
    """Show which way is more accurate and which more certain, as far as the tests tell."""
    if not others:
        answer("There is only one way of asking here", "You can launch the others below.")
        return
    try:
        tests = arrived(prompting_cache.against(base, others, view.alpha, view.score))
    except InputError as error:  # too few questions
        answer("Can't tell which way of asking is better", sentence(str(error)))
        return
    if tests is None:
        ways = counted(len(others), "way")
        answer(f"Comparing {ways} of asking with “{base.way}” …", "The paired tests take about ten seconds.")
    else:
        answer(*prompting_answer(base.way, tests))


def _switches(chosen: ShownExperiment, view: PromptingView) -> tuple[list[str], str]:
    """Show what is compared: the experiment, the base way and the figure, and the rest under "More". Returns the
    methods and the figure."""
    with style.stacked_when_narrow("ways"):
        left, middle, right, more = st.columns([5, 4, 6, 2], vertical_alignment="bottom")
    with left:
        experiment_choice(chosen.experiment.key)
    with middle:
        way_choice("Base way", chosen.readings, chosen.base(view), BASE_FIELDS, help=BASE_HELP)
    measure = choice(
        "Figure",
        {name: titles[0] for name, titles in MEASURE_TITLES.items()},
        MEASURES,
        place=right,
        default="mean_set_size",
        key=MEASURE_KEY,
        wrap=True,
    )
    with more, st.popover("More", icon=":material/tune:", help="alpha, the score, and the ways of asking"):
        controls.alpha_slider(view)
        controls.score_choice(view, chosen.records)
        picked = st.multiselect(
            "Ways of asking",
            chosen.methods,
            default=[name for name in FIRST if name in chosen.methods] or list(chosen.methods),
            format_func=METHODS.__getitem__,
            key=f"{METHODS_KEY}-{chosen.experiment.key}",
            help=METHODS_HELP,
            wrap=True,
        )
    return picked, str(measure)


def way_choice(
    label: str,
    ways: Sequence[PromptingMethod],
    chosen: PromptingMethod,
    fields: tuple[str, str, str],
    *,
    help: str | None = None,
) -> None:
    """Show the choice of a way of asking, which the view holds in ``fields``: its method, shots and strategy."""
    key = f"prompting_{fields[0]}"
    names = {reading.way: reading for reading in ways}
    st.session_state[key] = chosen.way

    def take() -> None:
        way = names[st.session_state[key]]
        values = (way.method, str(way.shots), way.strategy)
        state.change(PromptingView, **dict(zip(fields, values, strict=True)))

    st.selectbox(label, list(names), key=key, on_change=take, help=help)


BASE_HELP = "Every other way of asking is compared with this one."
METHODS_HELP = (
    "By letter: the model sees the options, and the probability of each letter counts. By text: the "
    "model does not see the options, and the likelihood of each option's own words after “Answer:” "
    "counts, either raw, or normalised by length or by the likelihood without the question. As "
    "continuation: the same, but right after the question's text, without “Answer:”."
)
EXPLANATIONS = {
    "accuracy": "A line is the Clopper–Pearson 95% interval. The dashed line is the accuracy of guessing.",
    "mean_set_size": SETS_NOTE,
    "coverage": (
        "A line is the 95% band. If the guarantee holds, coverage lies in it for 95% of draws, for every way of asking."
    ),
}


def _about(chosen: ShownExperiment, view: PromptingView) -> About:
    return figures.about([record.run_id for record in chosen.records], view.alpha)
