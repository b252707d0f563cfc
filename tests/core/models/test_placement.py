"""Where weights go: real plans on tensors without numbers, and a real model, half of it on the disk.

No GPU is here, so that torch's answers about GPUs are stood in for where a number of them matters.
"""

import json
from types import SimpleNamespace

import pytest
import torch

from core.errors import InputError
from core.models import memory, placement
from core.models.memory import parameter_count
from core.models.memory_estimate import BYTES, devices_for, memory_gib
from core.models.model_loading import load_model
from core.models.model_sources import resolve
from core.models.placement import GIB, Placement, check_all_placed, devices_of, place
from core.models.transformers_engine import TransformersEngine
from core.records import Prompt

SIZES = [79.6] * 8
FILL = 0.9


@pytest.fixture(scope="module")
def llama_70b():
    """Llama 3 70B's real shape on the meta device, which holds no numbers."""
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(
        hidden_size=8192,
        num_hidden_layers=80,
        vocab_size=128256,
        intermediate_size=28672,
        num_attention_heads=64,
        num_key_value_heads=8,
        tie_word_embeddings=False,
    )
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


@pytest.mark.parametrize(("dtype", "devices"), [("bfloat16", 3), ("int8", 2), ("int4", 1)])
def test_accelerate_finds_room_for_70_b_on_the_devices_that_the_plan_counts(llama_70b, dtype, devices):
    from accelerate import infer_auto_device_map

    count = sum(p.numel() for p in llama_70b.parameters())
    assert count == 70_553_706_496
    needed = 1.2 * count * BYTES[dtype] / GIB + 0.5
    assert devices_for(needed, SIZES) == devices
    # accelerate counts by the stored type: of one with the bytes of this precision there is room for more.
    room = int(SIZES[0] * FILL * GIB * 2 / BYTES[dtype])
    plan = infer_auto_device_map(
        llama_70b, max_memory=dict.fromkeys(range(devices), room), no_split_module_classes=["LlamaDecoderLayer"]
    )
    assert set(plan.values()) <= set(range(devices))  # nothing on the processor or the disk
    layers = [name for name in plan if name.startswith("model.layers.")]
    assert all(name.count(".") == 2 for name in layers)  # whole layers


def test_one_device_fewer_leaves_too_little_for_a_batch():
    """On two devices the weights of 70 B in bfloat16 would leave a batch less than its fifth and a layer each."""
    assert devices_for(158.2, [79.6] * 2) == 0
    assert devices_for(158.2, [200.0, 24.0]) == 1  # the largest comes first
    assert devices_for(30.0, [24.0, 24.0, 8.0]) == 2
    assert devices_for(0.0, [1.0]) == 1


class Gpus:
    """Stands in for torch's answers about eight GPUs."""

    def __init__(self, monkeypatch, sizes):
        monkeypatch.setattr("torch.cuda.is_available", lambda: bool(sizes))
        monkeypatch.setattr("torch.cuda.device_count", lambda: len(sizes))
        total = [SimpleNamespace(total_memory=int(size * GIB)) for size in sizes]
        monkeypatch.setattr("torch.cuda.get_device_properties", lambda i: total[i])
        monkeypatch.setattr("torch.cuda.mem_get_info", lambda i: (total[i].total_memory, total[i].total_memory))


def test_only_what_is_too_large_for_one_device_is_spread(monkeypatch):
    Gpus(monkeypatch, SIZES)
    assert place("pocket-1m", dtype="float32") == Placement("cuda")
    monkeypatch.setattr(placement, "memory_gib", lambda models, **_: 158.2)
    spread = place("somebody/70b", dtype="bfloat16")
    assert (spread.device, spread.spread, sorted(spread.most)) == ("cuda:0", "auto", [0, 1, 2])
    assert spread.arguments(quantised=False)["max_memory"][0] == int(79.6 * GIB * FILL)
    assert place("somebody/70b", dtype="bfloat16", device="cuda:1") == Placement("cuda:1")
    assert Placement("cuda:1").arguments(quantised=True) == {"device_map": {"": "cuda:1"}}
    assert Placement("cuda:1").arguments(quantised=False) == {}
    with pytest.raises(InputError, match="there is no device cuda:8 here; there is cpu, cuda:0, cuda:1"):
        place("pocket-1m", dtype="float32", device="cuda:8")


