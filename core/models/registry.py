"""Models worth comparing: those of the benchmarks that Hedge repeats, and later ones.

This list does not limit what can be run: any folder or hub id works. It says what a person needs to know before
choosing, without asking the hub. If the hub is asked, its answer counts.

Parameters are in millions: those of the model that transformers builds of the published shape, tied matrices counted
once (``tests/core/models/test_registry.py`` builds them again). transformers can't build OpenELM, so its numbers are
those of its authors. Licences and gates are those of the model cards, including OpenELM's licence since March 2025,
Mistral's gate since May 2024, and the non-commercial licence of StableLM 2 Zephyr.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["base", "instruct"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One model of the hub. ``base`` is the model that an instruct model was made from, ``gated`` says that its makers
    ask for consent first. ``instead`` names another model where this one needs code of its makers, which is never run.
    """

    id: str
    millions: int
    kind: Kind
    licence: str
    base: str = ""
    gated: bool = False
    instead: str = ""


MODELS: tuple[Listed, ...] = (
    # The models of the published benchmarks.
    Listed("microsoft/phi-2", 2780, "base", "MIT"),
    Listed("microsoft/phi-1_5", 1418, "base", "MIT"),
    Listed("TinyLlama/TinyLlama-1.1B-Chat-v1.0", 1100, "instruct", "Apache-2.0"),
    Listed("Qwen/Qwen-1_8B", 1837, "base", "Tongyi Qianwen Research", instead="Qwen/Qwen1.5-1.8B"),
    Listed("Qwen/Qwen-1_8B-Chat", 1837, "instruct", "Tongyi Qianwen Research", instead="Qwen/Qwen1.5-1.8B-Chat"),
    Listed("google/gemma-2b", 2506, "base", "Gemma", gated=True),
    Listed("google/gemma-2b-it", 2506, "instruct", "Gemma", base="google/gemma-2b", gated=True),
    Listed("google/gemma-2-2b", 2614, "base", "Gemma", gated=True),
    Listed("google/gemma-2-2b-it", 2614, "instruct", "Gemma", base="google/gemma-2-2b", gated=True),
    Listed("google/gemma-2-9b", 9242, "base", "Gemma", gated=True),
    Listed("google/gemma-2-9b-it", 9242, "instruct", "Gemma", base="google/gemma-2-9b", gated=True),
    Listed("HuggingFaceTB/SmolLM-135M", 135, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM-360M", 362, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM-1.7B", 1711, "base", "Apache-2.0"),
    Listed("apple/OpenELM-270M", 272, "base", "Apple AMLR", instead="HuggingFaceTB/SmolLM2-360M"),
    Listed("apple/OpenELM-450M", 457, "base", "Apple AMLR", instead="HuggingFaceTB/SmolLM2-360M"),
    Listed("apple/OpenELM-1_1B", 1080, "base", "Apple AMLR", instead="allenai/OLMo-2-0425-1B"),
    Listed("stabilityai/stablelm-2-1_6b", 1645, "base", "Stability AI Community"),
    Listed(
        "stabilityai/stablelm-2-zephyr-1_6b",
        1645,
        "instruct",
        "Stability AI Non-Commercial",
        base="stabilityai/stablelm-2-1_6b",
    ),
    Listed("h2oai/h2o-danube-1.8b-base", 1831, "base", "Apache-2.0"),
    Listed("h2oai/h2o-danube-1.8b-chat", 1831, "instruct", "Apache-2.0", base="h2oai/h2o-danube-1.8b-base"),
    Listed("mistralai/Mistral-7B-v0.1", 7242, "base", "Apache-2.0", gated=True),
    Listed("Qwen/Qwen2-0.5B-Instruct", 494, "instruct", "Apache-2.0", base="Qwen/Qwen2-0.5B"),
    Listed("Qwen/Qwen2-1.5B-Instruct", 1544, "instruct", "Apache-2.0", base="Qwen/Qwen2-1.5B"),
    # Later models.
    Listed("Qwen/Qwen1.5-1.8B", 1837, "base", "Tongyi Qianwen Research"),
    Listed("Qwen/Qwen1.5-1.8B-Chat", 1837, "instruct", "Tongyi Qianwen Research", base="Qwen/Qwen1.5-1.8B"),
    Listed("Qwen/Qwen2-0.5B", 494, "base", "Apache-2.0"),
    Listed("Qwen/Qwen2-1.5B", 1544, "base", "Apache-2.0"),
    Listed("Qwen/Qwen2.5-0.5B", 494, "base", "Apache-2.0"),
    Listed("Qwen/Qwen2.5-0.5B-Instruct", 494, "instruct", "Apache-2.0", base="Qwen/Qwen2.5-0.5B"),
    Listed("Qwen/Qwen2.5-1.5B", 1544, "base", "Apache-2.0"),
    Listed("Qwen/Qwen2.5-1.5B-Instruct", 1544, "instruct", "Apache-2.0", base="Qwen/Qwen2.5-1.5B"),
    Listed("Qwen/Qwen3-0.6B-Base", 596, "base", "Apache-2.0"),
    Listed("Qwen/Qwen3-0.6B", 596, "instruct", "Apache-2.0", base="Qwen/Qwen3-0.6B-Base"),
    Listed("Qwen/Qwen3-1.7B-Base", 1721, "base", "Apache-2.0"),
    Listed("Qwen/Qwen3-1.7B", 1721, "instruct", "Apache-2.0", base="Qwen/Qwen3-1.7B-Base"),
    Listed("HuggingFaceTB/SmolLM2-135M", 135, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM2-135M-Instruct", 135, "instruct", "Apache-2.0", base="HuggingFaceTB/SmolLM2-135M"),
    Listed("HuggingFaceTB/SmolLM2-360M", 362, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM2-360M-Instruct", 362, "instruct", "Apache-2.0", base="HuggingFaceTB/SmolLM2-360M"),
    Listed("HuggingFaceTB/SmolLM2-1.7B", 1711, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM2-1.7B-Instruct", 1711, "instruct", "Apache-2.0", base="HuggingFaceTB/SmolLM2-1.7B"),
    Listed("HuggingFaceTB/SmolLM3-3B-Base", 3075, "base", "Apache-2.0"),
    Listed("HuggingFaceTB/SmolLM3-3B", 3075, "instruct", "Apache-2.0", base="HuggingFaceTB/SmolLM3-3B-Base"),
    Listed("google/gemma-3-270m", 268, "base", "Gemma", gated=True),
    Listed("google/gemma-3-270m-it", 268, "instruct", "Gemma", base="google/gemma-3-270m", gated=True),
    Listed("google/gemma-3-1b-pt", 1000, "base", "Gemma", gated=True),
    Listed("google/gemma-3-1b-it", 1000, "instruct", "Gemma", base="google/gemma-3-1b-pt", gated=True),
    Listed("meta-llama/Llama-3.2-1B", 1236, "base", "Llama 3.2 Community", gated=True),
    Listed(
        "meta-llama/Llama-3.2-1B-Instruct",
        1236,
        "instruct",
        "Llama 3.2 Community",
        base="meta-llama/Llama-3.2-1B",
        gated=True,
    ),
    Listed("microsoft/Phi-3.5-mini-instruct", 3821, "instruct", "MIT"),
    Listed("allenai/OLMo-2-0425-1B", 1485, "base", "Apache-2.0"),
    Listed("allenai/OLMo-2-0425-1B-Instruct", 1485, "instruct", "Apache-2.0", base="allenai/OLMo-2-0425-1B"),
    Listed("h2oai/h2o-danube3-500m-base", 514, "base", "Apache-2.0"),
    Listed("h2oai/h2o-danube3-500m-chat", 514, "instruct", "Apache-2.0", base="h2oai/h2o-danube3-500m-base"),
    Listed("ibm-granite/granite-3.3-2b-base", 2534, "base", "Apache-2.0"),
    Listed(
        "ibm-granite/granite-3.3-2b-instruct", 2534, "instruct", "Apache-2.0", base="ibm-granite/granite-3.3-2b-base"
    ),
    Listed("LiquidAI/LFM2-350M", 354, "instruct", "LFM Open 1.0"),
)
"""In the order in which they are listed."""

BY_ID = {model.id: model for model in MODELS}
