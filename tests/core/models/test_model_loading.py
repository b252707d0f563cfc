"""The requested model is loaded; one sentence says what can't be."""

import json
import shutil

import pytest
import torch
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
from safetensors.torch import load_file, save_file

from core.errors import InputError
from core.models import model_sources
from core.models.model_loading import _adapter_folder, load_model
from core.models.model_sources import ModelSource, resolve
from core.models.tokenizers import loading_sentence


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("adapter_config.json",), "has no weights"),
        (("adapter_config.json", "adapter_model.bin"), "as a pickle"),
        (("french/adapter_config.json",), "no adapter_config.json, but folders in it have; give one of those"),
    ],
)
def test_an_adapter_folder_that_is_none(tmp_path, names, says):
    (tmp_path / "french").mkdir()
    for name in names:
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=says):
        resolve(str(tmp_path))


def test_float32_means_float32_even_for_weights_stored_otherwise(tiny_model, tmp_path):
    folder = tmp_path / "half"
    shutil.copytree(tiny_model, folder)
    weights = load_file(folder / "model.safetensors")
    save_file({name: w.half() for name, w in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dtype": "float16"}))
    model, _ = load_model(resolve(str(folder)), dtype="float32")
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert torch.get_float32_matmul_precision() == "highest"
    with torch.inference_mode():
        assert model(torch.tensor([[1, 2]])).logits.dtype == torch.float32


def test_a_model_that_needs_code_of_its_makers(tiny_model, tmp_path):
    folder = tmp_path / "custom"
    shutil.copytree(tiny_model, folder)
    config = {"model_type": "own", "auto_map": {"AutoConfig": "c.C", "AutoModelForCausalLM": "m.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "c.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(InputError, match="needs code of its makers to run, which Hedge never runs"):
        load_model(resolve(str(folder)), dtype="float32")
    assert not (tmp_path / "ran").exists()


class _Response:
    status_code = 403
    headers: dict = {}  # noqa: RUF012
    request = None


def test_a_gated_model_says_what_to_accept_and_where_the_token_goes(monkeypatch, tiny_model):
    import huggingface_hub

    def refuse(*args, **kwargs):
        raise GatedRepoError("gated", response=_Response())

    monkeypatch.setattr(huggingface_hub, "model_info", refuse)
    with pytest.raises(InputError, match=r"is gated: accept its terms at huggingface.co/made/up.*set HF_TOKEN"):
        resolve("made/up")
    sentence = loading_sentence(
        resolve(str(tiny_model)), OSError("You are trying to access a gated repo.\nMake sure to")
    )
    assert "accept its terms" in sentence
    assert "\n" not in sentence


def test_a_hub_adapter_is_known_by_its_files(monkeypatch):
    import huggingface_hub

    class Sibling:
        def __init__(self, name):
            self.rfilename = name

    class Info:
        siblings = (Sibling("adapter_config.json"), Sibling("adapter_model.safetensors"))

    monkeypatch.setattr(huggingface_hub, "model_info", lambda *args, **kwargs: Info())
    assert model_sources.resolve("made/up").is_adapter
    Info.siblings = (*Info.siblings, Sibling("config.json"))
    assert not model_sources.resolve("made/up").is_adapter


def test_an_unknown_hub_id(monkeypatch):
    import huggingface_hub

    def missing(*args, **kwargs):
        raise RepositoryNotFoundError("404", response=_Response())

    monkeypatch.setattr(huggingface_hub, "model_info", missing)
    with pytest.raises(InputError, match="the hub has no model of this name"):
        resolve("made/up")


def test_a_hub_adapter_without_safetensors_is_not_read(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    def missing(*args, **kwargs):
        raise EntryNotFoundError("404")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", missing)
    with pytest.raises(InputError, match=r"has no adapter_model.safetensors; weights in a pickle"):
        _adapter_folder(ModelSource("up", "made/up", is_hub=True, is_adapter=True))
