"""A damaged run is one sentence with its name and the way out on every page and in every command, and hides no other."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import synthetic_run, without_digests
from tests.pages.conftest import Open

Damage = Callable[[Path], object]


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def _in_place(make: Damage) -> Damage:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGES: dict[str, Damage] = {
    "deleted": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zero bytes": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a flipped bit": _flipped,
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 8),
    "a folder": _in_place(Path.mkdir),
    "a pipe": _in_place(os.mkfifo),
    "a loop of links": _in_place(lambda path: path.symlink_to(path.name)),
}


def _with(**fields: object) -> Damage:
    """run.json of an older version with other fields."""

    def damage(path: Path) -> None:
        values = without_digests(path)
        for name, value in fields.items():
            place, _, field = name.rpartition("__")
            (values[place] if place else values)[field] = value
        path.write_text(json.dumps(values))

    return damage


FORMS: dict[str, Damage] = {
    "no object": lambda path: path.write_text("[]"),
    "nested deeply": lambda path: path.write_text("[" * 100_000),
    "an id of another run": _with(id="other-qa-0123456789"),
    "no spec": _with(spec=None),
    "a spec of texts": _with(spec__shots="2"),
    "another seed": _with(spec__seed=7),
    "a time as a text": _with(created="yesterday"),
    "no number as a time": _with(ended=float("nan")),
    "a time beyond all calendars": _with(ended=1e300),
    "a state as a list": _with(state=["done"]),
    "no provenance": _with(provenance=None),
    "a provenance of texts": _with(provenance={"engine": "cpu"}),
    "other numbers": _with(provenance={"bounded_questions": "3"}),
    "half of what was scored": _with(provenance={"scored": {"questions": 5}, "scoring_seconds": 3.0}),
}
