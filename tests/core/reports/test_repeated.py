"""Rows that repeat questions: one of them calibrates, and each question counts once."""

import io
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from core.errors import InputError
from core.exchange import score_arrays, table
from core.exchange.imported import ImportedRun, renamed, save
from core.exchange.run_table import run_table
from core.exchange.writing import to_csv
from core.questions import catalogue
from core.questions.identity import question_clusters
from core.reports.alpha_lab.view import SplitView, look
from core.reports.array_evaluation import of_arrays
from core.reports.caveats import lab_footnote_of
from core.reports.evaluation import Evaluation, load
from core.reports.frames import overview_at, summarise
from core.reports.imported_figures import evaluation
from core.reports.repeated import one_row_each
from core.reports.report import report
from core.runs import shared_questions, store
from hedge.cli import main
from tests.conftest import without_digests

Rows = list[dict[str, object]]


def table_rows(questions: int, *, times: int = 1, seed: int = 0, text: bool = True, noise: float = 0.0) -> Rows:
    """Rows of a table that asks each question ``times`` times: even questions calibrate, odd ones test."""
    rng, own = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    rows: Rows = []
    for i in range(questions):
        logits, label = rng.normal(size=4) * 2, int(rng.integers(4))
        for j in range(times):
            p = np.exp(logits + noise * own.normal(size=4))
            p /= p.sum()
            rows.append(
                {
                    "id": f"{i}-{j}",
                    **({"question": f"what is {i}?"} if text else {}),
                    **dict(zip("ABCD", p.tolist(), strict=True)),
                    "label": "ABCD"[label],
                    "split": "calibration" if i % 2 == 0 else "test",
                }
            )
    return rows


def imported(rows: Rows, path: Path, *, name: str = "m") -> ImportedRun:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    (run,) = table.read([path])
    return renamed(run, model=name, task="t")


def loaded(rows: Rows, path: Path, *, name: str = "m") -> Evaluation:
    (run_id,) = save([imported(rows, path, name=name)])
    return load(run_id)


def test_five_copies_of_a_question_give_what_one_gives(home: Path, tmp_path: Path):
    single = loaded(table_rows(60), tmp_path / "one.jsonl", name="one")
    five = loaded(table_rows(60, times=5), tmp_path / "five.jsonl", name="five")
    assert single.clusters is None
    assert len(single.left_out) == 0
    assert (len(five.calibration), len(five.left_out), len(five.test)) == (30, 120, 150)
    a, b = (report(run, 100, scores=("lac",)) for run in (single, five))
    assert (b.n_calibration, b.n_test, b.test_questions) == (30, 150, 30)
    for name in ("threshold", "coverage", "coverage_band", "p_value", "mean_set_size", "n_calibration"):
        assert getattr(b.scores["lac"], name) == pytest.approx(getattr(a.scores["lac"], name)), name
    assert b.scores["lac"].mean_set_size_interval == pytest.approx(a.scores["lac"].mean_set_size_interval, abs=0.03)
    assert b.accuracy_interval == pytest.approx(a.accuracy_interval, abs=0.02)
    assert any("150 rows, 30 questions" in note for note in b.notes)
    assert [caveat.kind for caveat in a.caveats] == ["few"]
    assert [caveat.kind for caveat in b.caveats] == ["few", "repeated", "repeated"]
    assert "The lab shows one random row of each question" in lab_footnote_of(five)
    assert "The lab shows" not in lab_footnote_of(single)
    # The Overview computes from a summary and has the same figures.
    row = overview_at([summarise(five)], 100).iloc[0]
    assert (row["lac_coverage_low"], row["lac_coverage_high"]) == b.scores["lac"].coverage_band
    assert row["lac_coverage_p"] == b.scores["lac"].p_value
    assert (row["lac_set_size_low"], row["lac_set_size_high"]) == b.scores["lac"].mean_set_size_interval


