"""Adapters on disk: ``adapter.safetensors`` with ``adapter.json``, PEFT's own folder for LoRA, and the documents'
whole-model checkpoints.

Weights are read from safetensors; a ``.bin`` or ``.pt`` only through ``torch.load(weights_only=True)``, which makes
nothing but tensors.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from core.errors import InputError
from core.models import adapter_loading
from core.models.adapters.inject import inject
from core.models.adapters.layer import layers_of, variances
from core.models.folders import ADAPTER, OWN_ADAPTER, check_digests, training_record
from core.models.model_sources import ModelSource, resolve
from core.models.replaced_weights import TRAINED_ON
from core.models.safetensors_files import read_header
from core.storage.sealed import digests_of, write_json

WEIGHTS, CONFIGURATION = "adapter.safetensors", OWN_ADAPTER
SCHEMA = 1
BASE_NAMES = ("base", "base_proj", "base_layer", "proj", "linear")
"""What the wrapped layer is called in whole-model checkpoints."""
WHOLE = ("model.safetensors", "pytorch_model.bin", "model.bin", "model.pt")

Tensors = dict[str, torch.Tensor]


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds an adapter that Hedge wrote."""
    return (folder / CONFIGURATION).is_file()


def own_tensors(model: Any) -> Tensors:
    """The tensors that training changes: A, B and est_var of each probabilistic layer, or LoRA's matrices."""
    layers = layers_of(model)
    if layers:
        return {
            f"{name}.{part}": getattr(layer, part).detach().clone().contiguous()
            for name, layer in layers.items()
            for part in ("A", "B", "est_var")
        }
    return {name: weight.detach().clone() for name, weight in model.named_parameters() if weight.requires_grad}


