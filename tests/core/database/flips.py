"""One random bit of a database is flipped: it must say the same as before, or one sentence."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import database
from core.classroom import class_store, lecture, quiz
from core.errors import HedgeError
from core.runs import engine, store
from core.runs.queue import run_queue
from core.runs.spec import RunSpec
from core.runs.store import RunRecord

WAY_OUT = {
    "engine.sqlite": "move a damaged file away: finished runs do not live in it",
    "classes.sqlite": "move the file away, and new classes can be opened",
}


def fill() -> None:
    """Fill HEDGE_HOME with what its databases hold: runs that wait, are at work and have ended, and two classes."""
    for seed in range(12):
        spec = RunSpec(model="fake", task="qa", samples=20, seed=seed)
        store.create(RunRecord(spec=spec, state="queued", created=time.time()))
        run_queue.enqueue(spec.run_id, needs_gib=seed / 4, slot=("", "cpu")[seed % 2])
    run_queue.open_queue("host:cpu")
    taken = run_queue.take("host:cpu", memory_gib=1.0)
    assert taken
    run_queue.note_death(taken, "killed by signal 9 (out of memory)")
    run_queue.cancel(RunSpec(model="fake", task="qa", samples=20, seed=7).run_id)
    for seed in range(2):
        live = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=seed))
        for seat in range(12):
            live.join(f"{seat:032x}", f"Person {seat}")
        for question in range(6):
            lecture.ask_next(live.code)
            for seat in range(12):
                first = 5 * ((seat + question) % 20)
                live.answer(f"{seat:032x}", question=question, shares=[first, 100 - first, 0, 0, 0, 0], turn=1)
    forget()


def forget() -> None:
    """Close the databases, as a process does that ends."""
    database.forget()
    class_store.forget()


def runs() -> dict[str, Any]:
    """All that the run database says: of each run, and of what its worker is told."""
    entries = run_queue.unfinished() | run_queue.ended_since(0)
    told = database.ask(lambda client: client.list_workflows())
    return {
        "entries": [asdict(entry) for entry in entries.values()],
        "waiting": [entry.run_id for entry in run_queue.waiting()],
        "told": {each.workflow_id: (each.name, each.input, each.created_at, each.app_version) for each in told},
        "states": [(now.run_id, now.state, now.message, now.tries) for now in engine.statuses()],
    }


def classes() -> dict[str, Any]:
    """All that the classes' file says."""
    codes = class_store.codes(after=0)
    return {"codes": codes, "classes": [class_store.read(code) for code, _, _ in codes]}


FIGURES: dict[str, Callable[[], dict[str, Any]]] = {"engine.sqlite": runs, "classes.sqlite": classes}


def flipped(file: Path, rng: np.random.Generator) -> int:
    """Flip one random bit of a file; returns its place."""
    content = bytearray(file.read_bytes())
    bit = int(rng.integers(8 * len(content)))
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)
    return bit


def try_flips(home: Path, name: str, tries: int, *, seed: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Flip a bit of a home's database so many times, each in a copy of the home.

    Returns how often the figures were the "same" and how often there was a "sentence". Fails for other figures, for a
    sentence without the way out, and for any other error.
    """
    rng, outcomes = np.random.default_rng(seed), Counter[str]()
    figures, sentences = FIGURES[name], dict[int, str]()
    monkeypatch.setenv("HEDGE_HOME", str(home))
    before = figures()
    forget()
    for number in range(tries):
        copy = home.parent / f"{home.name}-{number}"
        shutil.copytree(home, copy)
        bit = flipped(copy / name, rng)
        monkeypatch.setenv("HEDGE_HOME", str(copy))
        try:
            assert figures() == before, f"bit {bit} of {name}: other figures"
            outcomes["same"] += 1
        except HedgeError as error:
            sentences[bit] = str(error)
            outcomes["sentence"] += 1
        finally:
            forget()
            shutil.rmtree(copy)
    wrong = {bit: text for bit, text in sentences.items() if "\n" in text or WAY_OUT[name] not in text}
    assert not wrong, f"sentences that name no way out, by the bit of {name}: {wrong}"
    return outcomes
