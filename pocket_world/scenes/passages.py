"""Questions about a drawn scene: what a passage says, what agrees with a dialogue or a document, what a passage holds.

In reading comprehension a passage has two to five sentences, and a question needs them. In the other two tasks one of
four short texts agrees with what is shown: a reply with a dialogue, a summary with a document. The others are the right
one with a false detail, and two of other scenes. Hard questions have one of the same kind of scene, and a false detail
that the text tells of something else.
"""

import random
import re
from collections.abc import Sequence, Set

from core.records import Question
from pocket_world.questions import BankQuestion, six
from pocket_world.relations import DIFFICULTIES, Difficulty
from pocket_world.scenes.frame import STORIES, TALKS, Ask, Scene, slots_of

REPLY = "Which reply fits the dialogue and is true?"
_SUMMARY = "Which summary says what the document says?"
_FOUND = ("Which of these is in the passage?", "Which one does the passage name?", "What is there in the passage?")
_RETOLD = ("Which sentence is in the passage?", "What does the passage say?", "Which of these does the passage say?")

_LONGEST = 5
"""Sentences of a passage at most."""

_CHANGED = 0.5
"""How often one of the false sentences in a question for a sentence is a true one with one thing changed."""


def reading(rng: random.Random, *, training: bool) -> BankQuestion:
    """A passage with a question; the difficulty is the question's."""
    level = rng.choices(DIFFICULTIES, weights=(3, 4, 3))[0]
    asks: list[Ask] = []
    while not asks:
        frame = STORIES.draw(rng, training=training)
        asks = [ask for ask in frame.asks if ask.level == level]
    scene, ask = frame.draw(rng), rng.choice(asks)
    wrong = _false_answers(scene, ask, rng)
    return BankQuestion(_question(scene, ask, _passage(scene, {0, *ask.needs}, rng), wrong, rng), level)


def readings(rng: random.Random, *, count: int) -> list[Question]:
    """Up to ``count`` questions about one passage, as training asks them: it holds what each of them needs."""
    frame = STORIES.draw(rng, training=True)
    scene, asks, needed = frame.draw(rng), list[Ask](), {0}
    for ask in rng.sample(frame.asks, len(frame.asks)):
        if len(asks) < count and len(needed | {*ask.needs}) <= _LONGEST:
            asks.append(ask)
            needed |= {*ask.needs}
    text = _passage(scene, needed, rng)
    return [_question(scene, ask, text, _false_answers(scene, ask, rng), rng) for ask in asks]


def _false_answers(scene: Scene, ask: Ask, rng: random.Random) -> list[str]:
    """Three false options; if the question isn't easy, values from the scene come first."""
    return scene.false_values(ask.answer, rng, inside=rng.random() < (ask.level != "easy"), excluded=ask.excluded)


def _question(scene: Scene, ask: Ask, text: str, wrong: list[str], rng: random.Random) -> Question:
    wording = scene.say(rng.choice(ask.wordings))
    return six("rc", scene.frame.name, text, wording, right=scene.values[ask.answer], wrong=wrong, rng=rng)


def _passage(scene: Scene, needed: Set[int], rng: random.Random) -> str:
    """The sentences that are needed, and others up to five in all, in their order."""
    rest = [place for place in range(len(scene.frame.sentences)) if place not in needed]
    count = rng.randint(max(2, len(needed)), _LONGEST)
    places = sorted([*needed, *rng.sample(rest, count - len(needed))])
    return " ".join(map(scene.say, _wordings(scene, places, rng)))


def _wordings(scene: Scene, places: Sequence[int], rng: random.Random) -> list[str]:
    return [rng.choice(scene.frame.sentences[place]) for place in places]


