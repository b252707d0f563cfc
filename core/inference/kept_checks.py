"""Self-checks that are kept, so that the next run of the same model in the same way does not pay for one again.

A verdict is valid for the same weights, tokenizer, configuration, precision, kind of device, versions of torch,
transformers and Hedge, and tried paths, and for prompts that are at most as long as those that were checked. If any of
these differs, the run checks itself.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import HedgeError
from core.files.atomic import write_atomically
from core.files.json_text import loads
from core.inference.engine import SelfCheck
from core.inference.hub_cache import cached_file
from core.inference.models import ModelSource
from core.settings import settings

SAMPLED = 64
"""Blocks of a large file that are hashed, evenly spread, besides its beginning and its end."""
BLOCK = 1 << 16
WHOLE = 1 << 28
"""A file up to this many bytes is hashed whole."""


def identity(sources: Sequence[ModelSource]) -> str | None:
    """A hash of the files of a model, or of an adapter and its base model; None if they can't be found.

    For a file above 256 MB, the hash covers its size, the time of its last change, its first and last block, and 64
    blocks in between, because reading 140 GB takes longer than the check.
    """
    digest = hashlib.blake2b(digest_size=16)
    for source in sources:
        folder = _folder(source)
        if folder is None:
            return None
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            digest.update(f"{path.name}:{path.stat().st_size}:".encode())
            _hash_file(path, digest)
    return digest.hexdigest()


def _folder(source: ModelSource) -> Path | None:
    """The folder of the files; for a hub model, the folder of its revision in the hub's cache."""
    if not source.is_hub:
        return Path(source.location)
    for name in ("config.json", "adapter_config.json"):
        if file := cached_file(source.location, name):
            return file.parent
    return None


def _hash_file(path: Path, digest: Any) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE:
            while block := file.read(1 << 22):
                digest.update(block)
            return
        digest.update(str(path.stat().st_mtime_ns).encode())
        for i in range(SAMPLED + 2):
            file.seek(i * max(size - BLOCK, 0) // (SAMPLED + 1))
            digest.update(file.read(BLOCK))


def key(**holds_for: Any) -> str:
    """The name under which a verdict is kept, from everything that it holds for."""
    return hashlib.sha256(json.dumps(holds_for, sort_keys=True).encode()).hexdigest()[:32]


def find(name: str, *, longest: int) -> SelfCheck | None:
    """The kept verdict, if prompts of ``longest`` tokens were checked."""
    try:
        kept = loads(_file(name).read_bytes())
        if kept.pop("longest") < longest:
            return None
        return SelfCheck(**kept | {"refused": tuple(kept["refused"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(name: str, check: SelfCheck, *, longest: int) -> None:
    """Store a verdict that passed. If the home can't be written to, the run continues without storing it."""
    if not check.passed:
        return
    day = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        _file(name).parent.mkdir(parents=True, exist_ok=True)
        content = asdict(check) | {"kept": day, "longest": longest}
        write_atomically(_file(name), json.dumps(content).encode(), lasting=False)
    except (OSError, HedgeError):
        return


def _file(name: str) -> Path:
    return settings().home / "cache" / "self_checks" / f"{name}.json"
