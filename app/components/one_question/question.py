"""Choose and show a question of a run."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.caches import bounded_cache, question_cache, run_cache
from app.caches.question_cache import QuestionInRuns, ShownQuestion
from app.components.one_question.option_bars import AskedQuestion, RunRow, embedded_bars, option_bars, run_table
from app.components.shared import controls
from app.components.shared.caveat_notes import caveat_line
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.figures import download
from app.components.shared.ranges import question_ranges
from app.components.shared.run_picker import pick_run
from app.components.shared.runs import title, titles
from app.formatting import counted, plain, shortened
from app.state.one_question import OneQuestionView
from app.tab_title import name_tab
from charts.embed import embed_html, run_source
from core.conformal.scores import SCORES
from core.records import OPTION_NAMES, Question
from core.reports import one_question
from core.reports.bounded import bounded_options, probability_ends
from core.reports.frames import alpha_value
from core.reports.one_question import CalibratedRun, OptionPValues
from core.reports.report import shown as shown_figure
from core.reports.thresholds import decimals_apart, threshold_decimals
from core.reports.titles import reading_order, record_task_title
from core.runs.store import RunRecord

TITLE = "One question and its prediction sets"
HEIGHT = 720

NUMBER_KEY = "question_number"
SEARCH_KEY = "question_search"
FOUND_KEY = "question_found"
ASK_KEY = "question_kind"
ASK_WORDS = {"run": "A test question of a run", "own": "Ask your own"}
MOST_FOUND = 50
MOST_RUNS = 40
RANGES_SCORE = "Score to compare with APS"
SCORE_WIDTH = 320
RANGES_SAID = (
    "Some probabilities are not known, so some scores and the threshold lie between two ends. At an alpha within "
    "the full part of its bar, an option is surely in the set. Beyond the end of the bar, it is surely out. In the "
    "hatched part, this depends on the probabilities that are not known."
)


def pick_kind(view: OneQuestionView) -> None:
    """Show the switch between a run's question and a person's own."""
    controls.switch(view, "ask", "Whose question", ASK_WORDS, key=ASK_KEY, label_visibility="collapsed")


def question_of_a_run(view: OneQuestionView, place: DeltaGenerator, *, first: bool) -> None:
    """Show a test question of the selected run, under every score and in every run that tested it. ``place`` is where
    the button that embeds it stands.

    If the view names no question, it is the run's :func:`~app.caches.question_cache.first_shown`, or with ``first`` its
    first test question, which a link without a question has always shown.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        with st.container(width="content"):
            record = pick_run(view, "The options of a question and its sets", ranges=True)
        turning = st.container(horizontal=True, vertical_alignment="center", width="content", gap="small")
    if record is None:
        return
    view = controls.with_offered_scores(view, [record], "bars")
    if record.bounded:
        _question_with_ranges(record, view, turning)
        return
    ids = question_cache.question_ids(record.run_id)
    if not view.question:
        opened = ids[0].as_py() if first else question_cache.first_shown(record.run_id)
        view = state.change(OneQuestionView, question=opened)
    with turning:
        at = pick_question(view, ids, lambda: question_cache.question_list(record.run_id))
    shown = question_cache.shown_question(record.run_id, ids[at].as_py())
    by = question_cache.calibrated_run(record.run_id)
    options, label = shown.question.options, shown.question.label
    with st.container():  # one place on the page, whatever a question has: what follows stays where it is
        name_tab(shown.question.question)
        show_question(shown.question, f"Question {at + 1:,} of {len(ids):,}")
    if shown.no_answer:
        no_answer(shown.no_answer, options)
        other_runs(shown, record, view)
        return
    version = f"{run_cache.version(record.run_id)}:{shown.question.id}"
    question = AskedQuestion(shown.question.question, shown.question.context, options, label, shown.probabilities)
    option_bars(
        question,
        shown.standings,
        by,
        name=title(record),
        version=version,
        view=view,
        caveats=caveat_line(record),
        on_turn=lambda by: _show(ids, at + by),
    )
    with place, st.container(width="content"):  # a fragment alone would take a line of its own
        embed_question(question, shown.standings, by, record=record, view=view)
    options_in_full(question, shown.standings, by, view=view)
    other_runs(shown, record, view)


