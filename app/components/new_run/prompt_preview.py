"""The exact prompt with its number of tokens, before anything is launched."""

from __future__ import annotations

import itertools
import shlex
from dataclasses import replace

import streamlit as st

from app.components.new_run import preview_cache
from app.components.new_run.preview_cache import Previewed, PreviewJob, ServedPreview
from app.errors import spoken
from app.formatting import counted, plain, sentence, shortened
from core.models.preview import Preview
from core.questions.bank_names import bank_of_task, task_title
from core.reports.titles import STRATEGY_TITLES
from core.runs.prompts import Combination
from hedge.commands.run_words import run_words

KEY = "previewed"
POLL_S = 0.5
MOST_READ = 8
TEXT_HEIGHT = 360
BUTTON_HELP = "Shows one prompt as the model reads it. Launches nothing and loads no weights."
TOKENS_HELP = "The prompt below in tokens, the pieces of words from its own vocabulary that the model reads."
SERVED_TOKENS_HELP = "Estimated by the length of the texts, because the server has the tokenizer."
SHARED_HELP = "Tokens that all of these prompts begin with; they are computed once for the whole run."


def prompt_preview(combination: Combination | None) -> None:
    """Show a button, and below it the preview that it made, until the form changes."""
    pressed = st.button("Show the exact prompt", disabled=combination is None, width="stretch", help=BUTTON_HELP)
    if pressed and combination:
        with spoken():
            st.session_state[KEY] = combination, preview_cache.preview_of(_read(combination))
    if KEY not in st.session_state or combination is None:
        return
    shown, job = st.session_state[KEY]
    if shown != combination:
        st.caption("The form has changed since the prompt was shown.")
        return
    waiting = not job.ended.is_set()
    st.fragment(_follow, run_every=POLL_S if waiting else None)(combination, job, waiting)


def _follow(combination: Combination, job: PreviewJob, was_waiting: bool) -> None:
    with spoken():
        if not job.ended.is_set():
            with st.container(border=True):
                st.markdown(f"Reading the prompt with the model's tokenizer … {job.seconds:.0f} s")
        elif was_waiting:
            st.rerun()  # rerun the whole page, which ends the polling
        elif job.problem:
            st.error(plain(sentence(job.problem)))
        else:
            _draw(combination, job.found)


def _draw(combination: Combination, previews: tuple[Previewed, ...]) -> None:
    if len(previews) == 1:
        _one(previews[0])
    else:
        names = [plain(_name(_read(combination), i)) for i in range(len(previews))]
        for tab, preview in zip(st.tabs(names), previews, strict=True):
            with tab:
                _one(preview)
    st.caption("The same from the shell:")
    st.code(f"hedge run {shlex.join(run_words(combination))}", language=None, wrap_lines=True)


def _read(combination: Combination) -> Combination:
    """The part of a matrix whose prompts are shown: the first model and precision, because the others ask the same.

    If these are still too many runs, only the last strategy and number of shots are shown, because they show the most.
    """
    first = replace(combination, models=combination.models[:1], dtypes=combination.dtypes[:1])
    if len(first.tasks) * len(first.strategies) * len(first.shots) <= MOST_READ:
        return first
    return replace(first, tasks=first.tasks[:MOST_READ], strategies=first.strategies[-1:], shots=first.shots[-1:])


def _name(combination: Combination, i: int) -> str:
    """The name that distinguishes a prompt, in the order of :meth:`~core.runs.prompts.Combination.specs`."""
    task, strategy, shots = list(itertools.product(combination.tasks, combination.strategies, combination.shots))[i]
    parts = [shortened(task_title(task, bank_of_task(task)), 40)] * (len(combination.tasks) > 1)
    parts += [STRATEGY_TITLES[strategy]] * (len(combination.strategies) > 1)
    return " · ".join([*parts, *[counted(shots, "shot")] * (len(combination.shots) > 1)])


def _one(previewed: Previewed) -> None:
    look = previewed.preview
    if isinstance(look, ServedPreview):
        st.metric("Tokens of all prompts", f"about {look.tokens:,}", help=SERVED_TOKENS_HELP)
        st.code(look.text, language=None, wrap_lines=True, height=TEXT_HEIGHT)
        return
    with st.container(horizontal=True):
        st.metric("Tokens", f"{look.tokens:,}", help=TOKENS_HELP)
        st.metric("Of all prompts", f"{look.shortest:,} to {look.longest:,}", help=_seen(previewed, look))
        st.metric("Shared", f"{look.shared:,}", help=SHARED_HELP)
    if look.truncated:
        st.warning(
            f"{look.truncated:,} of {counted(look.sampled, 'prompt')} looked at do not fit the {look.context:,} tokens "
            f"that this model reads: {counted(look.dropped, 'demonstration')} are left out of them, then the beginning "
            "of the context. Ask with fewer shots, or choose a model that reads more."
        )
    for note in look.notes:
        st.warning(plain(note))
    st.code(look.text, language=None, wrap_lines=True, height=TEXT_HEIGHT)
    texts = [shortened(text, 80) if text.strip() == text else f"␣{shortened(text, 80)}" for text in look.continuations]
    st.caption(f"What is scored after it, with ␣ for a space: {plain(' | '.join(texts))}")


def _seen(previewed: Previewed, look: Preview) -> str:
    limit = f"the model reads at most {look.context:,}" if look.context else "the model states no limit"
    return (
        f"From the shortest to the longest of {look.sampled:,} of the run's {counted(previewed.questions, 'prompt')}, "
        f"in tokens; the median is {look.median:,.0f}, and {limit}."
    )
