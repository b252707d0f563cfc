"""Runs that score words: written, gone on with, read again; and what keeps them from it."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.errors import InputError, RunCancelled, RunError
from core.models.perplexity import choices, conversations
from core.models.perplexity.prompts import EMPTY, FITTING, UNFITTING, SystemPrompt
from core.models.perplexity.request import Request
from core.reports import evaluation, perplexity_results
from core.runs import store
from core.runs.execution import perplexity_run
from core.runs.execution.execute import execute, preflight
from core.runs.spec import RunSpec
from tests.core.runs.execution.test_damaged_chunks import DAMAGES, assert_equal, folder_of, stopped, undisturbed
from tests.damaged import flip
from tests.parameters import rest_nightly

MODEL = "pocket-1m"


def request(**changes) -> Request:
    return Request(**({"prompts": (FITTING, EMPTY), "conversations": conversations.bundled()[:2]} | changes))


def test_a_run_from_its_request_to_its_messages(home):
    requested = request(choices=choices.read(choices.BUNDLED)[:3])
    spec = perplexity_run.spec_of(requested, MODEL)
    heard = []
    name = execute(spec, on_progress=heard.append)
    assert name == spec.run_id
    assert name.startswith("pocket-1m-perplexity-float32-")
    results = perplexity_results.read(name)
    assert results.request == requested
    assert set(results.messages) == {(p.digest, s) for p in requested.prompts for s in requested.sources}
    for prompt in requested.prompts:
        for talk in requested.conversations:
            messages = results.messages[prompt.digest, talk.digest]
            assert ["".join(m.pieces) for m in messages] == [talk.messages[m.number].text for m in messages]
            assert all(np.isfinite(m.losses).all() and (m.losses >= 0).all() for m in messages)
        endings = results.messages[prompt.digest, requested.sources[-1]]
        assert ["".join(m.pieces) for m in endings] == [e for choice in requested.choices for e in choice.endings]
    total = sum(len(part.windows) for part in requested.parts())
    assert (heard[-1].done, heard[-1].total) == (total, total)
    assert {p.stage for p in heard} >= {"loading the model", "checking itself", "scoring"}
    record = store.read_record(name)
    assert record.provenance["engine"]["notes"] == list(results.notes)
    assert not (store.folder_of(name) / "progress.json").exists()
    # Asked for again, the same run is already done.
    stamp = (store.folder_of(name) / "run.json").stat().st_mtime_ns
    assert execute(perplexity_run.spec_of(requested, MODEL)) == name
    assert (store.folder_of(name) / "run.json").stat().st_mtime_ns == stamp


def test_a_cancelled_run_goes_on_with_what_is_missing(home):
    spec = perplexity_run.spec_of(request(), MODEL)
    folder = home / "runs" / spec.run_id
    with pytest.raises(RunCancelled):
        execute(spec, cancelled=lambda: len(list(folder.glob("chunks/*.parquet"))) >= 2)
    assert store.read_record(spec.run_id).state == "cancelled"
    file_times = {path.name: path.stat().st_mtime_ns for path in folder.glob("chunks/*.parquet")}
    assert len(file_times) == 2
    heard = []
    execute(spec, on_progress=lambda p: heard.append((p.done, p.stage)))
    assert min(done for done, stage in heard if stage == "scoring") > 9  # what was finished is not done again
    table = pq.ParquetFile(folder / perplexity_run.FILE)
    assert table.num_row_groups == 4
    whole = perplexity_results.read(spec.run_id)
    again = perplexity_run.spec_of(request(exchanges=3), MODEL)
    assert again.run_id != spec.run_id
    assert len(whole.messages) == 4


def test_it_has_no_answers_and_others_have_no_losses(home):
    name = execute(perplexity_run.spec_of(request(conversations=conversations.bundled()[:1]), MODEL))
    with pytest.raises(InputError, match="scored words and has no answers"):
        evaluation.load(name)
    answers = next(name for name in store.run_ids() if store.read_record(name).spec.answers)
    with pytest.raises(InputError, match="answers questions; it holds no losses"):
        perplexity_results.read(answers)


def test_a_prompt_that_fills_the_context_fails_in_one_sentence(home):
    long = SystemPrompt("Long", "Listen. " * 600)
    spec = perplexity_run.spec_of(request(prompts=(long,)), MODEL)
    with pytest.raises(InputError, match="shorten the prompt"):
        execute(spec)
    record = store.read_record(spec.run_id)
    assert record.state == "failed"
    assert record.message.startswith("system prompt 'Long' and message 3 alone are ")
    with pytest.raises(InputError, match="is failed; its figures are shown once it has finished successfully"):
        perplexity_results.read(spec.run_id)


def test_a_request_that_nobody_wrote(home):
    spec = RunSpec(model=MODEL, task="perplexity@0123456789", form="losses")
    with pytest.raises(InputError, match="there is no request '0123456789'"):
        preflight(spec)
    with pytest.raises(InputError, match="there is no request"):
        perplexity_run.read_request(RunSpec(model=MODEL, task="perplexity@../../etc", form="losses"))
    run_spec = perplexity_run.spec_of(request(), MODEL)
    path = home / "perplexity" / f"{run_spec.task.partition('@')[2]}.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"is damaged \(it is no JSON"):
        perplexity_run.read_request(run_spec)
    path.write_text(json.dumps({"prompts": []}), encoding="utf-8")
    with pytest.raises(InputError, match="a request for perplexities can't be read"):
        perplexity_run.read_request(run_spec)


def test_losses_that_are_no_numbers_stop_the_run(home, monkeypatch):
    monkeypatch.setattr(
        "core.models.token_losses.TokenLosses._alone",
        lambda self, one: np.full(len(one.tokens) - one.first, np.nan, dtype=np.float32),
    )
    spec = perplexity_run.spec_of(request(prompts=(UNFITTING,)), MODEL)
    with pytest.raises(RunError, match="the model gives no numbers"):
        execute(spec)


PARTS = ("of another prompt", "truncated", "a bit", "while running")


@pytest.mark.parametrize("damage", rest_nightly(PARTS, now=PARTS[:1]))
def test_a_damaged_perplexity_part_is_scored_again(home, monkeypatch, tmp_path, damage):
    spec = perplexity_run.spec_of(request(), MODEL)
    chunk = folder_of(spec) / "chunks" / "000000.parquet"
    broken = []

    def hear(now):
        if now.done == now.total > 0 and damage == "while running" and not broken:
            broken.append(flip(chunk))

    if damage != "while running":
        stopped(spec, chunks=2)
        if damage == "of another prompt":
            shutil.copy(chunk.with_name("000001.parquet"), chunk)
        else:
            DAMAGES[damage](chunk)
    execute(spec, on_progress=hear)
    assert sum("000000.parquet is damaged" in line for line in store.read_log(spec.run_id)) == 1
    folder = folder_of(spec)
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "undisturbed"))
    assert_equal(folder, undisturbed(perplexity_run.spec_of(request(), MODEL), monkeypatch, tmp_path))
    assert np.isfinite(pq.read_table(folder / perplexity_run.FILE)["message"].to_numpy()).all()
