"""Faster imports of large libraries."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from core import extras

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector during imports of large libraries. They create half a million objects that all stay,
    and the collector would check them again and again, which takes a fifth of the import time of torch and
    transformers. Later collections ignore the objects that exist at the end.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def language_models() -> None:
    """Import what loads and runs a language model: torch, and the parts of transformers that every model needs.
    transformers is told that two libraries are not installed, which saves a fifth of the time: scipy.optimize, which it
    uses for object detection, and, without a GPU, accelerate (with boto3 and more), which spreads a model over GPUs.
    Only one thread does this at a time, because another one would take this temporary answer for the truth.

    Raises :class:`~core.extras.MissingPackageError` in a light install.
    """
    extras.need("models")
    with _ONE_AT_A_TIME, uncollected():
        import torch
        import transformers.utils

        hidden = {"is_scipy_available"} | ({"is_accelerate_available"} if not torch.cuda.is_available() else set())
        real = {name: getattr(transformers.utils, name) for name in hidden}
        for name in hidden:
            setattr(transformers.utils, name, _absent)
        try:
            import transformers.modeling_utils
            import transformers.generation.utils  # isort: skip - imports accelerate if it is visible; every model imports it
        finally:
            for name in hidden:
                setattr(transformers.utils, name, real[name])


@contextmanager
def fewer_threads(processes: int) -> Iterator[None]:
    """While the body runs, this process computes with its share of the threads, one of ``processes``."""
    language_models()
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(max(1, before // processes))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _absent(*_: object) -> bool:
    return False