def _question_with_ranges(record: RunRecord, view: OneQuestionView, turning: DeltaGenerator) -> None:
    """Show a question of a run whose server did not list all letters: where its options may leave their sets. The
    controls that select another one stand in ``turning``.
    """
    run = bounded_cache.bounded_run(record.run_id, scores_shown(view))
    questions = bounded_cache.question_list(record.run_id)
    with turning:
        place = pick_question(view, pa.array(questions["id"]), lambda: questions)
    row = int(questions["row"].iloc[place])
    question = bounded_cache.question(record.run_id, row)
    name_tab(question.question)
    show_question(question, f"Question {place + 1:,} of {len(questions):,}")
    if reason := run.run.unanswered.get(question.id):
        no_answer(reason, question.options)
        return
    controls.score_of(view, "bars", RANGES_SCORE, record, width=SCORE_WIDTH)
    question_ranges(
        question.options,
        bounded_options(run, row),
        probability_ends(run, row),
        label=question.label,
        version=f"{run_cache.version(record.run_id)}:{question.id}",
        view=view,
    )
    st.caption(RANGES_SAID)


def scores_shown(view: OneQuestionView) -> tuple[str, str]:
    """The two scores whose ranges are shown: the chosen one, and APS or LAC to compare it with."""
    return (view.bars, "aps") if view.bars != "aps" else ("lac", "aps")


def pick_question(view: OneQuestionView, ids: pa.StringArray, questions: Callable[[], pd.DataFrame]) -> int:
    """Show the controls that select one of the questions with these ids, and return its position, from 0.

    ``questions`` gives the frame of :func:`core.reports.frames.question_list`, which is read when a person searches. If
    the view names none of them, the first one is shown, with a warning if the view named another.
    """
    place = int(ids.index(view.question).as_py())
    if view.question and place < 0:
        st.warning(
            f"This run has no test question {plain(shortened(view.question))}, so its first one is shown. "
            "Calibration questions have no sets of their own."
        )
    place = max(place, 0)
    st.session_state[NUMBER_KEY] = place + 1
    last = len(ids) - 1
    st.button("Previous", on_click=_show, args=(ids, place - 1), disabled=place == 0, shortcut="Left")
    st.button("Next", on_click=_show, args=(ids, place + 1), disabled=place == last, shortcut="Right")
    with st.popover("Find a question", icon=":material/search:"):
        st.number_input(
            f"Question (of {len(ids):,})", 1, len(ids), step=1, key=NUMBER_KEY, on_change=_numbered, args=(ids,)
        )
        st.button("Random question", on_click=_show_random, args=(ids, place), disabled=last == 0)
        st.text_input("Search by text", key=SEARCH_KEY, placeholder="words in a question or a subject")
        _found(questions, st.session_state[SEARCH_KEY])
    return place


def _numbered(ids: pa.StringArray) -> None:
    _show(ids, int(st.session_state[NUMBER_KEY] or 1) - 1)


def _show(ids: pa.StringArray, place: int) -> None:
    state.change(OneQuestionView, question=ids[max(0, min(place, len(ids) - 1))].as_py())


def _show_random(ids: pa.StringArray, place: int) -> None:
    """Show any question but the one that is shown."""
    other = secrets.randbelow(len(ids) - 1)
    _show(ids, other + (other >= place))


