"""The state of a training, small enough to be committed, so that training goes on where its machine is lost.

A folder holds the weights, the recipe and the progress, and the tokenizer. The weights of a training that has steps
left are bfloat16 (two bytes a parameter). Those of one that has none are stored as its model stores them, so that it is
written as it was made. The optimizer is left out: it begins anew, and the learning rate rises again over a few steps.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from pocket_world import checkpoint
from pocket_world.publish import replace_folder

_WEIGHTS, _STATE, _TOKENIZER = "weights.safetensors", "state.json", "tokenizer"
_TIED = "lm_head.weight"


def keep(work: Path, target: Path) -> None:
    """Write the last checkpoint of a work folder into ``target``, in place of what was there.

    Raises :class:`InputError` if there is no checkpoint.
    """
    state = checkpoint.read(work)
    progress, recipe = state["progress"], state["recipe"]
    is_whole = progress["stage"] == "everything" and progress["step"] >= recipe["steps"]
    stored = torch.float16 if recipe["half"] else torch.float32
    kind = stored if is_whole else torch.bfloat16
    weights = {name: tensor.to(kind) for name, tensor in state["model"].items() if name != _TIED}
    said = {name: state[name] for name in ("recipe", "epsilon", "progress")}

    def fill(folder: Path) -> None:
        save_file(weights, folder / _WEIGHTS)
        (folder / _WEIGHTS).chmod(0o644)  # safetensors writes for its owner alone
        (folder / _STATE).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
        shutil.copytree(work / _TOKENIZER, folder / _TOKENIZER)

    replace_folder(target, fill)


def load(folder: Path) -> dict[str, Any]:
    """A kept state as a checkpoint has it, without its optimizers; weights are float32."""
    state: dict[str, Any] = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    weights = {name: tensor.float() for name, tensor in load_file(folder / _WEIGHTS).items()}
    state["model"] = weights | {_TIED: weights["model.embed_tokens.weight"]}
    return state
