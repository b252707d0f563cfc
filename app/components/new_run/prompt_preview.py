"""The exact prompt with its number of tokens, before anything is launched."""

from __future__ import annotations

import itertools
import json
import logging
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from app.errors import spoken
from app.formatting import counted, plain, sentence, shortened
from core.access import carried, environment
from core.errors import InputError
from core.models.folders import named_bases
from core.models.model_fingerprint import files_of
from core.models.preview import Preview
from core.questions import catalogue, split_task
from core.questions.bank_names import bank_of_task, task_title
from core.questions.prompting.decision import DECISION_FORMATS
from core.reports.titles import STRATEGY_TITLES
from core.runs.prompts import Combination
from core.settings import ROOT
from core.storage.names import is_folder, named
from hedge.commands.run_words import run_words

LOG = logging.getLogger(__name__)
TIME_LIMIT_S = 120
SAID_BY_HEDGE = "hedge: "

KEY = "previewed"
POLL_S = 0.5
MOST_READ = 8
TEXT_HEIGHT = 360
BUTTON_HELP = "Shows one prompt as the model reads it. Launches nothing and loads no weights."
TOKENS_HELP = "The prompt below in tokens, the pieces of words from its own vocabulary that the model reads."
SERVED_TOKENS_HELP = "Estimated by the length of the texts, because the server has the tokenizer."
REQUEST = (
    "The request to `/{}`, to which Hedge adds the model's name. Questions with the same context go into one request "
    "if that changes no answer."
)
SHARED_HELP = "Tokens that all of these prompts begin with; they are computed once for the whole run."


def prompt_preview(combination: Combination | None) -> None:
    """Show a button, and below it the preview that it made, until the form changes."""
    pressed = st.button("Show the exact prompt", disabled=combination is None, width="stretch", help=BUTTON_HELP)
    if pressed and combination:
        with spoken():
            st.session_state[KEY] = combination, preview_of(_read(combination))
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
            _draw(combination, job.previews)


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
        if look.format in DECISION_FORMATS:
            st.caption(REQUEST.format(look.format))
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


@dataclass(frozen=True, slots=True)
class Previewed:
    """The preview of one run: its id, its number of prompts, and an example of them."""

    run: str
    questions: int
    preview: Preview | ServedPreview


@dataclass(frozen=True, slots=True)
class ServedPreview:
    """One prompt in this format for a model on a server, whose tokenizer is not available here. ``tokens`` is the
    number of tokens of all prompts together, estimated from their length."""

    text: str
    tokens: int
    format: str


@dataclass
class PreviewJob:
    """A preview that is running (``ended`` is not set) or has ended with ``previews``, or with ``problem`` in one
    sentence.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)
    previews: tuple[Previewed, ...] = ()
    problem: str = ""

    @property
    def seconds(self) -> float:
        """Seconds since the preview began."""
        return time.monotonic() - self.begun


def command(combination: Combination) -> tuple[str, ...]:
    """The command that makes the preview of the requested runs."""
    return (sys.executable, "-m", "core", "run", *run_words(combination), "--dry-run", "--json")


def preview_of(combination: Combination) -> PreviewJob:
    """The preview of the requested runs. The first call, or a call after a failure, starts it. Returns at once."""
    key = command(combination), _stamps(combination)
    if _job(*key).problem:
        _job.clear(*key)
    return _job(*key)


def _stamps(combination: Combination) -> tuple[int, ...]:
    """The times at which the files that a preview depends on were last written, in nanoseconds."""
    files = [Path(split_task(task)[1] or task) for task in combination.tasks if catalogue.is_file(task)]
    folders = [named(model) for model in combination.models if is_folder(model)]
    folders += [named(base) for folder in folders for base in named_bases(folder) if is_folder(base)]
    for folder in folders:
        with suppress(InputError):  # the preview says what is wrong with it
            files += [folder / name for name in files_of(folder)]
    return tuple(stamp for path in files for stamp in _written(path.expanduser()))


def _written(path: Path) -> tuple[int, int]:
    """The times of the last change of the content, which a program can set back, and of the inode."""
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_ctime_ns


@st.cache_resource(max_entries=32, show_spinner=False)  # a few prompts of some kB per entry. A view needs one
def _job(command: tuple[str, ...], stamps: tuple[int, ...]) -> PreviewJob:
    job = PreviewJob()
    # A daemon thread, so that a server that is stopped does not wait for it.
    threading.Thread(target=carried(_read_prompts), args=(command, job, _turn()), daemon=True).start()
    return job


@st.cache_resource(show_spinner=False)
def _turn() -> threading.Lock:
    """A lock that allows one preview at a time, because a preview keeps a core busy for some seconds."""
    return threading.Lock()


def _read_prompts(command: Sequence[str], job: PreviewJob, turn: threading.Lock) -> None:
    try:
        with turn:
            job.previews = _previews(_output(command))
    except _Failed as error:
        job.problem = str(error)
    except Exception as error:
        LOG.exception("a preview failed")
        job.problem = f"the preview failed ({type(error).__name__}); the server's log has the details"
    finally:
        job.ended.set()


class _Failed(Exception):
    """A failure with a sentence for the person."""


def _output(command: Sequence[str]) -> dict[str, Any]:
    try:
        process = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _Failed(
            f"the preview took more than {TIME_LIMIT_S} seconds and was stopped; the first download of data from "
            "the hub can take a long time, so try again, or run `hedge run … --dry-run` to download them"
        ) from error
    if process.returncode == 0:
        values: dict[str, Any] = json.loads(process.stdout)
        return values
    spoken = [line for line in process.stderr.splitlines() if line.startswith(SAID_BY_HEDGE)]
    if not spoken:
        LOG.error("a preview ended with status %d: %s", process.returncode, process.stderr[-2000:])
        raise _Failed(f"the preview ended with status {process.returncode}; the server's log has the details")
    raise _Failed(spoken[-1].removeprefix(SAID_BY_HEDGE))


def _previews(values: dict[str, Any]) -> tuple[Previewed, ...]:
    previews = []
    for row in values["previews"]:
        if "continuations" not in row:
            previews.append(
                Previewed(row["run"], row["questions"], ServedPreview(row["text"], row["tokens"], row["format"]))
            )
            continue
        run, questions, continuations = row.pop("run"), row.pop("questions"), tuple(row.pop("continuations"))
        previews.append(Previewed(run, questions, Preview(continuations=continuations, **row)))
    return tuple(previews)
