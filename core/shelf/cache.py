"""Downloaded files by their hash, in ``HEDGE_HOME/shelf``: a file that is here once needs no network again.

``files/``  whole files, named by their SHA-256
``known/``  for each address, named by its hash, the SHA-256 of the file that came from there, as JSON
``parts/``  unfinished downloads by the hash of their address, with what the server said of the file
"""

import hashlib
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from core.access import quotas
from core.errors import InputError
from core.settings import settings
from core.storage.sealed import read_json, write_json

SHA256 = re.compile("[0-9a-f]{64}")
"""What an older version wrote of a known file."""


def folder() -> Path:
    """The shelf's folder in ``HEDGE_HOME``."""
    return settings().home / "shelf"


def _key(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find(address: str, sha256: str = "") -> Path | None:
    """The file of this hash, or the one that came from ``address`` before; None if it is not here. Its content is
    hashed again, and a file that was changed on the disk is deleted."""
    digest = sha256 or _known(address)
    path = folder() / "files" / digest
    if not digest or not path.is_file():
        return None
    if sha256_of(path) != digest:
        path.unlink(missing_ok=True)
        return None
    return path


def is_here(address: str, sha256: str = "") -> bool:
    """Whether the file is in the cache; its content is not hashed."""
    digest = sha256 or _known(address)
    return bool(digest) and (folder() / "files" / digest).is_file()


def _known(address: str) -> str:
    path = folder() / "known" / _key(address)
    try:
        text = path.read_text(encoding="ascii").strip()
        return text if SHA256.fullmatch(text) else str(read_json(path)["sha256"])
    except (OSError, ValueError, KeyError):
        return ""


def keep(part: Path, address: str, *, sha256: str, name: str, lasting: bool = False) -> Path:
    """Move a finished download into the cache, if its content has the hash ``sha256`` (empty: none is known).

    ``lasting``: what lies at the address can't change, so without ``sha256`` the content must be that of the first
    download. Raises :class:`InputError` that names the file ``name`` if the content is another; the download is
    deleted.
    """
    digest = sha256_of(part)
    first = _known(address) if lasting and not sha256 else ""
    if first and digest != first:
        drop_part(part)
        raise InputError(
            f"{name}: the first download had the SHA-256 {first[:12]}…, this one has {digest[:12]}…; a file at a "
            "commit never changes, so nothing of it was read. If you trust the new file, delete "
            f"{folder() / 'known' / _key(address)} and import it again"
        )
    if sha256 and digest != sha256:
        drop_part(part)
        raise InputError(
            f"{name}: expected a file with the SHA-256 {sha256[:12]}…, the download has {digest[:12]}…; it was "
            "changed, and nothing of it was read"
        )
    path = folder() / "files" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    os.replace(part, path)
    drop_part(part)
    if is_new:
        quotas.note_kept(path)
    known = folder() / "known" / _key(address)
    known.parent.mkdir(parents=True, exist_ok=True)
    write_json(known, {"sha256": digest}, lasting=False)
    return path


# ---------------------------------------------------------------- unfinished downloads


@dataclass(frozen=True, slots=True)
class PartialDownload:
    """What a server said of a file that is partly here: its ``size`` in bytes, and its ``etag`` if it has one."""

    size: int
    etag: str = ""


def part_path(address: str) -> Path:
    """Where the unfinished download of an address lies."""
    path = folder() / "parts" / _key(address)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read_part(part: Path) -> PartialDownload | None:
    """What is known about an unfinished download; None if there is none to continue."""
    try:
        values = read_json(part.with_suffix(".json"))
        return PartialDownload(int(values["size"]), str(values["etag"])) if part.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_part(part: Path, about: PartialDownload) -> None:
    """Write what the server said of a file whose download begins."""
    write_json(part.with_suffix(".json"), asdict(about), lasting=False)


def drop_part(part: Path) -> None:
    """Delete an unfinished download."""
    part.unlink(missing_ok=True)
    part.with_suffix(".json").unlink(missing_ok=True)


def laid_out(cached: Path, target: Path) -> None:
    """Lay a cached file down under its own name, without a copy where the disk allows it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(cached, target)
    except OSError:
        shutil.copyfile(cached, target)
