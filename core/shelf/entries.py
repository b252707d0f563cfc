"""The entries of the shelf, read from TOML files: what a result set is, where its files lie, what must come out.

Entries lie in ``assets/shelf`` and, a person's own, in ``HEDGE_HOME/shelf/entries``.
"""

import fnmatch
import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError
from core.questions.prompting.forms import FORMATS
from core.settings import ASSETS, settings

GIT_HOST = "https://raw.githubusercontent.com"
"""The host of raw files of Git repositories, unless an entry names another or ``HEDGE_SHELF_MIRROR`` is set."""
Kind = Literal["git", "hub", "url", "recipe"]
KINDS: tuple[Kind, ...] = ("git", "hub", "url", "recipe")
NO_HASH = (
    "Such a file is not checked by hash the first time: the authors' file had no known hash when this entry was "
    "written. Its hash is recorded then, and a later download at the same commit must equal it."
)
SHA256 = re.compile(r"^[0-9a-f]{64}$")
COMMIT = re.compile(r"^[0-9a-f]{7,40}$")
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MOST_FILES = 5_000


@dataclass(frozen=True, slots=True)
class ShelfFile:
    """A file of an entry: its ``path`` there, what fetches it (:data:`KINDS`), and what is known about it.

    ``address`` is a URL (``git``, ``url``), ``OWNER/NAME@REVISION`` (``hub``) or a task (``recipe``). ``size`` is the
    exact number of bytes, or None; ``about`` is the size shown before; ``at_most`` bounds the download in any
    case. ``sha256`` is empty if nobody has recorded it. ``needed_by`` is a pattern: the file is fetched if any chosen
    file matches it; empty: it is chosen itself. A ``published`` file holds published figures and is no result.
    ``values`` are what its path was made of, such as its ``model``. ``lasting``: at a commit, it never changes.
    ``ask_again``: it is asked for each time, and what is here already counts only if its host can't be reached.
    """

    path: str
    kind: Kind
    address: str
    size: int | None
    about: int
    at_most: int
    sha256: str = ""
    needed_by: str = ""
    published: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    lasting: bool = False
    ask_again: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A published result set. ``licence`` is empty where the authors state none.

    ``note`` is what a person should know before, in one or two sentences. ``protocol`` is how the published figures
    were computed, in words (alpha, threshold, empty sets, averaging); ``figures`` names the way to recompute them
    (:data:`core.shelf.recompute.FIGURES`), empty if there is none, and ``figure_options`` are its options. ``model``
    names the model of files that do not say it, and ``prompt_format`` is that of their prompts, a field of a run's spec
    (empty: what the importer says). ``choices`` names the values by which a person chooses files, and ``names`` gives
    values as a person reads them.
    """

    name: str
    title: str
    about: str
    authors: str
    paper: str
    licence: str
    files: tuple[ShelfFile, ...]
    protocol: Mapping[str, str | float] = field(default_factory=dict)
    figures: str = ""
    figure_options: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    choices: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    prompt_format: str = ""

    def values_of(self, choice: str) -> tuple[str, ...]:
        """All values of one of the ``choices``, in the order of the entry."""
        return tuple(dict.fromkeys(file.values[choice] for file in self.results if choice in file.values))

    def value_named(self, choice: str, name: str) -> str | None:
        """The value of a choice that is called ``name``: by itself, by the entry, or in the published figures."""
        printed = self.figure_options.get("models", {})
        return next(
            (value for value in self.values_of(choice) if name in (value, self.names.get(value), printed.get(value))),
            None,
        )

    @property
    def protocol_said(self) -> str:
        """The protocol as sentences; empty if there is none."""
        return " ".join(f"{name[:1].upper()}{name[1:]}: {value}." for name, value in self.protocol.items())

    @property
    def results(self) -> tuple[ShelfFile, ...]:
        """The files that a person chooses from."""
        return tuple(file for file in self.files if not file.needed_by)

    @property
    def bytes_about(self) -> int:
        """The size of all files in bytes, as far as it is known."""
        return size_of(self.files)

    @property
    def hashed(self) -> int:
        """How many files have a recorded hash."""
        return sum(bool(file.sha256) for file in self.files)

    def chosen(self, only: str = "", *, where: Mapping[str, Collection[str]] | None = None) -> tuple[ShelfFile, ...]:
        """The files whose path matches ``only`` (a glob pattern, or a part of the path), and those that they need.
        ``where`` narrows them to some values of the ``choices``. Raises :class:`InputError` if none is left."""
        pattern = only.lower() if any(sign in only for sign in "*?[") else f"*{only.lower()}*"
        wanted = [
            file
            for file in self.results
            if fnmatch.fnmatchcase(file.path.lower(), pattern)
            and all(file.values.get(name, "") in values for name, values in (where or {}).items())
        ]
        if not wanted:
            examples = ", ".join(file.path for file in self.results[:3])
            wanted_name = repr(only) if only else "the choice"
            raise InputError(f"no file of {self.name} matches {wanted_name}; its files are {examples} …")
        needed = [
            file
            for file in self.files
            if file.needed_by and any(fnmatch.fnmatchcase(choice.path, file.needed_by) for choice in wanted)
        ]
        return (*wanted, *needed)


def unhashed(files: Iterable[ShelfFile]) -> list[ShelfFile]:
    """The files to download that have no recorded hash."""
    return [file for file in files if not file.sha256 and file.kind != "recipe"]


def size_of(files: Iterable[ShelfFile]) -> int:
    """The size of files in bytes, as far as it is known."""
    return sum(file.about for file in files)


def read_hub_id(text: str) -> str | None:
    """The id of a hub data set, ``OWNER/NAME``; None for another text.

    >>> read_hub_id("org/data"), read_hub_id("org/data/x"), read_hub_id("https://example.org/x")
    ('org/data', None, None)
    >>> read_hub_id("../..") is None
    True
    """
    return text if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", text) else None


def folders() -> tuple[Path, ...]:
    """Where entries lie: those that come with Hedge, and a person's own."""
    return ASSETS / "shelf", settings().home / "shelf" / "entries"


