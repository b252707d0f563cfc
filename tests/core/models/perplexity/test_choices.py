import json
import math
import re

import numpy as np
import pytest

from core.errors import InputError
from core.models.perplexity import choices, conversations
from core.models.perplexity.choices import Choice
from core.models.perplexity.conversation_files import read
from core.models.perplexity.conversations import Message
from core.models.perplexity.figures import ScoredMessage as Scored
from core.reports import perplexity as reports

SAID = [{"role": "user", "content": "x"}]
CONTEXT = (Message("user", "I am sad."),)


def test_the_published_file(real_data):
    all_choices = choices.read(real_data / "counselling" / "hellaswag_style_choices.csv")
    assert len(all_choices) == 11
    assert {choice.label for choice in all_choices} == {0, 1, 2, 3}  # labels 1 to 4 there
    assert all(len(choice.endings) == 4 for choice in all_choices)
    assert {choice.system.splitlines()[0] for choice in all_choices} == {
        "Your name is Ash. You are a counselor on a phone call."
    }
    assert [choice.context[-1].role for choice in all_choices] == ["user"] * 11
    assert all("user:" not in message.text for choice in all_choices for message in choice.context)
    # The real ending of the first is the counselor's second message of the conversation it was taken from.
    (talk,) = read(real_data / "counselling" / "career_dissatisfaction.txt").conversations
    assert all_choices[0].endings[all_choices[0].label] == talk.messages[2].text


@pytest.mark.quick
def test_what_is_written_is_read_again(tmp_path):
    choices_written = (Choice(CONTEXT, ("Why?", "No.", "Ball."), 1), Choice(CONTEXT, ("A", "B", "C"), 0, "Be kind."))
    choices.write(choices_written, tmp_path / "c.jsonl")
    assert choices.read(tmp_path / "c.jsonl") == choices_written


@pytest.mark.quick
def test_what_ships_has_the_real_endings_where_the_labels_say():
    real = {m.text for talk in conversations.bundled() for m in talk.messages}
    all_choices = choices.read(choices.BUNDLED)
    assert len(all_choices) >= 40
    for choice in all_choices:
        assert [ending in real for ending in choice.endings] == [i == choice.label for i in range(4)]
    assert {choice.label for choice in all_choices} == {0, 1, 2, 3}


@pytest.mark.quick
def test_endings_are_made_beside_the_real_ones():
    talks = conversations.bundled()[:2]
    real = [m.text for talk in talks for m in talk.messages[2:] if m.role == "assistant"]

    def write(contexts, each):
        # The third context gets an ending twice, the fourth the real one: neither makes a choice.
        texts = [[f"{i} {j}" for j in range(each)] for i in range(len(contexts))]
        texts[2][1] = texts[2][0]
        texts[3][0] = real[3]
        return texts

    all_choices = choices.make(talks, write)
    assert [choice.endings[choice.label] for choice in all_choices] == [
        text for i, text in enumerate(real) if i not in (2, 3)
    ]
    assert all(len(set(choice.endings)) == 4 for choice in all_choices)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "file", "sentence"),
    [
        ("context,A,B\n", "a.csv", "a.csv lacks the columns C, D, label"),
        ("context,A,B,C,D,label\n", "a.csv", "a.csv has no choices"),
        ("context,A,B,C,D,label\nuser: x,a,b,c,d,5\n", "a.csv", "choice 1: the label is '5'; it is one of 1 to 4"),
        ("context,A,B,C,D,label\nuser: x,a,,c,d,1\n", "a.csv", "choice 1: ending 2 is empty"),
        ("{}", "a.jsonl", "a choice is an object"),
        ("no", "a.jsonl", "it is not JSON"),
        (json.dumps({"context": [], "endings": ["a", "b"], "label": 0}), "a.jsonl", "at least one message"),
        (json.dumps({"context": [3], "endings": ["a", "b"], "label": 0}), "a.jsonl", "a choice can't be read"),
        (
            json.dumps({"context": [{"role": "user", "content": "x"}], "endings": ["a"], "label": 0}),
            "a.jsonl",
            "at least 2",
        ),
        (
            json.dumps({"context": [{"role": "user", "content": "x"}], "endings": ["a", "b"], "label": 2}),
            "a.jsonl",
            "the label 2",
        ),
    ],
)
def test_what_is_no_file_of_choices_is_said(content, file, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        choices.parse(content, file)


def scored(number: int, losses: list[float], text: str) -> Scored:
    cut = [text[i :: len(losses)] for i in range(len(losses))]
    return Scored(number, tuple(cut), np.array(losses, dtype=np.float32))


@pytest.mark.quick
def test_rules_by_hand():
    # Endings of 1, 2 and 4 tokens: the sum favours the first, the mean the third, bits a byte the second.
    endings = (scored(0, [3.0], "ab"), scored(0, [2.0, 2.0], "a" * 12), scored(0, [1.5] * 4, "b" * 8))
    for rule, best in (("sum", 0), ("mean", 2), ("bytes", 1)):
        for label in range(3):
            figures = reports.chosen(endings, [label], rule=rule)
            assert figures.accuracy == (label == best)
    assert reports.chosen(endings, [1], rule="bytes").logits[0] == pytest.approx(
        [-3 / (2 * math.log(2)), -4 / (12 * math.log(2)), -6 / (8 * math.log(2))]
    )
    with pytest.raises(InputError, match="unknown rule"):
        reports.chosen(endings, [0], rule="luck")


@pytest.mark.quick
@pytest.mark.simulation
def test_of_equally_likely_endings_the_later_is_chosen():
    figures = reports.ChoiceScores(np.array([[0.0, 1.0, 1.0]] * 2), np.array([1, 2]))
    assert figures.right == 1


@pytest.mark.quick
def test_sets_over_endings_keep_their_promise():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2000, 4))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    for name in ("lac", "aps"):
        sets = reports.choice_sets(reports.ChoiceScores(logits, labels), 200, name=name)
        assert 0.77 < sets.coverage < 0.86
        assert 1 < sets.size_interval[0] < sets.mean_size < sets.size_interval[1] < 4


@pytest.mark.quick
def test_few_choices_give_full_sets_and_say_so():
    figures = reports.ChoiceScores(np.random.default_rng(0).normal(size=(11, 4)), np.zeros(11, dtype=np.int64))
    sets = reports.choice_sets(figures, 100)
    assert (sets.mean_size, sets.coverage, len(sets.test)) == (4, 1, 6)
    assert sets.note.startswith("With 5 calibration questions")
    with pytest.raises(InputError, match="at least 4 choices"):
        reports.choice_sets(reports.ChoiceScores(figures.logits[:3], figures.labels[:3]), 100)
