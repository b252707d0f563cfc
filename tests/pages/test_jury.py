"""The Jury page, and juries imported on the Data page."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from app.components.jury import jury_figures
from app.state.jury import JuryView
from core.calibration.jackknife import random_groups
from core.jury.experiment import Protocol, run
from core.jury.label_draw import JudgedAnswers, sample_of
from core.jury.pipeline import jury_store
from core.reports.label_budget import curve, judge_uses
from hedge.cli import main
from tests.core.jury.verdicts import jury, seeded_jury
from tests.pages.conftest import Open, click, keep_their_places, page_text, sent, static_tables, unfolded


@pytest.fixture(autouse=True)
def without_bundled(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No jury ships; intervals, which no test looks at here, leave out each of four groups in place of twenty."""
    monkeypatch.setattr("core.jury.experiment.random_groups", partial(random_groups, groups=4))
    monkeypatch.setattr("core.jury.pipeline.jury_store.ASSETS", home.parent / "assets")


def test_without_a_jury_it_offers_to_bring_one_in(open_page: Open) -> None:
    app = open_page("jury")
    assert "There is no jury yet" in page_text(app)


def test_a_jury_of_a_link(open_page: Open) -> None:
    judged = seeded_jury(120)
    name = jury_store.save(judged, name="Mine", origin="a test")
    app = open_page("jury", jury=name, rule="veto", at="40", confidence="platt", judged="all", order="f1")
    assert not app.warning
    data = sent(app, "rules")
    assert data["view"] == {"rule": "veto", "at": 40, "cases": "all", "order": "f1", "card": ""}
    experiment = run(judged, Protocol(share=None, disagreement=False, confidence="platt"))
    by = {outcome.rule: outcome for outcome in experiment.outcomes}
    assert {rule["name"]: rule["measures"]["accuracy"] for rule in data["rules"]} == {
        name: outcome.accuracy.value for name, outcome in by.items()
    }
    assert "60 calibrate and 60 test" in page_text(app)


def test_arriving_intervals_leave_every_list_in_its_place(open_page_early: Open) -> None:
    name = jury_store.save(seeded_jury(120), name="Mine", origin="a test")
    assert keep_their_places(open_page_early("jury", jury=name), at_least=4)


def test_a_source_without_parts_is_split_in_half(open_page: Open) -> None:
    judged = seeded_jury(80)
    name = jury_store.save(
        jury(judged.p_true, judged.labels), name="No parts", origin="a test", notes=["a.txt: 80 of 81 lines joined."]
    )
    app = open_page("jury", jury=name, judged="all")
    assert "40 calibrate and 40 test" in page_text(app)
    assert "80 of 81 lines joined" in page_text(app)


def test_two_jurors_and_folded_parts(open_page: Open) -> None:
    name = jury_store.save(seeded_jury(80, 2), name="Two", origin="a test")
    app = unfolded(open_page("jury", jury=name), "jury_sets_open", "jury_table_open")
    assert "This needs at least three jurors" in page_text(app)
    assert {metric.label for metric in app.metric} == {"Hold the truth", "{True}", "{False}", "{True, False}", "{}"}


def test_nonsense_in_a_link_is_named(open_page: Open) -> None:
    jury_store.save(seeded_jury(60), name="Mine", origin="a test")
    app = open_page("jury", jury="gone", rule="dice", at="200")
    assert "There is no jury gone" in page_text(app)
    assert "The link's rule is “dice”" in page_text(app)
    assert "The link's at is “200”" in page_text(app)


def test_a_jury_that_never_disagrees_is_a_sentence(open_page: Open) -> None:
    judged = seeded_jury(60)
    name = jury_store.save(judged.rows(~judged.disagreed), name="Alike", origin="a test")
    app = open_page("jury", jury=name)
    assert "agree on all" in page_text(app)
    assert "choose all answers" in page_text(app)


def test_judgements_are_brought_in_on_the_data_page(open_page: Open) -> None:
    app = open_page("data")
    content = seeded_jury(60).table().to_csv(index=False).encode()
    app.file_uploader[0].set_value([("mine.csv", content, "text/csv")]).run()
    assert app.dataframe[0].value["Juror"].tolist() == ["juror0", "juror1", "juror2"]
    assert jury_store.jury_ids() == []
    click(app, "Import")
    assert "1 jury imported" in page_text(app)
    (name,) = jury_store.jury_ids()
    assert jury_store.read_record(name).answers == 60


def test_pairs_of_answers_are_brought_in_as_such_and_not_called_right(open_page: Open) -> None:
    app = open_page("data")
    table = seeded_jury(60).table()
    app.file_uploader[0].set_value([("mine.csv", table.to_csv(index=False).encode(), "text/csv")]).run()
    assert list(app.dataframe[0].value.columns) == ["Juror", "Answers", "Says True", "Verdicts that are right"]
    next(box for box in app.checkbox if "pair of answers" in box.label).check().run()
    assert list(app.dataframe[0].value.columns) == ["Juror", "Pairs", "Says First", "Agrees with the label"]
    assert "of the pairs, the first answer is better" in page_text(app)
    assert "are right" not in page_text(app)
    click(app, "Import")
    (name,) = jury_store.jury_ids()
    assert jury_store.read(name).pairwise
    page = open_page("jury", jury=name, judged="all")
    assert sent(page, "rules")["pairwise"] is True
    assert "Each row is a pair of answers" in page_text(page)
    assert "The jurors are unanimous on" in page_text(page)
    assert "are wrong" not in page_text(page)
    columns = [column for table in static_tables(page) for column in table.columns]
    assert "Agrees with the label" in columns
    assert "Right" not in columns


