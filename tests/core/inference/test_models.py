import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from core.errors import InputError
from core.inference.models import bundled_models, canonical, resolve


def folder_with(tmp_path, *names):
    for name in names:
        (tmp_path / name).write_text(json.dumps({"model_type": "llama"}))
    if "model.safetensors" in names:
        save_file({"weight": np.zeros(1, dtype=np.float32)}, tmp_path / "model.safetensors")
    return str(tmp_path)


def test_a_bundled_model_goes_by_its_name():
    assert "pocket-1m" in bundled_models()
    assert canonical("pocket-1m") == "pocket-1m"
    assert not resolve("pocket-1m").is_hub


def test_a_folder_is_made_absolute(tmp_path, monkeypatch):
    folder_with(tmp_path, "config.json", "model.safetensors", "tokenizer.json")
    monkeypatch.chdir(tmp_path.parent)
    assert canonical(f"./{tmp_path.name}") == str(tmp_path)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ((), "has no config.json"),
        (("config.json", "tokenizer.json"), "has no weights"),
        (("config.json", "tokenizer.json", "pytorch_model.bin"), "as a pickle"),
        (("config.json", "model.safetensors"), "has no tokenizer"),
    ],
)
def test_a_folder_that_holds_no_model(tmp_path, names, says):
    with pytest.raises(InputError, match=says):
        resolve(folder_with(tmp_path, *names))


def test_a_configuration_that_is_no_json(tmp_path):
    folder_with(tmp_path, "model.safetensors", "tokenizer.json")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        resolve(str(tmp_path))


@pytest.mark.parametrize("name", ["/no/such", "./no", "a b", "a/b/c"])
def test_what_is_neither_folder_nor_hub_id(name):
    with pytest.raises(InputError, match="there is no folder"):
        resolve(name)


def test_a_hub_that_can_not_be_reached(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"unknown model 'nonesuch'.*pocket-1m"):
        resolve("nonesuch")


def test_the_fake_model_is_unknown_unless_asked_for(monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", json.dumps({}))
    assert resolve("fake").location == "fake"
    monkeypatch.delenv("HEDGE_FAKE_ENGINE")
    with pytest.raises(InputError, match="unknown model"):
        resolve("fake")
