"""The offline report: the app's own scripts and figures, calibration, pairs, provenance, and no way out."""

import re

from app.components.alpha_lab import lab_view
from app.state.alpha_lab import AlphaLabView
from charts import lab_outside, run_names, static_report
from core.reports import answer_or_pass
from core.reports.calibration.calibrated import calibrated
from core.reports.compare import run_matrix
from core.reports.compare.benchmark import SetRule
from core.reports.compare.pair_in_words import detectable_words
from core.reports.evaluation import load
from core.reports.report import report
from tests.conftest import synthetic_run


def test_two_names_alike_are_told_apart():
    assert run_names.unique(["a", "b", "a"]) == ["a", "b", "a (2)"]


def test_the_report_has_the_figures_of_python_and_no_way_out(home):
    name = synthetic_run(model="<script>alert(1)</script>%%LABS%%")
    page = static_report.report_html([load(name)], SetRule()).decode()
    result = report(load(name), 100)
    figures = result.scores["aps"]
    assert "{:.3f} ({:.3f} to {:.3f})".format(figures.mean_set_size, *figures.mean_set_size_interval) in page
    assert "{:.3f} ({:.3f} to {:.3f})".format(figures.uacc, *figures.uacc_interval) in page
    assert "<script>alert(1)" not in page
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="https?://', page)


def test_the_report_has_calibration_pairs_provenance_and_references(home):
    names = [synthetic_run(model=f"model-{i}", signal=1.0 + i) for i in range(3)]
    runs = [load(name) for name in names]
    page = static_report.report_html(runs, SetRule()).decode()
    result = calibrated(runs[0])[0]
    ece = result.estimates["ece"]
    assert f"<td>{ece.excess:.3f} ({ece.low:.3f} to {ece.high:.3f})</td><td>{ece.value:.3f}</td>" in page
    matrix = run_matrix.run_matrix(runs, 100)
    for measure, pair in ((measure, pair) for measure, pairs in matrix.pairs.items() for pair in pairs):
        difference = pair.difference
        first, second = (round(matrix.figures[measure][place], 3) for place in (pair.first, pair.second))
        assert f"<td>{second - first:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})</td>" in page
    assert detectable_words(matrix) in page
    assert all(f"<dd>{name} (" in page for name in names)
    assert "@misc{hedge," in page
    assert page.count("<picture>") == 2
    assert page.count('media="screen and (prefers-color-scheme: dark)"') == 2  # paper shows the light ones
    assert "@media print" in page


def test_the_report_says_from_which_confidence_a_run_may_answer(home):
    run = load(synthetic_run(n=400, signal=4.0))
    page = static_report.report_html([run], SetRule(alpha=200)).decode()
    row = answer_or_pass.pass_rows([run], 200).iloc[0]
    assert 0 < row["share_answered"] <= 1
    assert f"<td>{row['share_answered']:.1%}</td><td>{row['wrong']:.1%} (at most {row['error_high']:.1%})</td>" in page
    assert "@article{bauer1991multiple," in page
    none = static_report.report_html([load(synthetic_run(signal=0.0))], SetRule(alpha=20)).decode()
    assert "<td>never</td><td>0.0%</td><td>–</td>" in none
    assert "At alpha 0.02 a threshold needs at least 114 labelled answers, even if all are right, and 100" in none


def test_the_lab_of_the_report_starts_as_the_app_s():
    assert lab_view(AlphaLabView()) == lab_outside.START
