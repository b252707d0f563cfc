"""The figures typed from others: whole, in range, and those that the logits give."""

import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.conformal.probabilities import log_softmax, softmax
from core.errors import InputError
from core.exchange import llm_uncertainty_bench as bench
from core.exchange.imported import save
from core.reports.evaluation import load
from core.reports.overview.matrix import Column, Matrix
from core.reports.overview.published import SOURCES, as_ye_2024, below, models, of_tasks, published, results
from core.reports.overview.similar_accuracy import alike
from core.reports.report import report
from core.reports.run_filter import RunFilter
from tests.conftest import synthetic_run
from tests.core.exchange.test_llm_uncertainty_bench import read_logits

PRINTED = {model.lower(): model for model in published("ye-2024")["model"].unique()}


def printed_name(stem: str) -> str:
    """The paper's name of a model whose logits are called ``stem``: ``Llama-2-7B`` of ``Llama-2-7b-hf``."""
    plain = re.sub(r"-(hf|v0\.1|llm|base)(?=-|$)", "", stem.lower().replace("_", "."))
    return PRINTED[plain]


def there() -> list[tuple[str, str]]:
    """Every model and data set with results in ``HEDGE_REAL_DATA``, where the authors' whole folder may be laid."""
    folder = Path(os.environ.get("HEDGE_REAL_DATA", "")) / "llm-uncertainty-bench" / "logits"
    files = {(m["model"], m["data"]) for path in folder.glob("*.pkl") if (m := bench.NAME.match(path.name))}
    return sorted(files) or [("none", "mmlu_10k")]


@pytest.mark.quick
def test_all_sixteen_models_stand_with_all_five_tasks():
    table = published("ye-2024")
    assert (table.groupby("model")["task"].nunique() == 5).sum() == len(PRINTED) == 16
    assert table["accuracy"].between(0.2, 0.95).all()
    assert table["mean_set_size"].between(1, 6).all()
    # UAcc is a mean of six quotients, and so not below the quotient of the means but for what rounding takes.
    of_means = table["accuracy"] * math.sqrt(6) / table["mean_set_size"]
    assert (table["uacc"] > 0.99 * of_means).all()
    # The means that the source prints beside its tasks.
    means = table.groupby("model")[["accuracy", "mean_set_size", "uacc"]].mean()
    assert 100 * means.loc["Qwen-14B", "accuracy"] == pytest.approx(74.00, abs=0.006)
    assert means.loc["Falcon-7B", "mean_set_size"] == pytest.approx(3.75, abs=0.01)
    assert 100 * means.loc["Yi-34B", "uacc"] == pytest.approx(121.09, abs=0.006)
    with pytest.raises(InputError, match="unknown published table"):
        published("none")
    assert set(SOURCES) == {"ye-2024", "bluq"}


@pytest.mark.parametrize(
    ("model", "data"), [*there()[:2], *(pytest.param(*pair, marks=pytest.mark.nightly) for pair in there()[2:])]
)
def test_the_printed_figures_come_out_of_the_published_logits(home, real_data, model, data):
    folder = real_data / "llm-uncertainty-bench"
    paths = sorted((folder / "logits").glob(f"{model}_{data}_*.pkl"))
    assert [bench.NAME.match(path.name)["strategy"] for path in paths] == ["base", "shared", "task"]
    runs = [load(name) for name in save(read_logits(paths, folder / "labels"))]
    figures = as_ye_2024([report(run, 100, method="paper", empty="top1") for run in runs])
    printed = published("ye-2024").set_index(["model", "task"]).loc[(printed_name(model), bench.TASK_OF[data])]
    assert (f"{figures.accuracy:.2f}", f"{figures.mean_set_size:.2f}", f"{figures.uacc:.2f}") == (
        f"{100 * printed['accuracy']:.2f}",
        f"{printed['mean_set_size']:.2f}",
        f"{100 * printed['uacc']:.2f}",
    )


@pytest.mark.quick
@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Llama-2-70b-hf", "Llama-2-70B"),
        ("Mistral-7B-v0.1", "Mistral-7B"),
        ("Qwen-1_8B", "Qwen-1.8B"),
        ("deepseek-llm-67b-base", "DeepSeek-67B"),
        ("internlm-7b", "InternLM-7B"),
        ("falcon-40b", "Falcon-40B"),
    ],
)
def test_the_names_of_result_files_are_those_of_the_table(stem, name):
    assert printed_name(stem) == name


def in_their_words(logits, labels, calibration, test, alpha):
    """The protocol of Ye et al. 2024, a question at a time: mean set sizes by LAC and by APS."""
    rows = [np.exp(row - row.max()) for row in logits]
    rows = [row / row.sum() for row in rows]
    level = math.ceil((len(calibration) + 1) * (1 - alpha)) / len(calibration)
    lac = np.quantile(np.array([1 - rows[i][labels[i]] for i in calibration]), level, method="higher")
    orders = [np.argsort(row, kind="stable")[::-1] for row in rows]
    sums = [row[order].cumsum() for row, order in zip(rows, orders, strict=True)]
    true = [sums[i][list(orders[i]).index(labels[i])] for i in calibration]
    aps = np.quantile(np.array(true), level, method="higher")
    return (
        float(np.mean([max(1, sum(p >= 1 - lac for p in rows[i])) for i in test])),
        float(np.mean([max(1, sum(s <= aps for s in sums[i])) for i in test])),
    )


