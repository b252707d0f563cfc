"""The bank: shape, balance, no duplicates, and answers checked against the tables and by hand."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from core.records import DONT_KNOW, NONE_OF_ABOVE
from pocket_world import bank
from pocket_world.bank import BankQuestion
from pocket_world.facts import countries
from pocket_world.world import world

Bank = tuple[BankQuestion, ...]


def test_the_file_is_what_the_maker_makes(made: Bank, tmp_path) -> None:
    bank.write(made, tmp_path / "qa.jsonl")
    assert (tmp_path / "qa.jsonl").read_bytes() == bank.path_of("qa").read_bytes()


@pytest.mark.nightly
def test_another_seed_makes_another_bank(made: Bank) -> None:
    assert [entry.line() for entry in bank.make(seed=bank.SEED + 1)[:5]] != [entry.line() for entry in made[:5]]


def test_a_line_has_the_agreed_keys() -> None:
    lines = bank.path_of("qa").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 1500
    for line in lines:
        entry = json.loads(line)
        assert list(entry) == ["id", "task", "group", "context", "question", "options", "label", "difficulty"]
        assert entry["task"] == "qa"
        assert entry["context"] == ""
        assert entry["difficulty"] in ("easy", "medium", "hard")


def test_options(made: Bank) -> None:
    for entry in made:
        question = entry.question
        assert len(question.options) == len(set(question.options)) == 6, question
        assert question.options[4:] == (DONT_KNOW, NONE_OF_ABOVE)
        assert 0 <= question.label <= 3
        assert all(1 <= len(option) <= 40 and option == option.strip() for option in question.options)


def test_right_letters_are_balanced(made: Bank) -> None:
    counts = Counter(entry.question.label for entry in made)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_no_question_twice(made: Bank) -> None:
    plain = Counter(re.sub(r"\W+", " ", entry.question.question.lower()).strip() for entry in made)
    assert [text for text, count in plain.items() if count > 1] == []
    assert len({entry.question.id for entry in made}) == len(made)


def test_questions_read_like_sentences(made: Bank) -> None:
    for entry in made:
        text = entry.question.question
        assert text.endswith("?"), text
        assert text[0].isupper() or text[0].isdigit(), text
        assert 10 <= len(text) <= 140, text
        assert "  " not in text
        assert "{" not in text
        assert not re.search(r"\ba [aeio]\w", text), text


def test_subjects(made: Bank) -> None:
    groups = Counter(entry.question.group for entry in made)
    assert len(groups) >= 12
    assert min(groups.values()) >= 30
    assert max(groups.values()) <= 0.1 * len(made)


def test_answers_agree_with_the_tables(made: Bank) -> None:
    facts = {text: fact for fact in world() for text in fact.questions}
    checked = 0
    for entry in made:
        question = entry.question
        if fact := facts.get(question.question):
            checked += 1
            assert question.options[question.label] == fact.answer
            assert set(question.options[:4]) - {fact.answer} <= set(fact.wrong)
    assert checked >= 1500


BY_HAND = [
    ("capital", "Peru", "Lima"),
    ("capital", "Kenya", "Nairobi"),
    ("capital", "Australia", "Canberra"),
    ("continent", "Nepal", "Asia"),
    ("currency", "Poland", "zloty"),
    ("language", "Brazil", "Portuguese"),
    ("symbol", "gold", "Au"),
    ("symbol", "tungsten", "W"),
    ("symbol", "uranium", "U"),
    ("atomic number", "oxygen", "8"),
    ("atomic number", "iron", "26"),
    ("atomic number", "gold", "79"),
    ("atomic number", "radon", "86"),
    ("young", "goose", "gosling"),
    ("class", "bat", "mammal"),
    ("legs", "scorpion", "8"),
    ("year", "the first Moon landing", "1969"),
    ("year", "the Battle of Hastings", "1066"),
    ("river", "Danube", "Europe"),
    ("city", "Osaka", "Japan"),
    ("plural", "mouse", "mice"),
    ("past tense", "swim", "swam"),
    ("opposite", "deep", "shallow"),
    ("conversion", "minutes in a day", "1440"),
    ("conversion", "hours in a week", "168"),
    ("sides", "heptagon", "7"),
    ("faces", "icosahedron", "20"),
    ("measured in", "pressure", "pascal"),
    ("days in month", "September", "30"),
    ("next month", "December", "January"),
    ("day before", "Monday", "Sunday"),
    ("book", "Middlemarch", "George Eliot"),
    ("music", "Tosca", "Giacomo Puccini"),
    ("kind", "saffron", "spice"),
]


@pytest.mark.parametrize(("relation", "about", "answer"), BY_HAND)
def test_facts_by_hand(relation: str, about: str, answer: str) -> None:
    (fact,) = (fact for fact in world() if fact.relation == relation and fact.key == about)
    assert fact.answer == answer


def test_what_is_also_true_is_no_false_answer() -> None:
    (fact,) = (fact for fact in world() if fact.relation == "currency" and fact.key == "Sweden")
    assert "krone" not in fact.wrong
    (fact,) = (fact for fact in world() if fact.relation == "young" and fact.key == "owl")
    assert "chick" not in fact.wrong


def test_computed_answers_are_right(made: Bank) -> None:
    """Recomputed here from the question's text."""
    checked = 0
    for entry in made:
        question, answer = entry.question, entry.question.options[entry.question.label]
        numbers = [int(number) for number in re.findall(r"\d+", question.question)]
        text = question.question
        if re.search(r"\+|plus|make together", text) and question.group == "arithmetic":
            expected = sum(numbers)
        elif " minus " in text or " - " in text:
            expected = numbers[0] - numbers[1]
        elif "is left" in text:
            expected = numbers[1] - numbers[0]
        elif re.search(r"times|multiplied| x ", text) and question.group == "arithmetic":
            expected = numbers[0] * numbers[1]
        elif "largest" in text and question.group == "order":
            expected = max(numbers)
        elif "smallest" in text and question.group == "order":
            expected = min(numbers)
        elif question.group == "arithmetic" and len(numbers) == 4:
            expected = 2 * numbers[3] - numbers[2]
        else:
            continue
        checked += 1
        assert answer == str(expected), text
    assert checked >= 120


def test_every_capital_is_of_a_country_with_one_entry() -> None:
    values = [values[0] for values in countries.CAPITALS.values()]
    assert len(set(values)) == len(values)
