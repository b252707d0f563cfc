"""Logins that people have ended.

Streamlit keeps a login in a signed cookie alone, so a copy of the cookie would still work after the person has
logged out. An empty file in ``HEDGE_HOME/ended_logins`` ends a login for every server process of this home. Its name is
a hash of what the provider said at the login. The file is deleted when no server takes the cookie any more.
"""

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from core.settings import settings

LASTS_S = 31 * 24 * 3600
"""How long Streamlit takes a cookie that it signed."""
ADDED = frozenset({"origin", "is_logged_in", "tokens"})
"""What Streamlit adds to the provider's claims, in the cookie or in the session."""
LOG = logging.getLogger(__name__)
_here: set[str] = set()
"""Logins that ended in this process, for a disk that takes no file."""


def end(claims: Mapping[str, object]) -> None:
    """End the login that has these claims, wherever its cookie is."""
    name, folder, now = _name(claims), _folder(), time.time()
    _here.add(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
        for path in folder.iterdir():
            with suppress(FileNotFoundError):  # another process deletes them too
                if now - path.stat().st_mtime > LASTS_S:
                    path.unlink()
    except OSError as error:
        LOG.error("a login ended in this process alone, because %s can't be written: %s", folder, error.strerror)


def has_ended(claims: Mapping[str, object]) -> bool:
    """Whether the person has ended the login with these claims."""
    name = _name(claims)
    return name in _here or (_folder() / name).exists()


def _name(claims: Mapping[str, object]) -> str:
    own_claims = {key: value for key, value in claims.items() if key not in ADDED}
    return hashlib.sha256(json.dumps(own_claims, sort_keys=True, default=str).encode()).hexdigest()


def _folder() -> Path:
    return settings().home / "ended_logins"
