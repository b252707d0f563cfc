"""One run's ECE is the same figure on every page, in every file and from every command."""

import json

import pandas as pd
import pytest

from charts import static_report
from core.calibration.binned import ece_estimate
from core.calibration.bins import top_label
from core.calibration.figures import top_estimates
from core.reports import frames
from core.reports.calibration import calibrated
from core.reports.compare import benchmark
from core.reports.evaluation import load
from hedge.cli import main

RUN = "pocket-8m-qa-base-0shot-float32-69717be8bc"


@pytest.fixture
def run(home):
    return load(RUN)


@pytest.fixture
def ece(run):
    return ece_estimate(top_label(run.probabilities[run.test], run.labels[run.test]))


def columns(table: pd.DataFrame) -> tuple[float, ...]:
    """The figures of a table's first row."""
    return tuple(float(table[name].iloc[0]) for name in ("ece_excess", "ece_low", "ece_high", "ece", "ece_luck"))


def test_every_table_has_the_one_estimate(run, ece):
    expected = (ece.excess, ece.low, ece.high, ece.value, ece.bias)
    assert ece.low < ece.excess < ece.high
    assert columns(frames.overview([run], 100)) == expected
    assert columns(frames.overview_at([frames.summarise(run)], 37)) == expected
    result = benchmark.reports([run], benchmark.SetRule(alpha=250))
    assert columns(benchmark.run_rows([run], result)) == expected
    assert columns(pd.DataFrame(benchmark.results_json([run], result))) == expected


def test_the_calibration_page_and_the_tokens_page_have_it(run, ece):
    (figures,) = calibrated.calibrated(run)
    assert figures.estimates["ece"] == ece
    frame = calibrated.figures_frame([figures], ["a"])
    assert tuple(frame.loc[0, ["ece_excess", "ece_low", "ece_high", "ece", "ece_luck"]]) == (
        ece.excess, ece.low, ece.high, ece.value, ece.bias,
    )  # fmt: skip
    top = top_label(run.probabilities[run.test], run.labels[run.test])
    assert top_estimates(top, top.confidence, seed=9)["ece"] == ece


def test_commands_print_it(run, ece, capsys):
    assert main(["report", RUN, "--json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    assert (printed["ece_excess"], printed["ece_interval"], printed["ece"], printed["ece_luck"]) == (
        ece.excess, [ece.low, ece.high], ece.value, ece.bias,
    )  # fmt: skip
    assert main(["report", RUN]) == 0
    assert f"ECE beyond chance {ece.excess:.3f} (95% {ece.low:.3f} to {ece.high:.3f}; seen" in capsys.readouterr().out
    assert main(["calibration", RUN, "--json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    figures = printed["strata"][0]["figures"]["ece"]
    assert figures == {
        "value": ece.value, "low": ece.low, "high": ece.high, "n": ece.n, "bias": ece.bias, "excess": ece.excess,
        "infinite": 0, "reason": "",
    }  # fmt: skip
    assert main(["calibration", RUN]) == 0
    assert f"ece            {ece.text(digits=4)}" in capsys.readouterr().out


def test_files_hold_it(run, ece, tmp_path):
    shown = f"{ece.excess:.3f} ({ece.low:.3f} to {ece.high:.3f}); {ece.value:.3f}, {ece.bias:.3f}"
    assert shown in static_report.report_html([run], benchmark.SetRule()).decode()
    assert main(["export", RUN, "--format", "xlsx", "--out", str(tmp_path)]) == 0
    table = pd.read_excel(next(tmp_path.rglob("*.xlsx")), sheet_name="figures")
    assert columns(table) == pytest.approx((ece.excess, ece.low, ece.high, ece.value, ece.bias))
