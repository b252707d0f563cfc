"""Publishes a finished model atomically: a reader finds the old model or the new one, never a part of one."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.models.model_fingerprint import SHIPPED, fingerprint, shipped
from core.models.models import bundled_adapters, bundled_models
from core.settings import ASSETS


def publish(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, target: Path, card: str, *, half: bool = False
) -> None:
    """Write weights (safetensors, float16 with ``half``), tokenizer and card into ``target``."""

    def fill(folder: Path) -> None:
        (copy.deepcopy(model).half() if half else model).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card, encoding="utf-8")
        for path in folder.iterdir():
            path.chmod(0o644)  # safetensors writes for its owner alone

    replace_folder(target, fill)


def replace_folder(target: Path, fill: Callable[[Path], object]) -> None:
    """Let ``fill`` write into a new folder beside ``target``, then swap folders."""
    fresh, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    fresh.mkdir(parents=True)
    fill(fresh)
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def record_fingerprints() -> None:
    """Write the fingerprints of the models and adapters that ship, by which a run notices that one was changed."""
    values = {name: fingerprint(name) for name in (*bundled_models(), *bundled_adapters())}
    if values != shipped():
        (ASSETS / "models" / SHIPPED).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        shipped.cache_clear()
