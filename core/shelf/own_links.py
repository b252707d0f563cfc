"""Entries of a person's own links: an https address of a file, or a data set of the Hugging Face hub.

The same checks hold as for the shelf's own entries, but for the hash, which nobody has recorded. Of a hub data set the
sizes are asked for first, and only files are taken that may hold results.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from core.errors import InputError
from core.exchange.safe_read import LARGEST_FILE
from core.shelf import addresses, hub
from core.shelf.entries import MOST_FILES, Entry, ShelfFile, read_hub_id

ENDINGS = (
    ".json", ".jsonl", ".csv", ".tsv", ".parquet", ".xlsx", ".pkl", ".npz", ".npy", ".eval", ".zip", ".tar", ".gz",
    ".tgz",
)  # fmt: skip
"""Endings of files that the importers read, or that may hold such files."""
NOT_RESULTS = ("README", ".gitattributes", "dataset_infos.json")


def is_link(text: str) -> bool:
    """Whether a text is a link or the id of a hub data set, and no name of an entry.

    >>> is_link("https://example.org/scores.csv"), is_link("org/data"), is_link("conformal-llm")
    (True, True, False)
    """
    return "://" in text or read_hub_id(text) is not None


def of_link(text: str) -> Entry:
    """The entry of a link. Raises :class:`InputError` for one that can't be fetched from."""
    found = read_hub_id(text)
    if found is None and urlsplit(text).hostname in ("huggingface.co", "hf.co"):
        match = re.match(r"^/datasets/([\w.-]+/[\w.-]+)/?$", urlsplit(text).path)
        found = match[1] if match else None
    return _of_hub(found) if found else _of_address(text)


def _of_address(url: str) -> Entry:
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    if not name or name in (".", ".."):
        raise InputError(f"{url}: the address names no file; give that of one file")
    addresses.check(url, name=name)
    file = ShelfFile(name, "url", url, size=None, about=0, at_most=LARGEST_FILE)
    return _entry(name, f"A file of {urlsplit(url).hostname}.", (file,))


def _of_hub(repository: str) -> Entry:
    """The files of a data set as it is now; those that lie in Git LFS say their SHA-256."""
    files = tuple(
        hub.described(repository, one)
        for one in hub.listed(repository)
        if one.path.lower().endswith(ENDINGS)
        and not PurePosixPath(one.path).name.startswith(NOT_RESULTS)
        and 0 < one.size <= LARGEST_FILE
    )
    if not files:
        raise InputError(f"{repository}: expected files of results ({', '.join(ENDINGS)}), found none")
    if len(files) > MOST_FILES:
        raise InputError(f"{repository}: expected at most {MOST_FILES:,} files, found {len(files):,}; narrow them")
    return _entry(repository, f"A data set of the Hugging Face hub, {len(files)} files.", files)


def _entry(name: str, about: str, files: tuple[ShelfFile, ...]) -> Entry:
    return Entry(name=name, title=name, about=about, authors="", paper="", licence="", files=files)
