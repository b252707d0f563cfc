"""Making the models one after the other, each after the one that it grows from; it can stop and go on at any time."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError
from core.processes.stop_signals import StopSignals
from core.settings import ASSETS, settings
from pocket_world.precision import fastest
from pocket_world.progress import PROGRESS, StageProgress
from pocket_world.publish import record_fingerprints, replace_folder
from pocket_world.recipes import RECIPES, Recipe, Stage, recipe

if TYPE_CHECKING:
    from pocket_world.train import Trainer

LOG = logging.getLogger("hedge.pocket")


def work_folder(name: str) -> Path:
    """Where a model is made."""
    return settings().home / "pocket" / name


def made_model(name: str) -> Path:
    """Where a model lies once it is whole."""
    return work_folder(name) / "model"


def with_sources(name: str) -> list[str]:
    """A model and those that it grows from, the first one first."""
    source = recipe(name).grown_from
    return [*(with_sources(source) if source else []), name]


def is_whole(name: str) -> bool:
    """Whether every step of a model is done and the model is written."""
    progress = progress_of(name)
    return (
        progress is not None
        and progress.stage == "everything"
        and progress.step >= RECIPES[name].steps
        and made_model(name).is_dir()
    )


def progress_of(name: str) -> StageProgress | None:
    """How far a model's training was at its last checkpoint, None for one not begun."""
    path = work_folder(name) / PROGRESS
    if path.exists():
        return StageProgress(**json.loads(path.read_text(encoding="utf-8")))
    return None


def make(
    names: Sequence[str],
    *,
    minutes: float | None = None,
    compiled: bool = False,
    threads: int = 1,
    device: str = "cpu",
    workers: int = 0,
) -> bool:
    """Make models in this order, those that are whole left out; False if time was up or SIGTERM came first."""
    stop = stopper(minutes)
    if device == "cpu":
        fastest()

    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda needs a GPU, and torch finds none here; without it the processor trains")
    torch.set_num_threads(threads)
    return all(
        is_whole(name) or trainer(recipe(name), compiled=compiled, device=device, workers=workers).run(stop=stop)
        for name in names
    )


def trainer(chosen: Recipe, *, compiled: bool = False, device: str = "cpu", workers: int = 0) -> Trainer:
    """A model's training where it stands: its checkpoint, else its beginning."""
    import torch

    from pocket_world.train import Trainer

    return Trainer(
        chosen,
        folder=work_folder(chosen.name),
        source=made_model(chosen.grown_from) if chosen.grown_from else None,
        compiled=compiled,
        precision=getattr(torch, fastest()) if device == "cpu" else torch.bfloat16,
        device=device,
        workers=workers,
    )


def stopper(minutes: float | None) -> Callable[[], bool]:
    """Tells when the time limit has passed or a signal asked this process to stop."""
    signals = StopSignals()
    end = time.monotonic() + 60 * minutes if minutes is not None else None
    return lambda: signals.requested or (end is not None and time.monotonic() >= end)


def publish_made(name: str) -> Path:
    """Copy a whole model with its card into ``assets/models``; InputError if it is not whole."""
    if not is_whole(name):
        raise InputError(f"{name} is not whole; `python -m pocket_world make --model {name}` goes on with it")
    target = ASSETS / "models" / name
    replace_folder(target, lambda folder: shutil.copytree(made_model(name), folder, dirs_exist_ok=True))
    record_fingerprints()
    return target


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a model is; ``letters`` is the mean over tasks of its last check, hours are those of a core or a GPU.

    ``hours_left`` is None before the first step.
    """

    name: str
    stage: Stage | None
    step: int
    steps: int
    loss: float | None
    letters: float | None
    perplexity: float | None
    hours: float
    hours_left: float | None

    def line(self) -> str:
        """The standing as one line of text."""
        if self.stage is None:
            return f"{self.name}: not begun"
        said = [f"{self.name}: {self.stage} step {self.step:,} of {self.steps:,}"]
        if self.loss is not None and self.letters is not None and self.perplexity is not None:
            said += [f"loss {self.loss:.3f}", f"letters {self.letters:.1%}", f"perplexity {self.perplexity:.1f}"]
        said.append(f"{self.hours:.2f} hours gone")
        if self.hours_left is not None:
            said.append(f"about {self.hours_left:.2f} left")
        return ", ".join(said)


def standing(name: str) -> Standing:
    """How far a model is."""
    chosen, progress = recipe(name), progress_of(name)
    if progress is None:
        return Standing(name, None, 0, chosen.steps, None, None, None, 0.0, None)
    steps = chosen.stage_steps
    order = list(steps)
    later = order[order.index(progress.stage) + 1 :]
    earlier = {row["stage"]: row["step"] for row in progress.curve if row["stage"] != progress.stage}
    done = sum(earlier.values()) + progress.step
    left = max(0, steps[progress.stage] - progress.step) + sum(steps[stage] for stage in later)
    last = progress.curve[-1] if progress.curve else None
    return Standing(
        name=name,
        stage=progress.stage,
        step=progress.step,
        steps=steps[progress.stage],
        loss=last and last["loss"],
        letters=last and sum(last["tasks"].values()) / len(last["tasks"]),
        perplexity=last and last["perplexity"],
        hours=progress.seconds / 3600,
        hours_left=progress.seconds / done * left / 3600 if done else None,
    )
