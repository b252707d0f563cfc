"""Out and in again: the same report to the last digit; texts that would compute in a spreadsheet do not."""

import io
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.conformal.scores import SCORE_NAMES
from core.errors import InputError
from core.exchange import table, writing
from core.exchange.imported import save
from core.exchange.run_table import run_table, runs_table
from core.records import OptionLogits, Question
from core.reports.evaluation import load
from core.reports.report import report
from core.runs import store
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

NASTY = ("=1+1", "+44", "-5", "@SUM(A1)", "'=x", ' "quoted", and\nbroken ', "plain", "ä|<b>")


def nasty_run(n: int = 80) -> str:
    """A finished run with awkward texts, two to five options a question, probabilities of 0 and a seed."""
    rng = np.random.default_rng(4)
    counts = rng.integers(2, 6, n)
    questions = [
        Question(
            f"{NASTY[i % 8]} {i}",
            "nasty",
            NASTY[i % 8],
            NASTY[(i + 1) % 8],
            f"{NASTY[(i + 2) % 8]} what is {i} to {i * i}",
            tuple(f"{NASTY[j]} of {i}" for j in range(counts[i])),
            int(rng.integers(0, counts[i])),
        )
        for i in range(n)
    ]
    logits = rng.normal(size=(n, 5)).astype(np.float32) * 3
    logits[np.arange(5) >= counts[:, None]] = -np.inf
    logits[3, 0] = -np.inf
    spec = RunSpec(model="=org/mo-del", task="nasty", shots=2, dtype="bfloat16", form="cloze", seed=9, samples=n)
    folder = store.create(RunRecord(spec, "queued", created=time.time()))
    store.write_questions(folder, questions, ["calibration" if i % 2 else "test" for i in range(n)])
    mass = np.linspace(0.1, 1, n).astype(np.float32)
    mass[5] = np.nan
    store.write_logits(folder, OptionLogits(tuple(q.id for q in questions), logits, mass))
    store.update_record(spec.run_id, state="done", ended=time.time())
    return spec.run_id


def test_a_frame_computes_nothing_in_a_spreadsheet_and_keeps_its_numbers() -> None:
    frame = pd.DataFrame(
        {
            "=model": ["=cmd|' /C calc'!A0", None],
            "kind": pd.Categorical(["+1", "plain"]),
            "size": [-0.1, 1 / 3],
            "n": [-1, 2],
            "is_best": [True, False],
            "mixed": ["@SUM(A1)", -2.5],
        }
    )
    lines = ["'=model,kind,size,n,is_best,mixed", "'=cmd|' /C calc'!A0,'+1,-0.1,-1,True,'@SUM(A1)"]
    assert writing.frame_to_csv(frame).decode().splitlines() == [*lines, f",plain,{1 / 3!r},2,False,-2.5"]
    numbers = frame[["size", "n", "is_best"]]
    assert writing.frame_to_csv(numbers) == numbers.to_csv(index=False).encode()


def figures(run_id: str) -> dict:
    figures_read = report(load(run_id), 130, scores=SCORE_NAMES).to_json()
    return {key: value for key, value in figures_read.items() if key != "run"}


@pytest.mark.parametrize("kind", list(writing.ONE_TABLE))
@pytest.mark.parametrize("make", [nasty_run, synthetic_run, partial(synthetic_run, k=5, ordered=True)])
def test_out_and_in_again_is_the_same_report_to_the_last_digit(home, tmp_path, kind, make):
    name = make()
    path = writing.write(tmp_path / "out", f"run.{kind}", writing.ONE_TABLE[kind](run_table(name)))
    (again,) = save(table.read([path]))
    assert again != name
    assert figures(again) == figures(name)
    before, after = store.read_questions(name).to_pylist(), store.read_questions(again).to_pylist()
    assert after == before
    assert store.read_record(again).ordered == store.read_record(name).ordered
    was, now = store.read_logits(name), store.read_logits(again)
    assert np.array_equal(was.logits, now.logits)
    assert np.array_equal(was.letter_mass, now.letter_mass, equal_nan=True)


def test_several_runs_in_one_file_come_back_as_several(home, tmp_path):
    names = [synthetic_run(seed=1), synthetic_run(60, k=4, seed=2, model="other")]
    path = writing.write(tmp_path, "runs.csv", writing.to_csv(runs_table(names)))
    again = save(table.read([path]))
    assert [figures(name) for name in again] == [figures(name) for name in names]


def test_no_cell_of_a_spreadsheet_begins_a_formula(home):
    name = nasty_run()
    text = writing.to_csv(run_table(name)).decode()
    assert '"\'=org/mo-del"' in text
    import csv

    for row in csv.DictReader(io.StringIO(text, newline="")):
        for column, cell in row.items():
            assert column.startswith(("logit_", "letter_")) or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="can't be written"):
        writing.write(tmp_path / "file", "a.csv", b"")
