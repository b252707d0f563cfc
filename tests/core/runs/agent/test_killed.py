"""Runs of a real model, killed where it hurts, then resumed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from core.errors import InputError, RunError
from core.questions import bank
from core.reports.evaluation import load
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.model_files import identified
from core.runs.spec import RunSpec
from core.settings import ROOT, settings
from core.storage import atomic
from core.storage.tables import finished_chunks
from tests.conftest import synthetic_questions
from tests.core.models.architectures import VOCABULARY, tiny
from tests.core.models.conftest import WORDS, save_tokenizer
from tests.parameters import rest_nightly

N = 120

VICTIMS = """
import json, os, signal, sys
from core import progress
from core.storage import atomic
from core.models.imports import language_models
from core.runs import store
from core.runs.execution import execute as module
from core.runs.spec import RunSpec
from core.questions import bank
from tests.conftest import synthetic_questions

bank.load = lambda task: synthetic_questions({n})
calls = 0

def dying(function, at):
    def wrapped(*arguments, **options):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return wrapped

PLACES = {
    "loading": (module, "load_engine", 1),
    "checking": (module._Execution, "_checked", 1),
    "asking": (store, "write_questions", 1),
    "ending": (store, "write_record", 5),
    "scoring": (progress.ScoringRate, "add", 2),
    "writing": (atomic, "_sync", 8),
    "joining": (store, "end", 1),
    "dropping": (module, "drop_chunks", 1),
}

def run_and_die(model, where):
    place, name, at = PLACES[where]
    setattr(place, name, dying(getattr(place, name), at))
    module.execute(RunSpec(model=model, task="qa", shots=2))

language_models()
for line in sys.stdin:
    home, model, where = json.loads(line)
    victim = os.fork()
    if victim == 0:
        try:
            os.environ["HEDGE_HOME"] = home
            run_and_die(model, where)
        finally:
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(victim, 0)[1]), flush=True)
"""
"""A process that has loaded torch, which takes seconds, and starts each victim as a copy of itself."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny"
    model = tiny("llama")
    assert len(WORDS) <= VOCABULARY
    model.save_pretrained(path)
    save_tokenizer(path, WORDS)
    return path


@pytest.fixture
def spec(home, folder, monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(N))
    torch.set_num_threads(1)
    return identified([RunSpec(model=str(folder), task="qa", shots=2)])[0]


@pytest.fixture(scope="module")
def victims():
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", VICTIMS.replace("{n}", str(N))]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.stdin.close()


def kill(victims, spec, where, home):
    print(json.dumps([str(home), spec.model, where]), file=victims.stdin, flush=True)
    assert int(victims.stdout.readline()) == -signal.SIGKILL


def assert_as_uninterrupted(spec, home):
    """The run has the logits of one in another home that nothing has disturbed."""
    resumed = store.read_logits(spec.run_id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGE_HOME", str(home))
        execute(spec)
        whole = store.read_logits(spec.run_id)
    assert resumed.ids == whole.ids
    assert np.abs(resumed.logits - whole.logits).max() <= 1e-6


STAGES = ("asking", "loading", "checking", "scoring", "writing", "joining", "ending")


@pytest.mark.parametrize("where", rest_nightly(STAGES, now=["loading", "scoring", "joining"]))
def test_killed_and_resumed_equals_uninterrupted(victims, spec, home, tmp_path, where):
    kill(victims, spec, where, home)
    assert store.read_record(spec.run_id).state == "running"
    with pytest.raises(InputError, match="is running"):
        load(spec.run_id)
    execute(spec)
    if where in ("joining", "ending"):  # nothing is scored again
        assert any(f"continues after {N - 2} questions" in line for line in store.read_log(spec.run_id))
    assert not (settings().runs / spec.run_id / "chunks").exists()
    assert not list((settings().runs / spec.run_id).rglob("*.part"))
    assert_as_uninterrupted(spec, tmp_path / "other")
    files = [folder / "runs" / spec.run_id / "questions.parquet" for folder in (home, tmp_path / "other")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_a_worker_killed_after_its_last_word_has_left_is_cleared(victims, spec, home):
    kill(victims, spec, "dropping", home)
    folder = settings().runs / spec.run_id
    assert store.read_record(spec.run_id).state == "done"
    assert finished_chunks(folder) != []
    execute(spec)
    assert finished_chunks(folder) == []
    assert len(store.read_logits(spec.run_id).ids) == N - 2


def test_a_full_disk_is_said_and_resumed(spec, monkeypatch):
    sync = atomic._sync

    def full(path):
        if path.parent.name == "chunks" and finished_chunks(path.parent.parent):  # it is the second chunk's
            raise OSError(28, "No space left on device")
        sync(path)

    monkeypatch.setattr(atomic, "_sync", full)
    with pytest.raises(RunError, match="the disk is full; free some space, then resume"):
        execute(spec)
    folder = settings().runs / spec.run_id
    assert finished_chunks(folder) == [0]
    assert not list(folder.rglob("*.part"))
    with pytest.raises(InputError, match="is failed"):
        load(spec.run_id)
    monkeypatch.setattr(atomic, "_sync", sync)
    execute(spec)
    assert len(store.read_logits(spec.run_id).ids) == N - 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that holds next to nothing; the tests with it skip where none can be mounted."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("size", ["8k", "16k", "24k", "36k"])
def test_a_disk_that_is_really_full(spec, small_disk, monkeypatch, tmp_path, size):
    """From a disk that can't even take run.json's last word to one that lacks the last chunk."""
    subprocess.run(["mount", "-o", f"remount,size={size}", small_disk], check=True)
    monkeypatch.setenv("HEDGE_HOME", str(small_disk))
    with pytest.raises(RunError, match="the disk is full; free some space, then resume the run"):
        execute(spec)
    assert not list(small_disk.rglob("logits.parquet"))
    with pytest.raises(InputError, match=r"is (running|failed|waiting)"):
        load(spec.run_id)
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    execute(spec)
    assert_as_uninterrupted(spec, tmp_path / "other")