def put_tensors(model: Any, tensors: Mapping[str, torch.Tensor], *, where: str) -> None:
    """Set what :func:`own_tensors` gave. Raises :class:`InputError` if names or shapes are of another architecture."""
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    expected = set(own_tensors(model))
    if set(tensors) != expected:
        odd = sorted(set(tensors) ^ expected)[0]
        raise InputError(
            f"{where} is of another architecture: {odd} is only {'there' if odd in tensors else 'in the model'}; "
            "choose the model that it was trained for"
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            if own[name].shape != tensor.shape:
                raise InputError(
                    f"{where} is of another architecture: {name} has shape {tuple(tensor.shape)}, the model "
                    f"{tuple(own[name].shape)}; choose the model that it was trained for"
                )
            own[name].copy_(tensor)


def save(
    model: Any, folder: Path, *, recipe: Mapping[str, Any], base: str, base_weights: str, progress: list[dict[str, Any]]
) -> None:
    """Write the adapter and its description into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"schema": SCHEMA, "base": base, TRAINED_ON: base_weights, "recipe": dict(recipe), "progress": progress}
    if layers_of(model):
        save_file(own_tensors(model), folder / WEIGHTS)
        values["variances"] = variances(model)
    else:
        model.peft_config["default"].base_model_name_or_path = base
        model.save_pretrained(str(folder), save_embedding_layers=False)  # else peft asks the hub for the base model
    values["files"] = digests_of(path for path in (*folder.glob("*.safetensors"), folder / ADAPTER) if path.is_file())
    write_json(folder / CONFIGURATION, values, indent=1)
    (folder / "README.md").write_text(_card(folder.name, values), encoding="utf-8")
    for path in folder.glob("*.safetensors"):
        path.chmod(0o644)  # safetensors writes for its owner alone


def _card(name: str, values: Mapping[str, Any]) -> str:
    recipe = values["recipe"]
    return (
        f"# {name}\n\nAn adapter ({recipe['kind']}, rank {recipe['rank']}, alpha {recipe['alpha']:g}) of "
        f"{values['base']} in {', '.join(recipe['targets'])}, made by Hedge (`hedge train-adapter`): "
        f"{recipe['epochs']} epochs in batches of {recipe['rows']}, learning rate {recipe['rate']:g}, seed "
        f"{recipe['seed']}.\n"
    )


def configuration(folder: Path) -> dict[str, Any]:
    """The contents of an adapter's ``adapter.json``. Raises :class:`InputError` if the folder holds no adapter, or a
    damaged one."""
    path = folder / CONFIGURATION
    if not is_adapter(folder):
        raise InputError(f"{folder} holds no adapter ({CONFIGURATION}); train one with train-adapter")
    values = training_record(folder)
    try:
        kind = values["recipe"]["kind"]
        (
            int(values["recipe"]["rank"]),
            float(values["recipe"]["alpha"]),
            str(values["base"]),
            tuple(values["recipe"]["targets"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} does not say what the adapter is ({error!r}); train it again") from error
    if values.get("schema") != SCHEMA:
        raise InputError(f"{path} has schema {values.get('schema')!r}, this version reads {SCHEMA}; update Hedge")
    values["kind"] = kind
    return values


def base_of(folder: Path) -> ModelSource:
    """The model that an adapter belongs to."""
    return resolve(str(configuration(folder)["base"]))


def put_adapter(model: Any, folder: Path) -> Any:
    """The base model with the adapter of a folder in it, in evaluation mode."""
    recipe = configuration(folder)["recipe"]
    if (folder / ADAPTER).is_file() and not (folder / WEIGHTS).is_file():
        way_out = "choose the model that it was trained on, or train it again"
        adapter_loading.put_adapter(model, folder, where=f"adapter {folder}", way_out=way_out)
        return model
    check_digests(folder)
    inject(model, rank=int(recipe["rank"]), alpha=float(recipe["alpha"]), targets=tuple(recipe["targets"]))
    put_tensors(model, _read(folder / WEIGHTS), where=str(folder / WEIGHTS))
    return model.eval()


def put_whole(model: Any, folder: Path, *, alpha: float | None = None) -> Any:
    """Load a whole-model checkpoint with probabilistic layers (``…A``, ``…B``, perhaps ``…est_var``) into ``model``.

    ``model`` is the plain architecture of the folder's configuration; ``alpha`` the scale, by default the rank. Raises
    :class:`InputError` if the checkpoint has no such layers or is of another architecture.
    """
    tensors = _read(_whole_file(folder))
    wrapped = sorted(name.removesuffix(".A") for name in tensors if name.endswith(".A") and f"{name[:-1]}B" in tensors)
    if not wrapped:
        raise InputError(f"{folder} has no ARD-LoRA layers (tensors A and B); load it as a plain model")
    ranks = {int(tensors[f"{name}.B"].shape[-1]) for name in wrapped}
    if len(ranks) != 1 or any(tensors[f"{n}.A"].shape[0] != 2 * next(iter(ranks)) for n in wrapped):
        raise InputError(f"{folder} has layers whose A is not (2r, in) for one rank r; it is no ARD-LoRA checkpoint")
    rank = ranks.pop()
    targets = tuple(sorted({name.rsplit(".", 1)[-1] for name in wrapped}))
    inject(model, rank=rank, alpha=rank if alpha is None else alpha, targets=targets)
    renamed = {_renamed(name, wrapped): tensor for name, tensor in tensors.items()}
    state = model.state_dict()
    for name in wrapped:
        renamed.setdefault(f"{name}.est_var", state[f"{name}.est_var"])
    tied = {name for name in state if name == "lm_head.weight" and name not in renamed}
    missing, extra = sorted(set(state) - set(renamed) - tied), sorted(set(renamed) - set(state))
    wrong = [name for name in set(state) & set(renamed) if state[name].shape != renamed[name].shape]
    if missing or extra or wrong:
        odd = (wrong or extra or missing)[0]
        raise InputError(
            f"{folder} is of another architecture than its config.json: see {odd}; choose the right base model"
        )
    model.load_state_dict(renamed, strict=False)
    return model.eval()


def _renamed(name: str, wrapped: list[str]) -> str:
    """A wrapped layer's own weight under the name that it has here; all other names as they are."""
    for layer in wrapped:
        if name.startswith(f"{layer}."):
            head, _, rest = name.removeprefix(f"{layer}.").partition(".")
            if head in BASE_NAMES and rest:
                return f"{layer}.base.{rest}"
            if name in (f"{layer}.weight", f"{layer}.bias"):
                return f"{layer}.base.{name.rsplit('.', 1)[-1]}"
    return name


def _whole_file(folder: Path) -> Path:
    path = next((folder / name for name in WHOLE if (folder / name).is_file()), None)
    if path is None:
        raise InputError(f"{folder} holds no checkpoint; expected one of {', '.join(WHOLE)}")
    return path


def holds_whole(folder: Path) -> bool:
    """Whether a folder is a whole-model checkpoint with probabilistic layers, judging by names."""
    if is_adapter(folder) or not (folder / "config.json").is_file():
        return False
    try:
        return any(re.search(r"\.A$", name) for name in _names(_whole_file(folder)))
    except InputError:
        return False


def _names(path: Path) -> list[str]:
    if path.suffix == ".safetensors":
        return list(read_header(path))
    return list(_read(path))


def _read(path: Path) -> Tensors:
    try:
        if path.suffix == ".safetensors":
            tensors: Tensors = load_file(path)
            return tensors
        state = torch.load(path, weights_only=True, map_location="cpu")
    except FileNotFoundError as error:
        raise InputError(f"there are no weights {path}; train the adapter again") from error
    except Exception as error:  # safetensors and torch raise all kinds of errors for a file in another format
        raise InputError(
            f"{path} can't be read as tensors alone ({type(error).__name__}); save it as safetensors"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError(f"{path} holds something else than tensors by name; save the model's state_dict")
    return state
