"""The download of the shelf that is at work, one for the whole server, and the one that ended last."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import streamlit as st

from core.errors import HedgeError, RunCancelled
from core.shelf.bring import Brought, bring
from core.shelf.entries import Entry
from core.shelf.progress import DownloadProgress

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class ShelfJob:
    """An entry that is brought in by a thread; once it has ``ended``, there is ``brought`` or a ``problem``."""

    entry: Entry
    where: Mapping[str, Collection[str]]
    progress: DownloadProgress = field(default_factory=DownloadProgress)
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    brought: Brought | None = None
    problem: str = ""

    def run(self) -> None:
        """Bring the entry in. An error becomes one sentence."""
        self.progress.cancelled = self.stop.is_set
        try:
            self.brought = bring(self.entry, where=self.where, progress=self.progress)
        except RunCancelled as error:
            self.problem = str(error)
        except HedgeError as error:
            self.problem = str(error)
        except Exception as error:
            LOG.exception("the shelf could not bring in %s", self.entry.name)
            self.problem = f"Something unexpected went wrong ({type(error).__name__}); the server's log has the details"
        finally:
            self.ended.set()


@st.cache_resource(max_entries=1, show_spinner=False)
def _jobs() -> list[ShelfJob]:
    """The job of the server: at most one."""
    return []


_lock = threading.Lock()


def current() -> ShelfJob | None:
    """The job that is at work or ended last; None if there is none."""
    jobs = _jobs()
    return jobs[-1] if jobs else None


def start(entry: Entry, where: Mapping[str, Collection[str]]) -> ShelfJob:
    """Begin to bring an entry in, unless another job is at work, which is then returned."""
    with _lock:
        job = current()
        if job is not None and not job.ended.is_set():
            return job
        job = ShelfJob(entry, where)
        _jobs()[:] = [job]
        threading.Thread(target=job.run, daemon=True, name="hedge-shelf").start()
        return job


def dismiss() -> None:
    """Forget the job that ended last."""
    with _lock:
        job = current()
        if job is not None and job.ended.is_set():
            _jobs().clear()
