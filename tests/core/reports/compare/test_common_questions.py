"""Runs are compared on the questions and the options that both have, and a note says what is left out."""

import pytest

from core.errors import InputError
from core.reports import exports
from core.reports.alpha_lab.view import SplitView, look
from core.reports.compare import claims, kept_rows, run_matrix
from core.reports.compare.benchmark import SetRule, reports, run_rows
from core.reports.compare.common_options import offered_alike, options_words
from core.reports.compare.shared_questions import few_shared, groups
from core.reports.compare.what_differs import what_differs
from core.reports.evaluation import load
from core.reports.report import report
from core.reports.run_groups import sharing_questions
from core.runs import store
from core.runs.spec import RunSpec
from core.storage.json_text import loads
from hedge.cli import main
from tests.conftest import synthetic_run
from tests.core.reports.compare.rotated import narrow_copy, shorter_copy, shorter_options_copy

pytestmark = pytest.mark.quick

RULE = SetRule(100, ("lac",))


def test_runs_that_share_nearly_all_questions_are_one_group(home):
    whole, elsewhere = synthetic_run(seed=3), synthetic_run(40, seed=9, model="elsewhere", task="rc")
    near, far = shorter_copy(whole, without=3), shorter_copy(whole, without=60, model="far")
    assert groups([whole, elsewhere, near]) == [(whole, near), (elsewhere,)]
    # 40 of 100 questions make no group beside a better one, but two runs alone are compared on them.
    assert groups([whole, near, far]) == [(whole, near), (far,)]
    assert groups([far, whole]) == [(far, whole)]
    result = run_matrix.run_matrix([load(whole), load(near)], 100, resamples=20)
    assert (result.n_test, result.units, result.tested) == (97, 97, (100, 97))
    record = store.read_record(whole)
    others = [store.read_record(name) for name in (near, far, elsewhere)]
    assert [match.run_id for match in sharing_questions(record, others)] == [near]


def test_runs_that_share_nine_questions_say_so(home):
    whole = synthetic_run(seed=3)
    few = shorter_copy(whole, without=91)
    assert groups([whole, few]) == [(whole,), (few,)]
    assert few_shared([whole, few], {whole: "the whole", few: "the rest"}) == (
        "the whole and the rest share 9 test questions; runs that share fewer than 10 different ones are not compared."
    )
    assert few_shared([whole, synthetic_run(40, seed=9, model="elsewhere")]) == ""


def test_the_command_line_names_what_is_left_out_and_what_differs(home, capsys):
    whole = synthetic_run(seed=3)
    near, few = shorter_copy(whole, without=3), shorter_copy(whole, without=91, model="few")
    assert main(["compare", whole, near]) == 0
    shown = capsys.readouterr().out
    assert f"{whole} and {near}, 97 questions\n  3 of 100 questions are in one run only and are left out." in shown
    assert "Both runs score every option of these questions alike" in shown
    assert main(["compare", whole, few]) == 0
    assert "share 9 test questions, and a comparison needs at least 10" in capsys.readouterr().out
    assert main(["compare", whole, few, "--json"]) == 0
    values = loads(capsys.readouterr().out)
    assert values["pairs"] == []
    assert "share 9 test questions" in values["notes"][0]


def test_a_cell_of_the_claims_holds_runs_on_nearly_the_same_questions(home):
    names = [synthetic_run(seed=3)]
    names += [shorter_copy(names[0], without=i, model=f"m{i}") for i in range(1, 3)]
    runs = [load(name) for name in names]
    rows = run_rows(runs, reports(runs, RULE))
    assert rows["questions"].nunique() == 3
    assert claims.model_means(rows).empty
    assert len(claims.model_means(claims.with_shared_questions(rows))) == 3


def test_side_by_side_all_runs_on_the_same_questions_have_the_same_options(home):
    whole = synthetic_run(seed=3)
    narrow, other = narrow_copy(whole), synthetic_run(40, seed=9, model="elsewhere")
    expected = report(look(load(whole), SplitView(drop_extra=True)), 100, scores=("lac",))
    rows = kept_rows.compared_rows([whole, narrow, other], RULE, load)
    assert rows["k"].tolist() == [4, 4, 6]  # the run on other questions keeps E and F
    assert rows["left_out"].tolist() == ["EF", "", ""]
    assert rows["uacc"][0] == pytest.approx(expected.scores["lac"].uacc)
    assert rows["mean_set_size"][0] == pytest.approx(expected.scores["lac"].mean_set_size)
    sentence = "E and F are left out of 1 of 3 runs, because other runs on the same questions lack them."
    assert options_words(rows) == sentence
    assert kept_rows.compared_rows([whole, narrow, other], RULE, pytest.fail).equals(rows)  # kept, and not read again
    assert kept_rows.compared_rows([whole], RULE, pytest.fail)["k"].tolist() == [6]
    runs = [load(name) for name in (whole, narrow, other)]
    assert exports.rows(runs, RULE)["uacc"].tolist() == pytest.approx(rows["uacc"].tolist())
    assert "without E and F, which other runs lack" in exports.latex(runs, RULE)
    assert sentence in exports.latex(runs, RULE)
    assert [run.k for run in offered_alike(offered_alike(runs))] == [4, 4, 6]


def test_options_that_cannot_be_left_out_are_a_reason_not_to_compare(home, capsys):
    """E and F stand behind four options or three, so they have no place of their own."""
    whole = synthetic_run(seed=3)
    shorter = shorter_options_copy(whole, model="shorter-options")
    narrow = narrow_copy(shorter)
    assert main(["compare", shorter, narrow]) == 0
    assert "options for the same questions, so their set sizes and UAccs can't be compared" in capsys.readouterr().out
    runs = [load(shorter), load(narrow)]
    with pytest.raises(InputError, match=f"{shorter} offers 6 and {narrow} offers 4 options"):
        run_matrix.run_matrix(runs, 100)
    rows = run_rows(runs, reports(runs, RULE))
    assert options_words(rows) == (
        "Runs on the same questions offer 4 and 6 options: their set sizes and UAccs are not comparable."
    )


def test_what_else_differs_is_one_sentence():
    def of(model, **settings):
        return RunSpec(model=model, task="qa", **settings)

    assert what_differs([of("a"), of("b")]) == ""
    assert what_differs([of("a"), of("a", shots=5)], calibrate=[100, 99]) == ""  # the shots are what is compared
    assert what_differs([of("a"), of("a", shots=5, seed=3)]) == (
        "These runs differ in shots (0, 5) and seed of draw and split (0, 3)."
    )
    assert what_differs([of("a"), of("b", form="cloze", calibration_share=0.2)], calibrate=[100, 40]) == (
        "Besides their models, these runs differ in form (by letter, by text), share that calibrates (0.5, 0.2) and "
        "calibration questions (100, 40)."
    )
