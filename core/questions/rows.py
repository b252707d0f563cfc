"""Reads the rows of files and data sets, before they are interpreted."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core import extras
from core.errors import InputError
from core.questions import PACKED
from core.tables.json_table import Columns
from core.tables.tabular import open_columns

Row = dict[str, Any]


ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx", ".parquet", ".xml", ".gift", ".txt")
"""The endings of files of questions."""


def ending_of(name: str) -> str:
    """The ending of a file that may hold questions; empty for another name.

    >>> ending_of("mine.csv"), ending_of("mine.JSONL.gz"), ending_of("mine.tar.gz")
    ('.csv', '.JSONL.gz', '')
    """
    lower = name.lower()
    packed = next((ending for ending in PACKED if lower.endswith(ending)), "")
    own = next((ending for ending in ENDINGS if lower.removesuffix(packed).endswith(ending)), "")
    return name[-len(own + packed) :] if own else ""


def check_bank_file(path: Path) -> None:
    """Raise :class:`InputError` for a file that is not there, is empty, or has another ending than
    :data:`ENDINGS`."""
    if not ending_of(path.name):
        raise InputError(f"{path} is not one of {', '.join(ENDINGS)}; give a file of one of these kinds")
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if not path.stat().st_size:
        raise InputError(f"{path} holds no questions")


def read_columns(path: Path) -> tuple[Columns, str]:
    """The cells of each field of a file, in any of the formats of :mod:`core.tables.tabular`, and the encoding of a
    text where it is a guess. Of a workbook the first table is read. Raises :class:`InputError` for a file that is not
    there, is of another kind, or can't be read; it names the line."""
    check_bank_file(path)
    return open_columns(path)


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the search for reference cycles: a large file's rows are many objects without any."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_file(path: Path) -> list[Row]:
    """The rows of a file, as :func:`read_columns` reads them."""
    columns, _ = read_columns(path)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def read_dataset(location: str, *, configuration: str | None, split: str, revision: str | None = None) -> list[Row]:
    """The rows of a data set of the Hugging Face hub, or of a folder laid out like one. Raises :class:`InputError` if
    it can't be reached or has no such part; no code of its makers is run."""
    extras.need("models")
    import datasets

    try:
        rows = datasets.load_dataset(location, configuration, split=split, revision=revision)
    except Exception as error:  # the hub client raises its transport's own errors, whichever that is
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise InputError(
            f"data set {location!r} can't be loaded ({reason}); check the network, or give its file with TASK@FILE"
        ) from error
    return [dict(row) for row in rows]


def download(repository: str, name: str) -> Path:
    """One file of a data set on the hub, from the cache where it is there. Raises :class:`InputError` if it can't be
    reached."""
    extras.need("models")
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(repository, name, repo_type="dataset"))
    except Exception as error:  # as above
        raise InputError(
            f"{name} of data set {repository!r} can't be downloaded ({type(error).__name__}); check the network, or "
            "give the file with TASK@FILE"
        ) from error
