"""The parts of the Prompting page: one experiment, its methods by shots, and two of them question by question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from app import prompting_cache, state
from app.components.prompting.card import card
from app.components.shared import figures
from app.formatting import counted, plain, sentence
from app.state import View
from charts.heat_map import set_sizes
from charts.measures import MEASURES as MEASURE_TITLES
from charts.methods_by_shots import by_method
from core.errors import InputError
from core.exchange import writing
from core.reports.compare import side_by_side
from core.reports.compare.benchmark import SetRule
from core.reports.prompting import experiments as reports
from core.reports.prompting.experiments import (
    CONTINUED,
    LETTERS_METHOD,
    METHODS,
    PUBLISHED,
    PromptingExperiment,
    PromptingMethod,
)
from core.runs.banks import bank_name, task_title
from core.runs.store import RunRecord

NAMES = ("experiment", "method", "beside", "shots", "question", "alpha", "score")
"""What the page's address holds."""

EXPERIMENT_KEY = "prompting_experiment"
METHODS_KEY = "prompting_methods"
MEASURE_KEY = "prompting_measure"
METHOD_KEY = "prompting_method"
BESIDE_KEY = "prompting_beside"
SHOTS_KEY = "prompting_shots"
QUESTIONS_KEY = "prompting_questions"
MEASURES = ("accuracy", "mean_set_size", "coverage")
SHOWN_QUESTIONS = 300
FIRST = (*PUBLISHED, CONTINUED)

SETS_NOTE = (
    "Sets are calibrated for each way on its own, so all of them keep the same promise; the smaller sets belong to the "
    "surer way. E and F are left out of letters, for the texts do not offer them. A rule in the figure of set sizes is "
    "the 95 % interval, which counts the luck of the calibration questions too."
)


@dataclass(frozen=True, slots=True)
class ShownExperiment:
    """The experiment on the page: its runs and every way of asking that they offer."""

    experiment: PromptingExperiment
    records: tuple[RunRecord, ...]
    readings: tuple[PromptingMethod, ...]

    def find(self, method: str, shots: int) -> PromptingMethod | None:
        """The way of asking with these names, where there is one."""
        return next((one for one in self.readings if (one.method, one.shots) == (method, shots)), None)

    @property
    def letters(self) -> tuple[PromptingMethod, ...]:
        """Those by letters."""
        return tuple(one for one in self.readings if one.method == LETTERS_METHOD)

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that were asked, in the order of showing."""
        return tuple(dict.fromkeys(one.method for one in self.readings))

    @property
    def shots(self) -> tuple[int, ...]:
        """The numbers of shots that were asked, rising."""
        return tuple(sorted({one.shots for one in self.readings}))


def choose(view: View) -> ShownExperiment | None:
    """The experiment that the view names, or the one of most forms; None where no run has ended."""
    found = {one.key: (one, records) for one, records in prompting_cache.experiments().items()}
    if not found:
        st.info(
            "Accuracy and prediction sets of each way of asking would be here. Launch them below; a pocket model's "
            "take about a minute."
        )
        return None
    if view.experiment not in found:
        if view.experiment:
            st.warning("There are no finished runs of the linked experiment here (any more); another one is shown.")
        view = state.change(experiment=next(iter(found)))
    st.session_state[EXPERIMENT_KEY] = view.experiment
    st.selectbox(
        "Model and questions",
        list(found),
        format_func=lambda key: _title(*found[key]),
        key=EXPERIMENT_KEY,
        on_change=_experiment_picked,
        help="Finished runs that differ in how they ask and in their shots alone belong together.",
    )
    experiment, records = found[view.experiment]
    return ShownExperiment(experiment, records, tuple(reports.readings(records)))


def _experiment_picked() -> None:
    state.change(experiment=st.session_state[EXPERIMENT_KEY], question="")


def _title(experiment: PromptingExperiment, records: tuple[RunRecord, ...]) -> str:
    spec = records[0].spec
    said = [spec.model_name, task_title(spec.task, bank_name(spec)), experiment.strategy, experiment.dtype]
    said += ["chat"] * (experiment.prompt_format == "chat") + ["own system prompt"] * bool(experiment.system)
    said += [counted(experiment.samples, "question")] if experiment.samples else []
    return " · ".join([*said, counted(len(records), "run")])


def asked_of(view: View) -> SetRule:
    """How sets are formed here."""
    return SetRule(view.alpha, (view.score,))


def overview(chosen: ShownExperiment, view: View) -> tuple[str, ...]:
    """One figure of every method by shots, what it says of guessing, and the table to take out; the methods shown."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    first = [name for name in FIRST if name in chosen.methods] or list(chosen.methods)
    picked = left.multiselect(
        "Ways of asking",
        chosen.methods,
        default=first,
        format_func=METHODS.__getitem__,
        key=f"{METHODS_KEY}-{view.experiment}",
        help=METHODS_HELP,
    )
    measure = right.segmented_control(
        "Figure",
        MEASURES,
        format_func=lambda name: MEASURE_TITLES[name][0],
        default="mean_set_size",
        required=True,
        key=MEASURE_KEY,
    )
    shown = tuple(one for one in chosen.readings if one.method in picked)
    if not shown:
        st.caption("Choose one or more ways of asking.")
        return ()
    rows = prompting_cache.figures(shown, asked_of(view))
    figures.show(by_method(rows, str(measure)), EXPLANATIONS[str(measure)])
    st.markdown(plain(f"{reports.smallest_sets(rows)} {reports.against_guessing(rows)}"))
    if len(chosen.methods) < 2 or LETTERS_METHOD not in chosen.methods:
        st.caption("Only one form has been asked; the others are launched below.")
    _cut_short(chosen)
    _take_out(chosen, view)
    return tuple(picked)


