"""Faster imports of large libraries."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector, for imports of large libraries.

    They make half a million objects, of which all stay and which the collector goes over again and again: a fifth of
    the time that torch and transformers take. What was there at the end is not looked at again by later collections.
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
    """Import what loads and runs a language model: torch, and of transformers what every model needs.

    Two things that it imports are left out by telling it that they are not there: scipy.optimize, for losses of finding
    objects in images, and accelerate (with boto3 and more) where there is no GPU to spread a model over. They are a
    fifth of the whole.
    Threads that come at once take turns: the second would take what the first says meanwhile for the truth.
    """
    with _ONE_AT_A_TIME, uncollected():
        import torch
        import transformers.utils

        hidden = {"is_scipy_available"} | ({"is_accelerate_available"} if not torch.cuda.is_available() else set())
        real = {name: getattr(transformers.utils, name) for name in hidden}
        for name in hidden:
            setattr(transformers.utils, name, _absent)
        try:
            import transformers.modeling_utils
            import transformers.generation.utils  # isort: skip - with accelerate, if it is seen; every model imports it
        finally:
            for name in hidden:
                setattr(transformers.utils, name, real[name])


def _absent(*_: object) -> bool:
    return False
