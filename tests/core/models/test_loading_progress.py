"""While weights are loaded, a run says how many tensors and files are done, and can be cancelled."""

import pytest
import torch

from core.errors import RunCancelled
from core.models import loading_progress
from core.models.model_loading import load_model
from core.models.model_sources import resolve


@pytest.fixture
def shards(tiny_model, tmp_path, monkeypatch):
    """The tiny model in several files, and every report of its loading."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    monkeypatch.setattr(loading_progress, "REPORT_EVERY_S", 0.0)
    AutoModelForCausalLM.from_pretrained(tiny_model).save_pretrained(tmp_path, max_shard_size="20KB")
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path)
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    return tmp_path


def test_loading_is_reported_by_tensor_and_file(shards):
    messages: list[str] = []
    model, _ = load_model(resolve(str(shards)), dtype="float32", report=messages.append)
    files = len(list(shards.glob("model-*.safetensors")))
    tensors = len({id(parameter) for parameter in model.parameters()})
    assert messages[0] == f"loading the model: 0 of {tensors} tensors, 0 of {files} files"
    assert messages[-1].startswith(f"loading the model: {tensors - 1} of {tensors} tensors, ")
    done = [int(line.split(", ")[1].split()[0]) for line in messages]
    assert done == sorted(done)
    assert done[-1] >= files - 1


def test_one_file_is_reported_by_tensor(tiny_model):
    messages: list[str] = []
    load_model(resolve(str(tiny_model)), dtype="float32", report=messages.append)
    assert "files" not in messages[0]


def test_a_cancelled_run_stops_loading(shards):
    def stop(stage: str) -> None:
        raise RunCancelled("stopped")

    with pytest.raises(RunCancelled):
        load_model(resolve(str(shards)), dtype="float32", report=stop)
    model, _ = load_model(resolve(str(shards)), dtype="float32")  # the next one is not reported
    assert isinstance(model, torch.nn.Module)
