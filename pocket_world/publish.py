"""Publishes a finished model atomically: a reader finds the old model or the new one, never a part of one."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

from transformers import LlamaForCausalLM, PreTrainedTokenizerBase


def publish(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, target: Path, card: str, *, half: bool = False
) -> None:
    """Write weights (safetensors, float16 with ``half``), tokenizer and card beside ``target``, then swap folders."""
    fresh, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    fresh.mkdir(parents=True)
    (copy.deepcopy(model).half() if half else model).save_pretrained(fresh)
    tokenizer.save_pretrained(fresh)
    (fresh / "README.md").write_text(card, encoding="utf-8")
    for path in fresh.iterdir():
        path.chmod(0o644)  # safetensors writes for its owner alone
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)
