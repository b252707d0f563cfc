"""Checks that a loaded model is the one that was stored: every tensor is in its place, and all values are finite.
transformers fills missing tensors with random numbers and drops unexpected ones. Either way the figures would be those
of another model, so nothing is scored in that case.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import torch

from core.errors import InputError
from core.models.kinds import INSTEAD
from core.models.out_of_memory import is_out_of_memory
from core.models.safetensors_files import Stored, first_names

MASK = r"(^|\.)(attn|attention|self_attention)\.(bias|masked_bias)$"

HARMLESS: dict[str, str] = {
    r"(^|\.)rotary_emb\.inv_freq$": "rotary frequencies; the model computes them from its configuration",
    r"(^|\.)position_ids$": "the numbers 0, 1, 2, …; the model counts by itself",
    MASK: "the causal mask of GPT-2, GPT-Neo, GPT-J and GPT-NeoX, where it has the shape of one",
    r"(^|\.)mtp(_layers)?\.": "layers that predict several tokens at once (DeepSeek, Qwen3-Next, MiMo, GLM); the next "
    "token does not pass through them",
    r"^model\.layers\.{after}\.": "the same layers where they are numbered after the model's own; only where the "
    "configuration has num_nextn_predict_layers",
    r"^(model\.)?(visual|vision_tower|vision_model|multi_modal_projector|audio_tower|embed_(vision|audio))\.": "what "
    "sees images and hears sounds; text does not pass through it",
}
"""Maps names of tensors that may be left over to the reason why no figure depends on them. A missing tensor is never
harmless. transformers itself ignores the second name of tied embeddings if one of the two is stored, and the tensors
that a model's class lists as unused (such as the masks and layers above, by each class's own names). Only one of 189
types may lack a tensor in this way: A.X-K1 may lack the bias that corrects its experts' scores, which is then 0.
"""
NOT_NUMBERS = {f"{kind}{bits}" for kind in "IU" for bits in (8, 16, 32, 64)}
NOT_NUMBERS |= {"BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4", "C64"}
"""Data types in which only quantised weights are stored."""
PROBE = (1, 2, 3, 4, 5)
ENDS = (6, 7)
"""Tokens that are appended to the probe, one at a time."""
LOOKS_BACK_ONLY = 1e-4
"""Largest share of the logits' size by which a later token may move earlier logits; half precision gets eight steps."""

WEIGHTS = ("weight", "bias")

Mismatch = tuple[str, Collection[int], Collection[int]]


def check_tensors(
    *,
    missing: Iterable[str],
    left_over: Iterable[str],
    reshaped: Iterable[Mismatch],
    expected: int,
    into: str,
    where: str,
    stored: Mapping[str, Stored] | None = None,
    config: Any = None,
    quantised: bool = False,
    way_out: str = "save the model again from the class that it was trained with, or choose a whole one",
) -> None:
    """Raise :class:`InputError`, naming tensors, unless all needed tensors were stored and all stored tensors are used.

    ``reshaped`` are (name, stored shape, needed shape), ``expected`` is the number of tensors of the model ``into``,
    and ``stored`` holds the files' tensors as far as they are known. For a ``quantised`` model only the weights
    themselves count, because its library creates and drops other tensors (scales, maps) freely.
    """
    lacking = sorted(name for name in missing if not quantised or name.endswith(WEIGHTS))
    left = sorted(
        name
        for name in left_over
        if (not quantised or name.endswith(WEIGHTS)) and not _is_harmless(name, stored or {}, config)
    )
    shapes = sorted((name, tuple(stored_shape), tuple(needed)) for name, stored_shape, needed in reshaped)
    lacking = [name for name in lacking if name not in {name for name, _, _ in shapes}]
    faults = []
    if lacking:
        faults.append(f"{len(lacking)} of {expected} tensors {_are(lacking)} missing ({first_names(lacking)})")
    if left:
        faults.append(f"{_tensors(left)} {_are(left)} left over ({first_names(left)})")
    if shapes:
        name, stored_shape, needed = shapes[0]
        rest = f" and {len(shapes) - 1} more" if len(shapes) > 1 else ""
        faults.append(
            f"{_tensors(shapes)} {'has' if len(shapes) == 1 else 'have'} another shape ({name} is "
            f"{_shape(stored_shape)} and must be {_shape(needed)}{rest})"
        )
    if not faults:
        return
    raise InputError(
        f"the weights of {where} are not those of {into}, which its configuration describes: {', '.join(faults)}, so "
        f"its figures would mean nothing; {way_out}"
    )


