"""What kind of model a configuration describes, and why Hedge can't score text with some kinds.

Hedge scores what follows a text, so a model has to write from left to right. Looks at configurations alone and loads
no torch.
"""

import re
from collections.abc import Mapping
from typing import Any

from core.errors import InputError

WRITES = re.compile(r"(ForCausalLM|LMHeadModel)$")
INSTEAD = "choose a model that writes text from left to right (a …ForCausalLM)"

HEADS: dict[str, str] = {
    "ForMaskedLM": "a masked model, which fills gaps with the words on both sides in view",
    "ForPreTraining": "a masked model, which fills gaps with the words on both sides in view",
    "ForNextSentencePrediction": "a classifier, whose head gives classes and not words",
    "ForSequenceClassification": "a classifier, whose head gives classes and not words",
    "ForTokenClassification": "a classifier, whose head gives classes and not words",
    "ForQuestionAnswering": "a classifier, whose head gives places in a text and not words",
    "ForMultipleChoice": "a classifier, whose head gives classes and not words",
    "ForImageClassification": "a classifier of images",
    "ForAudioClassification": "a classifier of sounds",
    "ForCTC": "a model that writes down speech",
    "ForSpeechSeq2Seq": "a model that writes down speech",
    "ForObjectDetection": "a model that finds things in images",
}
"""Maps the end of a class's name to what such a model is."""

QUANTISED_NAMES = {"load_in_8bit": "bitsandbytes, 8 bits", "load_in_4bit": "bitsandbytes, 4 bits"}


def refuse_other_kinds(configuration: Mapping[str, Any], *, where: str) -> None:
    """Raise :class:`InputError` if a configuration is of a model that does not write from left to right.

    ``configuration`` is the content of ``config.json``; what it does not say is found out when the model is loaded.
    """
    model_type = configuration.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise InputError(
            f"the config.json of {where} does not say which type of model it is (model_type); take the config.json "
            "that came with the weights"
        )
    classes = classes_of(configuration)
    if configuration.get("is_encoder_decoder") is True:
        raise InputError(f"{where} holds an encoder–decoder ({model_type}), which Hedge does not score; {INSTEAD}")
    if any(WRITES.search(name) for name in classes):
        return
    for name in classes:
        kind = next((kind for end, kind in HEADS.items() if name.endswith(end)), None)
        if kind:
            raise InputError(f"{where} holds {kind} ({name}); {INSTEAD}")


def classes_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the classes that a configuration says the model was saved from."""
    named = configuration.get("architectures")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, (list, tuple)) else ()


def quantisation(configuration: Mapping[str, Any]) -> str:
    """The quantisation that a configuration names (``gptq``, ``fp8``, …); empty if the weights are not quantised."""
    values = configuration.get("quantization_config")
    if values is None and isinstance(configuration.get("text_config"), Mapping):
        values = configuration["text_config"].get("quantization_config")
    if not values:
        return ""
    if not isinstance(values, Mapping):
        return "in a way that config.json does not name"
    method = values.get("quant_method")
    named = next((name for key, name in QUANTISED_NAMES.items() if values.get(key)), "")
    bits = values.get("bits")
    if named:
        return named
    return f"{method}, {bits} bits" if method and bits else str(method or "in a way that config.json does not name")


def refuse_code(configuration: Mapping[str, Any], built_in: str | None, *, where: str) -> None:
    """Raise :class:`InputError` if a model needs its authors' code, because transformers has no class of its own for
    it. ``built_in`` is the class that transformers would load, or None if it does not know this type of model.
    """
    mapped = configuration.get("auto_map")
    if not isinstance(mapped, Mapping):
        return
    theirs = mapped.get("AutoModelForCausalLM") or (mapped.get("AutoModel") if built_in is None else None)
    own = theirs.rsplit(".", 1)[-1] if isinstance(theirs, str) else None
    if built_in is None or (own is not None and own.lower() != built_in.lower()):
        raise InputError(
            f"{where} needs code of its makers to run, which Hedge never runs ({own or 'auto_map'}); choose a model "
            "that transformers has itself"
        )
