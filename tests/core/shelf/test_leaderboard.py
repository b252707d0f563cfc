"""Models of the Open LLM Leaderboard, from a hub on this machine."""

import json

import numpy as np
import pytest

from core.errors import InputError
from core.reports.titles import record_task_title
from core.runs import store
from core.shelf.bring import bring
from core.shelf.leaderboard import model_id, of_model
from core.shelf.recompute import summary
from tests.core.recorded_logs import read_samples
from tests.core.shelf.leaderboard_files import DATE, FOLDER, REPOSITORY, add, samples
from tests.core.shelf.mirror import Mirror
from tests.light_environment import needs_models

pytestmark = pytest.mark.quick


@pytest.fixture
def hub(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    return mirror


@needs_models
def test_tasks_are_chosen_and_come_in(hub: Mirror, tmp_path):
    files = add(hub)
    hub.add_to_hub(REPOSITORY, f"{FOLDER}/samples_leaderboard_ifeval_{DATE}.jsonl", b"{}\n")
    entry = of_model("org/tiny-1B")
    assert entry.values_of("task") == ("gpqa", "mmlu_pro")
    done = bring(entry, where={"task": ["mmlu_pro"]})
    (run,) = done.runs
    record = store.read_record(run)
    assert (record.spec.model, record.spec.shots, record.spec.dtype) == ("org/tiny-1B", 5, "bfloat16")
    assert record_task_title(record) == "MMLU-Pro · Open LLM Leaderboard"
    assert summary(done.figures) == "1 of 1 published figures recomputed"
    wanted = {path: content for path, content in files.items() if "gpqa" not in path}
    assert done.fetched == sum(map(len, wanted.values()))
    folder = tmp_path / FOLDER
    folder.mkdir()
    for path, content in wanted.items():
        (tmp_path / path).write_bytes(content)
    (direct,) = read_samples(folder)
    assert direct.spec.run_id == run
    assert np.array_equal(store.read_logits(run).logits, direct.scored.logits)


@needs_models
@pytest.mark.parametrize("as_list", [False, True], ids=["lines", "list"])
def test_the_names_and_forms_of_2024(hub: Mirror, as_list):
    """The leaderboard's first data sets name samples ``.json``; some versions of the harness wrote one list."""
    files = add(hub, ("leaderboard_gpqa_main",))
    (now,) = bring(of_model("org/tiny-1B")).runs
    content = next(content for path, content in files.items() if "samples" in path)
    if as_list:
        content = json.dumps([json.loads(line) for line in content.splitlines()]).encode()
    for path in files:
        del hub.files[f"/datasets/{REPOSITORY}/resolve/main/{path}"]
    hub.add_to_hub(REPOSITORY, f"{FOLDER}/samples_leaderboard_gpqa_main_2024-06-16T19-10-04.926831.json", content)
    done = bring(of_model("org/tiny-1B"))
    (older,) = done.runs
    assert store.read_record(older).spec.model == "org/tiny-1B"  # the folder says it, where there is no results file
    assert np.array_equal(store.read_logits(older).logits, store.read_logits(now).logits)
    assert done.figures == ()


@needs_models
def test_the_last_evaluation_of_a_task_counts(hub: Mirror):
    add(hub, ("leaderboard_gpqa_main",))
    later = f"{FOLDER}/samples_leaderboard_gpqa_main_2025-03-01T00-00-00.000001.jsonl"
    hub.add_to_hub(REPOSITORY, later, samples("leaderboard_gpqa_main", 24, seed=7)[0])
    done = bring(of_model("org/tiny-1B"))
    assert len(store.read_logits(done.runs[0]).ids) == 24
    assert [path for path in hub.sent if "/resolve/" in path] == [f"/datasets/{REPOSITORY}/resolve/main/{later}"]


@needs_models
@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "expected a model of the Hugging Face hub as ORGANISATION/MODEL, such as Qwen/Qwen2.5-7B, got ''"),
        ("gpt2", "as ORGANISATION/MODEL, such as Qwen/Qwen2.5-7B, got 'gpt2'"),
        ("a/b/c", "got 'a/b/c'"),
        ("org/other-2B", "the Open LLM Leaderboard has no results of org/other-2B .there is no open-llm-leaderboard/"
         "org__other-2B-details on the hub, or HF_TOKEN may not see it.; check how"),
        ("org/tiny-1B", "expected samples of GPQA, MuSR, BBH and MMLU-Pro among the leaderboard's results of org/tiny"
         "-1B, found only leaderboard_ifeval, leaderboard_math_algebra_hard; nothing says how probable each option is"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_one_sentence(hub: Mirror, typed, says):
    for task in ("ifeval", "math_algebra_hard"):
        hub.add_to_hub(REPOSITORY, f"{FOLDER}/samples_leaderboard_{task}_{DATE}.jsonl", b"{}\n")
    with pytest.raises(InputError, match=says) as caught:
        of_model(typed)
    assert "\n" not in str(caught.value)


@needs_models
def test_an_agreement_that_is_asked_for_is_one_sentence(hub: Mirror):
    add(hub)
    hub.fault = "gated"
    with pytest.raises(InputError, match="its authors ask for an agreement on the hub; agree on its page there, and"):
        bring(of_model("org/tiny-1B"))
    assert [name for name in store.run_ids() if not store.is_bundled(name)] == []


@needs_models
def test_a_hub_that_does_not_list_its_files_is_given_up(hub: Mirror, monkeypatch):
    add(hub)
    hub.fault = "silent listing"
    monkeypatch.setattr("core.shelf.hub.LISTING_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"did not list its files within 0\.2 s"):
        of_model("org/tiny-1B")


def test_ids_as_people_paste_them():
    assert model_id(" https://huggingface.co/Qwen/Qwen2.5-7B/ ") == "Qwen/Qwen2.5-7B"
    details = "https://huggingface.co/datasets/open-llm-leaderboard/Qwen__Qwen2.5-7B-details"
    assert model_id(details) == "Qwen/Qwen2.5-7B"
