"""Models are built on the meta device without torch's compiler, and are the same to the last bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from core.models.meta_device import QuickMeta
from core.models.quiet import quiet
from core.settings import ROOT
from tests.core.models.architectures import SETTINGS, TYPES, build
from tests.parameters import rest_nightly

TIED = "llama, tied"
KINDS = {name: (TYPES.get(name, name), settings) for name, settings in SETTINGS.items()}
KINDS |= {TIED: ("llama", SETTINGS["llama"] | {"tie_word_embeddings": True})}
NOW = ["gpt2", "gpt_neox", "llama", TIED, "qwen2", "qwen3", "mistral", "gemma2", "gemma3_text", "phi", "mpt", "bloom"]

SCORED = """
import json, sys
from core.models.imports import language_models
language_models()
import torch
from core.models.model_loading import load_model
from core.models.model_sources import resolve
model, _ = load_model(resolve("pocket-1m"), dtype="float32")
with torch.inference_mode():
    model(torch.arange(1, 40)[None])
print(json.dumps(sorted(sys.modules)))
"""


def bits(tensor: torch.Tensor) -> tuple[torch.dtype, torch.Size, bytes]:
    return tensor.dtype, tensor.shape, tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def loaded(folder: Path, dtype: torch.dtype, *, quick: bool) -> tuple[dict, dict, tuple]:
    """The report of the loading, every tensor of the model, and the logits of a text."""
    arguments = {"dtype": dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}
    with quiet():
        if quick:
            with QuickMeta():
                model, report = AutoModelForCausalLM.from_pretrained(folder, **arguments)
        else:
            model, report = AutoModelForCausalLM.from_pretrained(folder, **arguments)
    tensors = {name: bits(tensor) for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    with torch.inference_mode():
        logits = model.eval()(torch.arange(1, 50)[None] % 90).logits
    return report, tensors, bits(logits)


@pytest.mark.parametrize("name", rest_nightly(KINDS, now=NOW))
def test_every_kind_of_model_is_the_same_to_the_last_bit(name: str, tmp_path: Path):
    model_type, settings = KINDS[name]
    build(model_type, settings).save_pretrained(tmp_path, max_shard_size="20KB")
    for dtype in (torch.float32, torch.bfloat16):
        assert loaded(tmp_path, dtype, quick=True) == loaded(tmp_path, dtype, quick=False)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: torch.arange(0, 9, 2, dtype=torch.float) / 4,
        lambda: 1.0 / (10_000.0 ** (torch.arange(0, 8, 2) / 8)),
        lambda: torch.arange(4) * torch.tensor(2.5),
        lambda: torch.full((2, 3), 1.5, dtype=torch.bfloat16) - 1,
        lambda: torch.linspace(0, 1, 5).reciprocal(),
        lambda: torch.nn.Embedding(4, 3, padding_idx=0).weight,
        lambda: torch.empty_like(torch.ones(2, 3, dtype=torch.half)),
    ],
)
def test_a_tensor_has_the_shape_and_the_type_that_torch_gives(compute):
    with torch.device("meta"):
        theirs = compute()
    with QuickMeta(), torch.device("meta"):
        ours = compute()
    assert (ours.device, ours.dtype, ours.shape, ours.stride()) == (
        theirs.device,
        theirs.dtype,
        theirs.shape,
        theirs.stride(),
    )


def test_real_tensors_are_torch_s_own():
    with QuickMeta():
        assert (torch.arange(3) / 2).tolist() == [0.0, 0.5, 1.0]
        assert torch.nn.init.normal_(torch.zeros(100)).count_nonzero() == 100


def test_a_model_is_loaded_and_scores_without_the_compiler_and_what_it_needs(home: Path):
    """Fails when a new torch or transformers needs one of them: the start of a worker then takes 1.5 seconds more."""
    done = subprocess.run([sys.executable, "-c", SCORED], cwd=ROOT, capture_output=True, text=True, check=True)
    needless = {"torch._dynamo", "torch._inductor", "torch.distributed.tensor", "sympy", "pandas", "accelerate", "peft"}
    assert not needless & set(json.loads(done.stdout))
