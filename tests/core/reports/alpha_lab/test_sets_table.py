from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.conformal.mondrian import BY
from core.conformal.scores import SCORE_NAMES, SCORES
from core.conformal.sets import EMPTY_POLICIES, prediction_sets
from core.errors import InputError
from core.reports.alpha_lab.numpy_recipe import numpy_recipe
from core.reports.alpha_lab.sets_table import sets_table
from core.reports.alpha_lab.view import SplitView, look
from core.reports.evaluation import load
from core.reports.report import report
from core.reports.scored_sets import form
from tests.app.golden import Case
from tests.conftest import synthetic_run


@pytest.fixture
def run(home):
    return load(synthetic_run(400))


def test_a_row_is_a_question(run):
    table = sets_table(run, 100, scores=["lac"])
    assert list(table.columns) == [
        *("id", "role", "subject", "label", "p_A", "p_B", "p_C", "p_D", "p_E", "p_F"),
        *("lac_score", "lac_threshold", "lac_set", "lac_size", "lac_covered"),
    ]
    assert table["id"].tolist() == run.ids.tolist()
    result = form(run, "lac", 100)
    row = table.iloc[int(run.test[7])]
    assert row["p_C"] == run.probabilities[run.test[7], 2]
    assert row["label"] == "ABCDEF"[run.labels[run.test[7]]]
    assert row["lac_set"] == "".join("ABCDEF"[j] for j in np.flatnonzero(result.members[7]))
    assert row["lac_size"] == len(row["lac_set"])
    assert row["lac_covered"] == (row["label"] in row["lac_set"])
    assert row["lac_threshold"] == result.threshold
    calibrates = table[table["role"] == "calibration"]
    assert len(calibrates) == 200
    assert calibrates["lac_set"].isna().all()
    assert np.array_equal(calibrates["lac_score"].to_numpy(dtype=float), result.calibration_scores)


@pytest.mark.parametrize("by", BY)
def test_its_figures_are_the_reports(run, by):
    seen = look(run, SplitView(drop_extra=True, n_calibration=150, split_seed=4))
    table = sets_table(seen, 200, scores=SCORE_NAMES, empty="top1", by=by)
    figures = report(seen, 200, scores=SCORE_NAMES, empty="top1", by=by)
    assert len(table) == 350
    for name, score in figures.scores.items():
        tests = table[table["role"] == "test"]
        assert tests[f"{name}_covered"].mean() == score.coverage
        assert tests[f"{name}_size"].mean() == score.mean_set_size
        if by == "group":
            assert dict(zip(tests["subject"], tests[f"{name}_threshold"], strict=True)) == score.thresholds
        if SCORES[name].tuned:
            assert (table[f"{name}_role"] == "aside").sum() == score.tuned_on
            assert table.loc[table[f"{name}_role"] == "aside", f"{name}_score"].isna().all()


def saved(table: pd.DataFrame, path) -> None:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)


def ran(text: str) -> dict:
    names: dict = {}
    exec(compile(text, "recipe", "exec"), names)
    return names


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_recipe_forms_the_same_sets_from_the_file(run, tmp_path, monkeypatch, capsys, name, by, ending):
    # Subjects that a table has to quote.
    groups = np.where(run.groups == "sums", 'sums, "long"\nand short', run.groups)
    seen = look(replace(run, groups=groups), SplitView(drop_extra=by == "class", n_calibration=120, split_seed=2))
    seen = replace(seen, ordered=SCORES[name].ordered)
    monkeypatch.chdir(tmp_path)
    for empty in EMPTY_POLICIES:
        file = f"sets {empty} 'of' it.{ending}"
        saved(sets_table(seen, 250, scores=[name, "lac"][: 1 + (name != "lac")], empty=empty, by=by), tmp_path / file)
        names = ran(numpy_recipe(seen, name, 250, file=file, empty=empty, by=by))
        result = form(seen, name, 250, empty=empty, by=by)
        assert np.array_equal(names["sets"], result.members)
        assert np.array_equal(names["scores"][names["tests"]], result.test_scores)
        if by == "all":
            assert names["limits"] == result.threshold
            expected = prediction_sets(
                result.test_scores, names["limits"], empty=empty, probabilities=seen.probabilities[seen.test]
            )
            assert np.array_equal(names["sets"], expected.members)
        covered = result.members[np.arange(len(seen.test)), seen.labels[seen.test]].mean()
        assert capsys.readouterr().out.split()[-2:] == [str(covered), str(result.members.sum(axis=1).mean())]


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_recipe_leaves_out_what_a_question_lacks(home, tmp_path, monkeypatch, name, ending):
    ragged = Case(60, 40, 5, 21, most=2, fewest=2, ordered=SCORES[name].ordered).write("unlike")
    monkeypatch.chdir(tmp_path)
    for empty in EMPTY_POLICIES:
        saved(sets_table(ragged, 150, scores=[name], empty=empty), tmp_path / f"a.{ending}")
        names = ran(numpy_recipe(ragged, name, 150, file=f"a.{ending}", empty=empty))
        result = form(ragged, name, 150, empty=empty)
        assert np.array_equal(names["sets"], result.members)
        assert not names["sets"][~ragged.real[ragged.test]].any()
        assert names["limits"] == result.threshold


def test_the_recipe_knows_the_full_set(run, tmp_path, monkeypatch):
    seen = look(run, SplitView(n_calibration=5))
    monkeypatch.chdir(tmp_path)
    saved(sets_table(seen, 100, scores=["lac"]), tmp_path / "a.csv")
    names = ran(numpy_recipe(seen, "lac", 100, file="a.csv"))
    assert names["limits"] == np.inf
    assert names["sets"].all()


def test_a_recipe_is_short(run):
    longest = max((numpy_recipe(run, name, 100, file="a.csv") for name in SCORES), key=len)
    assert len([line for line in longest.splitlines() if line]) <= 32
    lac = [line for line in numpy_recipe(run, "lac", 100, file="a.csv").splitlines() if line]
    # Two imports, six lines of reading, a comment, the two of the grid, and the ten of the method.
    assert len(lac) <= 21


def test_what_a_recipe_can_not_be_for(run):
    with pytest.raises(InputError, match="unknown score 'best'"):
        numpy_recipe(run, "best", 100, file="a.csv")
    with pytest.raises(InputError, match=r"reads .csv or .parquet, got 'a.xlsx'"):
        numpy_recipe(run, "lac", 100, file="a.xlsx")
    with pytest.raises(InputError, match="unknown strata"):
        numpy_recipe(run, "lac", 100, file="a.csv", by="letter")
    with pytest.raises(InputError, match="whole number from 1 to 999"):
        numpy_recipe(run, "lac", 0, file="a.csv")