METHODS_HELP = (
    "Letters: the options are listed and the next token's letter counts. Text: the options are not listed, and the "
    "likelihood of each option's own words after “Answer:” counts, raw or with their length or their likelihood "
    "without the question taken off. Continued: the same right after the question's text, without “Answer:”."
)
EXPLANATIONS = {
    "accuracy": "A rule is the Clopper–Pearson 95 % interval, the dashed line is what guessing gets right.",
    "mean_set_size": SETS_NOTE,
    "coverage": "A rule is the 95 % Beta-Binomial band: where the guarantee holds, coverage lies there. Every way has "
    "to keep it.",
}


def _cut_short(chosen: ShownExperiment) -> None:
    """Runs whose shots did not fit the model's context."""
    cut = [record for record in chosen.records if record.provenance.get("engine", {}).get("dropped_demonstrations")]
    if cut:
        engine = cut[0].provenance["engine"]
        shots = ", ".join(str(n) for n in sorted({record.spec.shots for record in cut}))
        st.warning(
            f"The {engine['context']:,} tokens that this model reads have no room for all demonstrations with {shots} "
            "shots; the oldest were left out of the longest prompts. Compare fewer shots, or a model that reads more."
        )


def _take_out(chosen: ShownExperiment, view: View) -> None:
    asked = asked_of(view)

    def workbook() -> bytes:
        table = reports.aggregate(prompting_cache.figures(chosen.readings, asked))
        return writing.to_xlsx({"ways of asking": pa.Table.from_pandas(table, preserve_index=False)})

    st.download_button(
        "The whole table as XLSX",
        data=workbook,
        file_name="ways-of-asking.xlsx",
        mime=writing.MEDIA_TYPES["xlsx"],
        on_click="ignore",
        icon=":material/download:",
        key="prompting-xlsx",
    )


def two_ways(chosen: ShownExperiment, shown: tuple[str, ...], view: View) -> None:
    """Two ways of asking with the same shots: their sets, paired tests of those ``shown``, and their questions."""
    st.subheader("Two ways, question by question", anchor=False)
    pair = _pick_two(chosen, view)
    if pair is None:
        return
    first, second = pair
    _side_by_side(first, second, view)
    tested = {*shown, second.method} - {first.method}
    others = tuple(one for one in chosen.readings if one.shots == first.shots and one.method in tested)
    _tests(first, others, view)
    _questions(first, second, view)


def _pick_two(chosen: ShownExperiment, view: View) -> tuple[PromptingMethod, PromptingMethod] | None:
    shots = int(view.shots) if view.shots and int(view.shots) in chosen.shots else chosen.shots[0]
    there = [one.method for one in chosen.readings if one.shots == shots]
    method = view.method if view.method in there else there[0]
    rest = [name for name in there if name != method]
    beside = view.beside if view.beside in rest else (rest[0] if rest else "")
    st.session_state[METHOD_KEY], st.session_state[SHOTS_KEY] = method, shots
    one, two, three = st.columns([4, 4, 3], vertical_alignment="bottom")
    with one:
        st.selectbox("One way", there, format_func=METHODS.__getitem__, key=METHOD_KEY, on_change=_picked)
    with three:
        st.segmented_control("Shots", chosen.shots, required=True, key=SHOTS_KEY, on_change=_picked)
    if not rest:
        st.caption("With these shots one way alone was asked; the others are launched below.")
        return None
    st.session_state[BESIDE_KEY] = beside
    with two:
        st.selectbox("Beside it", rest, format_func=METHODS.__getitem__, key=BESIDE_KEY, on_change=_picked)
    first, second = chosen.find(method, shots), chosen.find(beside, shots)
    return (first, second) if first and second else None


