import pytest

from core.models.memory_estimate import memory_gib, parameters


def test_memory_that_a_model_needs(tmp_path):
    # 7,242 million parameters of 2 bytes, a fifth more, and half a GiB.
    expected = pytest.approx(7.242e9 * 2 * 1.2 / 2**30 + 0.5)
    assert memory_gib(["mistralai/Mistral-7B-v0.1"], dtype="bfloat16") == expected
    assert memory_gib(["pocket-1m", "mistralai/Mistral-7B-v0.1"], dtype="bfloat16") == expected  # the largest counts
    assert 0.9e6 < parameters("pocket-1m") < 2e6
    assert 0.5 < memory_gib(["pocket-1m"], dtype="float32") < 0.6
    assert memory_gib(["somebody/unknown"], dtype="float32") == 0.0
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    assert parameters(str(tmp_path)) == 0
