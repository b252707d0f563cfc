"""Reads the rows of files and data sets, before they are interpreted."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core import extras
from core.errors import InputError
from core.files.json_text import loads

Row = dict[str, Any]


def read_file(path: Path) -> list[Row]:
    """The rows of a JSON, JSON-lines, CSV or Parquet file.

    Raises :class:`InputError` for a file that is not there, is of another kind, or can't be read; it names the line.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} is none of {', '.join(READERS)}; give a file of one of these kinds")
    try:
        rows = reader(path)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (OSError, ValueError, RecursionError, NotImplementedError, csv.Error) as error:
        raise InputError(f"{path} can't be read: {str(error).splitlines()[0][:200]}") from error
    if not rows:
        raise InputError(f"{path} holds no questions")
    return rows


def _json(path: Path) -> list[Row]:
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("["):
        return _lines(path)
    found = loads(text)
    if not all(isinstance(row, dict) for row in found):
        raise InputError(f"{path}: expected a list of objects, found a list of something else")
    return list(found)


def _lines(path: Path) -> list[Row]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: expected an object in JSON, found {line[:60]!r}") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: expected an object in JSON, found {line[:60]!r}")
        rows.append(row)
    return rows


def _csv(path: Path) -> list[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [dict(row) for row in csv.DictReader(file)]


def _parquet(path: Path) -> list[Row]:
    import pyarrow.parquet as pq

    rows: list[Row] = pq.read_table(path).to_pylist()
    return rows


READERS: dict[str, Callable[[Path], list[Row]]] = {
    ".json": _json,
    ".jsonl": _lines,
    ".csv": _csv,
    ".parquet": _parquet,
}
"""By the file's ending."""


def read_dataset(location: str, *, configuration: str | None, split: str, revision: str | None = None) -> list[Row]:
    """The rows of a data set of the Hugging Face hub, or of a folder laid out like one.

    Raises :class:`InputError` if it can't be reached or has no such part; no code of its makers is run.
    """
    extras.need("models")
    import datasets

    try:
        found = datasets.load_dataset(location, configuration, split=split, revision=revision)
    except Exception as error:  # the hub client raises its transport's own errors, whichever that is
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise InputError(
            f"data set {location!r} can't be loaded ({reason}); check the network, or give its file with TASK@FILE"
        ) from error
    return [dict(row) for row in found]


def download(repository: str, name: str) -> Path:
    """One file of a data set on the hub, from the cache where it is there.

    Raises :class:`InputError` if it can't be reached.
    """
    extras.need("models")
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(repository, name, repo_type="dataset"))
    except Exception as error:  # as above
        raise InputError(
            f"{name} of data set {repository!r} can't be downloaded ({type(error).__name__}); check the network, or "
            "give the file with TASK@FILE"
        ) from error
