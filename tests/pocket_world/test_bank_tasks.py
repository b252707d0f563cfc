"""The four tasks about a context: shape, balance, no near duplicates, and truth against the text itself."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from core.questions.bank import available, load
from core.questions.near_duplicates import clusters
from core.records import DONT_KNOW, NONE_OF_ABOVE
from pocket_world import bank
from pocket_world.bank import BANK_TASKS, BankQuestion
from pocket_world.scenes.shown import share
from tests.pocket_world.conftest import made_bank

pytestmark = pytest.mark.nightly

SCENES = ("rc", "ci", "drs", "ds")
SENTENCE = re.compile(r"[.?!](?= |$)")


def made(task: str) -> tuple[BankQuestion, ...]:
    return made_bank(task)


def test_all_five_tasks_ship() -> None:
    assert available() == BANK_TASKS
    assert all(len(load(task)) >= 1200 for task in BANK_TASKS)


@pytest.mark.parametrize("task", BANK_TASKS)
def test_the_file_is_what_the_maker_makes(task: str, tmp_path) -> None:
    bank.write(made(task), tmp_path / "made.jsonl")
    assert (tmp_path / "made.jsonl").read_bytes() == bank.path_of(task).read_bytes()


@pytest.mark.parametrize("task", SCENES)
def test_another_seed_makes_other_questions(task: str) -> None:
    assert bank.make(task, seed=1)[0].question.context != made(task)[0].question.context


@pytest.mark.parametrize("task", SCENES)
def test_shape(task: str) -> None:
    for line in bank.path_of(task).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        assert list(entry) == ["id", "task", "group", "context", "question", "options", "label", "difficulty"]
        assert entry["task"] == task
        assert len(entry["options"]) == len(set(entry["options"])) == 6, entry
        assert entry["options"][4:] == [DONT_KNOW, NONE_OF_ABOVE]
        assert 0 <= entry["label"] <= 3
        assert entry["question"].endswith("?")


@pytest.mark.parametrize("task", SCENES)
def test_right_letters_and_difficulties(task: str) -> None:
    letters = Counter(entry.question.label for entry in made(task))
    assert max(letters.values()) - min(letters.values()) <= 1
    assert set(letters) == {0, 1, 2, 3}
    levels = Counter(entry.difficulty for entry in made(task))
    assert set(levels) == {"easy", "medium", "hard"}
    assert min(levels.values()) >= 0.2 * len(made(task))


@pytest.mark.parametrize("task", SCENES)
def test_no_near_duplicates(task: str) -> None:
    questions = [entry.question for entry in made(task)]
    assert len(set(clusters(questions))) == len(questions)
    assert len({question.id for question in questions}) == len(questions)


@pytest.mark.parametrize("task", SCENES)
def test_reads_like_english(task: str) -> None:
    for entry in made(task):
        question = entry.question
        for text in (question.context, question.question, *question.options):
            assert "{" not in text
            assert "_" not in text
            assert "  " not in text
            assert text == text.strip()
            assert not re.search(r"\ba [aeio]\w", text), text
            assert not re.search(r"\b1 (?:weeks|days|hours|years|people|coins|months)\b", text), text
        assert question.context[0].isupper() or question.context[0] == "[" or question.context[0].isdigit()


def test_lengths() -> None:
    sentences = {
        task: [len(SENTENCE.findall(entry.question.context)) for entry in made(task)] for task in ("rc", "ci", "ds")
    }
    assert {min(sentences["rc"]), max(sentences["rc"])} == {2, 5}
    assert {min(sentences["ds"]), max(sentences["ds"])} <= {4, 5, 6, 7, 8}
    assert min(sentences["ci"]) >= 2
    assert max(sentences["ci"]) <= 5
    for entry in made("drs"):
        turns = re.findall(r"\[(Human|Assistant)\]: ", entry.question.context)
        assert turns[::2] == ["Human"] * 2
        assert turns[1::2] == ["Assistant"]


def test_the_answer_of_a_reading_question_is_in_the_passage_or_worked_out_from_it() -> None:
    worked_out = 0
    for entry in made("rc"):
        question = entry.question
        answer = question.options[question.label]
        if re.search(rf"\b{re.escape(answer)}\b", question.context, re.IGNORECASE):
            continue
        worked_out += 1
        numbers = [int(number) for number in re.findall(r"\d+", question.context)]
        reachable = {a + b for a in numbers for b in numbers} | {a - b for a in numbers for b in numbers}
        assert int(answer) in reachable, question
        assert entry.difficulty == "hard"
    assert 60 <= worked_out <= 0.2 * len(made("rc"))


def test_easy_false_answers_are_not_in_the_passage_and_hard_ones_often_are() -> None:
    inside = Counter()
    for entry in made("rc"):
        question = entry.question
        false = [option for place, option in enumerate(question.options[:4]) if place != question.label]
        found = any(re.search(rf"\b{re.escape(option)}\b", question.context) for option in false)
        inside[entry.difficulty, found] += 1
    assert inside["easy", True] <= 0.15 * inside["easy", False]  # a number may stand for two things by chance
    assert inside["medium", True] >= inside["medium", False]


@pytest.mark.parametrize("task", ["drs", "ds"])
def test_the_made_up_option_is_the_right_one_with_a_part_changed(task: str) -> None:
    for entry in made(task):
        question = entry.question
        right = question.options[question.label].split()
        shared = sorted(
            len(set(right) & set(option.split())) / len(set(right))
            for place, option in enumerate(question.options[:4])
            if place != question.label
        )
        assert shared[-1] >= 0.3, question


def test_what_a_summary_says_stands_in_the_document() -> None:
    """Names and numbers of the right summary, all of them but its first word, which has a capital in any case."""
    for entry in made("ds"):
        question = entry.question
        told = set(re.findall(r"[A-Z][a-z]+|\d+", question.context))
        rest = question.options[question.label].partition(" ")[2]
        assert set(re.findall(r"[A-Z][a-z]+|\d+", rest)) <= told, question


def test_the_right_step_follows_the_last_told() -> None:
    from pocket_world.scenes.activities import ACTIVITIES

    steps = {activity.aim: activity.steps for activity in ACTIVITIES}
    checked = 0
    for entry in made("ci"):
        question = entry.question
        plan = [step for step in steps[question.group] if "{" not in step]
        place = plan.index(question.options[question.label]) if question.options[question.label] in plan else 0
        if place:
            before = steps[question.group][steps[question.group].index(plan[place]) - 1]
            checked += "{" in before or before in question.context
            assert "{" in before or before in question.context, question
            assert plan[place] not in question.context
    assert checked > 1000


def test_plans_that_training_never_shows_are_in_the_bank() -> None:
    for task in ("rc", "ci", "ds"):
        groups = {entry.question.group for entry in made(task)}
        assert {share(group) for group in groups} == {0.0, 0.3, 1.0}
        assert len(groups) >= 25


def test_replies_about_facts_never_use_the_banks_wording_of_the_fact() -> None:
    asked = {entry.question.question for entry in made("qa")}
    for entry in made("drs"):
        last = entry.question.context.rpartition("[Human]: ")[2]
        assert last not in asked
