"""Documents of matching: the letter or the verdict that is learnt is the right one, and the only right one."""

from __future__ import annotations

import random
import re

from pocket_world.matching import (
    followed_document,
    found_questions,
    listed_document,
    matching_documents,
    phrases_document,
    retold_questions,
    verdicts_document,
)

VALUES = [f"v{number}" for number in range(90)]


def learnt(document) -> list[str]:
    return [piece.text.strip() for piece in document.pieces if piece.weight == 1.0]


def test_one_option_alone_is_listed() -> None:
    for seed in range(200):
        document = listed_document(VALUES, random.Random(seed))
        text = document.pieces[0].text
        listed = text.partition("\n")[0].removeprefix("Passage: ").split()
        options = dict(re.findall(r"\n([A-D])\. (\S+)", text))
        assert len(options) == 4
        assert [letter for letter, value in options.items() if value in listed] == learnt(document)


def test_one_phrase_alone_is_listed_as_a_whole() -> None:
    partly = 0
    for seed in range(200):
        document = phrases_document(VALUES, random.Random(seed))
        text = document.pieces[0].text
        listed = set(text.partition("\n")[0].removeprefix("Passage: ").split())
        options = {letter: set(phrase.split()) for letter, phrase in re.findall(r"\n([A-D])\. (.+)", text)}
        assert [letter for letter, phrase in options.items() if phrase <= listed] == learnt(document)
        partly += any(phrase & listed and not phrase <= listed for phrase in options.values())
    assert partly > 100


def test_verdicts() -> None:
    said: list[str] = []
    for seed in range(100):
        document = verdicts_document(VALUES, random.Random(seed))
        first, *rest = document.text.split("\n", 1)
        asked = re.findall(r"Question: (v\d+) (True|False)", rest[0])
        assert len(asked) == 8
        assert all((value in first.split()) == (verdict == "True") for value, verdict in asked)
        said += [verdict for _, verdict in asked]
    assert 0.45 < said.count("True") / len(said) < 0.6


def test_what_followed_a_value_is_repeated() -> None:
    for seed in range(100):
        passage, *asked = followed_document(VALUES, random.Random(seed)).text.split("\nQuestion: ")
        pairs = dict(re.findall(r"(v\d+) (v\d+)\.", passage))
        assert 2 <= len(pairs) <= 6
        assert len({*pairs, *pairs.values()}) == 2 * len(pairs)
        assert len(asked) == 8
        assert all(pairs[first] == second for first, second in map(str.split, asked))


def test_a_value_is_found_in_its_passage_alone() -> None:
    rng, several = random.Random(4), 0
    for _ in range(300):
        (question,) = found_questions(rng)
        inside = [
            re.search(rf"\b{re.escape(option)}\b", question.context) is not None for option in question.options[:4]
        ]
        assert inside[question.label], question
        several += sum(inside) > 1
    assert several < 9  # a number may stand for something else as well


def test_a_retold_sentence_is_in_its_passage_alone() -> None:
    rng = random.Random(5)
    changed = 0
    for _ in range(300):
        (question,) = retold_questions(rng)
        assert [option in question.context for option in question.options[:4]].index(True) == question.label
        assert sum(option in question.context for option in question.options[:4]) == 1
        changed += any(option[:12] == question.options[question.label][:12] for option in question.options[:4])
    assert changed > 100


def test_all_forms_turn_up() -> None:
    seen = {matching_documents(VALUES, random.Random(seed), rows=1)[0].text[:8] for seed in range(40)}
    assert {"Passage:", "Which op"} <= seen
    assert len(seen) > 2
