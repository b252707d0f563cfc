import hashlib

import numpy as np
import pytest

from core.questions import bank
from core.questions.near_duplicates import NEAR, clusters
from core.questions.split import draw
from core.records import Question

pytestmark = pytest.mark.quick

STORY = (
    "The old ferry crossed the wide river every morning with three horses, two carts and a sleepy captain on board. "
)
STORY += "Near the far shore a bell rang twice, the gulls rose from their posts, and the miller waved a white cloth."


def question(name, text, options=("red", "blue")):
    return Question(name, "rc", "g", "", text, options, 0)


def test_a_word_changed_in_a_long_text_is_alike():
    twins = [question("a", f"{STORY} Who slept?"), question("b", f"{STORY} Who dozed?")]
    assert clusters(twins) == [0, 0]


def test_templates_about_different_things_are_not_alike():
    towns = [question(str(i), f"In which land does the town of {name} lie?") for i, name in enumerate(("Ulm", "Bari"))]
    assert clusters(towns) == [0, 1]


def test_the_same_question_with_other_options_is_another():
    text = "Which of the following is true?"
    assert clusters([question("a", text, ("x y z", "u v w")), question("b", text, ("k l m", "p q r"))]) == [0, 1]


def test_a_long_list_of_labels_that_all_questions_share_makes_none_alike():
    """As in a data set of intents, which could not be split otherwise."""
    labels = tuple(f"intent number {i}" for i in range(40))
    things = ("my card", "that transfer", "a refund", "the exchange rate", "some cash", "one top-up")
    intents = [f"What happened with {thing} {when}" for thing in things for when in ("today", "on Friday")]
    assert clusters([question(str(i), text, labels) for i, text in enumerate(intents)]) == list(range(12))
    texts = [f"{i} {STORY} Who {did}?" for i in range(6) for did in ("slept", "dozed")]
    groups = clusters([question(str(i), text.replace("the", f"the {i // 2}"), labels) for i, text in enumerate(texts)])
    assert groups == [i // 2 for i in range(12)]


def test_nearly_all_pairs_above_the_threshold_are_found():
    """MinHash against every pair compared exactly."""
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(400)]
    questions = []
    for i in range(60):
        base = list(rng.choice(words, 60))
        changed = list(base)
        changed[int(rng.integers(0, 60))] = "other"
        questions += [question(f"{i}a", " ".join(base)), question(f"{i}b", " ".join(changed))]
    groups = clusters(questions)
    pairs = sum(groups[2 * i] == groups[2 * i + 1] for i in range(60))
    assert pairs >= 59
    assert len(set(groups)) == 120 - pairs
    assert NEAR == 0.8


def test_near_duplicates_are_on_one_side():
    texts = [" ".join(f"w{i}x{j}" for j in range(40)) for i in range(20)]
    questions = [question(f"{i}{side}", f"{texts[i]} {side}.") for i in range(20) for side in "ab"]
    for seed in range(5):
        drawn = draw(questions, samples=None, shots=1, calibration_share=0.5, seed=seed)
        side = {q.id: role for q, role in zip(drawn.questions, drawn.roles, strict=True)}
        for i in range(20):
            assert side.get(f"{i}a") == side.get(f"{i}b") or "demonstration" in (side.get(f"{i}a"), side.get(f"{i}b"))


def test_few_words_and_none():
    assert clusters([]) == []
    assert clusters([question("a", "Hm?", ("1", "2")), question("b", "Hm!", ("2", "1"))]) == [0, 0]


def test_the_bundled_bank_keeps_its_clusters():
    """Splits, and with them links and recorded runs, stand on these; another way to find pairs must find the same."""
    groups = clusters(bank.load("qa"))
    assert (len(groups), len(set(groups))) == (2129, 2110)
    assert hashlib.sha256(str(groups).encode()).hexdigest()[:12] == "5022f93b693b"