def _found(list_questions: Callable[[], pd.DataFrame], words: str) -> None:
    """Show a choice of the questions that contain every search word."""
    terms = words.lower().split()
    if not terms:
        return
    questions = list_questions()
    texts = (questions["group"] + " " + questions["question"]).str.lower()
    holds = pd.Series(True, index=questions.index)
    for word in terms[:8]:
        holds &= texts.str.contains(word, regex=False)
    matching = questions[holds]
    if matching.empty:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("No question contains all of these words.", width="content")
            st.button("Clear the search", on_click=_clear_search)
        return
    shown = dict(zip(matching["id"], matching["question"], strict=True))
    st.selectbox(
        counted(len(matching), "question contains them", "questions contain them"),
        list(shown)[:MOST_FOUND],
        index=None,
        format_func=lambda name: shortened(shown[name], 120),
        placeholder="Choose one" + (f" of the first {MOST_FOUND}" if len(matching) > MOST_FOUND else ""),
        key=FOUND_KEY,
        on_change=_chosen,
    )


def _clear_search() -> None:
    st.session_state[SEARCH_KEY] = ""


def _chosen() -> None:
    if st.session_state[FOUND_KEY]:
        state.change(OneQuestionView, question=st.session_state[FOUND_KEY])


def show_question(question: Question, number: str = "") -> None:
    """Show the question's context, its text, its ``number`` and its subject, as plain text."""
    if question.context:
        with st.container(border=True, height=180 if len(question.context) > 600 else "content"):
            st.text(question.context)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(question.question), anchor=False, width="content")
        st.caption(plain(" · ".join(filter(None, (number, question.group)))), width="content")


def no_answer(reason: str, options: Sequence[str]) -> None:
    """Show the options, and in place of their sets why the letters are no answer."""
    st.text("\n".join(f"{letter}. {option}" for letter, option in zip(OPTION_NAMES, options, strict=False)))
    st.warning(plain(f"No answer, so there is no set: {reason}."))


def options_in_full(
    question: AskedQuestion, standings: Sequence[OptionPValues], by: CalibratedRun, *, view: OneQuestionView
) -> None:
    """Show each option's rank, probability, score and p-value by the chosen score, folded away, with a download."""
    standing = next(entry for entry in standings if entry.name == view.bars)
    threshold = float(by.scores[view.bars].thresholds()[view.alpha - 1])
    members = standing.members(view.alpha, empty=view.empty)
    probabilities, options = question.probabilities, question.options
    frame = one_question.option_frame(
        probabilities, options, standing, threshold, members, question.label, by.names(len(options))
    )
    decimals = threshold_decimals(threshold, standing.scores)
    shares = decimals_apart(probabilities[members].tolist(), probabilities[~members].tolist(), 4)
    columns = {
        **_COLUMNS,
        "probability": st.column_config.NumberColumn("Probability", format=f"%.{shares}f"),
        "score": st.column_config.NumberColumn("Score", format=f"%.{decimals}f", help=SCORE_HELP),
    }
    with st.expander("Score, rank and probability of each option"):
        st.caption(
            f"The {plain(SCORES[view.bars].title)} score is {plain(SCORES[view.bars].formula)}. Its threshold at "
            f"alpha {alpha_value(view.alpha):g} is {shown_figure(threshold, decimals)}, from "
            f"{counted(standing.n, 'calibration question')}."
        )
        st.dataframe(
            frame.assign(
                member=frame["member"].map({True: "in", False: "out"}),
                truth=["truth" if true else "" for true in frame["truth"]],
            ).drop(columns=["threshold"]),
            hide_index=True,
            height="content",
            column_config=columns,
            alt="The question's options with probability, rank, score and p-value",
        )
        download("Download the options as CSV", frame, f"options-{view.bars}", about([by.run_id], view.alpha))
        scores = one_question.score_frame(tuple(standings), by, view.alpha, empty=view.empty)
        download("Download every score as CSV", scores, "scores", about([by.run_id], view.alpha))


