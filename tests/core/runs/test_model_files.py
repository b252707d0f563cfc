"""The files of its model in a run's identity: what makes another run, what does not, and what a run does if they change
before or while it is running."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from core.errors import InputError, RunCancelled
from core.models import engine_factory, model_fingerprint
from core.models.model_fingerprint import fingerprint, shipped
from core.models.model_sources import bundled_adapters, bundled_models, resolve
from core.reports.compare.what_differs import what_differs
from core.reports.prompting.experiments import experiments
from core.reports.titles import record_titles
from core.runs import actions, engine, store
from core.runs.execution.execute import execute
from core.runs.model_files import NOT_READ, identified, known, served_weights
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from core.settings import ASSETS
from hedge.cli import main

SMALL = ["--task", "qa", "--samples", "12"]
OLD, NEW = "a" * 40, "b" * 40
"""Two revisions on the hub."""


@pytest.fixture
def folder(home, tmp_path) -> Path:
    """A model of a person: a copy of one that ships, with a chat template."""
    path = tmp_path / "checkpoint"
    shutil.copytree(ASSETS / "models" / "pocket-1m", path)
    shutil.copy(ASSETS / "models" / "pocket-3m-instruct" / "chat_template.jinja", path)
    return path


def other_weights(folder: Path) -> None:
    """Change one tensor in place, and set the time of the change back to what it was, as ``cp -p`` does."""
    path = next(folder.glob("*model.safetensors"))
    about = path.stat()
    tensors = load_file(path)
    name = max(tensors, key=lambda each: tensors[each].size)
    path.write_bytes(save(tensors | {name: tensors[name] * 2}, metadata={"format": "pt"}))
    assert path.stat().st_size == about.st_size
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def in_json(name: str, **values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def appended(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text((folder / name).read_text() + " ")

    return change


def run_id(model: str | Path, **settings: object) -> str:
    (spec,) = identified([RunSpec(model=str(model), task="qa", **settings)])  # type: ignore[arg-type]
    return spec.run_id


@pytest.mark.quick
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(other_weights, id="weights"),
        pytest.param(in_json("config.json", rope_theta=5000.0), id="configuration"),
        pytest.param(in_json("generation_config.json", repetition_penalty=1.1), id="generation configuration"),
        pytest.param(appended("tokenizer.json"), id="tokenizer"),
        pytest.param(in_json("tokenizer_config.json", add_eos_token=True), id="tokenizer's configuration"),
        pytest.param(appended("chat_template.jinja"), id="chat template"),
        pytest.param(lambda folder: (folder / "chat_template.jinja").unlink(), id="no chat template"),
        pytest.param(lambda folder: (folder / "special_tokens_map.json").write_text("{}"), id="another file"),
    ],
)
def test_another_file_of_the_model_makes_another_run(folder, change):
    before = run_id(folder)
    assert run_id(folder) == before
    (folder / "README.md").write_text("Trained longer.")
    assert run_id(folder) == before
    change(folder)
    assert run_id(folder) != before


@pytest.mark.quick
@pytest.mark.parametrize("part", ["adapter", "adapter's configuration", "base model"])
def test_another_adapter_or_base_model_makes_another_run(folder, tmp_path, part):
    adapter = tmp_path / "adapter"
    shutil.copytree(ASSETS / "adapters" / "juror-3m", adapter)
    in_json("adapter_config.json", base_model_name_or_path=str(folder))(adapter)
    before = run_id(adapter)
    assert run_id(adapter) == before
    if part == "adapter's configuration":
        in_json("adapter_config.json", lora_alpha=1)(adapter)
    else:
        other_weights(adapter if part == "adapter" else folder)
    assert run_id(adapter) != before


@pytest.mark.quick
def test_the_precision_and_the_name_of_the_model_are_part_of_the_run(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert len({run_id(folder), run_id(folder, dtype="bfloat16"), run_id(tmp_path / "elsewhere")}) == 3
    assert fingerprint(str(folder)) == fingerprint(str(tmp_path / "elsewhere"))


@pytest.mark.quick
def test_models_that_ship_have_the_fingerprints_that_are_recorded(home):
    """If a model was made again, write what this test expects to assets/models/fingerprints.json."""
    assert shipped() == {name: fingerprint(name) for name in (*bundled_models(), *bundled_adapters())}
    spec = RunSpec(model="pocket-1m", task="qa")
    assert identified([spec]) == [spec]


@pytest.mark.quick
def test_a_model_that_ships_and_was_changed_makes_another_run(folder, monkeypatch):
    monkeypatch.setattr("core.models.model_sources.ASSETS", folder.parent)
    (folder.parent / "models").mkdir()
    changed = folder.rename(folder.parent / "models" / "pocket-1m")
    assert run_id("pocket-1m") != RunSpec(model="pocket-1m", task="qa").run_id
    (changed / "chat_template.jinja").unlink()  # now it is as it ships
    assert run_id("pocket-1m") == RunSpec(model="pocket-1m", task="qa").run_id


@pytest.mark.quick
def test_a_page_reads_no_large_file(folder, home, monkeypatch):
    monkeypatch.setattr(model_fingerprint, "SETTLED_S", -3600.0)
    spec = RunSpec(model=str(folder), task="qa")
    assert known([spec]) == identified([spec])  # small ones it does
    shutil.rmtree(home / "cache")
    monkeypatch.setattr(model_fingerprint, "QUICK", 1 << 20)
    assert known([spec])[0].model_fingerprint == NOT_READ
    assert identified([spec]) == known([spec])


def hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the hub with two revisions of one model, with the older one in use; there is no network."""
    for name in ("constants", "file_download"):
        monkeypatch.setattr(f"huggingface_hub.{name}.HF_HUB_CACHE", str(root), raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    model = root / "models--org--tiny"
    for revision, source in ((OLD, "pocket-1m"), (NEW, "pocket-3m")):
        shutil.copytree(ASSETS / "models" / source, model / "snapshots" / revision)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(OLD)
    return model / "refs" / "main"


def test_another_revision_makes_another_run_and_each_is_loaded_as_it_was_asked_for(home, tmp_path, monkeypatch):
    main_revision = hub(tmp_path / "hub", monkeypatch)
    assert resolve("org/tiny").revision == OLD
    spec = RunSpec(model="org/tiny", task="qa", samples=12)
    (before,) = identified([spec])
    assert before.model_fingerprint == OLD
    main_revision.write_text(NEW)
    (after,) = identified([spec])
    assert after.model_fingerprint == NEW
    assert before.run_id != after.run_id
    for revision, source in ((before, "pocket-1m"), (after, "pocket-3m")):
        scored = store.read_logits(execute(revision))
        same = store.read_logits(execute(replace(spec, model=source)))
        assert np.array_equal(scored.logits, same.logits)
        assert store.read_record(revision.run_id).provenance["model_files"]["fingerprint"] == revision.model_fingerprint


def launched(folder: Path, *words: str) -> RunSpec:
    """A run from the command line."""
    known_ids = set(store.run_ids())
    assert main(["run", "--model", str(folder), *SMALL, *words]) == 0
    (run_id,) = set(store.run_ids()) - known_ids
    return store.read_record(run_id).spec


def test_a_checkpoint_in_the_same_folder_is_another_run_and_no_page_takes_both_for_one_model(
    folder, capsys, monkeypatch
):
    first = launched(folder)
    other_weights(folder)
    second, by_text = launched(folder), launched(folder, "--form", "cloze")
    scores = [store.read_logits(spec.run_id).logits for spec in (first, second)]
    assert not np.allclose(*scores)
    records = [store.read_record(spec.run_id) for spec in (first, second, by_text)]
    for record in records:
        value = record.spec.model_fingerprint
        assert record.provenance["model_files"]["fingerprint"] == value
        assert "model.safetensors" in record.provenance["model_files"]["files"]
        assert record_titles(records)[record.run_id].endswith(f" · weights {value[:6]}")
        assert "weights" not in record_titles([record])[record.run_id]
    assert [len(runs_of_a_model) for runs_of_a_model in experiments(records).values()] == [2, 1]
    old, new = first.model_fingerprint[:6], second.model_fingerprint[:6]
    assert f"form (by letter, by text) and weights ({old}, {new})" in what_differs([first, by_text])
    assert what_differs([second, by_text]) == ""
    assert what_differs([first, second]) == f"These runs differ in weights ({old}, {new})."
    capsys.readouterr()
    assert main(["prompting", first.run_id, by_text.run_id]) == 0
    assert "have different weights, so they are not compared as one model" in capsys.readouterr().out
    earlier = store.read_record(first.run_id)  # of a version that recorded no fingerprint
    store.create(replace(earlier, spec=replace(first, model_fingerprint="", seed=3)))
    titles = record_titles([store.read_record(name) for name in store.run_ids() if not store.is_bundled(name)])
    assert sum(title.endswith("weights not recorded") for title in titles.values()) == 1
    submitted: list[RunSpec] = []
    monkeypatch.setattr(engine, "submit", submitted.append)  # which would start an agent
    assert actions.repeat([first.run_id]).done == (first.run_id,)
    assert submitted == [second]
    assert first.run_id in store.run_ids()  # what is there now is another run, and this one stays


def test_a_run_fails_if_its_model_changes_before_or_while_it_is_at_work(folder, monkeypatch):
    (spec,) = identified([RunSpec(model=str(folder), task="qa", samples=40)])
    shutil.copytree(folder, folder.parent / "kept")
    engine_of = engine_factory.load_engine

    def changing(*arguments, **options):
        engine = engine_of(*arguments, **options)
        score = engine.score
        monkeypatch.setattr(type(engine), "chunk", 10)
        monkeypatch.setattr(engine, "score", lambda prompts: (other_weights(folder), score(prompts))[1])
        return engine

    sentence = f"the model in {folder} has changed since this run was asked for"
    with monkeypatch.context() as patch:
        patch.setattr("core.runs.execution.execute.load_engine", changing)
        with pytest.raises(InputError, match=sentence):
            execute(spec)
    record = store.read_record(spec.run_id)
    assert record.state == "failed"
    assert record.message.endswith("launch it again to run what is there now")
    assert not list((store.folder_of(spec.run_id) / "chunks").glob("*.parquet"))
    with pytest.raises(InputError, match=sentence):  # nor does it continue with the new weights
        execute(spec)
    shutil.copy(folder.parent / "kept" / "model.safetensors", folder)
    assert store.read_record(execute(spec)).state == "done"  # but with the old ones


def test_chunks_of_weights_that_were_not_recorded_are_not_mixed_with_others(folder, monkeypatch):
    spec = RunSpec(model=str(folder), task="qa", samples=120)
    store.create(RunRecord(spec=spec, state="queued", created=0.0))
    chunks = store.folder_of(spec.run_id) / "chunks"
    with pytest.raises(RunCancelled):
        execute(spec, cancelled=lambda: any(chunks.glob("*.parquet")))
    assert list(chunks.glob("*.parquet"))
    other_weights(folder)
    assert execute(spec) == spec.run_id
    (now,) = identified([spec])
    assert np.array_equal(store.read_logits(execute(now)).logits, store.read_logits(spec.run_id).logits)
    assert "the model may have changed" in "\n".join(store.read_log(spec.run_id))


@pytest.mark.quick
def test_one_name_on_a_server_with_two_kinds_of_weights_is_no_single_model():
    def record(log_p: float, day: int, **settings: object) -> RunRecord:
        spec = RunSpec("llama", "qa", dtype="served", servers=("http://gpu:1/v1",), **settings)  # type: ignore[arg-type]
        weights = {"told": "vLLM", "log_p": log_p, "text_log_p": -2.0}
        return RunRecord(spec, "done", created=86_400.0 * day, provenance={"engine": {"weights": weights}})

    letters, by_text, again = record(-1.0, 0), record(-3.0, 1, form="cloze"), record(-1.04, 2, shots=1)
    titles = record_titles([letters, by_text, again])
    assert titles[letters.run_id].endswith(" · weights of 1970-01-01 00:00")
    assert titles[again.run_id].endswith(" · weights of 1970-01-01 00:00")
    assert titles[by_text.run_id].endswith(" · weights of 1970-01-02 00:00")
    assert "weights" not in record_titles([letters, again])[letters.run_id]
    assert sorted(len(runs_of_a_model) for runs_of_a_model in experiments([letters, by_text, again]).values()) == [1, 2]
    specs, served = [letters.spec, by_text.spec], list(served_weights([letters, by_text]).values())
    assert "and weights (of 1970-01-01 00:00, of 1970-01-02 00:00)" in what_differs(specs, served=served)
    damaged = replace(letters, provenance={"engine": {"weights": {"told": 1, "log_p": "x"}}})
    assert served_weights([damaged, by_text]) == {damaged.run_id: "", by_text.run_id: ""}
