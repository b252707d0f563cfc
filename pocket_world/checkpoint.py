"""The state of a training in its work folder: tensors and numbers in ``checkpoint.pt``, the progress alone as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from core.errors import InputError
from pocket_world.progress import PROGRESS
from pocket_world.recipes import Recipe

_CHECKPOINT = "checkpoint.pt"

_MAY_CHANGE = ("matching_steps", "letters_steps", "steps", "half")
"""What a recipe may change while it is trained: how long, and what is stored."""


def exists(folder: Path) -> bool:
    """Whether a work folder holds a checkpoint."""
    return (folder / _CHECKPOINT).exists()


def write(folder: Path, state: Mapping[str, Any]) -> None:
    """Put a state in place of the one before; a process that ends meanwhile leaves one of the two."""
    temporary = folder / "checkpoint.tmp"
    torch.save(state, temporary)
    temporary.replace(folder / _CHECKPOINT)
    said = folder / "progress.tmp"
    said.write_text(json.dumps(state["progress"]), encoding="utf-8")
    said.replace(folder / PROGRESS)


def read(folder: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """The state in a work folder, its tensors on ``device``. Raises :class:`InputError` if there is none."""
    if not exists(folder):
        raise InputError(
            f"there is no checkpoint in {folder}; `python -m pocket_world make` writes one every few minutes"
        )
    state: dict[str, Any] = torch.load(folder / _CHECKPOINT, weights_only=True, map_location=device)
    return state


def check_recipe(state: Mapping[str, Any], recipe: Recipe, folder: Path) -> None:
    """Raises :class:`InputError` if a state was trained by a recipe from which this one can't go on."""
    differing = [
        name for name, value in asdict(recipe).items() if name not in _MAY_CHANGE and state["recipe"].get(name) != value
    ]
    if differing:
        raise InputError(
            f"the training in {folder} began with other values of {', '.join(differing)}; "
            "delete it or take back the change"
        )
