"""Making the models one after the other, each after the one that it grows from; it can stop and resume at any time."""

import copy
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from core.errors import InputError
from core.processes.stop_signals import StopSignals
from core.settings import ASSETS, settings
from pocket_world.card import card, machine
from pocket_world.recipes import recipe
from pocket_world.record import record_fingerprints
from pocket_world.train import Trainer


def work_folder(name: str) -> Path:
    """Where a model is made; it lies in ``model`` in there once it is whole."""
    return settings().home / "pocket" / name


def with_sources(name: str) -> list[str]:
    """A model and those that it grows from, the first one first."""
    source = recipe(name).grown_from
    return [*(with_sources(source) if source else []), name]


def make(names: Sequence[str], *, minutes: float | None = None, device: str = "cpu") -> bool:
    """Make models in this order, those that are whole left out; False if time was up or SIGTERM came first."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda needs a GPU, and torch finds none here; without it the processor trains")
    stop = stopper(minutes)
    for name in names:
        folder = work_folder(name)
        if (folder / "model").is_dir():
            continue
        chosen = recipe(name)
        source = work_folder(chosen.grown_from) / "model" if chosen.grown_from else None
        trainer = Trainer(chosen, folder=folder, source=source, device=device)
        here = "one GPU" if device == "cuda" else "one processor"
        mixed = trainer.progress.timed not in ("", here)
        trainer.progress.timed = "a processor and a GPU together" if mixed else here
        trainer.progress.machine = machine(trainer.device)
        if not trainer.run(stop=stop):
            return False
        trainer.model.eval()
        text = card(trainer.model, trainer.tokenizer, chosen, trainer.progress, trainer.bank)
        write_model(trainer, folder / "model", text)
    return True


def stopper(minutes: float | None) -> Callable[[], bool]:
    """Tells when the time limit has passed or a signal asked this process to stop."""
    signals = StopSignals()
    end = time.monotonic() + 60 * minutes if minutes is not None else None
    return lambda: signals.requested or (end is not None and time.monotonic() >= end)


def write_model(trainer: Trainer, target: Path, card: str) -> None:
    """Put the model (safetensors, float16 with ``half``), its tokenizer and its card into a folder."""

    def fill(folder: Path) -> None:
        model = copy.deepcopy(trainer.model).half() if trainer.recipe.half else trainer.model
        model.save_pretrained(folder)
        trainer.tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")
        for path in folder.iterdir():
            path.chmod(0o644)  # safetensors writes for its owner alone

    replace_folder(target, fill)


def publish(name: str) -> Path:
    """Copy a whole model with its card into ``assets/models``; InputError if it is not whole."""
    model = work_folder(recipe(name).name) / "model"
    if not model.is_dir():
        raise InputError(f"{name} is not whole; `python -m pocket_world make --model {name}` continues it")
    target = ASSETS / "models" / name
    replace_folder(target, lambda folder: shutil.copytree(model, folder, dirs_exist_ok=True))
    record_fingerprints()
    return target


def replace_folder(target: Path, fill: Callable[[Path], object]) -> None:
    """Let ``fill`` write into a new folder, then swap folders: a reader sees the old one or the new one."""
    fresh, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    fresh.mkdir(parents=True)
    fill(fresh)
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)