SCORE_HELP = "How badly the option fits the question. Low is good."
_COLUMNS: dict[str, Any] = {
    "letter": "",
    "option": st.column_config.TextColumn("Option", width="medium"),
    "rank": st.column_config.NumberColumn(
        "Rank", help="Rank by probability, the highest first. Of equal probabilities, the later option comes first."
    ),
    "p_value": st.column_config.NumberColumn(
        "p-value",
        format="%.4f",
        help="The conformal p-value: the share of calibration questions whose true option fits no better than "
        "this option.",
    ),
    "leaves_at": st.column_config.NumberColumn(
        "Leaves at",
        format="%.3f",
        help="The smallest alpha, in steps of 0.001, at which the option is out of the set. 1 means that it never "
        "leaves.",
    ),
    "member": "Set",
    "truth": "Truth",
}


def _open_other_run(run_id: str, question_id: str) -> None:
    state.change(OneQuestionView, run=run_id, question=question_id)


def other_runs(shown: ShownQuestion, record: RunRecord, view: OneQuestionView) -> None:
    """Show the same question in every other finished run that tested it, folded away."""
    asked = question_cache.runs_of_question(record.run_id, shown.question)
    if others := sum(run.run_id != record.run_id for run in asked.tested):
        words = f"The same question in {counted(min(others, MOST_RUNS - 1), 'other run')}"
        with st.expander(words, key="other_runs", on_change="rerun") as folded:
            if folded.open:
                _in_other_runs(question_cache.in_runs(asked.tested, shown.question, MOST_RUNS), shown, record, view)
    if asked.untested:
        st.caption(
            f"In {counted(asked.untested, 'other run')}, the question calibrates or is shown as an example, so it has "
            "no set there."
        )


def _in_other_runs(others: QuestionInRuns, shown: ShownQuestion, record: RunRecord, view: OneQuestionView) -> None:
    if any(run.run_id != record.run_id for run, _ in others.tested):
        _run_table(others, shown.question, record, view)
    if notes := _left_out(others):
        st.caption(notes)


def _run_table(others: QuestionInRuns, question: Question, record: RunRecord, view: OneQuestionView) -> None:
    here_first = sorted(others.tested, key=lambda entry: (entry[0].run_id != record.run_id, reading_order(entry[0])))
    names = _titles_without_task([other for other, _ in others.tested])
    versions = [run_cache.version(other.run_id) for other, _ in here_first]
    here = replace(view, question=question.id)
    run_table(
        [
            RunRow(
                run_id=other.run_id,
                title=names[other.run_id],
                href="?" + urlencode(state.address_of(replace(here, run=other.run_id))),
                here=other.run_id == record.run_id,
                standings=standings,
            )
            for other, standings in here_first
        ],
        question,
        question_cache.calibrated_run(record.run_id),
        version=":".join(["runs", question.id, *versions]),
        view=view,
        on_open=lambda run_id: _open_other_run(run_id, question.id),
    )


def _titles_without_task(records: Sequence[RunRecord]) -> dict[str, str]:
    """The title of each run, without the task if all of them have the same one."""
    names = titles(records)
    first, *others = {record_task_title(record) for record in records}
    return names if others else {name: title.replace(f" · {first}", "", 1) for name, title in names.items()}


def _left_out(others: QuestionInRuns) -> str:
    sentences = []
    if others.unanswered:
        sentences.append(f"In {counted(others.unanswered, 'other run')}, the letters are no answer to this question.")
    if others.left_out:
        sentences.append(
            f"{counted(others.left_out, 'more run')} asked this question and "
            f"{'is' if others.left_out == 1 else 'are'} not shown here."
        )
    return " ".join(sentences)


def embed_question(
    question: AskedQuestion,
    standings: Sequence[OptionPValues],
    by: CalibratedRun,
    *,
    record: RunRecord,
    view: OneQuestionView,
) -> None:
    """Show the button that embeds a question as it is now; ``record`` is the run that calibrates it."""

    def html_file(theme: str, texts: bool) -> bytes:
        source = run_source(run_cache.evaluation(record.run_id), name=title(record))
        data = embedded_bars(question, standings, by, view)
        return embed_html("one-question", data, title=TITLE, source=source, theme=theme)

    name = about([record.run_id], view.alpha).file_name("one-question", "html")
    embed(html_file, lambda: name, TITLE, height=HEIGHT, key="question")
