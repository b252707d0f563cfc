"""Perplexity requests on disk: ``HEDGE_HOME/perplexity/<hash>.json``, from where a run copies the one that it is of."""

from collections.abc import Sequence
from pathlib import Path

from core.access import quotas
from core.errors import InputError
from core.models.perplexity.request import Request
from core.settings import settings
from core.storage.sealed import DamagedError, damage, read_json, write_json


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
    write_json(path, {"digest": request.digest, **request.to_json()})


def read(digest: str, *, copies: Sequence[Path] = ()) -> Request:
    """A request by its hash, or else the first of the ``copies`` that is there and whole.

    Raises :class:`~core.errors.InputError` if there is none, or all are damaged.
    """
    problem = ""
    for path in (settings().home / "perplexity" / f"{digest}.json", *copies):
        if digest.isalnum() and path.is_file():
            try:
                values = read_json(path)
                if values.pop("digest", digest) != digest:
                    raise DamagedError("it is another request")
                return Request.from_json(values)
            except (OSError, ValueError, TypeError, AttributeError, InputError) as error:
                problem = problem or f"{path} is damaged ({damage(error)}); ask for the perplexities again as they were"
    if problem:
        raise InputError(problem)
    raise InputError(f"there is no request {digest!r} for perplexities; ask for them on the Perplexity page")
