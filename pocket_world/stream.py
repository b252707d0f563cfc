"""The training text: an endless stream of documents, drawn from generators that are passed in.

Facts are drawn by how often they are shown (:func:`pocket_world.world.frequency`), asked in any wording but the
bank's, with options drawn anew each time; scenes are drawn by how often their plans are shown. A document in which the
guard finds a bank question is thrown away.
"""

import random
from collections.abc import Sequence
from itertools import accumulate

from core.errors import RunError
from core.models.perplexity.windows import EXCHANGES
from core.records import Question
from pocket_world.chat.personas import answered_by_another, counselor_prompt, other_conversation
from pocket_world.chat.template import asked_in_chat, written
from pocket_world.computed import MAKERS, kept_for_bank
from pocket_world.contamination import Guard
from pocket_world.documents import Document, about, answered, cloze_document, lettered, said_about, stated
from pocket_world.matching import binding_document, found_questions, retold_questions
from pocket_world.prose import Prose
from pocket_world.questions import ask
from pocket_world.relations import Fact
from pocket_world.scenes.going_on import going_on, gone_through
from pocket_world.scenes.reading import reading, readings
from pocket_world.scenes.replying import replies, replying
from pocket_world.scenes.summing import summing, summings
from pocket_world.world import frequency, only_stated, world

Form = str
"""What a document is: a key of the tables of :mod:`pocket_world.curriculum`, "binding", or the name of a task."""

PASSAGES: dict[Form, int] = {"short passage": 110, "passage": 190, "long passage": 220}
"""Words of prose in a document of each form."""

DEMONSTRATIONS = {"qa": (1, 2, 2, 3, 3, 3, 4, 5), "rc": (1, 2, 3), "ci": (1, 2, 3), "drs": (1, 2), "ds": (1,)}
"""How many demonstrations a document of each task may have; a long one must not fill the context."""

SAID_WEIGHT = 0.12
"""The weight of each token of an answer in words; a summary has many, and its letter must not drown among them."""

SEVERAL = 3
"""Questions about one context in documents that ask several."""

SEVERAL_SAID = 5
"""The same where they are answered in words and without options, which takes fewer tokens."""

SCENE_TASKS = ("rc", "ci", "drs", "ds")

COUNSELLING_SHARE = 0.75
"""How many of the chats in prose are a counselor's; nearly all of these have a system prompt that says so."""

COMPUTED_SHARE = 0.27
"""How often a fact is worked out instead of taken from the tables."""

_ATTEMPTS = 200


