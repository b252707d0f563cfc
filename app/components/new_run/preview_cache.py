"""The exact prompts of runs that have not been launched, read by a separate process.

Counting tokens needs the model's tokenizer, whose library imports torch, and the page's process loads neither. So
``hedge run --dry-run --json`` does it, one at a time for the whole server. A preview is cached as long as the
files that it read do not change. A preview that failed is tried again when it is requested again.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from core.access import carried, environment
from core.errors import InputError
from core.models.folders import named_bases
from core.models.model_fingerprint import files_of
from core.models.preview import Preview
from core.questions import catalogue, split_task
from core.runs.prompts import Combination
from core.settings import ROOT
from core.storage.names import is_folder, named
from hedge.commands.run_words import run_words

LOG = logging.getLogger(__name__)
TIME_LIMIT_S = 120
SAID_BY_HEDGE = "hedge: "


@dataclass(frozen=True, slots=True)
class Previewed:
    """The preview of one run: its id, its number of prompts, and an example of them."""

    run: str
    questions: int
    preview: Preview | ServedPreview


@dataclass(frozen=True, slots=True)
class ServedPreview:
    """One prompt for a model on a server, whose tokenizer is not available here. ``tokens`` is the number of tokens of
    all prompts together, estimated from their length."""

    text: str
    tokens: int


@dataclass
class PreviewJob:
    """A preview that is running (``ended`` is not set) or has ended with ``found``, or with ``problem`` in one
    sentence.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)
    found: tuple[Previewed, ...] = ()
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
    threading.Thread(target=carried(_read), args=(command, job, _turn()), daemon=True).start()
    return job


@st.cache_resource(show_spinner=False)
def _turn() -> threading.Lock:
    """A lock that allows one preview at a time, because a preview keeps a core busy for some seconds."""
    return threading.Lock()


def _read(command: Sequence[str], job: PreviewJob, turn: threading.Lock) -> None:
    try:
        with turn:
            job.found = _previews(_output(command))
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
            previews.append(Previewed(row["run"], row["questions"], ServedPreview(row["text"], row["tokens"])))
            continue
        run, questions, continuations = row.pop("run"), row.pop("questions"), tuple(row.pop("continuations"))
        previews.append(Previewed(run, questions, Preview(continuations=continuations, **row)))
    return tuple(previews)
