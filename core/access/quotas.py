"""Quotas: what one person may take of a server that others use too.

They hold where others are served (:mod:`core.access`), and not for administrators. Each check comes before anything is
written, so that a full queue or a full disk costs nobody what he or she has made.
"""

import hashlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core import access
from core.access import Actor, UserRole
from core.access import network as network
from core.errors import QuotaError
from core.settings import settings
from core.storage.disk import disk_use
from core.storage.json_text import loads
from core.storage.kept_files import kept_of
from core.storage.sealed import content_of

GB = 1_000_000_000
MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Quotas:
    """What a server gives to one person, or to one network address where nobody logs in."""

    waiting_runs: int = 20
    """Runs of a person that are waiting or running."""
    disk_gb: float = 20.0
    """Disk space of a person's runs and juries, those in the bin included, question banks, downloads and cached
    files."""
    free_disk_gb: float = 1.0
    """When less disk than this is free, nothing new begins."""
    questions_a_minute: int = 30
    """Questions that a person asks the model that is kept warm."""
    waiting_questions: int = 8
    """Questions of a person that wait for that model."""
    uploads_mb: float = 500.0
    """Uploaded files that the open pages of a person hold in memory; also an administrator's."""
    sessions_per_address: int = 60
    """Pages that are open at once from one network address, which a class may share."""
    seats_per_address: int = 100
    """Seats of a class that are taken from one network address, until its lecturer allows more."""


_limits: list[Quotas] = [Quotas()]


def hold(limits: Quotas) -> None:
    """Let these limits hold in this process."""
    _limits[:] = [limits]


def held() -> Quotas:
    """The limits that hold."""
    return _limits[0]


def _limited() -> Actor | None:
    """The present actor, if limits hold for it."""
    who = access.actor()
    return None if access.mode() == "local" or who.role is UserRole.ADMINISTRATOR else who


_lock = threading.Lock()
_asked: dict[str, dict[str, float]] = {}
"""For each person or address, the questions of the last minute and when they were asked."""


def visitor() -> str:
    """The person for whom limits are counted now: a person who logged in, otherwise a network address."""
    who = access.actor()
    return network(who.address) if access.mode() == "public" else who.name


def limits_hold() -> bool:
    """Whether limits hold for the present actor."""
    return _limited() is not None


def check_question(question: str) -> None:
    """Count a question, by an id of its own, to the warm model; the same one within a minute counts once.

    Raises :class:`~core.errors.QuotaError` if the person has asked too many.
    """
    who = _limited()
    if who is None:
        return
    now, most, key = time.monotonic(), held().questions_a_minute, visitor()
    with _lock:
        for other in list(_asked):
            _asked[other] = {
                asked_question: when for asked_question, when in _asked[other].items() if now - when < MINUTE_S
            }
            if not _asked[other]:
                del _asked[other]
        mine = _asked.get(key, {})
        if question in mine:
            return
        if len(mine) >= most:
            wait = max(1, round(MINUTE_S - (now - min(mine.values(), default=now))))
            raise QuotaError(f"this server answers {most} questions a minute for each person; ask again in {wait} s")
        _asked[key] = mine | {question: now}


def check_waiting(count: Callable[[str], int]) -> None:
    """Raise :class:`~core.errors.QuotaError` if the person has as many waiting or running runs as allowed.

    ``count`` gives their number for a name.
    """
    who = _limited()
    if who is not None and (waiting := count(who.name)) >= (most := held().waiting_runs):
        raise QuotaError(
            f"{waiting} of your runs are waiting or running, and this server takes {most} from each person; wait until "
            "one has ended, or cancel one"
        )


def check_disk(needs: int = 0) -> None:
    """Raise :class:`~core.errors.QuotaError` if the person has no room left for ``needs`` more bytes, or the disk is
    nearly full.
    """
    who = _limited()
    if who is None:
        return
    free = shutil.disk_usage(next(path for path in (settings().home, *settings().home.parents) if path.exists())).free
    if free - needs < held().free_disk_gb * GB:
        raise QuotaError(
            f"the server's disk is nearly full ({free / GB:.1f} GB are free), so nothing new begins; nothing was lost; "
            "ask its administrator to make room"
        )
    if (used := disk_of(who.name)) + needs > held().disk_gb * GB:
        raise QuotaError(
            f"your runs and other files take {used / GB:.1f} GB, and this server gives {held().disk_gb:g} GB to each "
            "person; delete some runs, and ask the administrator to empty the bin or to delete what you have imported"
        )


def disk_of(name: str) -> int:
    """Bytes that this person's runs and juries take on the disk, including the bin, and everything else that was
    kept for this person (:func:`note_kept`)."""
    home, folders = settings().home, set(_folders_of(name))
    cached = {path for folder in folders for path in kept_of(folder.name)}
    with suppress(OSError):
        lines = _list_of(name).read_text(encoding="utf-8", errors="replace").splitlines()
        folders |= {home / line for line in lines if line and line.isprintable()}  # a damaged line names no file
    return sum(disk_use(path) for path in folders | cached)


def note_kept(path: Path) -> None:
    """Count a new file or folder of ``HEDGE_HOME`` as the present person's from now on."""
    if access.mode() == "local" or not (who := access.actor()).name:
        return
    listing = _list_of(who.name)
    listing.parent.mkdir(parents=True, exist_ok=True)
    with listing.open("a", encoding="utf-8") as file:
        file.write(f"{path.relative_to(settings().home).as_posix()}\n")


def _list_of(name: str) -> Path:
    """The file that lists what is kept for a person, a path in ``HEDGE_HOME`` a line."""
    return settings().home / "kept" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.txt"


def _folders_of(name: str) -> Iterator[Path]:
    home = settings().home
    for parent, record in (("runs", "run.json"), ("bin", "run.json"), ("juries", "jury.json")):
        for path in (home / parent).glob(f"*/{record}"):
            try:
                values = loads(content_of(path))
                owner = values.get("launched_by") or values.get("provenance", {}).get("launched_by")
            except (OSError, ValueError, AttributeError):
                continue
            if owner == name:
                yield path.parent
