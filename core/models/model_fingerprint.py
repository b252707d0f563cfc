"""A model's fingerprint: two models with equal fingerprints give equal figures. Loads no torch, so pages may call it.

The fingerprint of a folder is a hash of the whole content of each file that can change a figure: weights,
configurations, tokenizer, chat templates and adapter. The folder's name and place do not count, and neither do files
that no figure depends on, such as a README, logs and the state of a trainer. The fingerprint of a model on the hub is
its revision, which is the hash of a commit. An adapter's fingerprint is followed by that of its base model, after a
``+``.

Hashes of large files are cached in ``HEDGE_HOME/cache/file_hashes``, a small file for each. A cached hash holds while
path, size, inode and both times of the file stay the same; programs can set the time of a change back (``cp -p``,
``rsync -t``), but not the time at which the inode changed.
"""

import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import HedgeError, InputError
from core.models.folder_limits import OF_TOKENIZER
from core.models.folders import ADAPTER, CONFIGURATION, named_bases
from core.models.hub_cache import cached_file
from core.models.model_sources import FAKE_MODEL, ModelSource, resolve
from core.models.safetensors_files import INDEX, SINGLE, json_or_nothing, read_json
from core.models.server_address import served_model
from core.models.tokenizers import base_of, loading_sentence
from core.settings import ASSETS, settings
from core.storage import sealed

JOINT = "+"
"""Stands between the fingerprint of an adapter and that of its base model."""
FINGERPRINT = re.compile(r"^[0-9a-f]{32,40}(\+[0-9a-f]{32,40}){0,3}\Z")
REVISION = re.compile(r"^[0-9a-f]{40}\Z")
SHORT = 6
"""Characters of a fingerprint that people are shown."""

BEGINNINGS = (
    "config", "generation_config", "adapter", "quant", "dict.", "bpe", "normalizer", "emoji", "vocab-",
    "entity_vocab", "target_vocab", "word_", "byte_maps", "prophetnet",
)  # fmt: skip
ENDINGS = (".json", ".txt", ".codes", ".tokenizer")
"""Files that transformers reads begin and end so, besides those that begin as the files of a tokenizer."""
ALONE = (".model", ".jinja", ".tiktoken", ".spm")
"""Endings of files that count under any name."""
NAMING = (CONFIGURATION, ADAPTER, "tokenizer_config.json")
"""Files whose values can name other files in the same folder."""
TEMPLATES = ("additional_chat_templates", "chat_templates")
PICKLES = (".bin", ".pt", ".pth", ".ckpt")
"""Weights in folders without safetensors."""
OF_TRAINER = ("training_args", "optimizer", "scheduler", "rng_state", "scaler")

BLOCK = 1 << 26
"""Bytes that are hashed as one unit, so that threads can share a large file."""
READ = 1 << 20
CACHED_FROM = 1 << 18
"""Bytes from which on the hash of a file is cached; smaller files are hashed each time."""
QUICK = 1 << 25
"""Bytes that a page may read while it is drawn, in about 30 ms. The models that ship with Hedge are smaller."""
SETTLED_S = 2.0
"""A file that changed less than this long ago is hashed again next time, because the clocks of some file systems are so
coarse that a further change would not show."""
TRIES = 3
MOST_ADAPTERS = 3
SECTION = "file_hashes"
SHIPPED = "fingerprints.json"
"""The fingerprints of the models that ship with Hedge, beside them."""
HASH = re.compile(r"^[0-9a-f]{64}\Z")
REPORT_EVERY_S = 0.5

Report = Callable[[str], None]
Stamp = tuple[int, int, int, int]
"""Size, time of the last change of the content and of the inode in nanoseconds, and inode of a file."""


def fingerprint(model: str, *, report: Report | None = None) -> str:
    """The fingerprint of a model by its name in a spec; empty for the fake model and for a model on a server.

    ``report`` receives the progress of the reading. Raises :class:`InputError` if there is no such model, or if its
    files change while they are read.
    """
    return "" if served_model(model) else fingerprint_of(resolve(model), report=report)


