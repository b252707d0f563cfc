"""Finished runs at an fsspec URL (``HEDGE_ARCHIVE_URL``, such as ``s3://bucket/hedge``), beside those in HEDGE_HOME.

A run is copied file by file, ``run.json`` last: a run whose ``run.json`` is there is there whole. Runs that are at
work need a folder that all hosts have mounted, because a bucket knows neither appending nor renaming.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import InputError, RunError
from core.runs import store
from core.settings import settings

LAST = "run.json"
MARK = ".archived"
LEFT_OUT = (".lock", ".part", MARK)


def push() -> list[str]:
    """Copy every run that has ended well and is not in the archive yet; returns their ids.

    Raises :class:`~core.errors.RunError` if the archive can't be written.
    """
    place, root = _place()
    pushed = []
    for folder in sorted(settings().runs.glob("*/run.json")):
        run_id = folder.parent.name
        mark = folder.parent / MARK
        record = store.read_record(run_id)
        if record.state != "done" or (mark.exists() and mark.read_text(encoding="utf-8") == _version(record)):
            continue
        names = [p.name for p in folder.parent.iterdir() if p.is_file() and not p.name.endswith(LEFT_OUT)]
        with _errors_as(f"run {run_id} can't be copied to {settings().archive_url}"):
            for name in sorted(names, key=lambda name: name == LAST):
                place.put_file(str(folder.parent / name), f"{root}/{run_id}/{name}")
        mark.write_text(_version(record), encoding="utf-8")
        pushed.append(run_id)
    return pushed


def listed() -> list[str]:
    """The runs in the archive, sorted."""
    place, root = _place()
    with _errors_as(f"{settings().archive_url} can't be listed"):
        return sorted(path.split("/")[-2] for path in place.glob(f"{root}/*/{LAST}"))


def pull(run_id: str) -> str:
    """Copy a run from the archive into HEDGE_HOME; one that is here already is left as it is."""
    target = settings().runs / run_id
    if (target / LAST).exists():
        return run_id
    if run_id not in listed():
        raise InputError(f"there is no run {run_id!r} in {settings().archive_url}")
    place, root = _place()
    part = target.with_name(f".{run_id}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with _errors_as(f"run {run_id} can't be copied from {settings().archive_url}"):
            place.get(f"{root}/{run_id}", str(part), recursive=True)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return run_id


def _version(record: store.RunRecord) -> str:
    """A key that differs between a run and its repeat."""
    return f"{record.created} {record.ended}\n"


def _place() -> tuple[Any, str]:
    """The file system behind the URL, and the path in it."""
    import fsspec

    url = settings().archive_url
    if not url:
        raise InputError(
            "HEDGE_ARCHIVE_URL is not set; it names where finished runs are copied to, as s3://bucket/hedge"
        )
    try:
        options = {"auto_mkdir": True} if url.startswith(("file:", "/")) else {}
        place, root = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise InputError(f"HEDGE_ARCHIVE_URL {url} can't be used ({_in_short(error)})") from error
    return place, str(root).rstrip("/")


@contextmanager
def _errors_as(what: str) -> Iterator[None]:
    """Every kind of store has exceptions of its own; each becomes one :class:`~core.errors.RunError`."""
    try:
        yield
    except Exception as error:
        raise RunError(f"{what} ({_in_short(error)})") from error


def _in_short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
