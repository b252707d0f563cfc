import json

import pytest

from core.errors import InputError
from core.questions import recipes
from core.questions.recipes import build
from core.questions.subjects import CATEGORIES, CATEGORY_OF
from core.records import DONT_KNOW, LETTERS, NONE_OF_ABOVE
from tests.core.questions.shapes import SHAPES, arc, cosmos, dialogue, hellaswag, mmlu, summarization

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("task", SHAPES)
def test_the_truth_stays_the_truth(task):
    rows = SHAPES[task](60)
    built = build(task, rows, place="here")
    assert len(built.questions) == 60
    assert built.questions == build(task, rows, place="here").questions
    assert len({q.id for q in built.questions}) == 60
    for q in built.questions:
        if task in ("arc", "csqa"):
            row = next(row for row in rows if row["id"] == q.id)
            assert q.options[q.label] == row["choices"]["text"][row["choices"]["label"].index(row["answerKey"])]
            continue
        row = rows[int(q.id.rsplit("-", 1)[-1])]
        truth = {
            "qa": lambda row: row["choices"][row["answer"]],
            "rc": lambda row: row[f"answer{row['label']}"],
            "ci": lambda row: row["endings"][int(row["label"])].replace(" [substeps]", ""),
            "drs": lambda row: row["right_response"],
            "ds": lambda row: row["right_summary"],
        }[task](row)
        assert q.options[q.label] == truth
        assert q.options[4:] == (DONT_KNOW, NONE_OF_ABOVE)


@pytest.mark.parametrize(("task", "shape", "right"), [
    ("drs", dialogue, "right_response"), ("ds", summarization, "right_summary"),
])  # fmt: skip
def test_distractors_are_the_hallucination_and_others_truths(task, shape, right):
    rows = shape(50)
    truths = {row[right] for row in rows}
    for i, q in enumerate(build(task, rows, place="here").questions):
        wrong = [option for j, option in enumerate(q.options[:4]) if j != q.label]
        assert sum(option in truths for option in wrong) == 2
        assert rows[i][f"hallucinated_{right.removeprefix('right_')}"] in wrong
        assert q.options.count(rows[i][right]) == 1


@pytest.mark.parametrize(("task", "shape", "name"), [
    ("drs", dialogue, "halu_dialogue"), ("ds", summarization, "halu_summarization"),
])  # fmt: skip
def test_the_labels_are_the_published_ones(real_data, task, shape, name):
    """The same draws as in the published files: 10,000 of 10,000 labels agree."""
    path = real_data / "llm-uncertainty-bench" / "labels" / f"{name}.labels.json"
    published = "".join(row["answer"] for row in json.loads(path.read_bytes())["labels"])
    built = build(task, shape(10_000), place="here").questions
    assert "".join(q.letter for q in built) == published


def test_mmlu_takes_as_many_of_each_category(monkeypatch):
    monkeypatch.setattr(recipes, "PER_CATEGORY", 20)
    questions = build("qa", mmlu(600), place="here").questions
    counted = [CATEGORY_OF[q.group] for q in questions]
    assert {name: counted.count(name) for name in CATEGORIES} == dict.fromkeys(CATEGORIES, 20)
    assert sum(len(subjects) for subjects in CATEGORIES.values()) == len(CATEGORY_OF) == 57


@pytest.mark.parametrize(
    "said", ["None of the above", "none of these.", "None of the above choices .", "Neither of these"]
)
def test_a_none_of_the_above_of_its_own_is_left_out(said):
    rows = cosmos(10)
    rows[3]["answer2"] = said
    built = build("rc", rows, place="here")
    assert len(built.questions) == 9
    assert built.left_out == {"with a none of the above": 1}


def test_two_right_answers_are_left_out():
    rows = mmlu(10)
    rows[4]["choices"] = ["same", "same", "b", "c"]
    rows[4]["answer"] = 0
    rows[5]["choices"] = ["a", "same", "same", "c"]
    rows[5]["answer"] = 0
    built = build("qa", rows, place="here")
    assert built.left_out == {"with the right answer twice": 1}
    assert len(built.questions) == 9


def test_no_more_than_ten_thousand(monkeypatch):
    monkeypatch.setattr(recipes, "SIZE", 15)
    for task, shape in (("rc", cosmos), ("ci", hellaswag), ("drs", dialogue)):
        assert len(build(task, shape(40), place="here").questions) == 15


def test_hellaswag_without_its_marks():
    q = build("ci", hellaswag(1), place="here").questions[0]
    assert q.context == "How to amber Take the delta. A man"
    assert "[" not in "".join(q.options)


def test_questions_without_a_label_are_no_questions():
    rows = cosmos(5)
    rows[2]["label"] = -1
    assert len(build("rc", rows, place="here").questions) == 4


def test_questions_of_any_number_of_options_are_kept():
    built = build("arc", [*arc(10), *arc(2, k=5), *arc(1, k=3)], place="here")
    assert [len(q.options) for q in built.questions] == [4] * 10 + [5] * 2 + [3]
    assert built.left_out == {}


def test_rows_of_another_shape_are_named():
    with pytest.raises(
        InputError, match=r"here does not have the rows of task 'qa' \(KeyError: 'subject'\); found the"
    ):
        build("qa", cosmos(3), place="here")
    with pytest.raises(InputError, match="has 3 options and label 0"):
        build("qa", [mmlu(1)[0] | {"choices": ["a", "b", "c"]}], place="here")


def test_letters_are_letters():
    assert [recipes.letter_index(text) for text in ("A", "F", "", "AB", "1")] == [0, 5, -1, -1, -1]
    assert LETTERS[recipes.letter_index("C")] == "C"
