"""Puts an adapter into its base model with peft, which transformers' own ``load_adapter`` does not do rightly for every
kind: transformers 5.23 loses the magnitudes of DoRA."""

from itertools import chain
from pathlib import Path
from typing import Any

import torch

from core.errors import InputError
from core.models.folders import ADAPTER_WEIGHTS, check_adapter, check_digests
from core.models.imports import adapters
from core.models.loaded import check_tensors
from core.models.out_of_memory import is_out_of_memory
from core.models.quiet import quiet
from core.models.safetensors_files import read_header

INSIDE = "base_model.model."
"""What peft puts before the names of a model's tensors."""
NAME = "default"
ELSEWHERE = {"XLORA": "mixes other adapters, which it names", "POLY": "mixes its parts by the number of a task"}
"""Kinds that need more than a text, and why."""
MERGE = "merge it into its base model (merge_and_unload) and run the result"
WAY_OUT = f"choose the model that it was trained on, or {MERGE}"


def put_adapter(model: Any, folder: Path, *, where: str, way_out: str = WAY_OUT) -> None:
    """Put the adapter of a folder into its base model: all tensors that the adapter has, and all that it needs.

    Raises :class:`InputError` if it is damaged, of a kind that does not become a part of the model, or does not fit it.
    ``where`` names the adapter. A model on the meta device is only compared.
    """
    check_digests(folder)
    check_adapter(folder)
    absent = any(parameter.is_meta for parameter in model.parameters())
    adapters()
    from peft import PeftConfig, PeftModel

    try:
        with quiet():
            config = PeftConfig.from_pretrained(str(folder))
    except Exception as error:  # peft may raise anything for a configuration that it can't use
        raise InputError(
            f"the configuration of {where} has values that peft can't use; save it again, or {MERGE}"
        ) from error
    _refuse_kinds(config, where)
    config.inference_mode = True
    try:
        with quiet():
            _fit_vocabulary(model, folder)
            before = {id(tensor) for tensor in chain(model.parameters(), model.buffers())}
            fitted = PeftModel(model, config, adapter_name=NAME, autocast_adapter_dtype=False)
            stored = _stored(fitted, folder)
    except Exception as error:  # and for an adapter that it can't place
        if isinstance(error, InputError) or is_out_of_memory(error):
            raise
        if absent and isinstance(error, RuntimeError):
            return  # a kind that computes with the base model's weights (PiSSA), which are not there
        raise InputError(
            f"{where} can't be put into its base model, a {type(model).__name__}: it was made for another model, or is "
            "of a kind that peft can't place; choose the model that it was trained on"
        ) from error
    own = fitted.state_dict()
    needed = _needed(fitted, config, before)
    there = {id(tensor) for name, tensor in _tensors(fitted) if name in stored}
    check_tensors(
        missing=[_plain(name) for name, tensor in needed.items() if id(tensor) not in there],
        left_over=[_plain(name) for name in stored if name not in own and not _is_second(name, stored)],
        reshaped=[
            (_plain(name), tensor.shape, own[name].shape)
            for name, tensor in stored.items()
            if name in own and tensor.shape != own[name].shape
        ],
        expected=len(needed),
        into=f"an adapter of {type(model).__name__}",
        where=where,
        way_out=way_out,
    )
    if not absent:
        fitted.load_state_dict(stored, strict=False)
    model.eval()


def _refuse_kinds(config: Any, where: str) -> None:
    kind = str(getattr(config.peft_type, "value", config.peft_type))
    why = ELSEWHERE.get(kind)
    if config.is_prompt_learning:
        why = "puts learned vectors in front of each text"
    if getattr(config, "alora_invocation_tokens", None):
        kind, why = "aLoRA", "changes the model only after its own invocation tokens"
    if why:
        raise InputError(
            f"{where} is of a kind that Hedge can't score ({kind}): it {why}; use an adapter that changes the model's "
            "weights for every text, such as LoRA"
        )


def _fit_vocabulary(model: Any, folder: Path) -> None:
    """Give the model as many tokens as an adapter stores that was trained after tokens were added or removed. It has to
    store the embeddings and the output matrix, unless these are one tensor."""
    embeddings, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is None:
        return
    names = {id(layer): name for name, layer in model.named_modules() if layer is embeddings or layer is head}
    needed = [names[id(embeddings)]] if head.weight is embeddings.weight else list(names.values())
    header = {_plain(name): tensor for name, tensor in read_header(folder / ADAPTER_WEIGHTS).items()}
    tokens = {header[f"{name}.weight"].shape[0] if f"{name}.weight" in header else 0 for name in needed}
    if 0 not in tokens and len(tokens) == 1 and tokens != {len(embeddings.weight)}:
        model.resize_token_embeddings(tokens.pop(), mean_resizing=False)


def _stored(fitted: Any, folder: Path) -> dict[str, torch.Tensor]:
    from peft import load_peft_weights, set_peft_model_state_dict

    stored: dict[str, torch.Tensor] = {}

    def noted(state: dict[str, torch.Tensor], **_: Any) -> None:
        stored.update(state)

    fitted.load_state_dict = noted  # peft finds the names; what it would load is compared first
    try:
        set_peft_model_state_dict(fitted, load_peft_weights(str(folder), device="cpu"), adapter_name=NAME)
    finally:
        del fitted.load_state_dict
    return stored


def _needed(fitted: Any, config: Any, before: set[int]) -> dict[str, torch.Tensor]:
    """The tensors that the adapter brought into the model and that its folder has to store. A kind may compute others
    from its configuration; they have other names than its own (peft's prefix of the kind)."""
    from peft.mapping import PEFT_TYPE_TO_PREFIX_MAPPING

    kind = PEFT_TYPE_TO_PREFIX_MAPPING.get(config.peft_type, "")
    marks = (f".{kind}", ".modules_to_save.", ".token_adapter.")
    own = fitted.state_dict()
    return {
        name: tensor
        for name, tensor in _tensors(fitted)
        if id(tensor) not in before and name in own and any(mark in name for mark in marks)
    }


def _tensors(fitted: Any) -> list[tuple[str, torch.Tensor]]:
    """All parameters and buffers; one that has two names is listed twice."""
    return [*fitted.named_parameters(remove_duplicate=False), *fitted.named_buffers(remove_duplicate=False)]


def _is_second(name: str, stored: dict[str, torch.Tensor]) -> bool:
    """Whether this is the second name of a trained layer, under which peft stores it too if tokens were added."""
    return ".modules_to_save." in name and name.replace(".modules_to_save.", f".modules_to_save.{NAME}.") in stored


def _plain(name: str) -> str:
    return name.removeprefix(INSIDE)