def test_a_device_that_is_not_here():
    assert place("pocket-1m", dtype="float32", device="cpu") == Placement("cpu")
    with pytest.raises(InputError, match=r"there is no device cuda:0 here; there is cpu$"):
        place("pocket-1m", dtype="float32", device="cuda:0")


def test_what_found_no_room_is_refused(monkeypatch):
    model = SimpleNamespace(hf_device_map={"model.layers.0": 0, "model.layers.1": "disk"})
    check_all_placed(model, where="model m")  # without a GPU a person may want that
    Gpus(monkeypatch, [16.0])
    with pytest.raises(InputError, match=r"model m does not fit on .* here: 1 of its 2 parts found no room"):
        check_all_placed(model, where="model m")


@pytest.fixture
def halves(monkeypatch, tmp_path):
    """The second half of pocket-1m's layers stays on the disk and is read for each batch, by accelerate's hooks."""
    layers = json.loads((placement_folder() / "config.json").read_text())["num_hidden_layers"]
    spread = {"model.embed_tokens": "cpu", "model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}
    spread |= {f"model.layers.{i}": "cpu" if i < layers / 2 else "disk" for i in range(layers)}
    monkeypatch.setattr("core.models.model_loading.place", lambda *_, **__: Placement("cpu", spread))


def placement_folder():
    from core.settings import ASSETS

    return ASSETS / "models" / "pocket-1m"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_spread_model_scores_as_a_whole_one(halves, monkeypatch, dtype):
    prompts = [Prompt(f"p{i}", f"Question: What is number {'one ' * i}?\nAnswer:", 4) for i in range(6)]
    source = resolve("pocket-1m")

    def scores(engine: TransformersEngine) -> list[list[float]]:
        engine.prepare(prompts)
        assert engine.self_check(prompts).passed
        found = {
            n: row.tolist() for batch in engine.score(prompts) for n, row in zip(batch.ids, batch.logits, strict=True)
        }
        return [found[prompt.question_id] for prompt in prompts]

    spread = TransformersEngine.load(source, dtype=dtype)
    assert set(spread.model.hf_device_map.values()) == {"cpu", "disk"}
    assert spread.description["placed"] == "cpu"
    got = scores(spread)
    monkeypatch.undo()
    whole = TransformersEngine(*load_model(source, dtype=dtype), name="pocket-1m", dtype=dtype)
    assert torch.allclose(torch.tensor(got), torch.tensor(scores(whole)), atol=1e-5 if dtype == "float32" else 0.1)


def test_the_budget_looks_at_every_device(monkeypatch):
    from core.models import budget

    free = {"cpu": 100 * GIB, "meta": 3 * GIB}
    monkeypatch.setattr(budget, "free_bytes", lambda device: free[device.type])
    devices = [torch.device("cpu"), torch.device("meta")]
    shape = memory.Geometry(1, 1, 1)
    alone = budget.Budget(devices[0], shape)
    assert budget.Budget(devices[0], shape, also=devices).bytes < alone.bytes
    assert devices_of(SimpleNamespace(hf_device_map={"a": "cpu", "b": 1, "c": "disk"}, **embedded("cpu"))) == [
        torch.device("cpu"),
        torch.device("cuda", 1),
    ]


def embedded(device):
    weight = SimpleNamespace(device=torch.device(device))
    return {"get_input_embeddings": lambda: SimpleNamespace(weight=weight)}


def test_packed_weights_are_counted_by_the_numbers_they_stand_for():
    packed = torch.nn.Parameter(torch.zeros(64 * 32 // 2, 1, dtype=torch.uint8), requires_grad=False)
    packed.quant_state = SimpleNamespace(shape=torch.Size([64, 32]))  # as bitsandbytes keeps it
    assert parameter_count(packed) == 64 * 32
    assert parameter_count(torch.nn.Parameter(torch.zeros(3, 5))) == 15


def test_an_adapter_needs_the_memory_of_its_base_model(tmp_path):
    from safetensors.torch import save_file

    (tmp_path / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "pocket-1m"})
    )
    save_file({"weight": torch.zeros(10)}, tmp_path / "adapter_model.safetensors")
    assert memory_gib([str(tmp_path)], dtype="float32") > memory_gib(["pocket-1m"], dtype="float32")
