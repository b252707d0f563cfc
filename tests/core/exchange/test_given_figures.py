"""Figures that a source gave are kept as it gave them: in the store, in exports, in folders and in a notebook."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedge
from core.conformal.probabilities import in_double, softmax
from core.errors import InputError
from core.exchange import run_folder, score_arrays, table, writing
from core.exchange.imported import save
from core.exchange.run_table import run_table, runs_table
from core.reports import frames
from core.reports.array_evaluation import of_arrays
from core.reports.evaluation import load
from core.reports.imported_figures import is_rounded, stored_as
from core.reports.report import report
from core.runs import store
from hedge import cli
from tests.conftest import synthetic_run, without_digests

pytestmark = pytest.mark.quick

SCORES = ("lac", "aps", "margin", "aps-randomised")
N, VOTERS, K = 60, 30, 4


def votes() -> tuple[np.ndarray, np.ndarray]:
    """Shares of thirty votes (60, 4), and labels."""
    rng = np.random.default_rng(5)
    shares = rng.multinomial(VOTERS, rng.dirichlet(np.ones(K)), N) / VOTERS
    return shares, np.array([rng.choice(K, p=row / row.sum()) for row in shares])


def columns(name: str, values: np.ndarray, labels: np.ndarray) -> dict[str, list]:
    """A table of figures; the first half calibrates."""
    cells_by_column: dict[str, list] = {"id": [f"q{i}" for i in range(len(labels))]}
    cells = np.where(np.isnan(values), None, values)
    cells_by_column |= {
        f"{name}_{letter}": cells[:, j].tolist() for j, letter in enumerate("ABCDEF"[: values.shape[1]])
    }
    cells_by_column["label"] = ["ABCDEF"[label] for label in labels]
    cells_by_column["split"] = ["calibration" if i < len(labels) // 2 else "test" for i in range(len(labels))]
    return cells_by_column


def written(folder: Path, kind: str, values: np.ndarray, labels: np.ndarray, name: str = "p") -> Path:
    cells = pa.table(columns(name, values, labels))
    if kind == "json":
        path = folder / f"{name}.json"
        path.write_text(json.dumps(cells.to_pylist()))
        return path
    return writing.write(folder, f"{name}.{kind}", writing.ONE_TABLE[kind](cells))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "json"])
def test_a_table_gives_the_figures_that_a_notebook_gives(home, tmp_path, kind):
    p, labels = votes()
    (name,) = save(table.read([written(tmp_path, kind, p, labels)]))
    run = load(name)
    assert np.array_equal(run.probabilities, p)
    assert np.array_equal(run.log_probabilities[p > 0], np.log(p[p > 0]))
    there = hedge.report(p, labels, alpha=0.2, scores=SCORES, calibration=range(N // 2)).to_json()
    here = report(run, 200, scores=SCORES).to_json()
    for name in SCORES:  # a notebook's questions have no subjects
        assert here[name].pop("strata") != there[name].pop("strata")
    alike = set(here) - {"run", "notes", "model", "task", "bank"}
    assert {key: here[key] for key in alike} == {key: there[key] for key in alike}
    assert {"accuracy", "nll", "ece", "lac"} < alike
    rows = frames.lab_tables(run)["rows"]  # what the browser gets
    assert all(rows[f"p{j}"].to_pylist() == p[:, j].tolist() for j in range(K))


def test_arrays_of_votes_have_the_sets_of_exact_fractions(home, tmp_path):
    p, labels = votes()
    half = N // 2
    path = tmp_path / "votes.npz"
    np.savez(path, cal_probs=p[:half], cal_labels=labels[:half], test_probs=p[half:], test_labels=labels[half:])
    (name,) = save([score_arrays.read_npz(path)])
    exact = [[Fraction(round(share * VOTERS), VOTERS) for share in row] for row in p]
    own = sorted(
        max(row[:label] + row[label + 1 :]) - row[label] for row, label in zip(exact[:half], labels[:half], strict=True)
    )
    limit = own[24]  # the ⌈31 · 0.8⌉-th of 30
    size = sum(max(row[:j] + row[j + 1 :]) - row[j] <= limit for row in exact[half:] for j in range(K)) / half
    assert report(load(name), 200, scores=("margin",)).scores["margin"].mean_set_size == size


def test_shares_are_in_the_bins_of_exact_arithmetic(home, tmp_path):
    """0.8 is in (11/15, 12/15], where 10 of 10 are right, and 0.86 in (12/15, 13/15], where 4 of 10 are."""
    first = [0.8] * 10 + [0.86] * 10
    p = np.array([[share, 1 - share] for share in first * 2])
    labels = np.array([0] * 10 + [0] * 4 + [1] * 6 + [0] * 10 + [0] * 4 + [1] * 6)
    (name,) = save(table.read([written(tmp_path, "csv", p, labels)]))
    assert report(load(name), 100).ece == pytest.approx((0.2 + 0.46) / 2)


@pytest.mark.parametrize("kind", [*writing.ONE_TABLE, "folder"])
@pytest.mark.parametrize("figures", ["p", "percent", "logit", "logprob"])
def test_given_figures_go_out_and_in_again(home, tmp_path, kind, figures):
    p, labels = votes()
    p = np.where(p == 0, 1e-9, p) / np.where(p == 0, 1e-9, p).sum(axis=1, keepdims=True)
    values = {"p": p, "percent": np.round(100 * p, 1), "logit": 7 * np.log(p), "logprob": np.log(p)}[figures]
    values[-1, -1] = np.nan
    values[-1, :-1] /= (
        values[-1, :-1].sum() / (100 if figures == "percent" else 1) if figures in ("p", "percent") else 1
    )
    labels[-1] = 0
    (name,) = save(table.read([written(tmp_path, "parquet", values, labels, figures)]))
    if kind == "folder":
        shutil.copytree(store.folder_of(name), tmp_path / "copy")
        read = run_folder.read(tmp_path / "copy")
    else:
        (read,) = table.read([writing.write(tmp_path, f"out.{kind}", writing.ONE_TABLE[kind](run_table(name)))])
    assert stored_as(read) == name
    (again,) = save([read])
    first, second = load(name), load(again)
    assert again != name
    assert np.array_equal(first.probabilities, second.probabilities)
    assert np.array_equal(first.log_probabilities, second.log_probabilities)


def test_runs_with_probabilities_and_runs_with_logits_go_out_in_one_table(home, tmp_path):
    p, labels = votes()
    (given,) = save(table.read([written(tmp_path, "csv", p, labels)]))
    (logits,) = save(table.read([written(tmp_path, "parquet", 5 * p, labels, "logit")]))
    names = [synthetic_run(60, k=5, seed=2), given, logits]
    for kind, write_table in writing.ONE_TABLE.items():
        again = save(table.read([writing.write(tmp_path, f"all.{kind}", write_table(runs_table(names)))]))
        loaded_runs = {store.read_record(run_id).provenance["exported_run"]: load(run_id) for run_id in again}
        assert set(loaded_runs) == set(names)
        for name in names:
            assert np.array_equal(loaded_runs[name].probabilities, load(name).probabilities), (kind, name)
    text = writing.to_csv(runs_table(names)).decode().splitlines()
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join([*text[:70], text[70].replace("q9", "q8"), *text[71:]]))
    with pytest.raises(InputError, match="line 71: expected every id once, found 'q8' again"):
        table.read([wrong])


@pytest.mark.parametrize("voters", [3, 7, 10, 30, 100])
def test_votes_in_single_precision_get_their_digits_back(home, tmp_path, voters):
    rng = np.random.default_rng(voters)
    p = rng.multinomial(voters, [0.5, 0.3, 0.2, 0.0], 40) / voters
    single, labels = p.astype(np.float32), np.zeros(40, dtype=int)
    np.savez(tmp_path / "votes.npz", probs=single, labels=labels)
    path = tmp_path / "votes.parquet"
    cells = pa.table(columns("p", p, labels))
    for j in range(4):
        cells = cells.set_column(1 + j, f"p_{'ABCD'[j]}", pa.array(single[:, j]))
    pq.write_table(cells, path)
    assert np.array_equal(score_arrays.read_npz(tmp_path / "votes.npz").scored.probabilities, p)
    assert np.array_equal(table.read([path])[0].scored.probabilities, p)
    assert np.array_equal(of_arrays(single, labels).probabilities, p)


def test_other_figures_in_single_precision_stay_as_they_are():
    single = softmax(np.random.default_rng(1).normal(size=(50, 4))).astype(np.float32)
    assert np.array_equal(in_double(single), single.astype(np.float64))
    assert np.array_equal(in_double(single[:2, :2]), single[:2, :2].astype(np.float64))
    assert in_double(np.array([np.nan, -np.inf, 0.25], dtype=np.float32)).tolist()[1:] == [-np.inf, 0.25]


def test_rounded_rows_are_divided_by_their_sum(home, tmp_path):
    p = np.array([[0.33, 0.33, 0.33], [0.6, 0.2, 0.2]] * 10)
    (name,) = save(table.read([written(tmp_path, "csv", p, np.zeros(20, dtype=int))]))
    assert load(name).probabilities[:2].tolist() == [[0.33 / p[0].sum()] * 3, [0.6, 0.2, 0.2]]


def test_an_import_of_an_earlier_version_is_read_as_before(home, tmp_path, capsys):
    """It has no probabilities, and its logits are in single precision. The same file is the same run."""
    p, labels = votes()
    path = written(tmp_path, "csv", p, labels)
    (run,) = table.read([path])
    save([replace(run, scored=replace(run.scored, probabilities=None))])
    old = store.read_logits(run.spec.run_id)
    assert pq.read_schema(store.folder_of(run.spec.run_id) / "logits.parquet").names == ["id", "logits", "letter_mass"]
    assert old.logits.dtype == np.float32
    assert np.array_equal(load(run.spec.run_id).probabilities, softmax(old.logits))
    assert is_rounded(run, stored_as(run))
    assert save([run]) == [run.spec.run_id]
    assert cli.main(["import", str(path)]) == 0
    assert "rounded by an earlier version; delete it and import the file again" in capsys.readouterr().out
    assert store.read_logits(run.spec.run_id).probabilities is None
    store_file = store.folder_of(run.spec.run_id)
    shutil.copytree(store_file, tmp_path / "copy")
    assert run_folder.read(tmp_path / "copy").scored.logits.dtype == np.float32


def test_a_folder_whose_figures_contradict_each_other_is_refused(home, tmp_path):
    p, labels = votes()
    (name,) = save(table.read([written(tmp_path, "csv", p, labels)]))
    shutil.copytree(store.folder_of(name), tmp_path / "copy")
    path = tmp_path / "copy" / "logits.parquet"
    changed = pq.read_table(path)
    flat = pa.array((np.roll(p, 1, axis=1)).tolist(), pa.list_(pa.float64(), K))
    pq.write_table(changed.set_column(changed.column_names.index("probabilities"), "probabilities", flat), path)
    record = path.with_name("run.json")
    record.write_text(json.dumps(without_digests(record)))
    with pytest.raises(InputError, match="logarithms of the probabilities, found others for question"):
        run_folder.read(tmp_path / "copy")


@pytest.mark.parametrize(
    ("row", "says"),
    [((1e39, 0.0, 0.0), "found 1e.39, which is too large"), ((-np.inf, -np.inf, -1e39), "not ruled out")],
)
def test_a_logit_that_is_too_large_is_named(home, tmp_path, row, says):
    logits = np.array([[1000.0, -1000.0, 0.0], [-1e30, 0.0, 1.0], [2.0, 1.0, 0.5], row])
    with pytest.raises(InputError, match=says):
        table.read([written(tmp_path, "parquet", logits, np.array([0, 2, 1, 0]), "logit")])


def test_far_logits_are_probabilities_of_0_and_1(home, tmp_path):
    logits = np.array([[1000.0, -1000.0, 0.0], [-1e30, 0.0, 1.0], [-1e39, 0.0, 1.0], [2.0, 1.0, 0.5]])
    (name,) = save(table.read([written(tmp_path, "csv", logits, np.array([0, 2, 1, 0]), "logit")]))
    p = load(name).probabilities
    assert p[0].tolist() == [1.0, 0.0, 0.0]
    assert p[1].tolist() == p[2].tolist() == [0.0, *softmax(np.array([[0.0, 1.0]]))[0].tolist()]
