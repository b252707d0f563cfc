"""Paired tests of all ways of asking, and two of them with their sets and questions."""

import math

import pandas as pd
import streamlit as st

from app import state, style
from app.background import arrived, in_place
from app.caches import prompting_cache, question_cache
from app.components.one_question.question import show_question
from app.components.prompting.by_shots import SECOND_FIELDS, way_choice
from app.components.prompting.experiment import ShownExperiment, set_rule
from app.components.shared import figures
from app.components.shared.static_table import static_table
from app.formatting import counted, plain, sentence, shortened, signed
from app.state.prompting import PromptingView
from charts.heat_map import set_sizes
from core.conformal.scores import SCORES
from core.errors import InputError
from core.records import LETTERS, Question
from core.reports.compare import side_by_side
from core.reports.compare.paired import CHOSEN
from core.reports.p_values import p_text
from core.reports.prompting import experiments as reports
from core.reports.prompting.answer import difference_text
from core.reports.prompting.experiments import LETTERS_METHOD, MethodSets, PromptingMethod

QUESTIONS_KEY = "prompting_questions"
SHOWN_QUESTIONS = 300
ROW_HEIGHT = 35
"""Of a row of a table, in pixels."""


def two_ways(chosen: ShownExperiment, shown: tuple[PromptingMethod, ...], view: PromptingView) -> None:
    """Show paired tests of the ways in ``shown`` against the base way, and a second way beside it, with the sets and
    the questions of both."""
    base, second = chosen.base(view), chosen.second(view)
    others = tuple(reading for reading in shown if reading != base)
    if others:
        _tests(base, others, view)
    if second is None:
        return
    st.subheader("Two ways, question by question", anchor=False)
    way_choice("Second way", [way for way in chosen.readings if way != base], second, SECOND_FIELDS)
    _side_by_side(base, second, view)
    _questions(base, second, view)


