"""Files of data sets on the Hugging Face hub, fetched by the hub's own client.

The client takes ``HF_ENDPOINT``, ``HF_TOKEN`` and proxies from the environment, resumes downloads by itself, and keeps
what it downloads in ``HEDGE_HOME/shelf/hub``; the file then goes into the shelf's cache by its hash.
"""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import extras
from core.access import carried
from core.errors import HedgeError, InputError, UnreachableError
from core.shelf import cache
from core.shelf.entries import ShelfFile
from core.shelf.progress import DownloadProgress

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile
    from huggingface_hub.utils.tqdm import tqdm

ANSWER_SECONDS = 10.0
"""How long the hub may take to say what a file is."""
LISTING_SECONDS = 30.0
"""How long the hub may take to list the files of a data set; its client would wait without end."""


class NotOnHubError(InputError):
    """The data set, its revision or the file is not on the hub, or ``HF_TOKEN`` may not read it."""


def fetch(file: ShelfFile, progress: DownloadProgress) -> Path:
    """The file in the cache, downloaded from the hub if it is not there. Raises :class:`InputError` with one sentence
    if it can't be downloaded, and :class:`~core.errors.RunCancelled` if a person cancelled."""
    address = f"hub:{file.address}/{file.path}"
    here = cache.find(address, file.sha256)
    if here is not None and not file.ask_again:
        progress.skip(here.stat().st_size)
        return here
    repository, _, revision = file.address.partition("@")
    options: dict[str, Any] = {
        "repo_id": repository,
        "filename": file.path,
        "repo_type": "dataset",
        "revision": revision,
        "cache_dir": cache.folder() / "hub",
        "etag_timeout": ANSWER_SECONDS,
        "endpoint": os.environ.get("HF_ENDPOINT") or None,
    }
    where = f"{file.path} of {file.address}"
    check_reachable(where)
    from huggingface_hub import hf_hub_download

    about = ask_hub(where, lambda: hf_hub_download(**options, dry_run=True))
    if file.size is not None and about.file_size != file.size:
        raise InputError(f"{file.path}: expected {file.size:,} bytes, the hub has {about.file_size:,}; it is not read")
    if about.file_size > file.at_most:
        raise InputError(
            f"{file.path}: expected at most {file.at_most:,} bytes, the hub has {about.file_size:,}; "
            "it is not downloaded"
        )
    downloaded = Path(ask_hub(where, lambda: hf_hub_download(**options, tqdm_class=_bar(progress))))
    part = cache.part_path(address)
    shutil.copyfile(downloaded, part)
    cached = cache.keep(part, address, sha256=file.sha256, name=file.path, lasting=file.lasting)
    downloaded.resolve().unlink(missing_ok=True)  # the cache by hash has it now
    downloaded.unlink(missing_ok=True)
    return cached


def check_reachable(where: str) -> None:
    """Raise :class:`InputError` where the hub does not answer: its client would try for half a minute."""
    extras.need("models")
    import httpx2
    from huggingface_hub import constants, get_session

    endpoint = os.environ.get("HF_ENDPOINT") or constants.ENDPOINT
    try:
        get_session().head(endpoint, timeout=ANSWER_SECONDS, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise UnreachableError(f"{where}: the hub can't be reached at {endpoint}; nothing was imported") from error


def listed(repository: str) -> list[RepoFile]:
    """The files of a data set as it is now. Raises :class:`NotOnHubError` if there is no such data set, and
    :class:`InputError` if the hub does not say."""
    check_reachable(repository)
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
    answers: queue.Queue[list[Any] | BaseException] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(list(api.list_repo_tree(repository, recursive=True, repo_type="dataset", revision="main")))
        except BaseException as error:
            answers.put(error)

    threading.Thread(target=carried(ask), daemon=True, name="hedge-hub-listing").start()

    def answer() -> list[Any]:
        files = answers.get(timeout=LISTING_SECONDS)
        if isinstance(files, BaseException):
            raise files
        return files

    try:
        return [listed_file for listed_file in ask_hub(repository, answer) if isinstance(listed_file, RepoFile)]
    except queue.Empty as error:
        raise InputError(
            f"{repository}: the hub did not list its files within {LISTING_SECONDS:g} s; try again later"
        ) from error


def described(repository: str, file: RepoFile) -> ShelfFile:
    """A file of a data set as it is now; one that lies in Git LFS says its SHA-256."""
    return ShelfFile(
        path=file.path,
        kind="hub",
        address=f"{repository}@main",
        size=file.size,
        about=file.size,
        at_most=file.size,
        sha256=str(file.lfs.sha256) if file.lfs else "",
    )


def ask_hub(where: str, ask: Callable[[], Any]) -> Any:
    """Ask the hub's client with ``ask``. Its errors become one sentence that begins with ``where``."""
    import httpx2
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return ask()
    except HedgeError:
        raise
    except GatedRepoError as error:
        raise InputError(
            f"{where}: its authors ask for an agreement on the hub; agree on its page there, and set HF_TOKEN"
        ) from error
    except LocalEntryNotFoundError as error:
        raise UnreachableError(f"{where}: the hub can't be reached; nothing was imported") from error
    except (RepositoryNotFoundError, RevisionNotFoundError, EntryNotFoundError) as error:
        raise NotOnHubError(
            f"{where}: it is not on the hub, or HF_TOKEN may not read it; nothing was imported"
        ) from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError, ValueError) as error:
        raise InputError(f"{where}: the hub did not send it ({str(error)[:120]}); nothing was imported") from error


def _bar(progress: DownloadProgress) -> type[tqdm]:
    """The progress bar that the hub's client moves: it prints nothing and tells ``progress``."""
    from huggingface_hub.utils.tqdm import tqdm as base

    class _Told(base):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **(options | {"disable": True}))  # type: ignore[no-untyped-call]
            progress.skip(int(options.get("initial") or 0))

        def update(self, n: float | None = 1) -> bool | None:
            progress.advance(int(n or 0))
            progress.check()
            return None

    return _Told