@pytest.mark.quick
def test_the_paper_mode_rounds_as_single_precision_does(home):
    # Logits in steps of 1/512, as half precision has them near 1; many options score alike but for rounding.
    rng = np.random.default_rng(3)
    logits = (np.round(rng.normal(0, 1.5, (4000, 6)) * 4) / 4 + rng.integers(0, 2, (4000, 6)) / 512).astype(np.float32)
    run = replace(load(synthetic_run(4000)), probabilities=softmax(logits), log_probabilities=log_softmax(logits))
    wide = report(run, 100, method="exact", empty="top1")
    paper = report(run, 100, method="paper", empty="top1")
    expected = in_their_words(logits, run.labels, run.calibration, run.test, 0.1)
    assert (paper.scores["lac"].mean_set_size, paper.scores["aps"].mean_set_size) == expected
    in_double = in_their_words(logits.astype(np.float64), run.labels, run.calibration, run.test, 0.1)
    assert expected != in_double
    first = logits[run.test].argmax(axis=1) == run.labels[run.test]  # the authors take the first of equal options
    assert paper.accuracy == first.mean()
    assert wide.top_ties.lost <= paper.accuracy <= wide.top_ties.won


@pytest.mark.quick
def test_means_are_taken_in_their_order(home):
    run = load(synthetic_run(200))
    result = report(run, 100, method="paper", empty="top1")
    three = [replace(result, accuracy=share) for share in (0.8, 0.81, 0.802)]
    assert as_ye_2024(three).accuracy == 100 * np.mean([0.8, 0.81, 0.802])
    sizes = [result.scores[name].mean_set_size for name in ("lac", "aps")]
    assert as_ye_2024(three).mean_set_size == (np.mean([sizes[0]] * 3) + np.mean([sizes[1]] * 3)) / 2


@pytest.mark.quick
def test_models_alike_and_unlike_are_pointed_out():
    rows = [("a", "qa", 0.70, 2.0), ("b", "qa", 0.71, 3.0), ("c", "qa", 0.50, 4.0), ("d", "rc", 0.70, 5.0)]
    frame = pd.DataFrame(
        [{"run": m, "model": m, "task": t, "accuracy": acc, "lac_set_size": size, "k": 6} for m, t, acc, size in rows]
    ).assign(bank="one bank", questions="the same")
    (pair,) = alike(frame, "lac")
    assert (pair.surer_model, pair.other_model, pair.sizes) == ("a", "b", (2.0, 3.0))
    assert (pair.task, pair.bank) == ("qa", "one bank")
    assert alike(frame.assign(questions=frame["model"]), "lac") == []


@pytest.mark.quick
def test_published_results_stand_in_the_columns_of_their_tasks():
    mine = Column("qa", "Question answering", 6, 100)
    same = Column("rc@CosmosQA 10k", "Reading comprehension · CosmosQA 10k", 6, 0)
    other = Column("ci", "Commonsense inference", 4, 100)
    shown = results()
    matrix, (ye, bluq) = below(Matrix((), (mine, same, other), {}), shown)
    # Commonsense inference has six options there, and so another column; the two tasks without a run have new ones.
    assert [(column.key, column.options) for column in matrix.columns[:3]] == [("qa", 6), (same.key, 6), ("ci", 4)]
    assert [(column.key, column.options) for column in matrix.columns[3:]] == [("ci", 6), ("drs", 6), ("ds", 6)]
    assert (ye.source, len(ye.rows)) == ("ye-2024", 16)
    assert (bluq.source, len(bluq.rows)) == ("bluq", 6)
    assert ye.banks == ("MMLU 10k", "CosmosQA 10k", "", "HellaSwag 10k", "HaluEval dialogue 10k", ye.banks[5])
    assert ye.same == (False, True, False, False, False, False)
    assert [row.model for row in ye.rows][:2] == ["DeepSeek-7B", "DeepSeek-67B"]
    cells = [cell for block in (ye, bluq) for row in block.rows for cell in row.cells if cell]
    assert sorted(cells, key=str) == sorted(shown, key=str)
    yi = next(row for row in ye.rows if row.model == "Yi-34B")
    assert [cell and (cell.task, cell.accuracy, cell.set_size) for cell in yi.cells[:3]] == [
        ("qa", pytest.approx(0.7124), 2.60),
        ("rc", pytest.approx(0.9448), 1.71),
        None,
    ]
    assert yi.cells[0] is not None
    assert (yi.cells[0].data, yi.cells[0].key) == ("mmlu_10k", "qa@MMLU 10k")
    phi = next(row for row in bluq.rows if row.model == "Phi-2")
    assert phi.cells[0] is not None
    assert (phi.cells[0].set_size, phi.cells[0].mean_over_tasks) == (None, 5.26)


@pytest.mark.quick
def test_a_filter_keeps_published_results_by_model_task_and_table():
    of_yi = results(RunFilter(models=("Yi-34B", "pocket-8m"), tasks=("qa", "rc@CosmosQA 10k")))
    assert [(entry.model, entry.task) for entry in of_yi] == [("Yi-34B", "qa"), ("Yi-34B", "rc")]
    assert {entry.source for entry in results(RunFilter(sources=("bluq", "shipped")))} == {"bluq"}
    assert results(RunFilter(sources=("shipped",))) == []
    assert results(RunFilter(dtype=("int4",))) == results()
    assert set(models()) == {entry.model for entry in results()}
    assert {(entry.source, entry.task) for group in of_tasks(["qa@hub", "drs"]) for entry in group} == {
        (source, task) for source in SOURCES for task in ("qa", "drs")
    }
    assert of_tasks(["mine"]) == []