def test_text_files_say_how_many_lines_were_joined(open_page: Open) -> None:
    app = open_page("data")
    lines = "".join(f"Question {i}?\t0.{i}\n" for i in range(1, 8)).encode()
    labels = ("question,label\n" + "".join(f"Question {i}?,{i % 2}\n" for i in range(1, 7))).encode()
    files = [("a.txt", lines, "text/plain"), ("b.txt", lines, "text/plain"), ("truth.csv", labels, "text/csv")]
    app.file_uploader[0].set_value(files).run()
    assert "a.txt: 6 of 7 lines were joined with truth.csv" in page_text(app)
    app.file_uploader[0].set_value(files[:2]).run()
    assert "**a.txt and b.txt**: It does not say what is right" in page_text(app).replace(
        "a.txt, b.txt", "a.txt and b.txt"
    )


def test_judges_are_asked_in_the_order_of_a_link_and_of_the_list(open_page: Open) -> None:
    judged = seeded_jury(120)
    name = jury_store.save(judged, name="Mine", origin="a test")
    app = unfolded(open_page("jury", jury=name, judges="juror2,juror0", error="200"), "judge_selection_open")
    data = sent(app, "judged")
    assert (data["judges"], data["verdicts"], data["view"]) == (
        ["juror2", "juror0"],
        True,
        {"error": 200, "delta": 100},
    )
    assert data["calibration"]["c0"] == pytest.approx(judged.top[:60, 2].tolist())
    assert data["judged"]["w1"] == (1 - judged.right)[60:, 0].tolist()
    assert "The source's own parts say which of them calibrate" in page_text(app)
    app.multiselect(key="selected_judges").set_value(["juror1"]).run()
    assert app.query_params["judges"] == "juror1"
    assert sent(app, "judged")["judges"] == ["juror1"]
    app.multiselect(key="selected_judges").set_value([]).run()
    assert sent(app, "judged")["judges"] == ["juror0", "juror1", "juror2"]


@pytest.mark.parametrize("right", [True, False])
def test_labels_of_one_side_leave_the_promise_and_the_label_budget(open_page: Open, tmp_path: Path, right) -> None:
    judged = replace(seeded_jury(120), labels=np.full(120, right))
    name = jury_store.save(judged, name="One side", origin="a test")
    app = unfolded(open_page("jury", jury=name, judged="all"), "judge_selection_open", "label_budget_open")
    assert "a rule can only be judged if both labels occur" in page_text(app)
    assert "Judges, in the order in which they are asked" in {box.label for box in app.multiselect}
    out = str(tmp_path / "out")
    assert main(["jury", "export", "--judgements", name, "--format", "html", "--out", out]) == 0
    (path,) = Path(out).glob("*.html")
    report = path.read_text(encoding="utf-8")
    side = "right" if right else "wrong"
    assert f"No rule can be judged: of those on which the jurors disagree, all 65 answers are {side}" in report
    assert "Judges in turn" in report
    assert "From 50 labels of 120 answers" in report


def test_a_jury_of_one_question_has_no_promise_and_still_a_label_budget(open_page: Open) -> None:
    name = jury_store.save(replace(seeded_jury(60), questions=("One?",) * 60), name="One question", origin="a test")
    app = unfolded(open_page("jury", jury=name), "judge_selection_open")
    assert "both sides need at least one" in page_text(app)
    assert "How few human labels are enough?" in {fold.label for fold in app.expander}


def test_the_report_has_the_choices_of_the_view(open_page: Open) -> None:
    mine = jury_store.save(seeded_jury(120), name="Mine", origin="a test")
    view = JuryView(jury=mine, judges="juror2,juror0", error=300, labels=70)
    app = open_page("jury", jury=mine)
    assert app.get("download_button")[-1].label == "Report (works offline)"
    record = jury_store.read_record(mine)
    report = jury_figures._report(record, jury_figures._evaluated(record, Protocol(share=None)), view).decode()
    assert "<h1>Mine</h1>" in report
    table = report[report.index("Judges in turn") :]
    assert table.index("<td>juror2") < table.index("<td>juror0") < table.index("<td>people")
    assert "at least 70.0% of the verdicts agree with people" in report
    assert "From 70 labels of 120 answers" in report


def test_a_label_budget_is_computed_when_it_is_opened(open_page: Open) -> None:
    judged = seeded_jury(120)
    mine = jury_store.save(judged, name="Mine", origin="a test")
    folded = open_page("jury", jury=mine, labels="70", use="juror2 · verdicts")
    assert not sent(folded, "fewest")
    app = unfolded(folded, "label_budget_open")
    data = sent(app, "fewest")
    assert (data["labels"], data["pairwise"]) == (70, False)
    answers = JudgedAnswers.of(judged)
    use = next(each for each in judge_uses(judged) if each.key == "juror2 · verdicts")
    expected = curve(answers, sample_of(answers, seed=0), use)
    assert {name: data["rows"][name] for name in expected} == expected.to_dict("list")
    assert "hedge jury draw FILE" in " ".join(code.value for code in app.code)