def fingerprint_of(source: ModelSource, *, report: Report | None = None) -> str:
    """As :func:`fingerprint`, of a model that has been resolved."""
    value = _of(source, report, only_cached=False)
    assert value is not None
    return value


def known_fingerprint(model: str) -> str | None:
    """The fingerprint if only little has to be read for it and the hub need not be asked; otherwise None."""
    return "" if served_model(model) else _of(resolve(model), None, only_cached=True)


def folder_fingerprint(folder: Path, *, base: str | None = None, report: Report | None = None) -> str:
    """The fingerprint of any folder with weights or an adapter, including a folder that
    :func:`~core.models.model_sources.resolve` refuses. It covers ``base`` too, or else the base models that the adapter
    names."""
    bases = [base] if base else list(dict.fromkeys(named_bases(folder)))[:MOST_ADAPTERS]
    own = _contents([folder], report, only_cached=False)
    assert own is not None
    return JOINT.join([own[folder], *(fingerprint(base, report=report) for base in bases)])


def short(value: str) -> str:
    """A fingerprint as people are shown it.

    >>> short("3f2a91c0d4e5+77aa01b2c3d4"), short("")
    ('3f2a91+77aa01', '')
    """
    return JOINT.join(part[:SHORT] for part in value.split(JOINT))


def revisions(value: str) -> tuple[str, str]:
    """The revisions on the hub of a model and of its base model that a fingerprint names; empty for what lies in a
    folder. Without an adapter the two are equal."""
    parts = [part if REVISION.match(part) else "" for part in value.split(JOINT)]
    return parts[0], parts[-1]


def pinned(source: ModelSource, value: str = "") -> ModelSource:
    """The source with the revisions on the hub that a fingerprint names, or else with the one that is in the cache or
    the newest, so that all of its files are of one revision."""
    own, base = revisions(value)
    if source.is_hub and not own:
        own = str(_revision(source, only_cached=False))
    return replace(source, revision=own, base_revision=base if source.is_adapter else "")


def in_spec(model: str, *, report: Report | None = None, source: ModelSource | None = None) -> str:
    """The fingerprint as a run's spec has it: empty for a model that is as it ships with Hedge, so that runs of it keep
    the ids that they had before fingerprints were recorded. ``source`` is the resolved model, if the caller has it."""
    value = fingerprint_of(source, report=report) if source else fingerprint(model, report=report)
    return _unless_shipped(model, value)


def known_in_spec(model: str) -> str | None:
    """As :func:`in_spec`, if only little has to be read for it and the hub need not be asked; otherwise None."""
    value = known_fingerprint(model)
    return value and _unless_shipped(model, value)


def _unless_shipped(model: str, value: str) -> str:
    return "" if value == shipped().get(model) else value


@functools.cache
def shipped() -> dict[str, str]:
    """The fingerprint of each model and adapter that ships with Hedge, by name."""
    return {str(name): str(value) for name, value in read_json(ASSETS / "models" / SHIPPED).items()}


class ModelFiles:
    """The files of a model while it is used: :meth:`check` raises if they are no longer those of ``expected``.

    Between two checks, only the times of the files and their folders are compared. ``expected`` is as :func:`in_spec`
    gives it; with None, the files are only compared with those of now.
    """

    def __init__(self, model: str, expected: str | None, *, report: Report | None = None) -> None:
        self.model = model
        self.source = pinned(resolve(model), expected or "")
        self._stamps: dict[Path, Stamp | None] = {}
        self.value = self._read(report)
        self.expected = _unless_shipped(model, self.value) if expected is None else expected
        self._compare()

    def check(self) -> None:
        """Raise :class:`InputError` if the files have changed."""
        if {path: _stamp_or_none(path) for path in self._stamps} != self._stamps:
            self.value = self._read(None)
            self._compare()

    def to_json(self) -> dict[str, Any]:
        """The fingerprint, and the names of the files on which it depends, for ``run.json``."""
        return {"fingerprint": self.value, "files": [name for folder in self.folders for name in files_of(folder)]}

    def _compare(self) -> None:
        now = _unless_shipped(self.model, self.value)
        if now != self.expected:
            raise InputError(
                f"the model in {self.model} has changed since this run was asked for (fingerprint "
                f"{short(self.expected) or 'as shipped'}, now {short(now) or 'as shipped'}); launch it "
                "again to run what is there now"
            )

    def _read(self, report: Report | None) -> str:
        paths = {path for folder in self.folders for path in _files(folder).values()}
        paths |= {path.parent for path in paths}
        self._stamps = {path: _stamp_or_none(path) for path in paths}
        return fingerprint_of(self.source, report=report)

    @property
    def folders(self) -> list[Path]:
        """The folder of the model, and that of an adapter's base model; without those on the hub."""
        sources = [self.source, base_of(self.source)] if self.source.is_adapter else [self.source]
        return [Path(source.location) for source in sources if not source.is_hub and source.location != FAKE_MODEL]


