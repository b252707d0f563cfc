"""A model's output matrix with float32 logits, whatever precision the model has.

A logit of 8 to 16 in bfloat16 comes in steps of 1/16, so that the letters of a question often tie. The products are
summed in float32 anyway. Only the last rounding is omitted here, so the weights need not be more precise.
"""

from functools import partial
from typing import Any

import torch

SLICE = 8192
"""The number of rows of the output matrix that are converted to float32 at a time, on a device that has no product with
float32 results."""


def give_float32(model: Any) -> None:
    """Let the output matrix of a model in half precision give float32 logits, in every call of the model."""
    head = _matrix(model.get_output_embeddings())
    if type(head) is not torch.nn.Linear or head.weight.dtype not in (torch.bfloat16, torch.float16):
        return
    # accelerate, which spreads a model over devices, has wrapped the layer and calls the original by this name.
    name = "_old_forward" if hasattr(head, "_old_forward") else "forward"
    setattr(head, name, partial(_product, head, {}))


def _matrix(head: Any) -> Any:
    """The layer itself, which an adapter may have wrapped or replaced by one that it trained."""
    trained = getattr(head, "modules_to_save", None)
    return getattr(head, "base_layer", head) if trained is None else trained[head.active_adapters[0]]


def _product(head: torch.nn.Linear, copies: dict[str, torch.Tensor], states: torch.Tensor) -> torch.Tensor:
    """``states @ weight.T + bias`` in float32. ``copies`` holds a CPU's float32 copy of the matrix: without one, each
    product would convert it again, and a product in bfloat16 takes longer than one in float32 there."""
    weight = head.weight
    if weight.device.type == "cpu":
        if "weight" not in copies:
            copies["weight"] = weight.detach().float()
        product = torch.nn.functional.linear(states.float(), copies["weight"])
    else:
        product = _on_device(states.to(weight.dtype), weight)
    return product if head.bias is None else product + head.bias.float()


def _on_device(states: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    flat = states.reshape(-1, states.shape[-1])
    try:
        product = torch.mm(flat, weight.t(), out_dtype=torch.float32)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        product = torch.cat(
            [torch.nn.functional.linear(flat.float(), part.float()) for part in weight.split(SLICE)], -1
        )
    return product.reshape(*states.shape[:-1], -1)
