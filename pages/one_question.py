"""One question: the alpha at which each option leaves its set, under every score and in every run."""

import streamlit as st

from app import data, state
from app.components.option_bars import option_bars
from app.components.question import NAMES, options_in_full, other_runs, pick_question, show_question
from app.components.runs import pick_run

st.title("Which answers can't be ruled out?", anchor=False)
view = state.view(*NAMES)
record = pick_run(view, "A question's options and its sets")
if record:
    questions = data.question_list(record.run_id)
    place = pick_question(view, questions)
    shown = data.shown_question(record.run_id, str(questions["id"].iloc[place]))
    by = data.bench(record.run_id)
    show_question(shown.question)
    option_bars(
        shown.question.options,
        shown.standings,
        by,
        label=shown.question.label,
        version=f"{data.version(record.run_id)}:{shown.question.id}",
        view=view,
    )
    options_in_full(
        shown.probabilities, shown.question.options, shown.standings, by, label=shown.question.label, view=view
    )
    other_runs(shown, record, view)