def _picked() -> None:
    state.change(
        method=st.session_state[METHOD_KEY],
        beside=st.session_state.get(BESIDE_KEY, ""),
        shots=str(st.session_state[SHOTS_KEY]),
    )


def _side_by_side(first: PromptingMethod, second: PromptingMethod, view: View) -> None:
    rows = prompting_cache.figures((first, second), asked_of(view))
    for column, row in zip(st.columns(2), rows.to_dict("records"), strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{plain(row['title'])}**")
            with st.container(horizontal=True, gap="medium"):
                st.metric("Accuracy", f"{row['accuracy']:.1%}", width="content")
                st.metric("Coverage", f"{row['coverage']:.1%}", width="content")
                st.metric("Mean set size", f"{row['mean_set_size']:.2f}", width="content")
    names = [first.title, second.title]
    shares = side_by_side.size_shares(
        [prompting_cache.evaluation(one) for one in (first, second)], names, view.alpha, view.score
    )
    figures.show(set_sizes(shares), SETS_NOTE)


def _tests(first: PromptingMethod, others: tuple[PromptingMethod, ...], view: View) -> None:
    try:
        table = prompting_cache.against(first, others, view.alpha, view.score)
    except InputError as error:
        st.info(plain(sentence(str(error))))
        return
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    st.markdown(
        f"**Every other way less {plain(first.title)}**, on {counted(int(table['n'].min()), 'shared question')}"
    )
    st.dataframe(
        pd.DataFrame(
            {
                "Asked by": table["method"],
                "Accuracy": [_span(row, "accuracy") for row in rows],
                "p": table["accuracy_p"],
                "Mean set size": [_span(row, "set_size") for row in rows],
                "p (size)": table["set_size_p"],
            }
        ),
        hide_index=True,
        height="content",
        column_config={
            "Accuracy": st.column_config.TextColumn(help="The difference with its 95 % bootstrap percentile interval."),
            "p": st.column_config.NumberColumn(format="%.3g", help=f"McNemar, exact. {HOLM}"),
            "Mean set size": st.column_config.TextColumn(
                help="The difference with its 95 % bootstrap interval, which redraws calibration and test questions."
            ),
            "p (size)": st.column_config.NumberColumn(
                format="%.3g",
                help="Paired permutation test: the two ways are swapped question by question on the calibration and "
                f"the test side, and both thresholds are formed again. {HOLM}",
            ),
        },
        alt="Differences of all ways of asking with paired tests",
    )
    figures.download("These tests as CSV", table, "prompting-tests")


HOLM = "Corrected for all tests of this table together (Holm)."


def _span(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:+.3f} ({row[f'{name}_low']:+.3f} to {row[f'{name}_high']:+.3f})"


def _questions(first: PromptingMethod, second: PromptingMethod, view: View) -> None:
    """The shared questions, those whose sets differ most first, and the card of the one that is chosen."""
    one, two = (prompting_cache.sets_of(each, view.alpha, view.score) for each in (first, second))
    table = reports.joined(one, two)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.caption("A click on a row opens its card; those whose sets differ most come first.")
        event = st.dataframe(
            table.head(SHOWN_QUESTIONS)[["id", "first_right", "first_size", "second_right", "second_size"]],
            hide_index=True,
            height=380,
            on_select="rerun",
            selection_mode="single-row",
            key=f"{QUESTIONS_KEY}-{first.run_id}-{second.run_id}",
            column_config={
                "id": "Question",
                "first_right": st.column_config.CheckboxColumn("right", help=first.title),
                "first_size": st.column_config.NumberColumn("set", help=first.title),
                "second_right": st.column_config.CheckboxColumn("right, beside", help=second.title),
                "second_size": st.column_config.NumberColumn("set, beside", help=second.title),
            },
            alt="Questions that both ways asked",
        )
        figures.download("All shared questions as CSV", table, "prompting-questions")
    rows = event["selection"]["rows"]
    if rows and str(table["id"][rows[0]]) != view.question:
        view = state.change(question=str(table["id"][rows[0]]))
    known = view.question if view.question in one.places and view.question in two.places else str(table["id"][0])
    with right, st.container(border=True):
        card(one, two, known)
