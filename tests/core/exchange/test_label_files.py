"""Labels that people give: a draw goes out and comes back, and nothing else passes for a random sample."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.exchange.label_files import read_judged, read_labels, write_draw
from core.jury.label_draw import JudgedAnswers, LabelDraw
from hedge.cli import main
from tests.core.jury.verdicts import seeded_jury

DATE = "2026-11-29"


@pytest.fixture
def judged() -> JudgedAnswers:
    return JudgedAnswers.of(seeded_jury(60))


@pytest.fixture
def table(judged: JudgedAnswers) -> pd.DataFrame:
    return judged.judgements.table().drop(columns="part")


def saved(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False)
    return path


def labelled(judged: JudgedAnswers, path: Path, n: int = 30) -> pd.DataFrame:
    """A draw with the labels filled in."""
    write_draw(judged, n, path, seed=7, date=DATE)
    table = pd.read_csv(path, dtype=str)
    right = dict(zip(judged.judgements.ids, judged.judgements.labels, strict=True))
    return table.assign(label=[["wrong", "right"][int(right[name])] for name in table["id"]])


@pytest.mark.quick
def test_a_draw_comes_back(judged: JudgedAnswers, tmp_path: Path):
    filled = labelled(judged, tmp_path / "out.csv").sample(frac=1, random_state=0)  # somebody sorted it
    assert set(filled["draw"]) == {LabelDraw(7, 60, judged.digest, DATE).text}
    sample = read_labels(saved(filled, tmp_path / "back.csv"), judged)
    assert sample.random
    assert sample.notes == ()
    assert sorted(sample.order) == list(range(60))
    assert sample.labels.tolist() == judged.labels[sample.order[:30]].tolist()
    filled["label"] = filled["label"].map({"right": "A", "wrong": "B"})
    assert read_labels(saved(filled, tmp_path / "letters.csv"), judged).labels.tolist() == sample.labels.tolist()


@pytest.mark.quick
def test_a_draw_does_not_depend_on_the_order_of_the_table_and_its_beginning_is_a_draw(judged: JudgedAnswers):
    mixed = JudgedAnswers.of(judged.judgements.rows(np.arange(60)[::-1]))
    assert mixed.digest == judged.digest
    ids = [[each.judgements.ids[i] for i in each.order(7)] for each in (judged, mixed)]
    assert ids[0] == ids[1]
    assert judged.order(8).tolist() != judged.order(7).tolist()
    first = [JudgedAnswers.of(seeded_jury(60)).order(seed)[0] for seed in range(600)]
    assert np.bincount(first, minlength=60).max() < 30  # 10 are expected of each


@pytest.mark.quick
def test_skipped_answers_leave_a_description(judged: JudgedAnswers, tmp_path: Path):
    filled = labelled(judged, tmp_path / "out.csv")
    stopped = filled.copy()
    stopped.loc[24:, "label"] = ""
    assert read_labels(saved(stopped, tmp_path / "back.csv"), judged).random
    filled.loc[[24, 27], "label"] = ""
    skipped = saved(filled, tmp_path / "back.csv")
    sample = read_labels(skipped, judged)
    assert not sample.random
    assert "The drawn answer 25 has no label, but later ones have" in sample.notes[0]
    declared = read_labels(skipped, judged, declared=True)
    assert declared.random
    assert "declared to be by chance" in declared.origin
    for each in (sample, declared):
        assert each.labels.tolist() == judged.labels[each.order[:28]].tolist()
        assert sorted(each.order) == list(range(60))
    unlabelled = saved(filled.assign(label=""), tmp_path / "none.csv")
    with pytest.raises(InputError, match="none of the drawn answers has a label"):
        read_labels(unlabelled, judged)


@pytest.mark.quick
@pytest.mark.parametrize("seed", [-1, 10**18])
def test_a_draw_has_a_seed_that_its_record_can_have(judged: JudgedAnswers, tmp_path: Path, seed: int):
    with pytest.raises(InputError, match="seed must be from 0 to 999,999,999,999,999,999, got"):
        write_draw(judged, 5, tmp_path / "out.csv", seed=seed, date=DATE)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(draw="seed 1"), "expected the record of a draw"),
        (lambda t: t.assign(draw=["a", *t["draw"][1:]]), "one draw in every row, found 2"),
        (lambda t: t.assign(draw=t["draw"].str.replace("seed 7", "seed 8")), "at place 1 of the draw"),
        (lambda t: t.assign(draw=t["draw"].str.replace("60 answers", "61 answers")), "drawn from 61 answers"),
        (lambda t: t.assign(id=["9999", *t["id"][1:]]), "expected the id of a judged answer"),
        (lambda t: t.assign(id=[t["id"][1], *t["id"][1:]]), "expected each answer once"),
        (lambda t: t.assign(place=["61", *t["place"][1:]]), "expected a place from 1 to 60, found '61'"),
        (lambda t: t.assign(place=["", *t["place"][1:]]), "expected a place from 1 to 60, found ''"),
        (lambda t: t.assign(place=["inf", *t["place"][1:]]), "expected a place from 1 to 60, found 'inf'"),
        (lambda t: t.assign(place=["1.5", *t["place"][1:]]), "expected a place from 1 to 60, found '1.5'"),
        (lambda t: t.assign(place=["x", *t["place"][1:]]), "expected a number in 'place'"),
        (
            lambda t: t.assign(label=["=A1", *t["label"][1:]]),
            "line 2: expected a label such as right or wrong, .* '=A1'",
        ),
        (lambda t: t.drop(columns="place"), "expected the columns place, id, label, draw, found no place"),
        (lambda t: t.drop(columns=["draw", "label"]), "expected the columns id, label, found no label"),
    ],
)
def test_a_changed_draw_is_refused(judged: JudgedAnswers, tmp_path: Path, change, message: str):
    path = saved(change(labelled(judged, tmp_path / "out.csv")), tmp_path / "back.csv")
    with pytest.raises(InputError, match=message) as refused:
        read_labels(path, judged)
    assert str(refused.value).startswith(str(path))


@pytest.mark.quick
def test_a_draw_of_other_answers_is_refused(judged: JudgedAnswers, tmp_path: Path):
    path = saved(labelled(judged, tmp_path / "out.csv"), tmp_path / "back.csv")
    texts = tuple(f"{text} again" for text in judged.judgements.answers)
    others = JudgedAnswers.of(replace(judged.judgements, answers=texts))
    with pytest.raises(InputError, match=r"drawn from 60 answers .*, but these are 60 with the digest"):
        read_labels(path, others)


@pytest.mark.quick
def test_a_draw_overwrites_nothing_and_has_no_more_answers_than_there_are(judged: JudgedAnswers, tmp_path: Path):
    write_draw(judged, 60, tmp_path / "out.csv", seed=0, date=DATE)
    with pytest.raises(InputError, match="exists already"):
        write_draw(judged, 5, tmp_path / "out.csv", seed=0, date=DATE)
    with pytest.raises(InputError, match="must be from 1 to 60, got 61"):
        write_draw(judged, 61, tmp_path / "more.csv", seed=0, date=DATE)


@pytest.mark.quick
def test_labels_without_a_draw_are_a_sample_only_if_declared_or_complete(judged: JudgedAnswers, tmp_path: Path):
    labels = pd.DataFrame({"id": judged.judgements.ids, "label": judged.judgements.labels})
    some = saved(labels.iloc[:25], tmp_path / "some.csv")
    sample = read_labels(some, judged)
    assert not sample.random
    assert "25 of 60 answers have a label, and nothing says that they were drawn at random" in sample.notes[0]
    assert read_labels(some, judged, declared=True).random
    assert read_labels(saved(labels, tmp_path / "all.csv"), judged).random


@pytest.mark.quick
def test_a_table_of_one_judge_with_some_labels(table: pd.DataFrame, tmp_path: Path):
    one = table[table["juror"] == "juror0"].astype({"label": object}).reset_index(drop=True)
    one["label"] = one["label"].map({True: "first", False: "second"})
    one.loc[40:, "label"] = ""
    one.loc[3, "label"] = "tie"
    judged = read_judged(saved(one, tmp_path / "one.csv"))
    assert judged.judges == ("juror0",)
    assert judged.judgements.pairwise
    assert int(judged.labelled.sum()) == 40
    assert judged.labels[3] == 0.5
    right = {"first": 1.0, "second": 0.0}
    assert judged.labels[:3].tolist() == [right[cell] for cell in one["label"][:3]]
    none = read_judged(saved(one.drop(columns=["label", "p_false"]), tmp_path / "none.csv"))
    assert not none.labelled.any()


@pytest.mark.quick
def test_verdicts_of_one_judge_need_no_labels(table: pd.DataFrame, tmp_path: Path):
    one = table[table["juror"] == "juror0"]
    verdicts = one.assign(verdict=np.where(one["p_true"] > one["p_false"], "yes", "no"))
    verdicts = verdicts.drop(columns=["p_true", "p_false"]).astype({"label": object}).reset_index(drop=True)
    judged = read_judged(saved(verdicts.drop(columns="label"), tmp_path / "none.csv"))
    assert not judged.labelled.any()
    assert judged.judgements.p_true[:, 0].tolist() == (one["p_true"] > one["p_false"]).tolist()
    verdicts.loc[30:, "label"] = ""
    assert int(read_judged(saved(verdicts, tmp_path / "some.csv")).labelled.sum()) == 30


@pytest.mark.quick
def test_a_tie_beside_another_label_is_refused(table: pd.DataFrame, tmp_path: Path):
    table = table.astype({"label": object})
    table.loc[1, "label"] = "tie"
    with pytest.raises(InputError, match=r"line 3: expected the label 'True|False', .* found 'tie'; an answer has one"):
        read_judged(saved(table, tmp_path / "two.csv"))


@pytest.mark.quick
def test_texts_that_a_spreadsheet_would_compute_come_back(tmp_path: Path):
    rows = {"id": ["=1+1", "-2", "@x"], "question": ["+q", "q", "q"], "answer": list("abc")}
    table = pd.DataFrame(rows | {"juror": "j", "p_true": [0.9, 0.2, 0.6], "label": ""})
    judged = read_judged(saved(table, tmp_path / "judged.csv"))
    write_draw(judged, 3, tmp_path / "out.csv", seed=0, date=DATE)
    drawn = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert set(drawn["id"]) == {"'=1+1", "'-2", "'@x"}
    assert len(read_labels(saved(drawn.assign(label="no"), tmp_path / "back.csv"), judged).labels) == 3


@pytest.mark.quick
def test_a_label_in_one_judge_s_row_is_that_of_the_answer(table: pd.DataFrame, tmp_path: Path):
    known = table.astype({"label": object})
    known.loc[known["juror"] != "juror1", "label"] = ""
    judged = read_judged(saved(known, tmp_path / "judged.csv"))
    assert judged.labels.tolist() == seeded_jury(60).labels.astype(float).tolist()


def run(capsys, *arguments: object) -> dict:
    assert main(["jury", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_draws_and_estimates(home: Path, table: pd.DataFrame, tmp_path: Path, capsys):
    judgements = saved(table.assign(label=""), tmp_path / "judged.csv")
    out = tmp_path / "to-label.csv"
    drawn = run(capsys, "draw", judgements, "--labels", 30, "--seed", 3, "--out", out)
    assert drawn["draw"].startswith("seed 3, 60 answers, digest ")
    to_label = pd.read_csv(out, dtype=str)
    right = dict(zip(map(str, seeded_jury(60).ids), seeded_jury(60).labels, strict=True))
    back = saved(to_label.assign(label=[right[name] for name in to_label["id"]]), tmp_path / "back.csv")
    values = run(capsys, "estimate", judgements, "--labelled", back, "--judge", "juror1")
    assert (values["labels"], values["random"]) == (30, True)
    assert values["sample"] == f"drawn by Hedge ({drawn['draw']})"
    assert [judge["uses"] for judge in values["judges"]] == ["probabilities", "verdicts"]
    assert all(judge["low"] < judge["value"] < judge["high"] for judge in values["judges"])
    assert values["judges"][0]["variance_saved"] is None  # the other labels are not known
    assert main(["jury", "estimate", str(judgements), "--labelled", str(back)]) == 0
    assert "labels alone" in capsys.readouterr().out
    assert main(["jury", "estimate", str(judgements)]) == 2
    assert "none of the 60 answers has a label; `hedge jury draw`" in capsys.readouterr().err
    assert main(["jury", "estimate", str(judgements), "--labelled", str(back), "--labels", "0"]) == 2
    assert "must be from 1 to 30, got 0" in capsys.readouterr().err
    assert main(["jury", "estimate", str(judgements), "--labelled", str(back), "--judge", "nobody"]) == 2
    assert "unknown judge 'nobody'; choose from juror0" in capsys.readouterr().err


def test_ten_labels_and_labels_of_no_draw_say_so(home: Path, table: pd.DataFrame, tmp_path: Path, capsys):
    ten = run(capsys, "estimate", saved(table, tmp_path / "judged.csv"), "--labels", 10)
    assert "fewer than 20 labels" in ten["notes"][0]
    assert {judge["low"] for judge in ten["judges"]} == {ten["alone"]["low"]}
    some = table.astype({"label": object})
    some.loc[90:, "label"] = ""
    path = saved(some, tmp_path / "some.csv")
    described = run(capsys, "estimate", path)
    assert described["random"] is False
    assert described["alone"]["low"] is None
    assert {judge["low"] for judge in described["judges"]} == {None}
    assert main(["jury", "estimate", str(path)]) == 0
    assert "there is no interval" in capsys.readouterr().out
    declared = run(capsys, "estimate", path, "--random")
    assert declared["alone"]["low"] > 0
    assert declared["sample"] == "declared to be a random sample"


def test_a_judge_without_probabilities_says_so(home: Path, table: pd.DataFrame, tmp_path: Path, capsys):
    hard = table.assign(p_true=table["p_true"].round(), p_false=table["p_false"].round())
    values = run(capsys, "estimate", saved(hard, tmp_path / "hard.csv"), "--labels", 30, "--judge", "juror0")
    assert [judge["uses"] for judge in values["judges"]] == ["verdicts"]
    assert values["notes"] == ["juror0 gives no probabilities, so its verdicts count as 0, ½ and 1."]


def test_what_was_left_out_of_a_jury_is_said_beside_its_figures(
    home: Path, table: pd.DataFrame, tmp_path: Path, capsys
):
    """Of a kept jury, as of its file: otherwise 40 chosen labels would pass for all answers."""
    first_labelled = table.astype({"label": object})
    first_labelled.loc[first_labelled["id"].astype(int) >= 40, "label"] = ""
    jury = run(capsys, "import", "--judgements", saved(first_labelled, tmp_path / "some.csv"))["jury"]
    left = "20 answers are left out, because label names no side."
    assert left in run(capsys, "estimate", jury)["notes"]
    assert left in run(capsys, "select", jury)["notes"]
    assert left in run(capsys, "evaluate", "--judgements", jury)["notes"]


def test_missing_verdicts_of_a_column_and_what_is_right_are_said(home: Path, tmp_path: Path, capsys):
    verdicts = {"gpt": ["A", "B", "", "A"] * 10, "claude": ["A", "B", "B", "B"] * 10}
    pairs = {"question": range(40), "response_a": "x", "response_b": "y", "human": ["A", "B"] * 20}
    path = saved(pd.DataFrame(pairs | verdicts), tmp_path / "pairs.csv")
    assert run(capsys, "estimate", path)["notes"][:2] == [
        "human is what is right; the judges are gpt, claude.",
        "10 ties and missing verdicts have the probability ½, which counts half for each side.",
    ]


def test_a_published_judge_saves_31_per_cent_of_the_variance(home: Path, real_data: Path, capsys):
    path = real_data / "selective-judges" / "judgements.csv"
    values = run(capsys, "estimate", path, "--labels", 50, "--judge", "gpt-4-turbo")
    saved_by = {judge["uses"]: judge["variance_saved"] for judge in values["judges"]}
    assert saved_by["verdicts"] == pytest.approx(0.31, abs=0.012)
    assert saved_by["probabilities"] == pytest.approx(0.39, abs=0.012)
