"""Which judge may speak for people: the sides, files of other judges, hostile ones, and the published figures."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.conformal.selective import selective
from core.errors import InputError
from core.jury.judgements import Judgements
from core.jury.selection import in_order, judged_sides
from core.reports.answer_or_pass import jury_json, jury_text, stage_notes
from hedge.cli import main
from tests.core.jury.verdicts import jury, seeded_jury


def judges(n: int = 600, seed: int = 1) -> Judgements:
    """Two judges whose confidence tells right from wrong, and a third one that gives every verdict with .9."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.5
    sure = 1 - rng.random((n, 3)) ** 2 / 2
    sure[:, 2] = 0.9
    right = rng.random((n, 3)) < np.column_stack([sure[:, :2], np.full(n, 0.8)])
    return jury(np.where(right == labels[:, None], sure, 1 - sure), labels)


def file(folder: Path, judgements: Judgements, **changes: object) -> Path:
    path = folder / "judges.csv"
    judgements.table().assign(**changes).to_csv(path, index=False)
    return path


def test_a_half_calibrates_and_the_other_judges():
    judgements = judges()
    sides = judged_sides(judgements, seed=4)
    assert (len(sides.calibration), len(sides.judged), sides.notes) == (300, 300, ())
    both = np.concatenate([sides.calibration.confidence, sides.judged.confidence])
    assert sorted(both[:, 0]) == pytest.approx(sorted(judgements.top[:, 0]))
    assert not np.array_equal(judged_sides(judgements, seed=5).judged.confidence, sides.judged.confidence)
    share = judged_sides(judgements, share=0.25)
    assert (len(share.calibration), len(share.judged), share.in_sample) == (150, 450, False)
    whole = judged_sides(judgements, share=1)
    assert (len(whole.calibration), len(whole.judged), whole.in_sample) == (600, 600, True)
    with pytest.raises(InputError, match=r"must lie in \(0, 1\], got 1.5"):
        judged_sides(judgements, share=1.5)


def test_the_source_s_own_parts_are_kept():
    sides = judged_sides(seeded_jury(120))
    assert (len(sides.calibration), len(sides.judged)) == (60, 60)
    assert sides.notes == ("The source's own parts say which of them calibrate.",)
    assert sides.judged.wrong.tolist() == (1 - seeded_jury(120).right)[60:].tolist()
    half = replace(seeded_jury(120), parts=("calibration", "test", "") * 40)
    assert judged_sides(half).notes == (
        "The source's own parts say which of them calibrate; 40 that have no part are not used.",
    )


def test_judges_that_are_never_as_certain_as_the_first_fixed_threshold_hear_of_another_way():
    labels = np.tile([True, False], 100)
    timid = jury(np.where(labels[:, None], [0.95, 0.95], [0.05, 0.05]), labels)
    says = "thresholds begin at confidence 0.9998. With a smaller calibration share"
    whole = judged_sides(timid, share=1)
    assert says in jury_text(whole, 100, 100)
    assert says in jury_json(whole, 100, 100)["alone"]["juror0"]["notes"][0]
    assert says not in jury_text(judged_sides(timid), 100, 100)
    assert judged_sides(timid).selected(100, 100).answered


def test_repeats_of_a_question_count_once_and_few_of_them_only_make_the_promise_of_all_labels_approximate():
    judgements = replace(judges(), questions=tuple(f"Question {i // 4}?" for i in range(600)))
    sides = judged_sides(judgements)
    assert (len(sides.calibration), len(sides.judged)) == (75, 75)
    assert "600 answers, 150 questions: one random answer of each counts" in sides.notes[0]
    assert len(judged_sides(judgements, share=1).calibration) == 150
    few = replace(judges(), questions=tuple(f"Question {max(i, 3)}?" for i in range(600)))
    sides = judged_sides(few)
    assert len(sides.calibration) + len(sides.judged) == 597
    assert "600 answers, 597 questions: one random answer of each counts" in sides.notes[0]
    whole = judged_sides(few, share=1)
    assert len(whole.calibration) == 600
    assert whole.notes[0].endswith("so few repeats of a question count as independent, and the promise is approximate.")


