"""Adapters of every kind give the logits that peft itself gives, or one sentence."""

import json
import warnings

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from core.errors import InputError
from core.models.configurations import load_configuration
from core.models.decoder import Decoder
from core.models.model_loading import check_stored, load_model
from core.models.model_sources import resolve
from core.models.tokenizers import base_of
from tests.core.models.architectures import SETTINGS, VOCABULARY
from tests.core.models.zoo import TIED_LLAMA, adapted, model
from tests.parameters import rest_nightly

pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
TEXT = torch.tensor([[5, 3, 6, 40, 7, 9, 3, 11]])
BOTH = ["embed_tokens", "lm_head"]
TRAINED_TOKENS = {"target_modules": ["q_proj"], "trainable_token_indices": [3, 40]}

KINDS = {
    "DoRA": adapted(use_dora=True),
    "DoRA of embeddings": adapted(use_dora=True, target_modules=["embed_tokens", "q_proj"]),
    "LoRA of embeddings": adapted(target_modules=BOTH),
    "LoRA of tied embeddings": adapted(TIED_LLAMA, target_modules=["embed_tokens", "q_proj"]),
    "LoRA of Conv1D": adapted(model("gpt2", SETTINGS["gpt2"]), target_modules=["c_attn", "wte"], fan_in_fan_out=True),
    "trained tokens": adapted(**TRAINED_TOKENS),
    "trained tokens, tied": adapted(TIED_LLAMA, **TRAINED_TOKENS),
    "trained tokens alone": adapted(kind="TrainableTokens", target_modules=["embed_tokens"], token_indices=[3, 40]),
    "trained embeddings": adapted(modules_to_save=BOTH),
    "a head of its own": adapted(TIED_LLAMA, modules_to_save=["lm_head"]),
    "added tokens": adapted(tokens=VOCABULARY + 8, modules_to_save=BOTH),
    "added tokens, tied": adapted(TIED_LLAMA, tokens=VOCABULARY + 8),
    "fewer tokens": adapted(tokens=VOCABULARY - 8),
    "rank-stabilised": adapted(use_rslora=True),
    "patterns": adapted(rank_pattern={"v_proj": 3}, alpha_pattern={"q_proj": 5}, layers_to_transform=[1]),
    "biases": adapted(bias="all", lora_bias=True),
    "PiSSA": adapted(init_lora_weights="pissa"),
    "IA3": adapted(kind="IA3", target_modules=["v_proj", "down_proj"], feedforward_modules=["down_proj"]),
    "VeRA": adapted(kind="Vera", target_modules=["q_proj"]),
    "VeRA without its matrices": adapted(kind="Vera", target_modules=["q_proj"], save_projection=False),
    "AdaLoRA": adapted(kind="AdaLora", total_step=10),
    "LoHa": adapted(kind="LoHa"),
    "LoKr": adapted(kind="LoKr"),
    "OFT": adapted(kind="OFT", oft_block_size=4),
    "SHiRA": adapted(kind="Shira", r=2),
}


@pytest.mark.parametrize("kind", rest_nightly(KINDS, now=list(KINDS)[::2]))
def test_the_logits_are_those_of_peft(kind, tmp_path):
    folder = tmp_path / "adapter"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KINDS[kind](folder)
        whole = AutoModelForCausalLM.from_pretrained(f"{folder}-base", dtype=torch.float32)
        plain = whole.eval()(TEXT).logits
        if "tokens" in kind and "trained" not in kind:
            whole.resize_token_embeddings(VOCABULARY - 8 if kind == "fewer tokens" else VOCABULARY + 8)
        right = PeftModel.from_pretrained(whole, folder).eval()(TEXT).logits
    source = resolve(str(folder))
    check_stored(source, base_of(source), load_configuration(base_of(source)))
    model, _ = load_model(source, dtype="float32")
    decoder = Decoder(model)
    assert decoder.vocabulary == right.shape[-1]
    assert torch.allclose(decoder.whole(TEXT[0].tolist()), right[0], atol=1e-5)
    shared = min(plain.shape[-1], right.shape[-1])
    assert (plain[..., :shared] - right[..., :shared]).abs().max() > 0.05, "the adapter changes nothing"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            adapted(kind="PromptTuning", target_modules=None, task_type="CAUSAL_LM", num_virtual_tokens=3),
            r"can't score \(PROMPT_TUNING\): it puts learned vectors in front of each text; use",
        ),
        (
            adapted(kind="PrefixTuning", target_modules=None, task_type="CAUSAL_LM", num_virtual_tokens=3),
            r"can't score \(PREFIX_TUNING\): it puts learned vectors in front of each text; use",
        ),
        (
            adapted(task_type="CAUSAL_LM", alora_invocation_tokens=[3, 4]),
            r"can't score \(aLoRA\): it changes the model only after its own invocation tokens; use",
        ),
        (adapted(config={"peft_type": "POLY", "r": 2}), r"can't score \(POLY\): it mixes its parts"),
        (adapted(config={"peft_type": "NEWER"}), "has values that peft can't use; save it again, or merge it"),
        (adapted(config={"r": "two"}), "can't be put into its base model"),
    ],
)
def test_other_kinds_are_refused_with_the_cause(make, says, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(tmp_path / "adapter")
    with pytest.raises(InputError, match=says):
        load_model(resolve(str(tmp_path / "adapter")), dtype="float32")


def test_half_of_the_magnitudes_is_not_enough(tmp_path):
    folder = tmp_path / "adapter"
    KINDS["DoRA"](folder)
    weights = folder / "adapter_model.safetensors"
    tensors = {name: w for name, w in load_file(weights).items() if not ("magnitude" in name and "layers.1" in name)}
    save_file(tensors, weights, {"format": "pt"})
    with pytest.raises(InputError, match=r"2 of 12 tensors are missing \(model.layers.1.self_attn.q_proj.lora_mag"):
        load_model(resolve(str(folder)), dtype="float32")


def test_half_precision_keeps_the_logits_of_a_wrapped_head_in_float32(tmp_path):
    for name in ("LoRA of embeddings", "a head of its own"):
        folder = tmp_path / name.replace(" ", "-")
        KINDS[name](folder)
        assert json.loads((folder / "adapter_config.json").read_text())["peft_type"] == "LORA"
        model, _ = load_model(resolve(str(folder)), dtype="bfloat16")
        assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
        decoder = Decoder(model)
        with torch.inference_mode():
            assert model(TEXT).logits.dtype == torch.float32
        assert decoder.splits
