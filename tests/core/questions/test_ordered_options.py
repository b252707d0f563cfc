"""Questions whose options are ordered levels: from a file to the request, the stored run and its figures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import run_folder, table
from core.questions import bank, local_file
from core.questions.option_names import of_order
from core.questions.prompting.decision import decision_prompt, joined_request
from core.questions.prompting.forms import form_prompt
from core.records import DONT_KNOW, Question
from core.reports.bounded import bounded_run
from core.reports.evaluation import load
from core.reports.one_question import bench
from core.reports.report import report
from core.runs import store
from core.runs.prompts import draw_questions
from core.runs.spec import RunSpec
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

LEVELS = ("bad", "fair", "good", "excellent")
ASKED = Question("1", "qa", "", "a text", "How good is it?", LEVELS, 2, ordered=True)


def lines(*flags, levels=LEVELS, n=6, **more):
    rows = [
        {"question": f"How good is {'abcdefghij'[i]}?", "options": list(levels), "label": "ABC"[i % 3], **more}
        for i in range(n)
    ]
    return [
        row | ({} if flag is None else {"ordered": flag}) for row, flag in zip(rows, flags or [None] * n, strict=True)
    ]


def read(tmp_path, rows):
    path = tmp_path / "grades.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return local_file.read_path(path)


def test_a_field_of_a_file_says_that_options_are_ordered(tmp_path):
    file = read(tmp_path, lines(*[True] * 6))
    assert all(question.ordered for question in file.questions)
    assert "4 options in order" in file.read_as
    again = tmp_path / "again.jsonl"
    again.write_text(local_file.canonical(file.questions))
    assert [q.ordered for q in local_file.read_path(again).questions] == [True] * 6


@pytest.mark.parametrize("yes", ["true", "TRUE", "1", "yes"])
def test_a_column_of_a_table_says_it_for_each_question(tmp_path, yes):
    path = tmp_path / "grades.csv"
    rows = [
        f"How good is {name}?,bad,fair,good,B,{flag}" for name, flag in zip("abcdef", [yes, "", "no"] * 2, strict=True)
    ]
    path.write_text("\n".join(["question,A,B,C,label,ordered", *rows]))
    file = local_file.read_path(path)
    assert [question.ordered for question in file.questions] == [True, False, False] * 2
    assert "3 options, in order in 2 questions" in file.read_as
    assert of_order(file.questions) == {}


def test_files_without_the_field_are_as_before(tmp_path):
    plain, said = read(tmp_path, lines()), read(tmp_path, lines(*[False] * 6))
    assert plain.questions == said.questions
    assert bank.fingerprint(plain.questions) == bank.fingerprint(said.questions)
    assert plain.read_as == said.read_as
    assert local_file.canonical(plain.questions) == local_file.canonical(said.questions)
    assert "ordered" not in local_file.canonical(plain.questions)
    ordered = [replace(question, ordered=True) for question in plain.questions]
    assert bank.fingerprint(ordered) != bank.fingerprint(plain.questions)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lines(*[True] * 5, "perhaps"), r"question 6: expected true or false in 'ordered'.*found 'perhaps'"),
        (lines(*[True] * 6, levels=("bad", "good", DONT_KNOW)), "question 1: .*ordered options, and “I don't know”"),
        (
            [
                {
                    "question": f"{i}?",
                    "correct_answer": f"r{i}",
                    "distractor1": "x",
                    "distractor2": "y",
                    "ordered": True,
                }
                for i in range(6)
            ],
            "its options are ordered, but their order is not known",
        ),
    ],
)
def test_an_order_that_can_not_be_is_one_sentence(tmp_path, rows, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, rows)


def test_ordered_options_are_asked_in_one_order(tmp_path):
    path = tmp_path / "grades.jsonl"
    path.write_text("\n".join(map(json.dumps, lines(*[True] * 6))))
    spec = RunSpec(model="pocket-1m", task=str(path))
    assert of_order(draw_questions(spec).scored) == {"ordered": True}
    for turned in (replace(spec, rotations=True), replace(spec, orders=True)):
        with pytest.raises(InputError, match="are ordered levels, which are asked in their order alone; leave"):
            draw_questions(turned)


def test_a_decision_about_them_is_a_score():
    texts = {
        form: decision_prompt(ASKED, strategy="base", demonstrations=(), form=form)
        for form in ("systemone", "decisions")
    }
    assert all(prompt.ordered and prompt.k == 4 for prompt in texts.values())
    system_one = json.loads(texts["systemone"].text)
    assert system_one == {
        "state": "a text",
        "questions": {"q1": {"type": "score", "instructions": "How good is it?", "criteria": list(LEVELS)}},
    }
    (asked,) = json.loads(texts["decisions"].text)["questions"]
    assert asked["type"] == "score"
    assert asked["levels"] == [{"label": "ABCD"[i], "description": text} for i, text in enumerate(LEVELS)]
    choice = decision_prompt(
        replace(ASKED, id="2", ordered=False), strategy="base", demonstrations=(), form="systemone"
    )
    both = joined_request([texts["systemone"], choice])["questions"]
    assert [question["type"] for question in both.values()] == ["score", "choice"]


def test_a_score_has_at_most_ten_levels():
    many = replace(ASKED, options=tuple(f"level {i}" for i in range(11)))
    with pytest.raises(
        InputError, match="has 11 ordered options, and a request for a decision may have at most 10 levels"
    ):
        decision_prompt(many, strategy="base", demonstrations=(), form="decisions")


def test_letters_are_asked_as_ever():
    ways = {"form": "letters", "strategy": "base", "demonstrations": (), "prompt_format": "plain"}
    assert form_prompt(ASKED, **ways) == form_prompt(replace(ASKED, ordered=False), **ways)


def test_a_run_knows_the_order_and_has_the_score_for_it(home):
    ordered, plain = synthetic_run(80, k=5, ordered=True), synthetic_run(80, k=5, seed=1)
    assert store.read_record(ordered).ordered
    assert store.read_question(ordered, "q3").ordered
    assert not store.read_question(plain, "q3").ordered
    assert "ordered" not in store.read_questions(plain).column_names
    figures = report(load(ordered), 200, scores=("aps", "ordinal-aps")).scores
    assert set(figures) == {"aps", "ordinal-aps"}
    assert figures["ordinal-aps"].mean_set_size > 1
    assert "ordinal-aps" in bench(load(ordered)).scores
    assert "ordinal-aps" not in bench(load(plain)).scores
    by_level = report(load(ordered), 200, scores=("ordinal-aps",), by="class").scores["ordinal-aps"]
    assert "With a threshold for each level, a set may have gaps." in by_level.notes
    for refused in (
        lambda: report(load(plain), 200, scores=("ordinal-aps",)),
        lambda: bounded_run(plain, scores=("ordinal-aps",)),
    ):
        with pytest.raises(
            InputError, match=r"is for questions whose options are ordered levels, and those of .* choose"
        ):
            refused()


def test_a_run_s_folder_brings_the_order(home):
    run_id = synthetic_run(40, k=5, ordered=True)
    run = run_folder.read(store.folder_of(run_id))
    assert all(question.ordered for question in run.questions)
    assert "ordered" not in run.provenance  # the questions say it
    plain = run_folder.read(store.folder_of(synthetic_run(40, k=5, seed=1)))
    assert np.array_equal([q.ordered for q in plain.questions], [False] * 40)


def test_results_whose_column_says_neither_true_nor_false_are_refused(tmp_path):
    path = tmp_path / "results.csv"
    rows = [f"q{i},0.2,0.5,0.3,{'ABC'[i % 3]},{flag}" for i, flag in enumerate(["true"] * 5 + ["rather"])]
    path.write_text("\n".join(["id,p_A,p_B,p_C,label,ordered", *rows]))
    with pytest.raises(InputError, match=r"line 7: expected true or false in 'ordered', which .* found 'rather'"):
        table.read([path])
