"""The running download from the shelf, one for the whole server, and the one that ended last."""

import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import streamlit as st

from core.access import carried
from core.errors import HedgeError, RunCancelled
from core.shelf.bring import Brought, bring
from core.shelf.downloads import DRAIN_SECONDS
from core.shelf.entries import Entry
from core.shelf.own_links import of_link, without_secrets
from core.shelf.progress import DownloadProgress

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class ShelfJob:
    """An entry, or a person's own ``link``, that a thread downloads and imports; ``title`` is its name. Once it has
    ``ended``, there is a result in ``brought`` or a ``problem``.
    """

    title: str
    entry: Entry | None = None
    where: Mapping[str, Collection[str]] = field(default_factory=dict)
    only: str = ""
    link: str = ""
    progress: DownloadProgress = field(default_factory=DownloadProgress)
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    brought: Brought | None = None
    problem: str = ""

    def cancel(self) -> None:
        """End the download after its current piece, or, if the server sends nothing, by closing the connection."""
        self.stop.set()
        threading.Thread(target=self.close_stalled, daemon=True, name="hedge-shelf-cancel").start()

    def close_stalled(self) -> None:
        """Close the connection again and again until the download has ended, because a new one may just be opening."""
        while not self.ended.wait(DRAIN_SECONDS):
            self.progress.abort()

    def run(self) -> None:
        """Download and import the entry. An error becomes one sentence."""
        self.progress.cancelled = self.stop.is_set
        try:
            entry = self.entry or of_link(self.link)
            self.brought = bring(entry, only=self.only, where=self.where, progress=self.progress)
        except RunCancelled as error:
            self.problem = str(error)
        except HedgeError as error:
            self.problem = str(error)
        except Exception as error:
            LOG.exception("the shelf could not import %s", self.title)
            self.problem = f"Something unexpected went wrong ({type(error).__name__}); the server's log has the details"
        finally:
            self.ended.set()


@st.cache_resource(max_entries=1, show_spinner=False)
def _jobs() -> list[ShelfJob]:
    """The job of the server: at most one."""
    return []


_lock = threading.Lock()


def current() -> ShelfJob | None:
    """The job that is running or ended last; None if there is none."""
    jobs = _jobs()
    return jobs[-1] if jobs else None


def start(entry: Entry, where: Mapping[str, Collection[str]]) -> ShelfJob:
    """Begin to download an entry. If another job is running, that job is returned instead."""
    return _started(ShelfJob(entry.title, entry=entry, where=where))


def start_link(link: str, only: str = "") -> ShelfJob:
    """Begin to download a person's own link. If another job is running, that job is returned instead."""
    return _started(ShelfJob(without_secrets(link), link=link, only=only))


def _started(job: ShelfJob) -> ShelfJob:
    with _lock:
        before = current()
        if before is not None and not before.ended.is_set():
            return before
        _jobs()[:] = [job]
        threading.Thread(target=carried(job.run), daemon=True, name="hedge-shelf").start()
        return job


def dismiss() -> None:
    """Forget the job that ended last."""
    with _lock:
        job = current()
        if job is not None and job.ended.is_set():
            _jobs().clear()
