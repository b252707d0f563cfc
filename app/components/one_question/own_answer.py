"""The answer to a person's own question: its bars, its options in full, and why the guarantee may not hold."""

import streamlit as st

from app.caches import bounded_cache, question_cache, run_cache
from app.components.one_question.option_bars import AskedQuestion, option_bars
from app.components.one_question.own_examples import what_to_see
from app.components.one_question.question import (
    RANGES_SAID,
    RANGES_SCORE,
    SCORE_WIDTH,
    embed_question,
    no_answer,
    options_in_full,
    scores_shown,
)
from app.components.shared import controls
from app.components.shared.caveat_notes import caveat_line, caveat_notes
from app.components.shared.ranges import question_ranges
from app.components.shared.runs import title
from app.formatting import counted, plain, sentence
from app.state.one_question import OneQuestionView
from core.errors import HedgeError
from core.models import letter_mass
from core.models.model_fingerprint import short
from core.models.model_sources import is_local, ships
from core.models.replaced_weights import NOT_RECORDED, replaced
from core.models.server_address import ON_SERVERS
from core.questions.bank_names import bank_name, task_title
from core.records import DONT_KNOW, NONE_OF_ABOVE
from core.reports import one_question
from core.reports.bounded import asked_bounds
from core.reports.question_kind import QuestionKind
from core.runs.answering.custom_question import ModelAnswer
from core.runs.store import RunRecord

NO_GUARANTEE = "The guarantee does not hold here: the set may miss the right answer more often than alpha says."


def show_answer(answer: ModelAnswer, view: OneQuestionView) -> None:
    """Show the answer's bars, its options in full, the warnings, the prompt, and the button that embeds it."""
    own = answer.own
    try:
        record = run_cache.record(own.run_id)
        view = controls.with_offered_scores(view, [record], "bars")
        if as_ranges := bool(record.bounded or answer.bounded):
            run = bounded_cache.bounded_run(own.run_id, scores_shown(view))
            between = asked_bounds(run, answer.logits, answer.bounded)
        else:
            by = question_cache.calibrated_run(own.run_id)
            probabilities, standings = one_question.asked(by, answer.logits)
    except HedgeError as error:
        st.error(plain(sentence(f"the run that calibrated this answer can't be read: {error}")))
        return
    st.subheader(plain(own.question), anchor=False)
    if own.context:
        with st.container(border=True, height=180 if len(own.context) > 600 else "content"):
            st.text(own.context)
    if line := what_to_see(own):
        st.markdown(plain(line))
    with st.spinner("Reading the model's files …"):
        by_others = weights_warnings(answer, record)
    for warning in (*by_others, *_warnings(answer, record, question_cache.question_kind(own.run_id))):
        st.warning(plain(warning))
    if reason := _no_answer(answer, record):
        no_answer(reason, answer.options)
        _prompt(answer, record)
        return
    version = f"{run_cache.version(own.run_id)}:{answer.answer_id}:{answer.asked_at}"
    line = f"{plain(own.model)} {_took(answer)}{_weights(answer)}. Calibrated by {plain(title(record))}."
    if as_ranges:
        controls.score_of(view, "bars", RANGES_SCORE, record, width=SCORE_WIDTH)
        question_ranges(answer.options, between.options, between.probabilities, label=None, version=version, view=view)
        st.caption(f"{line} {RANGES_SAID}")
    else:
        question = AskedQuestion(own.question, own.context, answer.options, None, probabilities)
        name = title(record)
        option_bars(question, standings, by, name=name, version=version, view=view, caveats=caveat_line(record))
        st.caption(line)
        embed_question(question, standings, by, record=record, view=view)
        options_in_full(question, standings, by, view=view)
    caveat_notes([record])
    _prompt(answer, record)


def _prompt(answer: ModelAnswer, record: RunRecord) -> None:
    with st.expander("The request, as Hedge sent it" if record.spec.decisions else "The prompt, as the model read it"):
        st.code(answer.prompt, language=None, wrap_lines=True)


