"""One figure of every method by shots, a note on guessing, and the table to download."""

import pyarrow as pa
import streamlit as st

from app import style
from app.caches import prompting_cache
from app.components.prompting.experiment import ShownExperiment, set_rule
from app.components.shared import figures
from app.components.shared.controls import choice
from app.formatting import plain
from app.state.prompting import PromptingView
from charts.measures import MEASURES as MEASURE_TITLES
from charts.methods_by_shots import by_method
from core.exchange import writing
from core.exchange.workbook import workbook
from core.reports.file_names import About
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import CONTINUED, LETTERS_METHOD, METHODS, PUBLISHED

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


def overview(chosen: ShownExperiment, view: PromptingView) -> tuple[str, ...]:
    """Show one figure of every method by shots, a note on guessing, and the table to download. Returns the methods
    shown.
    """
    with style.stacked_when_narrow("ways"):
        left, right = st.columns([2, 1], vertical_alignment="bottom")
    first = [name for name in FIRST if name in chosen.methods] or list(chosen.methods)
    picked = left.multiselect(
        "Ways of asking",
        chosen.methods,
        default=first,
        format_func=METHODS.__getitem__,
        key=f"{METHODS_KEY}-{chosen.experiment.key}",
        help=METHODS_HELP,
        wrap=True,
    )
    measure = choice(
        "Figure",
        {name: titles[0] for name, titles in MEASURE_TITLES.items()},
        MEASURES,
        place=right,
        default="mean_set_size",
        key=MEASURE_KEY,
        wrap=True,
    )
    shown = tuple(reading for reading in chosen.readings if reading.method in picked)
    if not shown:
        st.caption("Choose one or more ways of asking.")
        return ()
    rows = prompting_cache.figures(shown, set_rule(view))
    figures.show(by_method(rows, str(measure)), EXPLANATIONS[str(measure)], _about(chosen, view))
    st.markdown(plain(f"{reports.smallest_sets(rows)} {reports.against_guessing(rows)}"))
    if len(chosen.methods) < 2 or LETTERS_METHOD not in chosen.methods:
        st.caption("Only one form was asked. You can launch the others below.")
    _take_out(chosen, view)
    return tuple(picked)


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


def _take_out(chosen: ShownExperiment, view: PromptingView) -> None:
    rule = set_rule(view)

    def csv_file() -> bytes:
        table = reports.aggregate(prompting_cache.figures(chosen.readings, rule))
        return workbook({"ways of asking": pa.Table.from_pandas(table, preserve_index=False)})

    name = _about(chosen, view).file_name("ways-of-asking", "xlsx")
    st.download_button(
        "Whole table as XLSX",
        data=csv_file,
        file_name=name,
        mime=writing.MEDIA_TYPES["xlsx"],
        on_click="ignore",
        icon=":material/download:",
        key="prompting-xlsx",
    )


def _about(chosen: ShownExperiment, view: PromptingView) -> About:
    return figures.about([record.run_id for record in chosen.records], view.alpha)