def test_few_repeats_among_the_most_certain_answers_leave_the_promise():
    """5% of the answers are exact copies, all among the most certain ones, which are wrong a little more often than
    alpha: the promise is broken if any threshold passes. With copies that counted, 14% of draws passed."""

    def broken(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        copies, n = np.repeat(np.arange(24), 2), 1000
        certain = 48 + 12  # and some answers without a copy
        risk = np.where(np.arange(n) < certain, 0.101, 0.4)
        sure = np.where(np.arange(n) < certain, 0.9, 0.5) + 0.09 * rng.random(n)
        wrong = rng.random(n) < risk
        sure[:48], wrong[:48] = sure[copies], wrong[copies]
        labels = rng.random(n) < 0.5
        judgements = replace(
            jury(np.where(wrong != labels, sure, 1 - sure)[:, None], labels),
            questions=tuple(f"Question {copies[i] if i < 48 else i}?" for i in range(n)),
        )
        return judged_sides(judgements, seed=seed).selected(100, 200).stages[0].threshold is not None

    assert np.mean([broken(seed) for seed in range(100)]) <= 0.2


def test_a_tie_is_no_verdict():
    p = np.column_stack([np.full(40, 0.5), np.full(40, 0.9)])
    sides = judged_sides(jury(p, np.ones(40)))
    assert "40 ties of equal probabilities are no verdict" in sides.notes[0]
    first, second = sides.selected(200, 100).stages
    assert (first.answered, first.base_error, second.answered) == (0, 0.5, 20)
    assert stage_notes(first, 200, alone=False) == ["No answer has a confidence."]
    lines = jury_text(sides, 200, 100).splitlines()
    assert lines[lines.index("  juror0: 0.0%, never") + 1] == "    No answer has a confidence."


def test_judges_are_asked_in_the_order_that_is_given():
    judgements = judges()
    turned = in_order(judgements, ["juror1", "juror0"])
    assert turned.jurors == ("juror1", "juror0")
    sides = judged_sides(turned)
    alone = sides.alone(1)
    assert alone.judges == ("juror0",)
    assert alone.selected(100, 100) == selective(
        judged_sides(in_order(judgements, ["juror0"])).calibration, alone.judged, 100, 100
    )
    with pytest.raises(InputError, match="there is no juror 'nobody'; choose from juror0, juror1, juror2"):
        in_order(judgements, ["nobody"])
    with pytest.raises(InputError, match="named twice"):
        in_order(judgements, ["juror0", "juror0"])


def test_a_judge_without_confidence_answers_all_or_none(home, tmp_path, capsys):
    (stage,) = judged_sides(in_order(judges(), ["juror2"])).selected(300, 100).stages
    assert (stage.levels, stage.threshold, stage.answered) == (1, 0.9, stage.reached)
    assert "it can only answer all questions or none" in stage_notes(stage, 300)[0]
    labels = judges().labels
    verdicts = jury(np.column_stack([labels, ~labels]).astype(np.float64), labels)
    assert main(["jury", "select", str(file(tmp_path, verdicts)), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["alone"]
    assert (values["juror0"]["share_answered"], values["juror0"]["stages"][0]["threshold"]) == (1, 1)
    assert (values["juror1"]["share_answered"], values["juror1"]["share_wrong"]) == (0, None)
    assert values["juror1"]["stages"][0]["least_passed"] == 1


def test_ten_labels_are_too_few_and_it_is_said(home, tmp_path, capsys):
    assert main(["jury", "select", str(file(tmp_path, seeded_jury(20)))]) == 0
    text = capsys.readouterr().out
    assert "No threshold keeps this promise." in text
    assert (
        "At alpha 0.1 a threshold needs at least 22 labelled answers, even if all are right, and 10 calibrate." in text
    )


def test_the_json_has_each_judge_alone_and_all_in_turn():
    sides = judged_sides(judges())
    values = jury_json(sides, 200, 100)
    assert set(values["alone"]) == {"juror0", "juror1", "juror2"}
    turn = values["in_turn"]
    assert [stage["judge"] for stage in turn["stages"]] == ["juror0", "juror1", "juror2"]
    assert turn["share_answered"] + turn["share_passed"] == 1
    assert turn["error_high"] >= turn["share_wrong"]
    assert (turn["alpha"], turn["delta"]) == (0.2, 0.1)
    assert jury_json(sides.alone(0), 200, 100)["in_turn"] is None


def test_a_file_of_one_judge_is_enough(home, tmp_path, capsys):
    one = judges().table().query("juror == 'juror0'")
    path = tmp_path / "one.csv"
    one.to_csv(path, index=False)
    assert main(["jury", "select", str(path), "--alpha", "0.2", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["in_turn"] is None
    assert values["alone"]["juror0"]["n_calibration"] == 300
    assert main(["jury", "evaluate", "--judgements", str(path)]) == 2
    assert "a jury needs at least two jurors, got 1 (juror0)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": ""}, "expected what is right in label, found nothing decided"),
        ({"label": "perhaps"}, "expected True or False (or Correct, Incorrect; of pairs, A and B), found 'perhaps'"),
        ({"p_true": 1.5, "p_false": -0.5}, "must lie in [0, 1], where 0.9 is 90%, got"),
        ({"p_true": 0.9, "p_false": 0.9}, "p_true and p_false must sum to 1, got 0.9 and 0.9"),
        ({"p_true": "high"}, "expected p_true as a number from 0 to 1, found 'high'"),
        ({"p_true": "nan"}, "expected p_true as a number from 0 to 1"),
        ({"part": "fold 3"}, "expected part calibration or test, found 'fold 3'"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(home, tmp_path, capsys, change, says):
    assert main(["jury", "select", str(file(tmp_path, seeded_jury(30), **change))]) == 2
    assert says in capsys.readouterr().err


def test_rows_that_are_missing_or_twice_are_refused(home, tmp_path, capsys):
    table = seeded_jury(30).table()
    path = tmp_path / "judges.csv"
    table.iloc[:-1].to_csv(path, index=False)
    assert main(["jury", "select", str(path)]) == 2
    assert "jurors must judge the same answers" in capsys.readouterr().err
    pd.concat([table, table[table["juror"] == "juror1"]]).to_csv(path, index=False)
    assert main(["jury", "select", str(path)]) == 2
    assert "jurors must judge the same answers" in capsys.readouterr().err
    for arguments, says in (
        (["--alpha", "1.2"], "alpha must lie in (0, 1), got 1.2"),
        (["--delta", "0"], "delta must lie in (0, 1), got 0"),
        (["--juror", "nobody"], "there is no juror 'nobody'"),
        (["--seed", "-1"], "a seed must be a whole number from 0 to 4294967295, got -1"),
        (["--calibration-share", "0"], "the calibration share must lie in (0, 1], got 0"),
    ):
        table.to_csv(path, index=False)
        assert main(["jury", "select", str(path), *arguments]) == 2
        assert says in capsys.readouterr().err


def test_the_published_judges(home, real_data, capsys):
    path = str(real_data / "selective-judges" / "judgements.csv")

    def selected(*arguments: str) -> dict[str, dict[str, float]]:
        assert main(["jury", "select", path, "--delta", "0.1", *arguments, "--json"]) == 0
        found: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)["alone"]
        return found

    whole = selected("--alpha", "0.15", "--calibration-share", "1")["gpt-4-turbo"]
    assert (whole["share_answered"], round(1 - whole["share_wrong"], 3)) == (0.712, 0.876)
    assert selected("--alpha", "0.1", "--calibration-share", "1")["gpt-4-turbo"]["share_answered"] == 0
    split = selected("--alpha", "0.15")["gpt-4-turbo"]
    assert (split["n_calibration"], split["n_judged"]) == (246, 246)
    assert split["share_wrong"] <= 0.15 < 1 - split["share_answered"]


def test_one_question_and_a_judge_that_no_answer_reaches_are_told_apart_from_few_labels():
    with pytest.raises(InputError, match=r"600 answers, 1 question: one random .* 0 answers calibrate and 1 judges;"):
        judged_sides(replace(judges(), questions=("One?",) * 600))
    labels = np.tile([True, False], 100)
    sure = jury(np.where(labels[:, None], [0.9, 0.8], [0.1, 0.2]), labels)
    first, second = judged_sides(sure).selected(100, 100).stages
    assert stage_notes(first, 100) == [
        "All its answers have the same confidence, so it can only answer all questions or none."
    ]
    assert stage_notes(second, 100) == ["No calibration answer reaches it."]
    single = judged_sides(sure.rows(np.arange(2))).alone(0).selected(100, 100)
    assert len(stage_notes(single.stages[0], 100)) == 1
