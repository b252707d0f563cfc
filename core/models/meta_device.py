"""Tensors on torch's meta device, which have a shape and no numbers, without torch's compiler.

transformers builds every model on the meta device before it reads the weights. torch 2.13 knows the shapes of random
numbers, of ``arange`` and of arithmetic there only by Python code that imports its compiler and sympy, which takes a
second. :class:`QuickMeta` gives the same tensors without that code.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

FILLS = frozenset(
    f"{kind}_"
    for kind in (
        *("normal", "uniform", "trunc_normal", "orthogonal", "sparse"),
        *("xavier_normal", "xavier_uniform", "kaiming_normal", "kaiming_uniform"),
    )
)
"""Functions that fill their first argument with random numbers: on the meta device there is nothing to fill."""
FACTORIES = frozenset({"arange", "linspace", "full", "rand", "randn"})
_OPERATIONS = ("div", "true_divide", "truediv", "pow", "mul", "add", "sub")
ARITHMETIC = frozenset(
    {
        *_OPERATIONS,
        *(f"__{reflected}{name}__" for name in _OPERATIONS for reflected in ("", "r")),
        *("__rdiv__", "rsub", "reciprocal", "exp", "log", "neg", "__neg__"),
    }
)
"""Functions of tensors and numbers whose result has a shape and a type that do not depend on the numbers."""
LARGEST = 2**20
"""Numbers in a tensor for which a real one may be made for a moment, to learn the shape and the type of a result."""


class QuickMeta(TorchFunctionMode):  # type: ignore[misc]
    """While it is active, :data:`FILLS`, :data:`FACTORIES` and :data:`ARITHMETIC` on the meta device give tensors of
    the shape and type that torch gives, computed on the CPU, and so does ``empty_like`` of such a tensor. All other
    calls are torch's own."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in FILLS:
            tensor = args[0] if args else kwargs.get("tensor")
            if _is_meta(tensor):
                return tensor
        elif name in FACTORIES:
            if kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "meta":
                return func(*args, **kwargs | {"device": "cpu"}).to("meta")
        elif name in ARITHMETIC and not kwargs and any(_is_meta(value) for value in args):
            tensors = [value for value in args if isinstance(value, torch.Tensor)]
            if all(tensor.is_meta and tensor.numel() <= LARGEST for tensor in tensors):
                return func(*map(_on_cpu, args)).to("meta")
        elif name == "empty_like" and kwargs.keys() == {"device"} and _is_meta(args[0]) and args[0].is_contiguous():
            return torch.empty(args[0].shape, dtype=args[0].dtype, device=kwargs["device"])
        return func(*args, **kwargs)


def _is_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_meta


def _on_cpu(value: Any) -> Any:
    return torch.ones(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value
