"""Files of judgements: each format read, nothing evaluated, everything wrong named with its place."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.exchange import writing
from core.exchange.juries import juror_and_part, probabilities, read
from core.jury.experiment import Protocol, run
from core.jury.judgements import Judgements
from core.jury.pipeline import jury_store
from hedge.cli import main
from tests.core.jury.verdicts import seeded_jury

pytestmark = pytest.mark.quick

HEADER = "question,answer,normalized_aliases,accurate_judgement,logits\n"


def published(folder: Path, name: str, rows: list[tuple[str, str, str, str]]) -> Path:
    path = folder / name
    frame = pd.DataFrame(
        [(question, answer, "['x']", label, logits) for question, answer, label, logits in rows],
        columns=HEADER.strip().split(","),
    )
    frame.to_csv(path, index=False)
    return path


ROWS = [
    ("Who?", " Ann\n", "Correct", "[[0.75, 0.25]]"),
    ('What, "exactly"?', "That", "Incorrect", "[[0.5, 0.5]]"),
]


def test_published_files_of_two_jurors_and_parts(tmp_path) -> None:
    paths = [
        published(tmp_path, f"jury_logits_qlora_{juror}_{part}.csv", ROWS)
        for juror in ("b13", "a13")
        for part in ("calib", "test")
    ]
    judged = read(paths).judgements
    assert judged.jurors == ("b13", "a13")
    assert judged.parts == ("calibration", "calibration", "test", "test")
    assert judged.answers[0] == " Ann\n"
    assert judged.p_true[:, 0].tolist() == [0.75, 0.5, 0.75, 0.5]
    assert judged.labels.tolist() == [True, False, True, False]
    assert judged.verdicts[1].tolist() == [0.5, 0.5]  # ties, which the published experiment takes as False
    assert not replace(judged, half_ties=False).verdicts[1].any()


@pytest.mark.parametrize(
    ("name", "juror", "part"),
    [
        ("jury_logits_qlora_llama13b_test.csv", "llama13b", "test"),
        ("jury_logits_open_llama_calib.csv", "open_llama", "calibration"),
        ("mine.txt", "mine", ""),
    ],
)
def test_what_a_file_is_of_stands_in_its_name(name, juror, part) -> None:
    assert juror_and_part(Path(name)) == (juror, part)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("__import__('os').system('id')", 'expected \\[\\[p_true, p_false\\]\\], found "__import__'),
        ("[[1.2, -0.2]]", "expected probabilities in \\[0, 1\\]"),
        ("[[NaN, 0.5]]", "expected probabilities"),
        ("[[true, false]]", "expected probabilities"),
        ("[0.1, 0.2, 0.7]", "expected \\[\\[p_true, p_false\\]\\]"),
        ("[" * 100_000, "expected \\[\\[p_true"),
        ("", "found ''"),
    ],
)
def test_a_cell_is_read_and_never_run(cell, says) -> None:
    with pytest.raises(InputError, match=says):
        probabilities(cell)


def test_the_line_of_a_wrong_cell_is_named(tmp_path) -> None:
    wrong = [*ROWS, ("Why?", "So", "Correct", "[[2, 0]]")]
    paths = [published(tmp_path, "a_test.csv", wrong), published(tmp_path, "b_test.csv", ROWS)]
    with pytest.raises(
        InputError, match=r"a_test\.csv, line 5: expected probabilities in \[0, 1\], found '\[\[2, 0\]\]'"
    ):
        read(paths)


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ([], "at least two jurors, got 1"),
        ([("b_test.csv", ROWS[:1])], "'b' .1 answers. lacks one that 'a' .2. has: 'What, \"exactly\"\\?'"),
        ([("b_test.csv", [(*ROWS[0][:2], "Incorrect", ROWS[0][3]), ROWS[1]])], "differ in whether 'Ann' is right"),
        (
            [("b_test.csv", [(*ROWS[0][:2], "", ROWS[0][3]), ROWS[1]])],
            "line 2: expected a label that says whether the answer is right",
        ),
        (
            [("b_test.csv", [(*ROWS[0][:2], "perhaps", ROWS[0][3])])],
            "True or False .or Correct, Incorrect; of pairs, A and B., found 'perhaps'",
        ),
        ([("b_test.csv", [(*ROWS[0][:3], "[[0.9, 0.9]]"), ROWS[1]])], "must sum to 1, got 0.9 and 0.9"),
        ([("qlora_a_test.csv", ROWS)], "one file of juror 'a' for each part"),
    ],
)
def test_files_that_make_no_jury(tmp_path, others, says) -> None:
    paths = [published(tmp_path, "a_test.csv", ROWS), *(published(tmp_path, name, rows) for name, rows in others)]
    with pytest.raises(InputError, match=says):
        read(paths)


def test_text_files_are_joined_with_their_labels_and_it_is_said_how_many(tmp_path) -> None:
    labels = tmp_path / "truth.csv"
    labels.write_text("question,answer,correctness\nWho?,Ann,Correct\nWhat?,That,Incorrect\nWhat?,This,Correct\n")
    for juror in ("a", "b"):
        (tmp_path / f"{juror}.txt").write_text("who?\t[[0.75, 0.25]]\nWhat?\tThis\t0.25\nWhat?\t0.5\nWhere?\t1.0\n")
    reading = read([tmp_path / "a.txt", tmp_path / "b.txt"], labels=labels)
    assert reading.judgements.labels.tolist() == [True, True]
    assert reading.notes[0] == (
        "a.txt: 2 of 4 lines were joined with truth.csv by their question; left out: 'What?', 'Where?'."
    )
    assert read([tmp_path / "a.txt", tmp_path / "b.txt", labels]).notes == reading.notes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Who?\n", "line 1: expected a question"),
        ("Who?\t7\n", "line 1: expected probabilities in"),
        ("", "empty file"),
        ("\n\n", "found none"),
        ("Nobody?\t0.5\n", "expected questions that truth.csv has too"),
    ],
)
def test_text_that_says_nothing(tmp_path, text, says) -> None:
    labels = tmp_path / "truth.csv"
    labels.write_text("question,label\nWho?,1\n")
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(InputError, match=says):
        read([tmp_path / "a.txt", tmp_path / "a.txt"], labels=labels)


def test_text_without_labels(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("Who?\t0.5\n")
    with pytest.raises(InputError, match="say nothing of what is right"):
        read([tmp_path / "a.txt"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_tidy_table_goes_out_and_comes_in_again(tmp_path, kind) -> None:
    judged = seeded_jury(30, 5)
    table = pa.Table.from_pandas(judged.table(), preserve_index=False)
    path = writing.write(tmp_path, f"judgements.{kind}", writing.ONE_TABLE[kind](table))
    again = read([path]).judgements
    assert (again.jurors, again.ids, again.parts) == (judged.jurors, judged.ids, judged.parts)
    np.testing.assert_array_equal(again.p_true, judged.p_true)
    np.testing.assert_array_equal(again.p_false, judged.p_false)
    np.testing.assert_array_equal(again.labels, judged.labels)


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_any_text_survives_a_table(answers: list[str]) -> None:
    n = len(answers)
    table = pd.DataFrame(
        {"question": ["q"] * 2 * n, "answer": answers * 2, "juror": ["a"] * n + ["b"] * n, "p_true": 0.3, "label": 1}
    )
    from core.jury.judgements import from_table

    assert sorted(from_table(table).answers) == sorted(answers)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"juror": None}, "found no juror"),
        ({"p_true": "high"}, "row 1: expected p_true as a number from 0 to 1, found 'high'"),
        ({"p_true": 1.5}, r"p_true must lie in \[0, 1\], where 0.9 is 90%, got 1.5 of juror"),
        ({"part": "train"}, "row 1: expected part calibration or test, found 'train'"),
    ],
)
def test_tables_that_say_no_judgements(tmp_path, change, says) -> None:
    table = seeded_jury(4, 2).table()
    for name, value in change.items():
        if value is None:
            table = table.drop(columns=name)
        else:
            table[name] = table[name].astype(object)
            table.loc[0, name] = value
    path = tmp_path / "tidy.csv"
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match=says):
        read([path])


def test_answers_of_a_tidy_table_whose_label_decides_nothing_are_left_out_with_a_note(tmp_path) -> None:
    table = seeded_jury(6, 2).table().astype({"label": object})
    first, *_, last = dict.fromkeys(table["answer"])
    table.loc[table["answer"] == first, "label"] = ""
    table.loc[table["answer"] == last, "label"] = "tie"
    path = tmp_path / "tidy.csv"
    table.to_csv(path, index=False)
    jury = read([path])
    assert len(jury.judgements) == 4
    assert not {first, last} & set(jury.judgements.answers)
    assert jury.notes == ("2 answers are left out, because label names no side.",)


# ---------------------------------------------------------------- the store and the command line


def test_a_jury_is_kept_once_and_read_back(home) -> None:
    judged = seeded_jury(20)
    name = jury_store.save(judged, name="Three of mine", origin="a test", notes=["one note"])
    assert jury_store.save(judged, name="Three of mine", origin="a test") == name
    assert name in jury_store.jury_ids()
    record = jury_store.read_record(name[:10])
    assert (record.jurors, record.answers, record.notes) == (judged.jurors, 20, ("one note",))
    np.testing.assert_array_equal(jury_store.read(name).p_true, judged.p_true)
    jury_store.delete(name)
    assert name not in jury_store.jury_ids()


def test_what_is_no_jury(home) -> None:
    with pytest.raises(InputError, match="is not a jury"):
        jury_store.read("nobody")
    with pytest.raises(InputError, match="is not a jury"):
        jury_store.folder_of("../runs")
    name = jury_store.save(seeded_jury(20), name="x", origin="a test")
    (jury_store.folder_of(name) / "jury.json").write_text("{}")
    with pytest.raises(InputError, match="can't be read"):
        jury_store.read_record(name)
    (jury_store.folder_of(name) / "judgements.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="can't be read"):
        jury_store.read(name)


def test_the_command_line_from_files_to_figures(home, tmp_path, capsys) -> None:
    path = tmp_path / "tidy.csv"
    seeded_jury(80).table().to_csv(path, index=False)
    assert main(["jury", "import", "--judgements", str(path), "--name", "mine", "--json"]) == 0
    name = json.loads(capsys.readouterr().out)["jury"]
    assert main(["jury", "evaluate", "--judgements", name, "--protocol", "published", "--seeds", "0-3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer["rules"]) == {
        "majority", "confidence_sum", "confidence_product", "max_confidence", "max_probability", "veto",
    }  # fmt: skip
    assert set(answer["rules"]["veto"]) == {"accuracy", "precision", "recall", "f1"}
    flags = ["--all-answers", "--seeds", "0-1", "--confidence", "platt", "--rule", "majority", "always_false"]
    assert main(["jury", "evaluate", "--judgements", str(path), *flags]) == 0
    assert "Always False" in capsys.readouterr().out
    assert main(["jury", "agreement", "--judgements", name]) == 0
    assert "effective number of votes" in capsys.readouterr().out
    assert main(["jury", "export", "--judgements", name, "--format", "parquet", "--out", str(tmp_path / "out")]) == 0
    assert len(read([tmp_path / "out" / "judgements.parquet"]).judgements) == 80
    capsys.readouterr()
    assert main(["jury", "list", "--json"]) == 0
    assert name in [row["jury_id"] for row in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--seeds", "nine"], "seeds must be whole numbers"),
        (["--seeds", "0-99999"], "at most 1000 seeds"),
        (["--calibration-share", "1.5"], "must lie in (0, 1), got 1.5"),
        (["--rule", "dice"], "dice"),
    ],
)
def test_arguments_that_make_no_experiment(home, tmp_path, capsys, words, says) -> None:
    path = tmp_path / "tidy.csv"
    seeded_jury(40).table().to_csv(path, index=False)
    assert main(["jury", "evaluate", "--judgements", str(path), *words]) == 2
    assert says in capsys.readouterr().err


def test_files_that_are_not_there(home, capsys) -> None:
    assert main(["jury", "evaluate", "--judgements", "gone.csv"]) == 2
    assert "gone.csv" in capsys.readouterr().err
    assert main(["jury", "agreement", "--judgements", "nobody"]) == 2
    assert "is not a jury" in capsys.readouterr().err


def table_of(judged: Judgements, folder: Path, name: str) -> str:
    path = folder / name
    judged.table().to_csv(path, index=False)
    return str(path)


def test_every_rule_is_tried_on_halves_where_the_source_made_no_split(home, tmp_path, capsys) -> None:
    judged = seeded_jury(60)
    arguments = ["jury", "evaluate", "--protocol", "all-rules", "--seeds", "0-1", "--rule", "majority", "--judgements"]
    own, nowhere = table_of(judged, tmp_path, "own.csv"), tmp_path / "none.csv"
    judged.table().drop(columns="part").to_csv(nowhere, index=False)
    tested = table_of(replace(judged, parts=("test",) * 60), tmp_path, "test.csv")
    disputed = int(judged.disagreed.sum())

    assert main([*arguments, str(nowhere)]) == 0
    assert capsys.readouterr().out.startswith(
        "The judgements do not say which answers are for calibration, so each split calibrates on a random half of "
        "them and tests on the other half (seeds 0, 1).\n"
    )
    assert main([*arguments, str(nowhere), "--json"]) == 0
    halves = json.loads(capsys.readouterr().out)
    assert (halves["n_calibration"], halves["n_test"]) == (round(disputed / 2), disputed - round(disputed / 2))
    assert (halves["protocol"]["share"], len(halves["notes"])) == (0.5, 1)
    expected = run(replace(judged, parts=("",) * 60), Protocol(seeds=(0, 1), rules=("majority",)))
    assert halves["rules"]["majority"]["accuracy"] == expected.outcomes[0].accuracy.value

    assert main([*arguments, tested]) == 0
    assert f"mark none of these {disputed} answers for calibration, so each split" in capsys.readouterr().out
    assert main([*arguments, own, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["protocol"]["share"], values["notes"]) == (None, [])


def test_parts_of_another_layout_are_refused_with_a_way_out(home, tmp_path, capsys) -> None:
    table = seeded_jury(30).table()
    table["part"] = "fold 3"
    table.to_csv(tmp_path / "folds.csv", index=False)
    arguments = ["jury", "evaluate", "--protocol", "all-rules", "--judgements", str(tmp_path / "folds.csv")]
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert "folds.csv, row 1: expected part calibration or test, found 'fold 3'" in errors
    assert "leave out the column" in errors


def test_the_published_pairs_of_answers_have_an_empty_part_and_are_halved(home, real_data, capsys) -> None:
    path = real_data / "selective-judges" / "judgements.csv"
    arguments = [
        "jury",
        "evaluate",
        "--protocol",
        "all-rules",
        "--rule",
        "majority",
        "--judgements",
        str(path),
        "--json",
    ]
    assert main(arguments) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["answers"], values["kept"], values["n_calibration"]) == (500, 117, 58)


def pairs(folder: Path, labels: tuple[str, str] = ("first", "second"), answer: str = "Ann, or Bob") -> Path:
    rows = [
        (f"Who is {i}?", answer, juror, 0.2 + 0.6 * ((i + j) % 2), labels[i % 3 == 0])
        for j, juror in enumerate(("a", "b", "c"))
        for i in range(40)
    ]
    path = folder / "pairs.csv"
    pd.DataFrame(rows, columns=["question", "answer", "juror", "p_true", "label"]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("labels", "answer", "flags", "pairwise"),
    [
        (("first", "second"), "Ann, or Bob", [], True),
        (("True", "False"), "pair 3", [], True),
        (("True", "False"), "Ann, or Bob", [], False),
        (("True", "False"), "Ann, or Bob", ["--pairwise"], True),
    ],
)
def test_a_verdict_on_pairs_is_not_called_right(home, tmp_path, capsys, labels, answer, flags, pairwise) -> None:
    path = str(pairs(tmp_path, labels, answer))
    arguments = [
        "jury",
        "evaluate",
        "--protocol",
        "all-rules",
        "--seeds",
        "0",
        "--rule",
        "majority",
        "always_true",
        "--judgements",
        path,
    ]
    if not flags:
        assert main(arguments) == 0
        output = capsys.readouterr().out
        assert ("40 of 40 pairs" in output, "the first answer is better in 65.0% of them" in output) == (
            pairwise,
            pairwise,
        )
        assert ("of them right" in output) is not pairwise
        assert ("Always First" in output, "Always True" in output) == (pairwise, not pairwise)
    assert main([*arguments, *flags, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["pairwise"] is pairwise
    shares = {name: values[name] for name in ("share_right", "share_first_better") if name in values}
    assert shares == {"share_first_better" if pairwise else "share_right": 0.65}
    assert main(["jury", "agreement", "--judgements", path, *flags]) == 0
    assert ("unanimous on 0 of 40 pairs" in capsys.readouterr().out) is pairwise


def test_what_a_jury_was_asked_is_kept_with_it(home, tmp_path) -> None:
    judged = read([pairs(tmp_path)]).judgements
    for saved in (judged, replace(judged, pairwise=False), replace(judged, answers=("pair 1",) * 40, pairwise=False)):
        again = jury_store.read(jury_store.save(saved, name="mine", origin="here"))
        assert again.pairwise is saved.pairwise
        assert again.rows(np.arange(3)).pairwise is again.without(0).pairwise is saved.pairwise
        np.testing.assert_array_equal(again.labels, saved.labels)
    assert "pairwise" not in replace(judged, pairwise=False).table().columns


def test_pairs_of_one_side_are_said_to_be(home, tmp_path, capsys) -> None:
    path = str(pairs(tmp_path, ("second", "second")))
    assert main(["jury", "evaluate", "--judgements", path]) == 2
    assert "in all 40 pairs the second answer is better" in capsys.readouterr().err
