"""Loads models from disk or the hub: only safetensors, without foreign code, in the requested precision."""

import importlib.util
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from core.errors import InputError
from core.models.adapter_loading import put_adapter
from core.models.configurations import load_configuration, refuse_quantised
from core.models.folders import ADAPTER
from core.models.hub_cache import cached_file
from core.models.imports import language_models
from core.models.kinds import quantisation
from core.models.loaded import check_left_to_right, check_numbers, check_tensors, check_types
from core.models.loading_progress import reported
from core.models.meta_device import QuickMeta
from core.models.model_fingerprint import pinned
from core.models.model_sources import ModelSource
from core.models.out_of_memory import is_out_of_memory
from core.models.placement import Placement, check_all_placed, place
from core.models.quiet import quiet
from core.models.rope_lengths import ropes_of_length
from core.models.safetensors_files import INDEX, SINGLE, Stored, read_header, read_json, weight_files
from core.models.tokenizers import base_of, load_tokenizer, loading_sentence

QUANTIZED: dict[str, dict[str, Any]] = {
    "int8": {"load_in_8bit": True},
    "int4": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}


NEEDS = re.compile(r"pip install '?([\w.-]+)")
"""The package in a library's message about one that is missing."""


def load_model(
    source: ModelSource, *, dtype: str, device: str = "", report: Callable[[str], None] | None = None
) -> tuple[Any, Any]:
    """The model in evaluation mode and its tokenizer; an adapter's base model with the adapter in it.

    It is loaded onto ``device`` if one is named, otherwise onto the device that :func:`~core.models.placement.place`
    chooses. ``report`` receives the progress.

    The model is the one that was stored: no tensor is missing, left over or of another shape, all are finite, and it
    reads from left to right. Raises :class:`InputError` if one of these is not true, or if model or tokenizer can't be
    loaded as requested.
    """
    language_models()
    source = pinned(source)
    base = pinned(base_of(source))
    config = load_configuration(base)
    where = f"model {base.location}"
    placed = place(base.location, dtype=dtype, device=device)
    arguments = _arguments(dtype, placed)
    refuse_quantised(config, where=where, dtype=dtype, on_gpu=placed.device.startswith("cuda"))
    tokenizer = load_tokenizer(source, base)
    with quiet():
        model = _whole_model(base, config, arguments, where=where, report=report)
        check_all_placed(model, where=where)
        if source.is_adapter:
            put_adapter(model, Path(_adapter_folder(source)), where=f"adapter {source.location}")
        if dtype == "float32":
            _be_exact(model, source)
        spread = getattr(model, "hf_device_map", None) is not None
        model = (model if spread else model.to(placed.device)).eval()
        check_numbers(
            model, where=where, dtype=dtype, adapter=f"adapter {source.location}" if source.is_adapter else ""
        )
        ropes_of_length(model)
        check_left_to_right(model, where=where)
    return model, tokenizer


def check_stored(source: ModelSource, base: ModelSource, config: Any) -> None:
    """Raise :class:`InputError` if the tensors in a folder are not those of the model that ``config`` describes, or an
    adapter's not those that its base model needs.

    Reads only the names and shapes of the tensors. Models on the hub are not checked, and neither are quantised
    weights, which another machine may be able to load.
    """
    if base.is_hub or quantisation(config.to_dict()):
        return
    arguments = {"use_safetensors": True, "trust_remote_code": False, "dtype": torch.float32}
    with quiet(), _accelerate_seen():
        model = _whole_model(base, config, arguments | {"device_map": {"": "meta"}}, where=f"model {base.location}")
        if source.is_adapter and not source.is_hub:
            put_adapter(model, Path(_adapter_folder(source)), where=f"adapter {source.location}")


@contextmanager
def _accelerate_seen() -> Iterator[None]:
    """transformers requires accelerate before it puts a model on the meta device, although nothing of it is used there,
    and :func:`~core.models.imports.language_models` hides accelerate on machines without a GPU."""
    from transformers.integrations import accelerate

    real = accelerate.is_accelerate_available
    accelerate.is_accelerate_available = lambda *_: True
    try:
        yield
    finally:
        accelerate.is_accelerate_available = real


def _whole_model(
    base: ModelSource,
    config: Any,
    arguments: dict[str, Any],
    *,
    where: str,
    report: Callable[[str], None] | None = None,
) -> Any:
    """The model with every tensor in its place, or :class:`InputError`."""
    from transformers import AutoModelForCausalLM

    raised: list[Exception] = []
    try:
        with reported(report, _files(base) if report else {}) as raised, QuickMeta():
            model, info = AutoModelForCausalLM.from_pretrained(
                base.location, **arguments, **base.pin, output_loading_info=True, ignore_mismatched_sizes=True
            )
    except Exception as error:  # a model's class may raise anything for a configuration or a tensor that it can't use
        if error in raised or is_out_of_memory(error):
            raise
        raise InputError(_unloadable(base, config, error)) from error
    if getattr(model, "_hf_peft_config_loaded", False):
        raise InputError(
            f"{where} holds a whole model and an adapter ({ADAPTER}), and it is not plain which is meant; keep each in "
            "a place of its own"
        )
    for module in model.modules():
        if getattr(module, "config", None) is not None:
            module.config.return_dict = True  # otherwise its logits come without their name
    stored, quantised = _stored(base), bool(quantisation(config.to_dict()))
    check_tensors(
        missing=info["missing_keys"],
        left_over=info["unexpected_keys"],
        reshaped=info["mismatched_keys"],
        expected=len(model.state_dict()),
        into=f"a {type(model).__name__}",
        where=where,
        stored=stored,
        config=config,
        quantised=quantised or "quantization_config" in arguments,
    )
    if not quantised:
        check_types(model, stored, where=where)
    return model