def entries() -> tuple[dict[str, Entry], tuple[str, ...]]:
    """All entries by name, and a sentence for each file that can't be read. A person's own entry replaces one of
    Hedge's with the same name."""
    by_name, problems = {}, []
    for name, path in _paths().items():
        try:
            by_name[name] = read(path)
        except InputError as error:
            problems.append(str(error))
    return by_name, tuple(problems)


def entry(name: str) -> Entry:
    """The entry of that name. Raises :class:`InputError` if there is none."""
    known = _paths()
    if name not in known:
        raise InputError(f"there is no {name!r} on the shelf; choose from {', '.join(known)}")
    return read(known[name])


def _paths() -> dict[str, Path]:
    return {path.stem: path for folder in folders() for path in sorted(folder.glob("*.toml"))}


def read(path: Path) -> Entry:
    """The entry of a file. Raises :class:`InputError` that names the file and what is wrong in it."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        way_out = "install Hedge again" if path.is_relative_to(ASSETS) else "repair the file or delete it"
        raise InputError(f"{path} is no readable TOML file ({error}); {way_out}") from error
    where = _Where(path)
    unknown = set(values) - {*_TEXTS, "sources", "protocol", "published", "model", "prompt_format", "choices", "names"}
    if unknown:
        raise InputError(f"{path}: unknown key {sorted(unknown)[0]!r}; assets/shelf/README.md lists the keys")
    texts = {key: where.text(values, key, needed=key in ("title", "about")) for key in _TEXTS}
    published = dict(where.table(values, "published"))
    names = {str(name): str(value) for name, value in where.table(values, "names").items()}
    files = [file for source in where.tables(values, "sources") for file in _files(source, where)]
    paths = [file.path for file in files]
    twice = next((path_name for path_name, often in Counter(paths).items() if often > 1), None)
    if not files or twice or len(files) > MOST_FILES:
        problem = f"{twice!r} twice" if twice else f"{len(files)} files"
        raise InputError(f"{path}: expected from 1 to {MOST_FILES} files, each once, found {problem}")
    return Entry(
        name=path.stem,
        files=tuple(files),
        protocol=where.table(values, "protocol"),
        figures=str(published.pop("figures", "")),
        figure_options=published,
        model=where.text(values, "model"),
        prompt_format=_prompt_format(values, where),
        choices=tuple(where.texts(values, "choices")),
        names=names,
        **texts,
    )


_TEXTS = ("title", "about", "authors", "paper", "licence", "note")


@dataclass(frozen=True, slots=True)
class _Where:
    """Reads values of a TOML file; every error names the file."""

    path: Path

    def text(self, values: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
        value = values.get(key, "")
        if not isinstance(value, str) or (needed and not value.strip()):
            raise InputError(f"{self.path}: expected a text as {key!r}, found {value!r}")
        return value.strip()

    def texts(self, values: Mapping[str, Any], key: str) -> list[str]:
        value = values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError(f"{self.path}: expected a list of texts as {key!r}, found {value!r}")
        return value

    def number(self, values: Mapping[str, Any], key: str) -> int | None:
        value = values.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value <= 0):
            raise InputError(f"{self.path}: expected a number of bytes above 0 as {key!r}, found {value!r}")
        return value

    def table(self, values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = values.get(key, {})
        if not isinstance(value, dict):
            raise InputError(f"{self.path}: expected a table as {key!r}, found {value!r}")
        return value

    def tables(self, values: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
        value = values.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            raise InputError(f"{self.path}: expected [[{key}]] tables, found {value!r}")
        return value


def _prompt_format(values: Mapping[str, Any], where: _Where) -> str:
    prompt_format = where.text(values, "prompt_format")
    if prompt_format and prompt_format not in FORMATS:
        raise InputError(
            f"{where.path}: expected one of {', '.join(FORMATS)} as 'prompt_format', found {prompt_format!r}"
        )
    return prompt_format


def _files(source: Mapping[str, Any], where: _Where) -> list[ShelfFile]:
    kind = where.text(source, "kind", needed=True)
    if kind not in KINDS:
        raise InputError(f"{where.path}: unknown kind of source {kind!r}; choose from {', '.join(KINDS)}")
    size, at_most, about = (where.number(source, key) for key in ("size", "at_most", "about"))
    if size is None and at_most is None and kind != "recipe":
        raise InputError(f"{where.path}: a source needs 'size' or 'at_most', the bytes of each of its files")
    hashes = where.table(source, "sha256")
    sizes = where.table(source, "sizes")
    listed = _expanded(source, where)
    for table, what in ((hashes, "sha256"), (sizes, "sizes")):
        stray = next((name for name in table if name not in listed), None)
        if stray is not None:
            raise InputError(f"{where.path}: {what} names {stray!r}, which is no path of that source")
    wrong = next((name for name, value in hashes.items() if not SHA256.match(str(value))), None)
    if wrong is not None:
        raise InputError(f"{where.path}: expected 64 hexadecimal digits as the hash of {wrong!r}")
    files = []
    mirror = settings().shelf_mirror
    for path, chosen in listed.items():
        own = where.number(sizes, path) or size
        files.append(
            ShelfFile(
                path=_safe(path, where),
                kind=kind,
                address=_address(kind, source, path, where, mirror=mirror),
                size=own,
                about=own or about or at_most or 0,
                at_most=own or at_most or 0,
                sha256=str(hashes.get(path, "")),
                needed_by=_filled(where.text(source, "needed_by"), chosen),
                published=bool(source.get("published", False)),
                values=chosen,
                lasting=bool(COMMIT.match(str(source.get("commit") or source.get("revision") or ""))),
            )
        )
    return files


def _expanded(source: Mapping[str, Any], where: _Where) -> dict[str, dict[str, str]]:
    """The paths of a source, and the values of each: ``{model}`` stands for each of the source's ``model``."""
    patterns = source.get("paths")
    if not isinstance(patterns, list) or not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise InputError(f"{where.path}: expected a list of paths as 'paths', found {patterns!r}")
    values = where.table(source, "values")
    paths: dict[str, dict[str, str]] = {}
    for pattern in patterns:
        names = list(dict.fromkeys(PLACEHOLDER.findall(pattern)))
        missing = next((name for name in names if not isinstance(values.get(name), list)), None)
        if missing is not None:
            raise InputError(f"{where.path}: {pattern!r} needs a list {missing!r} in [sources.values]")
        for chosen in itertools.product(*(values[name] for name in names)):
            chosen_values = dict(zip(names, map(str, chosen), strict=True))
            path = pattern.format(**chosen_values)
            if path in paths:
                raise InputError(f"{where.path}: expected each file once, found {path!r} twice")
            paths[path] = chosen_values
    return paths


def _filled(pattern: str, chosen: Mapping[str, str]) -> str:
    """A pattern with the chosen value of each placeholder; one without a value stays as it is."""
    for name, value in chosen.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern


def _safe(path: str, where: _Where) -> str:
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{where.path}: {path!r} is no path inside a repository")
    return path


def _address(kind: str, source: Mapping[str, Any], path: str, where: _Where, *, mirror: str) -> str:
    if kind == "url":
        return f"{where.text(source, 'base', needed=True).rstrip('/')}/{path}"
    if kind == "recipe":
        return where.text(source, "task", needed=True)
    repository = where.text(source, "repository", needed=True)
    if read_hub_id(repository) is None:
        raise InputError(f"{where.path}: expected OWNER/NAME as 'repository', found {repository!r}")
    if kind == "hub":
        return f"{repository}@{where.text(source, 'revision') or 'main'}"
    commit = where.text(source, "commit", needed=True)
    host = mirror or where.text(source, "host") or GIT_HOST
    return f"{host.rstrip('/')}/{repository}/{commit}/{path}"
