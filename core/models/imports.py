"""Faster imports of large libraries."""

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from core import extras
from core.models.kept_names import kept_names

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector during imports of large libraries. They create half a million objects that all stay,
    and the collector would check them again and again, which takes a fifth of the import time of torch and
    transformers. Nothing is frozen afterwards: imports leave garbage that holds the frames which they were called from,
    and so a model that these frames load would never go.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def language_models() -> None:
    """Import what loads and runs a language model: torch, and the parts of transformers that every model needs.

    transformers is told that some libraries are not installed: scipy.optimize, which it uses for object detection, and,
    without a GPU, accelerate and torch's tensors and attention for several GPUs. Without a GPU it also gets no compiler
    (:func:`_no_compiler`). Its names of models are kept in the home (:mod:`core.models.kept_names`). Together that
    saves half of the time. If a new version of transformers needs one of them, it is imported as usual.

    Only one thread does this at a time, because another one would take these temporary answers for the truth.

    Raises :class:`~core.extras.MissingPackageError` in a light install.
    """
    extras.need("models")
    with _ONE_AT_A_TIME, uncollected():
        import torch

        with kept_names():
            import_module("transformers.utils")
        has_gpu = torch.cuda.is_available()
        absent = FOR_IMAGES if has_gpu else FOR_IMAGES | FOR_GPUS
        with (
            suppress(ImportError, AttributeError, NameError),
            _told_absent(absent),
            nullcontext() if has_gpu else _no_compiler(),
        ):
            _import_transformers()
            return
        _import_transformers()


def _import_transformers() -> None:
    import_module("transformers.modeling_utils")
    import_module("transformers.generation.utils")  # imports accelerate if it is visible; every model imports it


def adapters() -> None:
    """Import peft, which puts adapters into models.

    It asks of each weight whether that is spread over several devices, with a class of ``torch.distributed.tensor``
    that it does not import. Without a GPU no weight is, and peft is told so: the import takes half a second and 40 MB.
    """
    language_models()
    import torch

    if not torch.distributed.is_available():
        return
    tuners = import_module("peft.tuners.tuners_utils")
    if torch.cuda.is_available() or not hasattr(tuners, SPREADS):
        import_module("torch.distributed.tensor")
    else:
        setattr(tuners, SPREADS, False)


SPREADS = "_torch_supports_distributed"
"""The name in peft of whether weights may be spread over several devices."""


FOR_IMAGES = frozenset({"is_scipy_available"})
FOR_GPUS = frozenset({"is_accelerate_available", "is_torch_distributed_available", "is_torch_flex_attn_available"})


@contextmanager
def _told_absent(questions: frozenset[str]) -> Iterator[None]:
    """While the body runs, transformers' functions of these names answer that a library is not installed. Modules that
    are imported then keep this answer."""
    from transformers import utils

    real = [
        (module, name, getattr(module, name))
        for module in (utils, utils.import_utils)
        for name in questions
        if hasattr(module, name)
    ]
    for module, name, _ in real:
        setattr(module, name, _absent)
    try:
        yield
    finally:
        for module, name, function in real:
            setattr(module, name, function)


@contextmanager
def _no_compiler() -> Iterator[None]:
    """While the body runs, a small module stands in for ``torch._dynamo``, the compiler, whose import takes a second
    with all that it needs. transformers marks some of its functions for the compiler; Hedge compiles nothing, so they
    stay as they are."""
    names = ("torch._dynamo", "torch._dynamo._trace_wrapped_higher_order_op")
    if names[0] in sys.modules:
        yield
        return
    compiler, masks = map(ModuleType, names)
    for mark in ("disable", "allow_in_graph", "assume_constant_result"):
        setattr(compiler, mark, _unchanged)
    masks.TransformGetItemToIndex = _getitem_to_index  # type: ignore[attr-defined]
    sys.modules.update({names[0]: compiler, names[1]: masks})
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


def _unchanged(function: Any = None, *_: object, **__: object) -> Any:
    """The function itself, or a decorator that gives it."""
    return _unchanged if function is None else function


def _getitem_to_index() -> Any:
    """An instance of torch's own class, for the masks that need it."""
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    return TransformGetItemToIndex()


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
