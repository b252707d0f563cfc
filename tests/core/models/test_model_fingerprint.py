"""A model's fingerprint: what changes it, what does not, and that a large file is read once."""

import json
import os
import shutil
from pathlib import Path

import pytest

from core.errors import InputError
from core.models import model_fingerprint
from core.models.model_fingerprint import fingerprint, folder_fingerprint, known_fingerprint, short
from core.settings import ASSETS

pytestmark = pytest.mark.quick


@pytest.fixture
def model(home, tmp_path) -> Path:
    """A copy of a model that ships."""
    folder = tmp_path / "model"
    shutil.copytree(ASSETS / "models" / "pocket-3m-instruct", folder)
    return folder


def changed_byte(path: Path) -> None:
    """Change the last byte of a file in place and set its time back, as ``cp -p`` and ``rsync -t`` do."""
    about = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def test_the_place_and_the_name_of_the_folder_do_not_count(model, tmp_path):
    before = fingerprint(str(model))
    shutil.copytree(model, tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(model)
    assert before == fingerprint(str(tmp_path / "elsewhere")) == fingerprint(str(tmp_path / "link"))
    assert before == fingerprint("pocket-3m-instruct") == folder_fingerprint(model)


@pytest.mark.parametrize(
    "name", ["README.md", "train.log", "trainer_state.json", "optimizer.pt", "rng_state.pth", ".x"]
)
def test_files_that_no_figure_depends_on_do_not_count(model, name):
    before = fingerprint(str(model))
    (model / name).write_text("3")
    assert fingerprint(str(model)) == before


@pytest.mark.parametrize(
    "name",
    [
        "merges.txt",
        "tokenizer.model",
        "special_tokens_map.json",
        "added_tokens.json",
        "qwen.tiktoken",
        "chat_template.json",
        "additional_chat_templates/tool_use.jinja",
        "words.lst",
    ],
)
def test_each_further_file_of_a_tokenizer_counts(model, name):
    path = model / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"vocab_file": "words.lst"}))
    before = fingerprint(str(model))
    (model / name).parent.mkdir(exist_ok=True)
    (model / name).write_text("{}")
    added = fingerprint(str(model))
    (model / name).write_text("[]")
    assert len({before, added, fingerprint(str(model))}) == 3


def test_shards_count_if_the_index_names_them_and_other_weights_do_not(model):
    (model / "model.safetensors").rename(model / "model-1.safetensors")
    tensors = {"x": "model-1.safetensors"}
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": tensors}))
    before = fingerprint(str(model))
    (model / "consolidated.safetensors").write_bytes(b"not read")
    assert fingerprint(str(model)) == before
    changed_byte(model / "model-1.safetensors")
    assert fingerprint(str(model)) != before


def test_an_adapter_counts_with_its_base_model(model, tmp_path):
    adapter = tmp_path / "adapter"
    shutil.copytree(ASSETS / "adapters" / "juror-3m-instruct", adapter)
    values = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(values | {"base_model_name_or_path": str(model)}))
    before = fingerprint(str(adapter))
    changed_byte(model / "model.safetensors")
    other_base = fingerprint(str(adapter))
    changed_byte(adapter / "adapter_model.safetensors")
    other_both = fingerprint(str(adapter))
    own, base = zip(*(each.split("+") for each in (before, other_base, other_both)), strict=True)
    assert own[0] == own[1] != own[2]
    assert base[0] != base[1] == base[2] == fingerprint(str(model))
    assert short(before) == f"{own[0][:6]}+{base[0][:6]}"
    trained = ASSETS / "adapters" / "trivia-ard-lora"  # Hedge's own kind
    assert folder_fingerprint(trained).endswith("+" + fingerprint("pocket-3m"))


def test_models_that_have_no_files_here_have_no_fingerprint(home, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "1")
    assert fingerprint("fake") == fingerprint("llama@http://127.0.0.1:1/v1") == ""


def aged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files of any age are taken to be old; returns the large files that are read from now on."""
    monkeypatch.setattr(model_fingerprint, "SETTLED_S", -3600.0)
    files: list[Path] = []
    real = model_fingerprint._block

    def counted(path: Path, start: int) -> bytes:
        if path.stat().st_size >= model_fingerprint.CACHED_FROM:
            files.append(path)
        return real(path, start)

    monkeypatch.setattr(model_fingerprint, "_block", counted)
    return files


def test_an_unchanged_model_is_read_once(model, monkeypatch):
    read = aged(model, monkeypatch)
    monkeypatch.setattr(model_fingerprint, "BLOCK", 1 << 20)
    monkeypatch.setattr(model_fingerprint, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(model_fingerprint, "QUICK", 1 << 20)
    assert known_fingerprint(str(model)) is None
    messages: list[str] = []
    before = fingerprint(str(model), report=messages.append)
    assert len(read) == 5  # the blocks of 5.2 MB of weights
    assert messages[0].startswith("reading the model's files: ")
    assert fingerprint(str(model)) == known_fingerprint(str(model)) == before
    assert len(read) == 5
    changed_byte(model / "model.safetensors")  # of the same size and the same time of change
    assert known_fingerprint(str(model)) is None
    assert fingerprint(str(model)) != before
    assert len(read) == 10


def test_a_file_that_has_just_changed_is_read_again(model, monkeypatch):
    read = aged(model, monkeypatch)
    monkeypatch.setattr(model_fingerprint, "SETTLED_S", 3600.0)
    assert fingerprint(str(model)) == fingerprint(str(model))
    assert len(read) == 2


@pytest.mark.parametrize("content", [b"", b"{", b'{"stamp": 1}', b'{"stamp": [1], "hash": 3}', b"\xff\xfe"])
def test_a_damaged_cache_is_written_again(model, home, monkeypatch, content):
    read = aged(model, monkeypatch)
    before = fingerprint(str(model))
    (cached,) = (home / "cache" / "file_hashes").iterdir()
    cached.write_bytes(content)
    assert fingerprint(str(model)) == before
    assert len(read) == 2
    assert known_fingerprint(str(model)) == before


def test_a_home_that_cannot_be_written_costs_a_reading(model, home, monkeypatch):
    read = aged(model, monkeypatch)
    home.mkdir(exist_ok=True)
    (home / "cache").write_text("a file where the folder would be")
    assert fingerprint(str(model)) == fingerprint(str(model))
    assert len(read) == 2


def test_files_that_change_while_they_are_read_are_read_again(model, monkeypatch):
    aged(model, monkeypatch)
    real, changes = model_fingerprint._block, [1]

    def changing(path: Path, start: int) -> bytes:
        content = real(path, start)
        if path.suffix == ".safetensors" and changes:
            changes.pop()
            changed_byte(path)
        return content

    monkeypatch.setattr(model_fingerprint, "_block", changing)
    value = fingerprint(str(model))
    assert value == fingerprint(str(model))
    changes += [1] * model_fingerprint.TRIES
    changed_byte(model / "model.safetensors")
    with pytest.raises(InputError, match="change while Hedge reads them"):
        fingerprint(str(model))
