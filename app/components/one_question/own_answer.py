"""The answer to a person's own question: its bars, its options in full, and why the guarantee may not hold."""

from __future__ import annotations

import streamlit as st

from app.caches import question_cache, run_cache
from app.components.one_question.option_bars import option_bars
from app.components.one_question.own_question_form import fitting_options
from app.components.one_question.question import options_in_full
from app.components.shared.runs import title
from app.formatting import counted, plain, sentence
from app.state.one_question import OneQuestionView
from core.answering.custom_question import ModelAnswer
from core.errors import HedgeError
from core.reports import one_question
from core.reports.one_question import CalibratedRun
from core.runs.store import RunRecord

LITTLE_MASS = 0.5


def show_answer(answer: ModelAnswer, view: OneQuestionView) -> None:
    """Show the answer's bars, its options in full, the warnings, and the prompt."""
    own = answer.own
    try:
        record, by = run_cache.record(own.run_id), question_cache.calibrated_run(own.run_id)
    except HedgeError as error:
        st.error(plain(sentence(f"the run that calibrated this answer can't be read: {error}")))
        return
    probabilities, found = one_question.asked(by, answer.logits)
    st.caption(f"{plain(own.model)}, calibrated by {plain(title(record))} · {_took(answer)}")
    if own.context:
        with st.container(border=True, height=180 if len(own.context) > 600 else "content"):
            st.text(own.context)
    st.subheader(plain(own.question), anchor=False)
    for warning in _warnings(answer, record, by):
        st.warning(plain(warning))
    option_bars(
        answer.options,
        found,
        by,
        label=None,
        version=f"{run_cache.version(own.run_id)}:{answer.answer_id}:{answer.asked_at}",
        view=view,
    )
    options_in_full(probabilities, answer.options, found, by, label=None, view=view)
    with st.expander("The prompt, as the model read it"):
        st.code(answer.prompt, language=None, wrap_lines=True)


def _took(answer: ModelAnswer) -> str:
    after = f", after {answer.loading_s:.1f} s of loading" if answer.loading_s else ""
    return f"answered in {answer.milliseconds:,.0f} ms{after}"


def _warnings(answer: ModelAnswer, record: RunRecord, by: CalibratedRun) -> list[str]:
    """The reasons why the guarantee may not hold for this question."""
    said = []
    if len(answer.options) != by.k:
        said.append(
            f"This question has {counted(len(answer.options), 'option')} and the calibrated ones have {by.k}, so the "
            f"guarantee says nothing of it. {fitting_options(record, by)}"
        )
    if answer.own.model != record.spec.model:
        said.append(
            f"The run calibrated {record.spec.model_name}, not the model that answered: the guarantee says nothing of "
            "another model's answers. Launch a run of this model to calibrate it."
        )
    if not answer.is_as_recorded:
        said.append(
            f"Asked again, the model's answers to the run's own questions differ by {answer.recorded_difference:.3g} "
            f"in log-probability from what the run recorded, more than {answer.tolerance:.3g}: the calibration is not "
            "that of the model as it is here now. Repeat the run."
        )
    if answer.dropped:
        said.append(
            f"{counted(answer.dropped, 'example was', 'examples were')} left out so that the question fits into the "
            "model's context."
        )
    if answer.letter_mass < LITTLE_MASS:
        said.append(
            f"Only {answer.letter_mass:.0%} of the next word's probability fell on the letters: the model hardly took "
            "this for a question with lettered options."
        )
    return said
