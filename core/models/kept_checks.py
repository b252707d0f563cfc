"""Self-checks that are kept, so that the next run of the same model in the same way does not pay for one again.

A verdict is valid for the same model (:mod:`core.models.model_fingerprint`), precision, kind of device, versions of
torch, transformers and Hedge, and tried paths, and for prompts like those that were checked: letters or texts, as many
options, in a chat or not, on the same sides of the lengths at which the model changes its arithmetic
(:mod:`core.models.boundaries`), and at most as long. If any of these differs, the run checks itself.
"""

import hashlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import HedgeError, InputError
from core.models import model_fingerprint
from core.models.engine import SelfCheck
from core.models.model_sources import ModelSource
from core.settings import settings
from core.storage.sealed import DamagedError, read_json, write_json


def identity(source: ModelSource) -> str | None:
    """The fingerprint of a model; None if it can't be found."""
    try:
        return model_fingerprint.fingerprint_of(source) or None
    except InputError:
        return None


def key(**holds_for: Any) -> str:
    """The name under which a verdict is kept, from everything that it holds for."""
    return hashlib.sha256(json.dumps(holds_for, sort_keys=True).encode()).hexdigest()[:32]


def find(name: str, *, longest: int) -> SelfCheck | None:
    """The kept verdict, if prompts of ``longest`` tokens were checked."""
    try:
        verdict = read_json(_file(name))
        if verdict.pop("name", name) != name:
            raise DamagedError("it is another self-check")
        if verdict.pop("longest") < longest:
            return None
        return SelfCheck(**verdict | {"refused": tuple(verdict["refused"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(name: str, check: SelfCheck, *, longest: int) -> None:
    """Store a verdict that passed. If the home can't be written to, the run continues without storing it."""
    if not check.passed:
        return
    day = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        _file(name).parent.mkdir(parents=True, exist_ok=True)
        write_json(_file(name), asdict(check) | {"kept": day, "longest": longest, "name": name}, lasting=False)
    except (OSError, HedgeError):
        return


def _file(name: str) -> Path:
    return settings().home / "cache" / "self_checks" / f"{name}.json"