def _of(source: ModelSource, report: Report | None, *, only_cached: bool) -> str | None:
    if source.location == FAKE_MODEL:
        return ""
    sources = [source, base_of(source)] if source.is_adapter else [source]
    contents = _contents([Path(part.location) for part in sources if not part.is_hub], report, only_cached=only_cached)
    if contents is None:
        return None
    parts = [_revision(part, only_cached) if part.is_hub else contents[Path(part.location)] for part in sources]
    return None if None in parts else JOINT.join(map(str, parts))


def _revision(source: ModelSource, only_cached: bool) -> str | None:
    """The revision in the hub's cache; otherwise the hub's own, which is in the cache from then on."""
    name = ADAPTER if source.is_adapter else CONFIGURATION
    if source.revision:
        return source.revision
    path = cached_file(source.location, name)
    if path is None and not only_cached:
        from huggingface_hub import hf_hub_download

        try:
            path = Path(hf_hub_download(source.location, name))
        except Exception as error:  # the hub client passes on the errors of its HTTP library
            raise InputError(loading_sentence(source, error)) from error
    return path.parent.name if path else None


def _contents(folders: Sequence[Path], report: Report | None, *, only_cached: bool) -> dict[Path, str] | None:
    """The hash of each folder's files; None if ``only_cached`` and too much has to be read."""
    for _ in range(TRIES):
        files = {folder: _files(folder) for folder in folders}
        paths = list(dict.fromkeys(path for named in files.values() for path in named.values()))
        try:
            before = {path: _stamp(path) for path in paths}
            hashes = _hashes(before, report, only_cached=only_cached)
            if hashes is None:
                return None
            if before == {path: _stamp(path) for path in paths} and files == {each: _files(each) for each in folders}:
                return {
                    folder: _digest({name: hashes[path] for name, path in named.items()})
                    for folder, named in files.items()
                }
        except FileNotFoundError:
            continue  # it was there a moment ago
        except OSError as error:
            raise InputError(f"{error.filename} can't be read ({error.strerror}); make it readable") from error
    raise InputError(
        f"the files in {' and '.join(map(str, folders))} change while Hedge reads them; wait until the model is "
        "written completely, then launch again"
    )


def _digest(hashes: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()[:32]


def files_of(folder: Path) -> tuple[str, ...]:
    """The names of the files in a model's folder on which its figures depend, sorted."""
    return tuple(sorted(_files(folder)))


def _files(folder: Path) -> dict[str, Path]:
    """The files of a folder on which figures depend, by their names in the folder."""
    try:
        names = {entry.name for entry in os.scandir(folder) if not entry.name.startswith(".") and entry.is_file()}
    except OSError as error:
        raise InputError(f"folder {folder} can't be read ({error.strerror}); make it readable") from error
    texts = {name for name in names if name.startswith(OF_TOKENIZER) or name.endswith(ALONE)}
    texts |= {name for name in names if name.startswith(BEGINNINGS) and name.endswith(ENDINGS)}
    texts |= {
        text for name in NAMING if name in names for text in _texts(json_or_nothing(folder / name)) if text in names
    }
    inside = {f"{part}/{path.name}" for part in TEMPLATES for path in (folder / part).glob("*.jinja")}
    return {name: folder / name for name in texts | inside | _weights(folder, names)}


def _weights(folder: Path, names: set[str]) -> set[str]:
    """The files of weights: those that transformers reads, and adapters; pickles only if there is nothing else."""
    stored = {name for name in names if name.endswith(".safetensors")}
    adapters = {name for name in stored if name.startswith("adapter")}
    if SINGLE in stored:
        return adapters | {SINGLE}
    if INDEX in names:
        shards = {
            text for text in _texts(json_or_nothing(folder / INDEX).get("weight_map")) if (folder / text).is_file()
        }
        return adapters | shards | {INDEX}
    if stored:
        return stored
    return {name for name in names if name.endswith(PICKLES) and not name.startswith(OF_TRAINER)}


def _texts(value: Any) -> Iterator[str]:
    todo = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, (list, dict)):
            todo += each.values() if isinstance(each, dict) else each


