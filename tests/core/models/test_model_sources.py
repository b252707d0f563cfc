import json

import pytest

from core.errors import InputError
from core.models.model_sources import bundled_models, canonical, resolve


def test_a_bundled_model_goes_by_its_name():
    assert "pocket-1m" in bundled_models()
    assert canonical("pocket-1m") == "pocket-1m"
    assert not resolve("pocket-1m").is_hub


def test_a_folder_is_made_absolute(tiny_model, monkeypatch):
    monkeypatch.chdir(tiny_model.parent)
    assert canonical(f"./{tiny_model.name}") == str(tiny_model)


@pytest.mark.parametrize("name", ["/no/such", "./no", "a b", "a/b/c"])
def test_what_is_neither_folder_nor_hub_id(name):
    with pytest.raises(InputError, match="there is no folder"):
        resolve(name)


def test_gguf_is_served_by_llama_cpp(monkeypatch):
    from types import SimpleNamespace

    import huggingface_hub

    for name in ("/models/llama-q4.gguf", "llama-q4.gguf"):
        with pytest.raises(InputError, match=r"is a GGUF file, which llama.cpp reads .* with --server"):
            resolve(name)
    files = [SimpleNamespace(rfilename=name) for name in ("README.md", "config.json", "llama-q4.gguf")]
    monkeypatch.setattr(huggingface_hub, "model_info", lambda *_, **__: SimpleNamespace(siblings=files))
    with pytest.raises(InputError, match=r"is kept on the hub as GGUF files, which llama.cpp reads"):
        resolve("somebody/llama-GGUF")


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