def _no_answer(answer: ModelAnswer, record: RunRecord) -> str:
    """Why the letters are no answer, as a clause; empty if they are."""
    mass = answer.mass
    if mass is None or not mass.is_no_answer:
        return ""
    return f"{mass.without}; {letter_mass.way_out(mass.first, chat=record.spec.prompt_format == 'chat')}"


def _took(answer: ModelAnswer) -> str:
    what = "connecting" if ON_SERVERS in answer.own.model else "loading"
    after = f", after {answer.loading_s:.1f} s of {what}" if answer.loading_s else ""
    return f"answered in {answer.milliseconds:,.0f} ms{after}"


def _weights(answer: ModelAnswer) -> str:
    """Which weights of a person's own model answered."""
    if ships(answer.own.model) or not is_local(answer.own.model):
        return ""
    return f", weights {short(answer.weights)}" if answer.weights else f" ({NOT_RECORDED})"


def weights_warnings(answer: ModelAnswer, record: RunRecord) -> list[str]:
    """A warning if the model has other weights now than when it answered, and one if the run's were others."""
    model, warnings = answer.own.model, []
    if clause := replaced(model, answer.weights, those="that gave this answer"):
        warnings.append(f"{sentence(clause)} Ask again to get an answer of the current weights.")
    recorded = record.spec.model_fingerprint
    if recorded and answer.weights not in ("", recorded) and model == record.spec.asked_model:
        warnings.append(
            f"The weights of {record.spec.model_name} that answered ({short(answer.weights)}) are not those of the run "
            f"that calibrates ({short(recorded)}). {NO_GUARANTEE} Launch the run again on the New run page."
        )
    return warnings


def _warnings(answer: ModelAnswer, record: RunRecord, kind: QuestionKind) -> list[str]:
    """A warning on how the question differs from those that calibrated its set, and what that means for the
    guarantee."""
    warnings = []
    if len(answer.options) != kind.options:
        warnings.append(
            f"Your question has {counted(len(answer.options), 'option')}, but the questions that calibrated this set "
            f"have {kind.options}. {NO_GUARANTEE} {_same_number(answer, kind)}"
        )
    if bool(answer.own.context) != kind.has_context:
        task = task_title(record.spec.task, bank_name(record.spec, record.provenance))
        has, have = ("a text", "have none") if answer.own.context else ("no text", "have one")
        warnings.append(
            f"Your question has {has} before it, but the calibration questions ({task}) {have}. {NO_GUARANTEE} Choose "
            "a run of another task as the calibration."
        )
    if answer.own.model != record.spec.asked_model:
        warnings.append(
            f"{answer.own.model} answered, but the calibration is that of {record.spec.model_name}. {NO_GUARANTEE} "
            f"Launch a run of {answer.own.model} on the New run page to calibrate it."
        )
    if not answer.is_as_recorded:
        figures = "probabilities" if record.spec.decisions else "log-probabilities"
        warnings.append(
            f"The model no longer answers as it did in the run: asked again, its {figures} differ by "
            f"{answer.recorded_difference:.3g}, and at most {answer.tolerance:.3g} is expected. The weights or the "
            f"precision are probably others. {NO_GUARANTEE} Repeat the run on the New run page."
        )
    if answer.dropped:
        warnings.append(
            f"{counted(answer.dropped, 'example was', 'examples were')} left out so that the question fits into the "
            "model's context."
        )
    if answer.letter_mass < letter_mass.LITTLE and not _no_answer(answer, record):
        warnings.append(
            f"Only {letter_mass.share_text(answer.letter_mass)} of the next word's probability fell on the letters of "
            "the options. The model hardly read this as a question with options, so its preference among them means "
            "little."
        )
    return warnings


def _same_number(answer: ModelAnswer, kind: QuestionKind) -> str:
    """Explain how to ask a question with as many options as the run's own questions."""
    if kind.closing and not answer.own.extra:
        return f"It needs {kind.own} typed options with “{DONT_KNOW}” and “{NONE_OF_ABOVE}” offered as well."
    return f"It needs {kind.own} typed options."
