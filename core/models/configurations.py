"""A model's configuration, and whether transformers has a causal language model class for it."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.folder_limits import check_configuration
from core.models.kinds import INSTEAD, classes_of, quantisation, refuse_code, refuse_other_kinds
from core.models.model_sources import ModelSource
from core.models.quiet import quiet
from core.models.safetensors_files import read_json
from core.models.tokenizers import loading_sentence


def load_configuration(source: ModelSource) -> Any:
    """The configuration of a model that Hedge can score, as transformers reads it. For an adapter, pass its base model.

    Raises :class:`InputError` if the model is of another kind, needs its authors' code, or can't be read. Loads no
    weights.
    """
    where = f"model {source.location}"
    raw = _raw(source, where)
    check_configuration(raw, where=where)
    refuse_other_kinds(raw, where=where)
    model_type = str(raw["model_type"])
    built_in = _class_of(model_type)
    refuse_code(raw, built_in, where=where)
    if built_in is None:
        raise InputError(_other_kind(model_type, where))
    _refuse_contradiction(raw, built_in, where)
    config = _read(source, model_type, where)
    masked = _is_masked(model_type, config)
    if getattr(config, "is_encoder_decoder", False) or (masked and model_type in _seq2seq()):
        raise InputError(f"{where} holds an encoder–decoder ({model_type}), which Hedge does not score; {INSTEAD}")
    if masked:
        raise InputError(f"{where} holds {_MASKED.format(model_type)}; {INSTEAD}")
    return config


def refuse_quantised(config: Any, *, where: str, dtype: str, on_gpu: bool) -> None:
    """Raise :class:`InputError` if the weights are stored quantised and can't run in this precision on this machine."""
    method = quantisation(config.to_dict())
    if method and not on_gpu:
        raise InputError(
            f"{where} keeps its weights quantised ({method}), which needs an NVIDIA GPU, and there is none here; "
            "choose the model that it was made from"
        )
    if method and dtype not in ("float16", "bfloat16"):
        raise InputError(
            f"{where} keeps its weights quantised ({method}) and can't be run in {dtype}; choose float16 or bfloat16, "
            "or the model that it was made from"
        )


_MASKED = "a masked model ({}), which fills gaps with the words on both sides in view"


def _raw(source: ModelSource, where: str) -> dict[str, Any]:
    from transformers.utils.hub import cached_file

    try:
        with quiet():
            path = cached_file(source.location, "config.json", **source.pin)
    except Exception as error:  # the hub client passes on the errors of its HTTP library
        raise InputError(loading_sentence(source, error)) from error
    if path is None:
        raise InputError(f"{where} has no config.json; save the model there with save_pretrained")
    return read_json(Path(path))


def _read(source: ModelSource, model_type: str, where: str) -> Any:
    from transformers import AutoConfig

    try:
        with quiet():
            return AutoConfig.from_pretrained(source.location, trust_remote_code=False, **source.pin)
    except Exception as error:  # each configuration class checks its own values and may raise anything
        field = getattr(error, "field", None)
        raise InputError(
            f"the config.json of {where} has {f'a value of {field}' if isinstance(field, str) else 'values'} that "
            f"transformers can't use for a {model_type}; take the config.json that came with the weights"
        ) from error


def _class_of(model_type: str) -> str | None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    named = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(model_type)
    name = named[0] if isinstance(named, (list, tuple)) else named
    return None if name is None else str(name)


def _is_masked(model_type: str, config: Any) -> bool:
    """Whether the model is masked. Types that can be masked or causal are causal only if their configuration says
    so."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    decodes = getattr(config, "is_decoder", False) or getattr(config, "causal", False)
    return model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not decodes


def _seq2seq() -> Collection[str]:
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES

    names: Collection[str] = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    return names


def _refuse_contradiction(raw: dict[str, Any], built_in: str, where: str) -> None:
    """Raise :class:`InputError` if the type and the stated class differ. Two types may store tensors of the same names
    and shapes and compute different things with them (Llama, Gemma), so the check of tensors would not notice."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    known: set[str] = set()
    for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values():
        known |= set(name) if isinstance(name, (list, tuple)) else {name}
    for name in classes_of(raw):
        if name in known and name != built_in:
            raise InputError(
                f"the config.json of {where} contradicts itself: a {raw['model_type']} is a {built_in}, and the "
                f"weights are said to be those of a {name}; take the config.json that came with the weights"
            )


def _other_kind(model_type: str, where: str) -> str:
    """Why no class writes text for this type of model."""
    import transformers
    from transformers.models.auto import modeling_auto as auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if model_type not in CONFIG_MAPPING_NAMES:
        return (
            f"{where} is of a type that transformers {transformers.__version__} does not know ({model_type}); update "
            "transformers, or choose another model"
        )
    if model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return f"{where} holds {_MASKED.format(model_type)}; {INSTEAD}"
    kinds = (
        (auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, "a model of text and images ({})"),
        (auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, "an encoder–decoder ({})"),
        (auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES, "a model that writes down speech ({})"),
        (auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES, "a classifier ({})"),
    )
    kind = next((says for names, says in kinds if model_type in names), "a model of another kind ({})")
    return f"{where} holds {kind.format(model_type)}, which Hedge does not score; {INSTEAD}"
