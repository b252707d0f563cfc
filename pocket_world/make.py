"""Makes the models, each after the one that it grows from; a training that was interrupted goes on."""

import shutil
from pathlib import Path

from core.settings import ASSETS, settings
from pocket_world.recipes import RECIPES
from pocket_world.record import record_fingerprints
from pocket_world.train import Trainer


def work_folder(name: str) -> Path:
    """Where a model is made; the finished model is in ``model`` in there."""
    return settings().home / "pocket" / name


def make(name: str, *, device: str = "cpu") -> Path:
    """The folder of a finished model. It and those that it grows from are trained unless they are finished."""
    recipe, target = RECIPES[name], work_folder(name) / "model"
    if not target.is_dir():
        source = make(recipe.grown_from, device=device) if recipe.grown_from else None
        trainer = Trainer(recipe, folder=work_folder(name), source=source, device=device)
        trainer.run()
        part = target.with_name("model.part")
        (trainer.model.half() if recipe.half else trainer.model).save_pretrained(part)
        trainer.tokenizer.save_pretrained(part)
        for path in part.iterdir():
            path.chmod(0o644)  # safetensors writes for its owner alone
        part.rename(target)
    return target


def publish(name: str) -> Path:
    """Copy a finished model into ``assets/models``, beside its card."""
    target = ASSETS / "models" / name
    shutil.copytree(work_folder(name) / "model", target, dirs_exist_ok=True)
    record_fingerprints()
    return target
