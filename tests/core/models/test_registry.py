import pytest
import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import AutoConfig

from core.errors import InputError
from core.models.model_sources import HUB_ID, resolve
from core.models.registry import BY_ID, MODELS


def test_every_model_of_the_documents_is_listed():
    wanted = (
        "phi-2 phi-1_5 TinyLlama-1.1B-Chat-v1.0 Qwen-1_8B Qwen-1_8B-Chat gemma-2b gemma-2b-it gemma-2-2b gemma-2-9b-it "
        "SmolLM-135M SmolLM-360M SmolLM-1.7B OpenELM-270M OpenELM-450M OpenELM-1_1B stablelm-2-1_6b "
        "stablelm-2-zephyr-1_6b h2o-danube-1.8b-base h2o-danube-1.8b-chat Mistral-7B-v0.1 Qwen2-0.5B-Instruct "
        "Qwen2-1.5B-Instruct"
    )
    assert set(wanted.split()) <= {model.id.split("/")[1] for model in MODELS}


def test_the_table_holds_together():
    assert len(BY_ID) == len(MODELS)
    for model in MODELS:
        assert HUB_ID.match(model.id)
        assert 50 < model.millions < 20_000
        assert model.licence
        # A name that says how large the model is says the same as the table.
        for other in (model.base, model.instead):
            assert not other or other in BY_ID, other
        if model.base:
            assert model.kind == "instruct"
            assert BY_ID[model.base].kind == "base"
            assert BY_ID[model.base].millions == model.millions
        if model.instead:
            assert not BY_ID[model.instead].instead


@pytest.mark.parametrize("model", [model for model in MODELS if model.instead], ids=lambda model: model.id)
def test_code_of_others_is_not_run(model):
    with pytest.raises(InputError, match=f"needs code of its makers.*use {model.instead}"):
        resolve(model.id)


def shape(vocabulary, size, inner, layers, heads, kv_heads, *, tied=False, **more):
    return {
        "vocab_size": vocabulary,
        "hidden_size": size,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "tie_word_embeddings": tied,
    } | more


WIDE = {"head_dim": 256}
SHAPES = {
    "microsoft/phi-2": ("phi", shape(51_200, 2560, 10_240, 32, 32, 32)),
    "microsoft/phi-1_5": ("phi", shape(51_200, 2048, 8192, 24, 32, 32)),
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": ("llama", shape(32_000, 2048, 5632, 22, 32, 4)),
    "google/gemma-2b": ("gemma", shape(256_000, 2048, 16_384, 18, 8, 1, tied=True, **WIDE)),
    "google/gemma-2-2b": ("gemma2", shape(256_000, 2304, 9216, 26, 8, 4, tied=True, **WIDE)),
    "google/gemma-2-9b": ("gemma2", shape(256_000, 3584, 14_336, 42, 16, 8, tied=True, **WIDE)),
    "HuggingFaceTB/SmolLM-135M": ("llama", shape(49_152, 576, 1536, 30, 9, 3, tied=True)),
    "HuggingFaceTB/SmolLM-360M": ("llama", shape(49_152, 960, 2560, 32, 15, 5, tied=True)),
    "HuggingFaceTB/SmolLM-1.7B": ("llama", shape(49_152, 2048, 8192, 24, 32, 32, tied=True)),
    "stabilityai/stablelm-2-1_6b": ("stablelm", shape(100_352, 2048, 5632, 24, 32, 32, use_qkv_bias=True)),
    "h2oai/h2o-danube-1.8b-base": ("mistral", shape(32_000, 2560, 6912, 24, 32, 8)),
    "mistralai/Mistral-7B-v0.1": ("mistral", shape(32_000, 4096, 14_336, 32, 32, 8)),
    "Qwen/Qwen2-0.5B": ("qwen2", shape(151_936, 896, 4864, 24, 14, 2, tied=True)),
    "Qwen/Qwen2-1.5B": ("qwen2", shape(151_936, 1536, 8960, 28, 12, 2, tied=True)),
    "Qwen/Qwen1.5-1.8B": ("qwen2", shape(151_936, 2048, 5504, 24, 16, 16)),
    "Qwen/Qwen3-0.6B-Base": ("qwen3", shape(151_936, 1024, 3072, 28, 16, 8, tied=True, head_dim=128)),
    "Qwen/Qwen3-1.7B-Base": ("qwen3", shape(151_936, 2048, 6144, 28, 16, 8, tied=True, head_dim=128)),
    "HuggingFaceTB/SmolLM3-3B-Base": ("smollm3", shape(128_256, 2048, 11_008, 36, 16, 4, tied=True)),
    "google/gemma-3-270m": ("gemma3_text", shape(262_144, 640, 2048, 18, 4, 1, tied=True, **WIDE)),
    "google/gemma-3-1b-pt": ("gemma3_text", shape(262_144, 1152, 6912, 26, 4, 1, tied=True, **WIDE)),
    "meta-llama/Llama-3.2-1B": ("llama", shape(128_256, 2048, 8192, 16, 32, 8, tied=True)),
    "microsoft/Phi-3.5-mini-instruct": ("phi3", shape(32_064, 3072, 8192, 32, 32, 32)),
    "allenai/OLMo-2-0425-1B": ("olmo2", shape(100_352, 2048, 8192, 16, 16, 16)),
    "h2oai/h2o-danube3-500m-base": ("llama", shape(32_000, 1536, 4096, 16, 16, 8)),
    "ibm-granite/granite-3.3-2b-base": ("granite", shape(49_159, 2048, 8192, 40, 32, 8, tied=True)),
    "LiquidAI/LFM2-350M": (
        "lfm2",
        shape(65_536, 1024, 6656, 16, 16, 8, tied=True, full_attn_idxs=[2, 5, 8, 10, 12, 14], conv_L_cache=3),
    ),
}
"""Published shapes."""


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_are_those_of_the_published_shape(name):
    kind, values = SHAPES[name]
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **values))
    assert round(sum(p.numel() for p in model.parameters()) / 1e6) == BY_ID[name].millions


def test_every_size_in_the_table_has_its_shape():
    known = {BY_ID[name].millions for name in SHAPES}
    unknown = [model.id for model in MODELS if model.millions not in known]
    assert [name for name in unknown if not name.startswith("apple/OpenELM")] == []
