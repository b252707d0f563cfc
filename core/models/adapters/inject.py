"""Putting adapters into a model: probabilistic layers, or PEFT's LoRA as the baseline."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.errors import InputError
from core.models.adapters.layer import ProbLora, is_linear
from core.models.imports import adapters
from core.models.model_sources import ModelSource, resolve

TARGETS = ("q_proj", "v_proj")
MOST_RANKS = 1024


def inject(model: Any, *, rank: int, alpha: float, targets: Sequence[str] = TARGETS) -> list[str]:
    """Freeze a model and wrap each linear layer whose own name is in ``targets``. Returns the layers' full names.

    Raises :class:`InputError` if the rank is not possible or a name is not found.
    """
    check_rank(rank)
    names = [name for name, module in model.named_modules() if name.rsplit(".", 1)[-1] in targets and is_linear(module)]
    missing = [target for target in targets if not any(name.rsplit(".", 1)[-1] == target for name in names)]
    if missing:
        there = sorted({name.rsplit(".", 1)[-1] for name, module in model.named_modules() if is_linear(module)})
        raise InputError(
            f"the model has no linear layer called {', '.join(missing)}; choose targets among {', '.join(there)}"
        )
    model.requires_grad_(False)
    for name in names:
        holder, _, own = name.rpartition(".")
        parent = model.get_submodule(holder)
        setattr(parent, own, ProbLora(getattr(parent, own), rank=rank, alpha=alpha))
    return names


def inject_lora(model: Any, *, rank: int, alpha: float, targets: Sequence[str] = TARGETS) -> Any:
    """The model with PEFT's LoRA in the same layers (Hu et al. 2021)."""
    adapters()
    from peft import LoraConfig, get_peft_model

    check_rank(rank)
    scale: Any = alpha  # peft takes a fraction too, whatever its types say
    config = LoraConfig(r=rank, lora_alpha=scale, target_modules=list(targets), task_type="CAUSAL_LM")
    try:
        with peft_by_its_old_name():
            return get_peft_model(model, config)
    except ValueError as error:
        raise InputError(f"LoRA can't be put into the model: {str(error).splitlines()[0][:200]}") from error


@contextmanager
def peft_by_its_old_name() -> Iterator[None]:
    """peft still asks transformers 5 for gradient checkpointing by its old name, which warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        yield


def trainable(model: str) -> ModelSource:
    """The model for which an adapter will be trained. Raises :class:`InputError` if it is an adapter itself."""
    source = resolve(model)
    if source.is_adapter:
        raise InputError(f"{model} is an adapter already; give the model that it belongs to, or use it as it is")
    return source


def check_rank(rank: int) -> int:
    """The rank, if it is a whole number from 1. Raises :class:`InputError` otherwise."""
    if not 1 <= rank <= MOST_RANKS:
        raise InputError(f"a rank must be a whole number from 1 to {MOST_RANKS}, got {rank}")
    return rank
