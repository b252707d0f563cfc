"""A model's folder whose weights are replaced as ``cp -p`` and ``rsync -t`` do: same size, same time."""

import os
import shutil
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from core.settings import ASSETS

WEIGHTS = "model.safetensors"


def own_model(folder: Path, model: str = "pocket-1m") -> Path:
    """A copy of a model that ships, in a folder of a person's own."""
    shutil.copytree(ASSETS / "models" / model, folder)
    return folder


def replace_weights(folder: Path, *, share: float = 0.5, seed: int = 0) -> None:
    """Add noise to every matrix, a ``share`` of its own spread, as a later checkpoint of a training could."""
    path = folder / WEIGHTS
    before = path.stat()
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    generator = torch.Generator().manual_seed(seed)
    tensors = {
        name: w + share * w.std() * torch.randn(w.shape, generator=generator) if w.ndim > 1 else w
        for name, w in load_file(path).items()
    }
    save_file(tensors, path, metadata=metadata)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
