"""Perplexity requests on disk: ``HEDGE_HOME/perplexity/<hash>.json``, from where a run copies the one that it is of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from core import quotas
from core.errors import InputError
from core.files.atomic import write_atomically
from core.files.json_text import loads
from core.perplexity.request import Request
from core.settings import settings


def store(request: Request) -> None:
    """Keep a request under its hash."""
    folder = settings().home / "perplexity"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{request.digest}.json"
    if is_new := not path.exists():
        quotas.check_disk()
    write_to(path, request)
    if is_new:
        quotas.note_kept(path)


def write_to(path: Path, request: Request) -> None:
    """Write a request to a file."""
    write_atomically(path, json.dumps(request.to_json()).encode())


def read(digest: str, *, copies: Sequence[Path] = ()) -> Request:
    """A request by its hash, or else the first of the ``copies`` that is there.

    Raises :class:`~core.errors.InputError` if there is none, or it can't be read.
    """
    for path in (settings().home / "perplexity" / f"{digest}.json", *copies):
        if digest.isalnum() and path.is_file():
            try:
                return Request.from_json(loads(path.read_bytes()))
            except ValueError as error:
                raise InputError(f"{path} can't be read ({error}); delete the run and ask again") from error
    raise InputError(f"there is no request {digest!r} for perplexities; ask for them on the Perplexity page")