def test_an_import_shows_what_its_report_will_show(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "five.jsonl"
    result = evaluation(imported(table_rows(60, times=5), path))
    assert main(["import", "table", str(path), "--model", "m", "--task", "t"]) == 0
    assert "300 rows, 60 questions, accuracy" in capsys.readouterr().out
    stored = load(result.run_id)
    for name in ("clusters", "calibration", "left_out", "test", "probabilities"):
        np.testing.assert_array_equal(getattr(result, name), getattr(stored, name), err_msg=name)
    figures = report(stored, 100)
    assert (figures.n_calibration, figures.calibration_rows, figures.n_test, figures.test_questions) == (
        30,
        150,
        150,
        30,
    )


def as_csv(rows: Rows, folder: Path) -> Path:
    path = folder / "t.csv"
    path.write_bytes(to_csv(pa.Table.from_pylist(rows)))
    return path


def as_jsonl(rows: Rows, folder: Path) -> Path:
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def as_parquet(rows: Rows, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    return folder / "t.parquet"


def as_workbook(rows: Rows, folder: Path) -> Path:
    book = Workbook()
    sheet = book.active
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append(list(row.values()))
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_parquet, as_workbook])
def test_a_column_of_clusters_joins_rows_with_and_without_texts(home: Path, tmp_path: Path, write):
    rows = [row | {"cluster": i // 6} for i, row in enumerate(table_rows(72, text=False))]
    for row in rows:
        del row["split"]
    (run_id,) = save(table.read([write(rows, tmp_path)]))
    evaluation = load(run_id)
    assert evaluation.clusters is not None
    assert np.unique(evaluation.clusters).size == 12
    assert not np.intersect1d(evaluation.clusters[evaluation.calibration], evaluation.clusters[evaluation.test]).size
    assert len(evaluation.calibration) == 6  # one row of each of the six clusters
    (again,) = table.read([as_csv(run_table(run_id).to_pylist(), tmp_path)])
    assert question_clusters(again.questions, again.roles).tolist() == evaluation.clusters.tolist()


def npz(path: Path, **arrays: object) -> Path:
    into = io.BytesIO()
    np.savez(into, **arrays)
    path.write_bytes(into.getvalue())
    return path


def test_an_array_of_clusters_in_an_npz(home: Path, tmp_path: Path):
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40)
    names = np.repeat([f"p{i}" for i in range(10)], 4)
    (run_id,) = save([score_arrays.read_npz(npz(tmp_path / "a.npz", probs=p, labels=y, cluster=names))])
    assert np.unique(load(run_id).clusters).size == 10
    for wrong, message in ((names[:5], "found 5"), (np.zeros((40, 2)), "shape"), (names == "p1", "type bool")):
        with pytest.raises(InputError, match=message):
            score_arrays.read_npz(npz(tmp_path / "b.npz", probs=p, labels=y, cluster=wrong))


def test_missing_cells_and_an_empty_text_join_nothing(home: Path, tmp_path: Path):
    rows = [row | {"cluster": None if i % 2 else "nan", "question": ""} for i, row in enumerate(table_rows(40))]
    assert loaded(rows, tmp_path / "t.jsonl").clusters is None


def test_a_question_on_both_sides_does_not_calibrate(home: Path, tmp_path: Path):
    rows = table_rows(40, times=2)
    rows[0]["split"] = "test"  # question 0 calibrates in its other row
    run = loaded(rows, tmp_path / "t.jsonl")
    assert not np.isin(run.clusters[run.calibration], run.clusters[run.test]).any()
    assert len(run.calibration) == 19
    assert any("1 question is on both sides" in note for note in report(run, 100, scores=()).notes)
    for i, row in enumerate(rows):
        row["split"] = "calibration" if i % 2 else "test"
    with pytest.raises(InputError, match="leave out the column with the split"):
        imported(rows, tmp_path / "u.jsonl")


def test_a_run_of_an_older_version_is_seen_to_repeat_questions(home: Path, tmp_path: Path):
    run = loaded(table_rows(40, times=3), tmp_path / "t.jsonl")
    path = store.questions_path(run.run_id)
    older = pq.read_table(path).drop_columns("cluster").replace_schema_metadata(None)
    pq.write_table(older, path)
    (path.parent / "run.json").write_text(json.dumps(without_digests(path.parent / "run.json")))
    assert np.array_equal(load(run.run_id).clusters, run.clusters)


def test_no_bundled_run_repeats_a_question():
    for path in shared_questions.FOLDER.glob("*.parquet"):
        questions = pq.read_table(path)
        distinct = {
            (row["context"], row["question"], *sorted(row["options"]))
            for row in questions.to_pylist()
            if row["role"] in ("calibration", "test")
        }
        assert len(distinct) == sum(role in ("calibration", "test") for role in questions["role"].to_pylist()), path


def test_another_split_keeps_a_question_on_one_side_and_uses_one_row_of_it(home: Path, tmp_path: Path):
    run = loaded(table_rows(60, times=5, noise=1.0), tmp_path / "t.jsonl")
    seen = look(run, SplitView(split_seed=3))
    rows = np.concatenate([seen.calibration, seen.test])
    assert len(rows) == len(np.unique(run.clusters[rows])) == 60
    assert one_row_each(replace(run, clusters=None)).test is run.test


def test_a_bank_with_clusters_keeps_them_together(tmp_path: Path):
    path = tmp_path / "bank.jsonl"
    path.write_text(
        "\n".join(
            json.dumps({"question": f"sum {i}?", "options": ["a", "b"], "label": 0, "cluster": i // 5})
            for i in range(20)
        )
    )
    questions = catalogue.load(str(path)).questions
    assert question_clusters(questions, ["test"] * 20).tolist() == [i // 5 for i in range(20)]


def test_clusters_in_a_notebook():
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(3), 100).repeat(3, axis=0), rng.integers(0, 3, 100).repeat(3)
    run = of_arrays(p, y, clusters=np.arange(100).repeat(3))
    assert (len(run.calibration), len(run.left_out), len(run.test)) == (50, 100, 150)
    with pytest.raises(InputError, match="give 300 numbers or names"):
        of_arrays(p, y, clusters=[1, 2])


def test_the_band_is_one_of_questions_where_rows_of_a_question_differ_in_number(home: Path, tmp_path: Path):
    rows = table_rows(60, times=5)
    unequal = [row for row in rows if not (str(row["id"]).endswith("4") and int(str(row["id"]).split("-")[0]) % 4 == 1)]
    run = loaded(unequal, tmp_path / "t.jsonl")
    widths = []
    for variant in (run, one_row_each(run), replace(run, clusters=None)):
        low, high = report(variant, 200, scores=("lac",)).scores["lac"].coverage_band
        widths.append(high - low)
    assert all(wide >= narrow for wide, narrow in pairwise(widths))
