"""The offline report: the app's own scripts and figures, calibration, pairs, provenance, and no way out."""

import json
import os
import re
from dataclasses import replace
from functools import partial

from app.components.alpha_lab import lab_view
from app.state.alpha_lab import AlphaLabView
from charts import lab_outside, run_names, static_report
from core.calibration.jackknife import random_groups
from core.jury.pipeline import jury_store
from core.reports import answer_or_pass
from core.reports.calibration.calibrated import calibrated
from core.reports.compare import run_matrix
from core.reports.compare.benchmark import SetRule
from core.reports.compare.pair_in_words import detectable_words
from core.reports.evaluation import load
from core.reports.report import report
from hedge.cli import main
from tests.conftest import synthetic_run
from tests.core.jury.verdicts import seeded_jury


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


def test_the_report_of_a_jury_has_the_figures_of_its_commands_and_no_script(home, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("core.jury.experiment.random_groups", partial(random_groups, groups=4))
    judged = replace(seeded_jury(160), jurors=("<img src=//e.vil/j.png>", "b", "c"))
    name = jury_store.save(judged, name="<script>alert(1)</script>", origin="<b>a test</b>", notes=["<i>A note.</i>"])

    def values(*words: str):
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    (path,) = values(
        "jury", "export", "--judgements", name, "--format", "html", "--alpha", "0.3", "--out", str(tmp_path)
    )["files"]
    page = (tmp_path / path).read_text(encoding="utf-8")
    assert not re.search(r"<(script|b|i)>|<script|<img src=//|(src|href)=\"https?://", page)
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in page
    assert page.count("<picture>") == 2

    promise = values("jury", "select", name, "--alpha", "0.3")
    cells = "</td><td>".join
    for judge, one in promise["alone"].items():
        agrees = f"{1 - one['share_wrong']:.1%} (at least {1 - one['error_high']:.1%})" if one["answered"] else "–"
        start = answer_or_pass.threshold_words(one["stages"][0]["threshold"])
        assert cells([_escaped(judge), start, f"{one['share_answered']:.1%}", agrees]) in page
    in_turn = promise["in_turn"]
    assert 0 < in_turn["share_answered"] < 1
    assert cells(["people", "", f"{in_turn['share_passed']:.1%}"]) in page
    assert f"In turn: {in_turn['share_answered']:.1%} of the answers get a verdict" in page

    budget = values("jury", "estimate", name)
    alone = budget["alone"]
    assert cells(["labels alone", "", f"{alone['value']:.1%} ({alone['low']:.1%} to {alone['high']:.1%})"]) in page
    for one in budget["judges"]:
        shown = f"{one['value']:.1%} ({one['low']:.1%} to {one['high']:.1%})"
        rest = [f"{one['weight']:.2f}", f"{one['worth_labels']:.0f}", f"{one['variance_saved']:.0%}"]
        assert cells([_escaped(one["judge"]), one["uses"], shown, *rest]) in page

    rules = values("jury", "evaluate", "--judgements", name, "--protocol", "all-rules")
    low, high = rules["intervals"]["majority"]["accuracy"]
    assert cells(["Majority", f"{rules['rules']['majority']['accuracy']:.1%} ({low:.1%} to {high:.1%})"]) in page


def _escaped(name: str) -> str:
    return name.replace("<", "&lt;").replace(">", "&gt;")


FILE = os.fsdecode(b"judged\x80.csv")
"""A file's name that is not valid UTF-8."""


def test_a_file_of_one_judge_or_of_judges_that_agree_has_a_report(home, tmp_path, capsys):
    for j in (1, 2):
        judged = seeded_jury(60, j)
        judged.rows(~judged.disagreed).table().to_csv(tmp_path / FILE, index=False)
        words = ["jury", "export", "--judgements", str(tmp_path / FILE), "--format", "html"]
        assert main([*words, "--out", str(tmp_path / "out")]) == 0
        page = (tmp_path / "out" / "hedge_judged.csv_alpha-0.10_report.html").read_text(encoding="utf-8")
        assert "<h1>judged?.csv</h1>" in page
        assert ("<td>people</td>" in page) == (j == 2)
        assert "No threshold keeps this promise" in page or "no threshold keeps this promise" in page


def test_the_lab_of_the_report_starts_as_the_app_s():
    assert lab_view(AlphaLabView()) == lab_outside.START
