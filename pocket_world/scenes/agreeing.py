"""Texts with four short texts of which one agrees with them: dialogues with replies, documents with summaries.

The others are the right one with a false detail, and two of other scenes. Hard questions have one of the same kind of
scene, and a false detail that the text tells of something else.
"""

import random
from collections.abc import Callable, Set
from dataclasses import dataclass

from core.records import Question
from pocket_world.questions import six
from pocket_world.relations import DIFFICULTIES, Difficulty
from pocket_world.scenes.frame import Frame, Scene, changed, fitting, slots_of
from pocket_world.scenes.shown import Plans
from pocket_world.scenes.stories import STORIES
from pocket_world.scenes.talks import TALKS

REPLY = "Which reply fits the dialogue and is true?"


@dataclass(frozen=True, slots=True)
class AgreementTask:
    """A task; ``wordings`` draws those of a scene's sentences that the text shows, and ``text`` joins the sentences."""

    task: str
    question: str
    plans: Plans[Frame]
    wordings: Callable[[Scene, Difficulty, random.Random], list[str]]
    text: Callable[[list[str]], str]

    def draw(self, rng: random.Random, *, count: int = 1, training: bool = True) -> tuple[list[Question], Difficulty]:
        """Up to ``count`` questions about one text, and their difficulty."""
        level = rng.choice(DIFFICULTIES)
        while True:
            scene = self.plans.draw(rng, training=training).draw(rng)
            sentences = self.wordings(scene, level, rng)
            text, slots = (
                self.text([scene.say(wording) for wording in sentences]),
                set[str]().union(*map(slots_of, sentences)),
            )
            summaries = [fitting(scene, slots, rng) for _ in range(count)]
            if right := [wording for wording in summaries if wording is not None]:
                return [
                    self._ask(scene, text, slots, wording, level, rng, training=training) for wording in right
                ], level

    def _ask(
        self,
        scene: Scene,
        text: str,
        slots: Set[str],
        wording: str,
        level: Difficulty,
        rng: random.Random,
        *,
        training: bool,
    ) -> Question:
        right, wrong = scene.say(wording), [changed(scene, wording, slots, level, rng)]
        while len(wrong) < 3:
            alike = level == "hard" and len(wrong) == 1
            other = scene.frame if alike and self.task == "drs" else self.plans.draw(rng, training=training)
            if alike:
                other = scene.frame
            elif other is scene.frame:
                continue
            option = other.draw(rng).say(rng.choice(other.summaries))
            if option not in (right, *wrong):
                wrong.append(option)
        return six(self.task, scene.frame.name, text, self.question, right=right, wrong=wrong, rng=rng)


def dialogue(texts: list[str]) -> str:
    """The turns of a dialogue, the person's first."""
    return " ".join(f"[{'Assistant' if place % 2 else 'Human'}]: {text}" for place, text in enumerate(texts))


def _turns(scene: Scene, _: Difficulty, rng: random.Random) -> list[str]:
    return [rng.choice(wordings) for wordings in scene.frame.sentences]


def _sentences(scene: Scene, level: Difficulty, rng: random.Random) -> list[str]:
    """The first of the scene's sentences and others: four or five, or six to eight if it isn't easy."""
    sentences = scene.frame.sentences
    count = min(len(sentences), rng.randint(4, 5) if level == "easy" else rng.randint(6, 8))
    places = [0, *sorted(rng.sample(range(1, len(sentences)), count - 1))]
    return [rng.choice(sentences[place]) for place in places]


REPLIES = AgreementTask("drs", REPLY, Plans(TALKS, lambda frame: frame.name), _turns, dialogue)
SUMMARIES = AgreementTask(
    "ds",
    "Which summary says what the document says?",
    Plans(STORIES, lambda frame: frame.name),
    _sentences,
    " ".join,
)