def _is_harmless(name: str, stored: Mapping[str, Stored], config: Any) -> bool:
    text = config.get_text_config() if config is not None else None
    more = getattr(text, "num_nextn_predict_layers", None) or 0
    first = getattr(text, "num_hidden_layers", None) or 0
    for pattern in HARMLESS:
        after = "|".join(str(first + i) for i in range(more)) or "(?!)"
        if not re.search(pattern.replace("{after}", f"({after})"), name):
            continue
        return pattern != MASK or any(
            len(tensor.shape) == 4 or math.prod(tensor.shape) == 1
            for own, tensor in stored.items()
            if name.endswith(own)
        )
    return False


def check_types(model: Any, stored: Mapping[str, Stored], *, where: str) -> None:
    """Raise :class:`InputError` if a weight is stored in a type that only quantised weights have."""
    odd = {name: tensor.dtype for name, tensor in stored.items() if tensor.dtype in NOT_NUMBERS}
    if not odd:
        return
    names = [name for name, _ in model.named_parameters()]
    for name, dtype in sorted(odd.items()):
        if any(own == name or own.endswith(f".{name}") or name.endswith(f".{own}") for own in names):
            raise InputError(
                f"{where} stores {name} as {dtype}, and its config.json does not say how such weights were quantised; "
                "use the model that it was made from"
            )


def check_numbers(model: Any, *, where: str, dtype: str, adapter: str = "") -> None:
    """Raise :class:`InputError`, naming tensors, if a weight is not a finite number; ``adapter`` is the adapter that
    was put into the model, if there is one."""
    with torch.inference_mode():
        broken = [
            name
            for name, weight in model.named_parameters()
            if not weight.is_meta and weight.is_floating_point() and weight.numel() and not _is_finite(weight)
        ]
    if not broken:
        return
    own = [name for name in broken if adapter and re.search(r"\.(lora_|default\b)", name)]
    why = "" if dtype == "float32" else f" in {dtype}"
    raise InputError(
        f"{_tensors(own or broken)} of {adapter if own else where} {'holds' if len(own or broken) == 1 else 'hold'} "
        f"values that are no finite numbers{why} ({first_names(sorted(own or broken))}); "
        + ("download or save it again" if dtype == "float32" else "choose 32-bit precision (float32), or another model")
    )


def _is_finite(weight: torch.Tensor) -> bool:
    """In one pass over the weight, whose least and largest values are NaN if it contains NaN."""
    try:
        ends = torch.aminmax(weight)
    except (RuntimeError, NotImplementedError):  # the device or the type has no such kernel
        ends = torch.aminmax(weight.float())
    return all(bool(torch.isfinite(end)) for end in ends)


def check_left_to_right(model: Any, *, where: str) -> None:
    """Raise :class:`InputError` unless the model gives finite logits for a few tokens and reads from left to right. If
    changing the last token changes the logits before it, the model looks ahead: it was trained to fill gaps, and its
    prediction of a next token means nothing.
    """
    kind = f"{where} ({model.config.model_type})"
    try:
        size = int(model.get_input_embeddings().weight.shape[0])
        probes = [[token % size for token in (*PROBE, last)] for last in ENDS]
        with torch.inference_mode():
            device = model.get_input_embeddings().weight.device
            logits, changed_logits = (
                model(input_ids=torch.tensor([probe], device=device), use_cache=False).logits[0, :-1].float()
                for probe in probes
            )
    except Exception as error:  # anything that a model's code raises if it needs more than text
        if is_out_of_memory(error):
            raise
        raise InputError(
            f"{kind} can't be asked with text alone ({type(error).__name__}), so Hedge can't score it; {INSTEAD}"
        ) from error
    if not bool(torch.isfinite(logits).all()):
        raise InputError(
            f"{kind} gives no numbers for a text of {len(PROBE)} tokens; its weights are broken, or it needs 32-bit "
            "(float32) or 16-bit (bfloat16) precision"
        )
    if logits.shape[1] < 2:
        raise InputError(f"{kind} gives {logits.shape[1]} number a token and no words; {INSTEAD}")
    allowed = max(LOOKS_BACK_ONLY, 8 * torch.finfo(model.dtype).eps) * float(logits.abs().max())
    if float((logits - changed_logits).abs().max()) > allowed:
        raise InputError(
            f"{kind} reads text in both directions, so what it says of a next token means nothing; {INSTEAD}"
        )


def _tensors(names: Collection[Any]) -> str:
    return "1 tensor" if len(names) == 1 else f"{len(names)} tensors"


def _are(names: Collection[Any]) -> str:
    return "is" if len(names) == 1 else "are"


def _shape(sizes: Iterable[int]) -> str:
    return " × ".join(map(str, sizes)) or "a single number"