def _side_by_side(first: PromptingMethod, second: PromptingMethod, view: PromptingView) -> None:
    rows = prompting_cache.figures((first, second), set_rule(view))
    for column, way, row in zip(st.columns(2), (first, second), rows.to_dict("records"), strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{plain(way.way)}**")
            with st.container(horizontal=True, gap="medium"):
                st.metric("Accuracy", f"{row['accuracy']:.1%}", width="content")
                st.metric("Coverage", f"{row['coverage']:.1%}", width="content")
                st.metric("Mean set size", f"{row['mean_set_size']:.2f}", width="content")
    names = [first.way, second.way]
    shares = side_by_side.size_shares(
        [prompting_cache.evaluation(method) for method in (first, second)], names, view.alpha, view.score
    )
    note = "The share of sets that hold each number of options."
    figures.show(set_sizes(shares), note, figures.about([first.run_id, second.run_id], view.alpha))


@in_place
def _tests(first: PromptingMethod, others: tuple[PromptingMethod, ...], view: PromptingView) -> None:
    what = f"the paired tests of {counted(len(others), 'way')} of asking"
    height = ROW_HEIGHT * (len(others) + 4)
    try:
        table = arrived(prompting_cache.against(first, others, view.alpha, view.score), what, height=height)
    except InputError as error:
        st.info(plain(sentence(str(error))))
        return
    if table is None:
        return
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    st.markdown(f"**Every other way minus {plain(first.way)}**, on {counted(int(table['n'].min()), 'shared question')}")
    if left := int(table["one_only"].max()):
        st.caption(
            f"{counted(left, 'question')} asked in only one of two ways {'is' if left == 1 else 'are'} left out."
        )
    if (units := int(table["units"].min())) < int(table["n"].min()):
        st.caption(f"These are {counted(units, 'question')}; each of them counts once, however often it was asked.")
    shown = pd.DataFrame(
        {
            "Asked by": table["way"],
            "Accuracy, points": [difference_text(row, "accuracy") for row in rows],
            "p of accuracy": table["accuracy_p"].map(p_text),
            "Mean set size": [difference_text(row, "set_size") for row in rows],
            "p of set size": table["set_size_p"].map(p_text),
        }
    )
    static_table(shown, alt="Differences of all ways of asking with paired tests")
    st.caption(f"{TESTS} {CHOSEN}" if SCORES[view.score].tuned else TESTS)
    about = figures.about([first.run_id, *(method.run_id for method in others)], view.alpha)
    figures.download("These tests as CSV", table, "prompting-tests", about)


TESTS = (
    "Brackets hold 95% intervals: Tango's for accuracy, and for set sizes one that covers the draw of calibration and "
    "test questions. p is of an exact McNemar test for accuracy, and for set sizes of a permutation test that swaps "
    "both ways question by question and computes both thresholds again. All p-values of the table are corrected "
    "together (Holm)."
)


def _right_and_size(rows: pd.DataFrame, name: str) -> pd.Series:
    """✓ or ✗, and the size of the set."""
    return rows[f"{name}_right"].map({True: "✓ ", False: "✗ "}) + rows[f"{name}_size"].astype(str)


def _questions(first: PromptingMethod, second: PromptingMethod, view: PromptingView) -> None:
    """Show the shared questions, those whose sets differ most first, and the card of the selected one. Folded away:
    Streamlit's table is a large part of the first visit.
    """
    title, is_open = "The questions, and their sets by both ways", bool(view.question)
    with st.expander(title, expanded=is_open, on_change="rerun", key="prompting_questions_open") as folded:
        if folded.open:
            _question_list(first, second, view)


def _question_list(first: PromptingMethod, second: PromptingMethod, view: PromptingView) -> None:
    first_sets, second_sets = (prompting_cache.sets_of(each, view.alpha, view.score) for each in (first, second))
    table = reports.joined(first_sets, second_sets)
    with style.stacked_when_narrow("questions"):
        left, right = st.columns([2, 3], gap="medium")
    with left:
        st.caption(
            "Click a row to see how both ways answer that question. Questions whose sets differ most come first. ✓ or "
            "✗ says whether the most probable option is right, and the number is the size of the set."
        )
        texts = question_cache.question_list(first.run_id).set_index("id")["question"]
        rows = table.head(SHOWN_QUESTIONS)
        event = st.dataframe(
            pd.DataFrame(
                {
                    "first": _right_and_size(rows, "first"),
                    "second": _right_and_size(rows, "second"),
                    "question": rows["id"].map(texts),
                }
            ),
            hide_index=True,
            height=380,
            on_select="rerun",
            selection_mode="single-row",
            key=f"{QUESTIONS_KEY}-{first.run_id}-{second.run_id}",
            column_config={
                "first": st.column_config.TextColumn("First way", help=first.way, width=90),
                "second": st.column_config.TextColumn("Second way", help=second.way, width=100),
                "question": st.column_config.TextColumn("Question", width="large"),
            },
            alt="Questions that both ways asked",
        )
        about = figures.about([first.run_id, second.run_id], view.alpha)
        figures.download("All shared questions as CSV", table, "prompting-questions", about)
    picked = event["selection"]["rows"]
    if picked and str(table["id"][picked[0]]) != view.question:
        view = state.change(PromptingView, question=str(table["id"][picked[0]]))
    known = (
        view.question
        if view.question in first_sets.places and view.question in second_sets.places
        else str(table["id"][0])
    )
    with right, st.container(border=True):
        card(first_sets, second_sets, known)


def card(first_sets: MethodSets, second_sets: MethodSets, question_id: str) -> None:
    """Show a question as both methods asked it."""
    question = prompting_cache.question(first_sets.reading, question_id)
    show_question(question)
    sides = [each.side(question_id) for each in (first_sets, second_sets)]
    k = min(len(side.probabilities) for side in sides)
    table = pd.DataFrame({"Option": [_named(question, j) for j in range(k)]})
    for side in sides:
        table[side.reading.way] = [
            f"{p:.1%}, {'in the set' if side.members[j] else 'out'}" for j, p in enumerate(side.probabilities[:k])
        ]
    static_table(table, alt="The probability of each option, and whether it is in the set, by both ways")
    for side in sides:
        right = "the truth" if side.pick == question.label else f"but the truth is {LETTERS[question.label]}"
        size = sum(side.members)
        st.caption(
            plain(
                f"{side.reading.way} picks {LETTERS[side.pick]}, {right}. Its set holds "
                f"{counted(size, 'option')}"
                f"{'' if not size or side.members[question.label] else ' and misses the truth'}."
            )
        )
    texts = next((side.reading for side in sides if side.reading.method != LETTERS_METHOD), None)
    if texts:
        _texts(texts, question_id)


def _named(question: Question, j: int) -> str:
    return f"{'✓ ' if j == question.label else ''}{LETTERS[j]}. {shortened(question.options[j], 90)}"


def _texts(reading: PromptingMethod, question_id: str) -> None:
    st.markdown("**Log-probabilities of the options' texts**, in nats")
    scores = reports.option_scores(reading, question_id)
    columns = {
        "log_p": "After the question",
        "unconditional": "After “Answer:” alone",
        "mutual": "At the start of a text",
    }
    table = pd.DataFrame(
        {
            "Option": scores["option"],
            **({"Tokens": scores["tokens"].map("{:,}".format)} if "tokens" in scores else {}),
            **{title: [_log(value) for value in scores[name]] for name, title in columns.items() if name in scores},
        }
    )
    static_table(table, alt="Log-likelihoods of the options' texts")
    st.caption(
        "Each is the log-probability of all tokens of the option: after the question, after a bare “Answer:” without "
        "the question, and at the start of a text, as in lm-evaluation-harness."
    )


def _log(value: float) -> str:
    return "–" if math.isnan(value) else signed(value, 2)
