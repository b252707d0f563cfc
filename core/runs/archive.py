"""Copies of finished runs at an fsspec URL (``HEDGE_ARCHIVE_URL``, such as ``s3://bucket/hedge``).

A run is copied file by file, ``run.json`` last: a run whose ``run.json`` is there is complete. A copied folder that is
put back into ``HEDGE_HOME/runs`` is the run again. Unfinished runs need a folder that all hosts have mounted, because a
bucket supports neither appending nor renaming.
"""

from typing import Any

from core.errors import InputError, RunError, UnreadableRunError
from core.runs import store
from core.settings import settings

LAST = "run.json"
MARK = ".archived"
LEFT_OUT = (".lock", ".part", MARK)


def push() -> list[str]:
    """Copy every successfully finished run that is not in the archive yet; returns their ids.

    Raises :class:`~core.errors.RunError` if the archive can't be written.
    """
    place, root = _place()
    pushed = []
    for folder in sorted(path.parent for path in settings().runs.glob(f"*/{LAST}")):
        try:
            record = store.read_record(folder.name)
            version = f"{record.created} {record.ended}\n"  # differs between a run and its repeat
            mark = folder / MARK
            if record.state != "done" or (mark.exists() and mark.read_text(encoding="utf-8") == version):
                continue
            store.check_files(record)
        except UnreadableRunError:  # a whole copy that is there already is worth more
            continue
        names = [path.name for path in folder.iterdir() if path.is_file() and not path.name.endswith(LEFT_OUT)]
        try:
            for name in sorted(names, key=lambda name: name == LAST):
                place.put_file(str(folder / name), f"{root}/{folder.name}/{name}")
        except Exception as error:  # every kind of store has exceptions of its own
            raise RunError(
                f"run {folder.name} can't be copied to {settings().archive_url} ({_in_short(error)})"
            ) from error
        mark.write_text(version, encoding="utf-8")
        pushed.append(folder.name)
    return pushed


def _place() -> tuple[Any, str]:
    """The file system behind the URL, and the path in it."""
    import fsspec

    url = settings().archive_url
    if not url:
        raise InputError(
            "HEDGE_ARCHIVE_URL is not set; it names where finished runs are copied to, as s3://bucket/hedge"
        )
    try:
        if url.startswith(("file:", "/")):  # not by url_to_fs, for which "::" in a folder's name joins two URLs
            place = fsspec.filesystem("file", auto_mkdir=True)
            root = url.removeprefix("file:").removeprefix("//")
        else:
            place, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(f"HEDGE_ARCHIVE_URL {url} can't be used ({_in_short(error)})") from error
    return place, str(root).rstrip("/")


def _in_short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