class Stream:
    """Documents of the pocket world; the same generator state gives the same document."""

    def __init__(self, guard: Guard, *, tasks: Sequence[str] = ("qa", *SCENE_TASKS), chat: bool = False) -> None:
        """``tasks`` are those that documents of several forms are about; ``chat`` says that training is for chat."""
        self.guard = guard
        self.tasks = tuple(tasks)
        self.chat = chat
        self._facts = [fact for fact in world() if frequency(fact) > 0]
        self._asked = [fact for fact in self._facts if not only_stated(fact)]
        self._fact_weights = list(accumulate(frequency(fact) for fact in self._facts))
        self._asked_weights = list(accumulate(frequency(fact) for fact in self._asked))
        self._stated = [fact for fact in self._facts if fact.statements]
        self._stated_weights = list(accumulate(frequency(fact) for fact in self._stated))
        self._makers = list(MAKERS)
        self._maker_weights = list(accumulate(MAKERS.values()))
        self._prose = Prose()

    def document(self, form: Form, rng: random.Random) -> Document:
        """One document that holds no bank question; RunError if none turns up."""
        for _ in range(_ATTEMPTS):
            document = self._draw(form, rng)
            if self.guard.find(document.text) is None:
                return document
        raise RunError(f"{_ATTEMPTS} {form} documents in a row held a bank question; draw options more freely")

    def question(self, rng: random.Random, task: str = "qa") -> Question:
        """A lettered question as training asks it, never in the bank's words.

        In ``qa`` it is of the tables or worked out.
        """
        if task == "rc":
            return reading(rng, training=True).question
        if task == "ci":
            return going_on(rng, training=True).question
        if task == "drs":
            return replying(rng, self._talked_about, training=True).question
        if task == "ds":
            return summing(rng, training=True).question
        if rng.random() < COMPUTED_SHARE:
            fact = self._computed(rng)
            return ask(fact, rng, wording=rng.randrange(len(fact.questions)), label=rng.randrange(4))
        fact = rng.choices(self._asked, cum_weights=self._asked_weights)[0]
        return ask(fact, rng, wording=_training_wording(fact, rng), label=rng.randrange(4))

    def _draw(self, form: Form, rng: random.Random) -> Document:
        if form == "binding":
            return binding_document(self._facts, rng)
        if form == "several found":
            return about(found_questions(rng, count=SEVERAL))
        if form == "several retold":
            return about(retold_questions(rng, count=SEVERAL))
        if form == "several rc":
            return about(readings(rng, count=SEVERAL))
        if form == "several rc said":
            return said_about(readings(rng, count=SEVERAL_SAID))
        if form == "gone through":
            return stated(gone_through(rng), weight=1.0)
        if form == "several drs":
            return about(replies(rng, count=SEVERAL))
        if form == "several ds":
            return about(summings(rng, count=SEVERAL))
        if form == "instructed":
            task = rng.choice(self.tasks)
            return lettered([self.question(rng, task)], strategy=rng.choice(("shared", "task")))
        if form == "demonstrated":
            # Each demonstration's letter is learned too, so a document of several teaches about as much as several.
            task = rng.choice(("qa", *self.tasks))
            shown = rng.choice(DEMONSTRATIONS[task])
            strategy = rng.choice(("base", "base", "shared", "task"))
            return lettered([self.question(rng, task) for _ in range(shown + 1)], strategy=strategy)
        if form == "short":
            return self._short(rng)
        if form == "answered":
            return self._answered(rng, weight=1.0)
        if form == "conversation":
            return written(*other_conversation(rng, self._talked_about))
        if form == "answered by another":
            talk = self._prose.talk(rng, counselling=True)[-2 * (1 + EXCHANGES) :]
            return written(*answered_by_another(rng, talk, self._talked_about), last_only=True)
        if form == "prose chat":
            counselling = rng.random() < COUNSELLING_SHARE
            system = counselor_prompt(rng) if counselling and rng.random() < 0.95 else ""
            return written(system, self._prose.talk(rng, counselling=counselling), weight=1.0)
        if form in PASSAGES:
            return self._prose.passage(rng, words=PASSAGES[form])
        if form == "asked in chat":
            strategy = rng.choice(("base", "base", "shared", "task"))
            return asked_in_chat(self.question(rng, rng.choice(self.tasks)), strategy=strategy)
        if form == "said":
            return cloze_document(self.question(rng, rng.choice(SCENE_TASKS)), weight=SAID_WEIGHT)
        return lettered([self.question(rng, form)])

    def _short(self, rng: random.Random) -> Document:
        draw = rng.random()
        if draw < 0.10:
            return binding_document(self._facts, rng)
        if draw < 0.75:
            return lettered([self.question(rng)])
        if draw < 0.82:
            return self._answered(rng, weight=0.5)
        sentences = [rng.choice(fact.statements) for fact in (self._any_fact(rng) for _ in range(4)) if fact.statements]
        return stated(sentences or ["There is nothing to say."], weight=0.25)

    def _answered(self, rng: random.Random, *, weight: float) -> Document:
        fact = self._any_fact(rng)
        return answered(fact.questions[_training_wording(fact, rng)], fact.answer, weight=weight)

    def _talked_about(self, rng: random.Random) -> Fact:
        return rng.choices(self._stated, cum_weights=self._stated_weights)[0]

    def _any_fact(self, rng: random.Random) -> Fact:
        if rng.random() < COMPUTED_SHARE / 2:
            return self._computed(rng)
        return rng.choices(self._facts, cum_weights=self._fact_weights)[0]

    def _computed(self, rng: random.Random) -> Fact:
        maker = rng.choices(self._makers, cum_weights=self._maker_weights)[0]
        while kept_for_bank(fact := maker(rng)):
            continue
        return fact


def _training_wording(fact: Fact, rng: random.Random) -> int:
    """Any wording but the one that is kept for the bank."""
    wording = rng.randrange(len(fact.questions) - 1)
    return wording + (wording >= fact.bank_wording)