def agreeing(
    task: str, rng: random.Random, *, count: int = 1, training: bool = True
) -> tuple[list[Question], Difficulty]:
    """Up to ``count`` questions of the task ``drs`` or ``ds`` about one text, and their difficulty."""
    plans, question, join = (TALKS, REPLY, dialogue) if task == "drs" else (STORIES, _SUMMARY, " ".join)
    level, summaries = rng.choice(DIFFICULTIES), list[str]()
    while not summaries:
        scene = plans.draw(rng, training=training).draw(rng)
        places = range(len(scene.frame.sentences)) if task == "drs" else _document_places(scene, level, rng)
        wordings = _wordings(scene, places, rng)
        told = set[str]().union(*map(slots_of, wordings))
        summaries = [wording for _ in range(count) if (wording := scene.fitting_summary(told, rng))]
    text = join(list(map(scene.say, wordings)))

    def ask(wording: str) -> Question:
        right, wrong = scene.say(wording), [scene.changed(wording, rng, told, level)]
        while len(wrong) < 3:
            alike = level == "hard" and len(wrong) == 1
            # The bank was made with a plan drawn for every false summary, also where the plan stays the same.
            other = scene.frame if alike and task == "drs" else plans.draw(rng, training=training)
            if alike or other is not scene.frame:
                option = (scene.frame if alike else other).draw(rng)
                wrong += {option.say(rng.choice(option.frame.summaries))} - {right, *wrong}
        return six(task, scene.frame.name, text, question, right=right, wrong=wrong, rng=rng)

    return list(map(ask, summaries)), level


def _document_places(scene: Scene, level: Difficulty, rng: random.Random) -> list[int]:
    """The first of the scene's sentences and others: four or five, or six to eight if it isn't easy."""
    sentences = len(scene.frame.sentences)
    count = min(sentences, rng.randint(4, 5) if level == "easy" else rng.randint(6, 8))
    return [0, *sorted(rng.sample(range(1, sentences), count - 1))]


def dialogue(texts: Sequence[str]) -> str:
    """The turns of a dialogue, the person's first."""
    return " ".join(f"[{'Assistant' if place % 2 else 'Human'}]: {text}" for place, text in enumerate(texts))


def found_questions(rng: random.Random, *, count: int = 1) -> list[Question]:
    """One to five sentences of a scene and four values of a kind, one of them in these; up to ``count`` kinds."""
    slots: list[str] = []
    while not slots:
        scene, wordings = _some_sentences(rng)
        text = " ".join(map(scene.say, wordings))
        whole = re.sub(r"[ .,?]+", " ", f" {text} ")
        slots = [slot for slot in scene.frame.kinds if f" {scene.values[slot]} " in whole]
    questions = []
    for slot in rng.sample(slots, min(count, len(slots))):
        wrong, right = scene.false_values(slot, rng), scene.values[slot]
        questions.append(six("rc", scene.frame.name, text, rng.choice(_FOUND), right=right, wrong=wrong, rng=rng))
    return questions


def retold_questions(rng: random.Random, *, count: int = 1) -> list[Question]:
    """One to five sentences of a scene; which of four is among them? The others are from elsewhere or changed. Up to
    ``count`` of the sentences are asked for."""
    scene, wordings = _some_sentences(rng)
    text = " ".join(map(scene.say, wordings))
    return [_retold(scene, text, wording, rng) for wording in rng.sample(wordings, min(count, len(wordings)))]


def _some_sentences(rng: random.Random) -> tuple[Scene, list[str]]:
    """A scene, and a wording of one to five of its sentences."""
    scene = STORIES.draw(rng, training=True).draw(rng)
    count = len(scene.frame.sentences)
    return scene, _wordings(scene, sorted(rng.sample(range(count), rng.randint(1, min(5, count)))), rng)


def _retold(scene: Scene, text: str, wording: str, rng: random.Random) -> Question:
    right, wrong = scene.say(wording), set[str]()
    if rng.random() < _CHANGED and slots_of(wording) & {*scene.frame.kinds}:
        wrong = {scene.changed(wording, rng)} - {right}  # a pronoun may stay as it was
    while len(wrong) < 3:
        other = STORIES.draw(rng, training=True)
        if other is not scene.frame:
            wrong.add(other.draw(rng).say(rng.choice(rng.choice(other.sentences))))
    return six("rc", scene.frame.name, text, rng.choice(_RETOLD), right=right, wrong=sorted(wrong), rng=rng)