def _stamp(path: Path) -> Stamp:
    about = path.stat()
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def _stamp_or_none(path: Path) -> Stamp | None:
    with suppress(OSError):
        return _stamp(path)
    return None


def _hashes(stamps: Mapping[Path, Stamp], report: Report | None, *, only_cached: bool) -> dict[Path, str] | None:
    """The hash of each file's content; None if ``only_cached`` and too much of it is not cached."""
    hashes = {
        path: known
        for path, stamp in stamps.items()
        if stamp[0] >= CACHED_FROM and (known := _cached(path, stamp)) is not None
    }
    missing = {path: stamp for path, stamp in stamps.items() if path not in hashes}
    if only_cached and sum(stamp[0] for stamp in missing.values()) > QUICK:
        return None
    begun_ns = time.time_ns()
    for path, value in _read(missing, report):
        hashes[path] = value
        stamp = missing[path]
        if stamp[0] >= CACHED_FROM and _stamp(path) == stamp and stamp[2] < begun_ns - SETTLED_S * 1e9:
            _cache(path, stamp, value)
    return hashes


def _read(stamps: Mapping[Path, Stamp], report: Report | None) -> Iterator[tuple[Path, str]]:
    """Read these files and give the hash of each: that of the hashes of its blocks."""
    blocks = [(path, start) for path, stamp in stamps.items() for start in range(0, max(stamp[0], 1), BLOCK)]
    total, done, due = sum(stamp[0] for stamp in stamps.values()), 0, time.monotonic() + REPORT_EVERY_S
    if total < CACHED_FROM:
        for path in stamps:
            yield path, hashlib.sha256(_block(path, 0)).hexdigest()
        return
    digests: dict[Path, Any] = {}
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        results = pool.map(_block, *zip(*blocks, strict=True))
        try:
            for (path, start), block in zip(blocks, results, strict=True):
                digests.setdefault(path, hashlib.sha256()).update(block)
                size = stamps[path][0]
                done += min(BLOCK, size - start)
                if report and time.monotonic() >= due:
                    due = time.monotonic() + REPORT_EVERY_S
                    report(f"reading the model's files: {done / total:.0%}")
                if start + BLOCK >= size:
                    yield path, digests.pop(path).hexdigest()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _block(path: Path, start: int) -> bytes:
    """The hash of a file's bytes from ``start`` on, at most a block of them."""
    digest, left = hashlib.sha256(), BLOCK
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while left and (content := file.read(min(READ, left))):
            digest.update(content)
            left -= len(content)
    return digest.digest()


def _cached(path: Path, stamp: Stamp) -> str | None:
    try:
        file = _cache_file(path)
        record = sealed.read_json(file)
        valid = (
            record.get("name", file.stem) == file.stem and record["stamp"] == list(stamp) and HASH.match(record["hash"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(record["hash"]) if valid else None


def _cache(path: Path, stamp: Stamp, value: str) -> None:
    """Store a hash. If the home can't be written to, the file is read again next time."""
    with suppress(OSError, HedgeError):
        file = _cache_file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        sealed.write_json(file, {"name": file.stem, "stamp": stamp, "hash": value}, lasting=False)


def _cache_file(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:32]
    return settings().home / "cache" / SECTION / f"{name}.json"
