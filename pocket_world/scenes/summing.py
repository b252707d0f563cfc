"""Document summarization: a document of four to eight sentences, its right summary, one with a false detail, and the
summaries of two other documents."""

import random
from collections.abc import Set

from core.records import Question
from pocket_world.questions import BankQuestion, six
from pocket_world.relations import DIFFICULTIES, Difficulty
from pocket_world.scenes.frame import Frame, Scene, changed, fitting, slots_of
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.stories import STORIES

_PLANS: Plans[Frame] = Plans(STORIES, lambda frame: frame.name)

QUESTION = "Which summary says what the document says?"


def summing(rng: random.Random, *, training: bool) -> BankQuestion:
    """A document with four summaries.

    Easy and medium ones have two summaries of other kinds of document; hard ones have one of the same kind, and a
    false detail that the document tells of something else. Medium documents are longer than easy ones.
    """
    level = rng.choice(DIFFICULTIES)
    while True:
        scene = _PLANS.draw(rng, training=training).draw(rng)
        text, slots = _document(scene, level, rng)
        wording = fitting(scene, slots, rng)
        if wording is not None:
            break
    return BankQuestion(_question(scene, text, slots, wording, level, rng, training=training), level)


def summings(rng: random.Random, *, count: int) -> list[Question]:
    """``count`` questions about one document, as training asks them."""
    level = rng.choice(DIFFICULTIES)
    while True:
        scene = _PLANS.draw(rng, training=True).draw(rng)
        text, slots = _document(scene, level, rng)
        chosen = [wording for _ in range(count) if (wording := fitting(scene, slots, rng)) is not None]
        if chosen:
            return [_question(scene, text, slots, wording, level, rng, training=True) for wording in chosen]


def _question(
    scene: Scene, text: str, slots: Set[str], wording: str, level: Difficulty, rng: random.Random, *, training: bool
) -> Question:
    right = scene.say(wording)
    wrong = [changed(scene, wording, slots, level, rng)]
    while len(wrong) < 3:
        other = _PLANS.draw(rng, training=training)
        if level == "hard" and len(wrong) == 1:
            other = scene.frame
        elif other is scene.frame:
            continue
        summary = other.draw(rng).say(rng.choice(other.summaries))
        if summary not in (right, *wrong):
            wrong.append(summary)
    return six("ds", scene.frame.name, text, QUESTION, right=right, wrong=wrong, rng=rng)


def _document(scene: Scene, level: Difficulty, rng: random.Random) -> tuple[str, set[str]]:
    """The text, and the slots that it tells."""
    sentences = scene.frame.sentences
    count = min(len(sentences), rng.randint(4, 5) if level == "easy" else rng.randint(6, 8))
    places = [0, *sorted(rng.sample(range(1, len(sentences)), count - 1))]
    chosen = [rng.choice(sentences[place]) for place in places]
    return " ".join(scene.say(wording) for wording in chosen), set().union(*map(slots_of, chosen))
