"""Entries of a person's own links: an https address of a file, or a data set of the Hugging Face hub.

The same checks hold as for the shelf's own entries, but for the hash, which nobody has recorded. Of a hub data set the
sizes are asked for first, and only files are taken that may hold results.
"""

import re
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from core.errors import InputError
from core.shelf import addresses, hub
from core.shelf.entries import GIT_HOST, MOST_FILES, Entry, ShelfFile, read_hub_id
from core.storage.names import cut_name
from core.tables.safe_read import LARGEST_FILE

ENDINGS = (
    ".json", ".jsonl", ".csv", ".tsv", ".parquet", ".xlsx", ".pkl", ".npz", ".npy", ".eval", ".zip", ".tar", ".gz",
    ".tgz",
)  # fmt: skip
"""Endings of files that the importers read, or that may hold such files."""
HUB_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
HUB_PAGE = re.compile(r"^/datasets/(?P<id>[\w.-]+/[\w.-]+)(/tree/main|/(blob|resolve|raw)/main/(?P<path>.+))?/?$")
"""The path of a data set's page on the hub, or of the page of one of its files as it is now."""
GITHUB_PAGE = re.compile(r"^/(?P<id>[^/]+/[^/]+)/(blob|raw)/(?P<path>[^/]+/.+)$")
NOT_RESULTS = ("README", ".gitattributes", "dataset_infos.json")


def is_link(text: str) -> bool:
    """Whether a text is a link or the id of a hub data set, and no name of an entry.

    >>> is_link("https://example.org/scores.csv"), is_link("org/data"), is_link("conformal-llm")
    (True, True, False)
    """
    return "://" in text or read_hub_id(text) is not None


def of_link(text: str) -> Entry:
    """The entry of a link. Raises :class:`InputError` for one that can't be fetched from. The address of a file's page
    on GitHub or on the hub stands for the file."""
    if repository := read_hub_id(text):
        return _of_hub(repository)
    addresses.check_readable(text)
    parts = urlsplit(text)
    if parts.hostname in HUB_HOSTS and (on_hub := HUB_PAGE.match(parts.path)):
        return _of_hub(on_hub["id"], path=unquote(on_hub["path"] or ""))
    if parts.hostname == "github.com" and (on_github := GITHUB_PAGE.match(parts.path)):
        text = f"{GIT_HOST}/{on_github['id']}/{on_github['path']}"
    return _of_address(text)


def without_secrets(link: str) -> str:
    """A link as every visitor may read it: without what may be secret, such as a token behind a question mark.

    >>> without_secrets("https://example.org/a/scores.csv?token=x"), without_secrets("org/data")
    ('example.org/a/scores.csv', 'org/data')
    >>> without_secrets("https://me:secret@example.org/x.csv"), without_secrets("https://[oops/x.csv")
    ('example.org/x.csv', '[oops/x.csv')
    """
    if "://" not in link:
        return link
    return re.sub(r"^[^/]*@", "", re.split(r"[?#]", link.partition("://")[2])[0])


def _of_address(url: str) -> Entry:
    name = cut_name(PurePosixPath(unquote(urlsplit(url).path)).name, most=200)
    if not name or name in (".", "..") or "\0" in name:
        raise InputError(f"{without_secrets(url)}: the address names no file; give that of one file")
    addresses.check(url, name=name)
    file = ShelfFile(name, "url", url, size=None, about=0, at_most=LARGEST_FILE, ask_again=True)
    return _entry(name, f"A file of {urlsplit(url).hostname}.", (file,))


def _of_hub(repository: str, *, path: str = "") -> Entry:
    """The files of a data set as it is now, or the one at ``path``; those that lie in Git LFS say their SHA-256."""
    files = tuple(
        replace(file, ask_again=not file.sha256)
        for listed_file in hub.listed(repository)
        for file in [hub.described(repository, listed_file)]
        if path in ("", listed_file.path)
        and listed_file.path.lower().endswith(ENDINGS)
        and not PurePosixPath(listed_file.path).name.startswith(NOT_RESULTS)
        and 0 < listed_file.size <= LARGEST_FILE
    )
    if path and not files:
        raise InputError(f"{repository}: expected a file of results at {path}, found none")
    if not files:
        raise InputError(f"{repository}: expected files of results ({', '.join(ENDINGS)}), found none")
    if len(files) > MOST_FILES:
        raise InputError(f"{repository}: expected at most {MOST_FILES:,} files, found {len(files):,}; narrow them")
    return _entry(repository, f"A data set of the Hugging Face hub, {len(files)} files.", files)


def _entry(name: str, about: str, files: tuple[ShelfFile, ...]) -> Entry:
    return Entry(name=name, title=name, about=about, authors="", paper="", licence="", files=files)