def _unloadable(base: ModelSource, config: Any, error: Exception) -> str:
    """Why transformers could not build a model from a configuration of a known type, or load its weights."""
    method = quantisation(config.to_dict())
    if method:
        package = NEEDS.search(str(error))
        return (
            f"model {base.location} keeps its weights quantised ({method}), which transformers could not load here; "
            f"install the package that reads them{f' ({package[1]})' if package else ''}, or choose the model that it "
            "was made from"
        )
    if isinstance(error, SafetensorError):
        return f"the safetensors files of model {base.location} contradict their own headers; download them again"
    if "conversion of the weights" in str(error):
        return (
            f"the weights of model {base.location} can't be put together into those of a {config.model_type}: parts of "
            "a fused or an expert's matrix are missing or of another shape; save or download the model again"
        )
    if isinstance(error, ImportError):
        return (
            f"the config.json of model {base.location} asks for something that is not installed here, as another way "
            "of computing attention or a package; take that out of config.json, or install it"
        )
    from transformers import AutoModelForCausalLM, GenerationConfig

    try:
        with torch.device("meta"):
            AutoModelForCausalLM.from_config(config)
    except Exception:  # so it is the configuration, whatever the weights are
        return (
            f"the config.json of model {base.location} has values that transformers can't use for a "
            f"{config.model_type}; take the config.json that came with the weights"
        )
    try:
        GenerationConfig.from_pretrained(base.location, **base.pin)
    except OSError:  # there is none
        pass
    except Exception:  # it checks its values, and some of them may raise anything
        return (
            f"the generation_config.json of model {base.location} has values that transformers can't read; take the "
            "file that came with the weights, or leave only its end tokens in it (eos_token_id)"
        )
    return loading_sentence(base, error)


def _stored(base: ModelSource) -> dict[str, Stored]:
    """The types and shapes in the headers of the weights' files, by the tensors' names."""
    folder = Path(base.location)
    if base.is_hub:
        from transformers.utils.hub import cached_file

        try:
            folder = Path(cached_file(base.location, "config.json", local_files_only=True, **base.pin)).parent
        except OSError:
            return {}
        if not any((folder / name).is_file() for name in (SINGLE, INDEX)):
            return {}
    tensors: dict[str, Stored] = {}
    for path in weight_files(folder):
        tensors |= read_header(path)
    return tensors


def _files(base: ModelSource) -> dict[str, str]:
    """The file of each tensor, from the index of the shards; empty if there is a single file, or if the index has not
    been downloaded yet."""
    index = Path(base.location) / INDEX
    if base.is_hub:
        index = cached_file(base.location, INDEX, revision=base.revision) or index
    return dict(read_json(index).get("weight_map") or {}) if index.is_file() else {}


def _adapter_folder(source: ModelSource) -> str:
    """The folder of an adapter's safetensors. Nothing else is fetched from the hub, so that there is no pickle to
    read."""
    if not source.is_hub:
        return source.location
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        weights = hf_hub_download(source.location, "adapter_model.safetensors", **source.pin)
    except EntryNotFoundError as error:
        raise InputError(
            f"adapter {source.location!r} has no adapter_model.safetensors; weights in a pickle may run code when read"
        ) from error
    return str(Path(weights).parent)


def _arguments(dtype: str, placed: Placement) -> dict[str, Any]:
    arguments: dict[str, Any] = {"use_safetensors": True, "trust_remote_code": False}
    if dtype in QUANTIZED:
        if not placed.device.startswith("cuda") or importlib.util.find_spec("bitsandbytes") is None:
            raise InputError(
                f"{dtype} needs an NVIDIA GPU and the package bitsandbytes, which are not both here; "
                "choose 32-bit (float32) or 16-bit (float16, bfloat16) precision"
            )
        from transformers import BitsAndBytesConfig

        # Parts that are not quantised compute in bfloat16.
        quantized = BitsAndBytesConfig(**QUANTIZED[dtype])
        arguments |= {"quantization_config": quantized, "dtype": torch.bfloat16}
        return arguments | placed.arguments(quantised=True)
    return arguments | {"dtype": getattr(torch, dtype)} | placed.arguments(quantised=False)


def _be_exact(model: Any, source: ModelSource) -> None:
    """Make float32 exact: all weights have this type, and matrix products do not use TF32."""
    other = sorted({str(p.dtype) for p in model.parameters() if p.dtype != torch.float32})
    if other:
        raise InputError(
            f"model {source.location} keeps weights as {', '.join(other)} and can't be run in 32-bit precision "
            "(float32); choose the precision it was made for"
        )
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
