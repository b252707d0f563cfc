"""The training text: an endless stream of documents.

Facts are drawn by how often they are shown (:func:`pocket_world.world.frequency`), asked in any wording but the
bank's, with options drawn again each time; scenes are drawn by how often their plans are shown. A document in which the
guard finds a bank question is thrown away.
"""

import random
from collections.abc import Callable

from core.errors import RunError
from core.models.perplexity.windows import EXCHANGES
from core.records import Question
from pocket_world.chat.personas import answered_by_another, counselor_prompt, other_conversation
from pocket_world.chat.template import asked_in_chat, written
from pocket_world.computed import MAKERS, kept_for_bank
from pocket_world.contamination import Guard
from pocket_world.documents import Document, about, answered, lettered, said, stated
from pocket_world.matching import binding_document
from pocket_world.prose import Prose
from pocket_world.questions import ask
from pocket_world.relations import Fact
from pocket_world.scenes.going_on import gone_through
from pocket_world.scenes.passages import agreeing, found_questions, readings, retold_questions
from pocket_world.scenes.tasks import scene_question
from pocket_world.weighted import Weighted
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
TASKS = ("qa", *SCENE_TASKS)

STRATEGIES = ("base", "base", "shared", "task")

COUNSELLING_SHARE = 0.75
"""How many of the chats in prose are a counselor's; nearly all of these have a system prompt that says so."""

COMPUTED_SHARE = 0.27
"""How often a fact is worked out instead of taken from the tables."""

_ATTEMPTS = 200


class Stream:
    """Documents of the pocket world; the same generator state gives the same document."""

    def __init__(self, guard: Guard, *, chat: bool = False) -> None:
        """``chat`` says that training is for chat."""
        self.guard = guard
        self.chat = chat
        self._facts = Weighted(world(), frequency)
        self._asked = Weighted((fact for fact in self._facts.items if not only_stated(fact)), frequency)
        self._stated = Weighted((fact for fact in self._facts.items if fact.statements), frequency)
        self._computed_facts = Weighted(MAKERS, lambda maker: MAKERS[maker])
        self._prose = Prose()
        self._forms: dict[Form, Callable[[random.Random], Document]] = {
            "binding": lambda rng: binding_document(self._facts.items, rng),
            "several found": lambda rng: about(found_questions(rng, count=SEVERAL)),
            "several retold": lambda rng: about(retold_questions(rng, count=SEVERAL)),
            "several rc": lambda rng: about(readings(rng, count=SEVERAL)),
            "several rc said": lambda rng: about(readings(rng, count=SEVERAL_SAID), in_words=True),
            "gone through": lambda rng: stated(gone_through(rng), weight=1.0),
            "several drs": lambda rng: about(agreeing("drs", rng, count=SEVERAL)[0]),
            "several ds": lambda rng: about(agreeing("ds", rng, count=SEVERAL)[0]),
            "instructed": lambda rng: lettered(
                [self.question(rng, rng.choice(TASKS))], strategy=rng.choice(("shared", "task"))
            ),
            "demonstrated": self._demonstrated,
            "short": self._short,
            "answered": lambda rng: self._answered(rng, weight=1.0),
            "conversation": lambda rng: written(*other_conversation(rng, self._stated.draw)),
            "answered by another": self._answered_by_another,
            "prose chat": self._prose_chat,
            "asked in chat": self._asked_in_chat,
            "said": lambda rng: said(self.question(rng, rng.choice(SCENE_TASKS)), weight=SAID_WEIGHT),
        }

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
        if task != "qa":
            return scene_question(task, rng, self._stated.draw, training=True).question
        if rng.random() < COMPUTED_SHARE:
            fact = self._computed(rng)
            return ask(fact, rng, wording=rng.choice(fact.questions), label=rng.randrange(4))
        fact = self._asked.draw(rng)
        return ask(fact, rng, wording=rng.choice(fact.training_questions), label=rng.randrange(4))

    def _draw(self, form: Form, rng: random.Random) -> Document:
        if form in PASSAGES:
            return self._prose.passage(rng, words=PASSAGES[form])
        return self._forms[form](rng) if form in self._forms else lettered([self.question(rng, form)])

    def _demonstrated(self, rng: random.Random) -> Document:
        """Each demonstration's letter is learned too, so a document of several teaches about as much as several."""
        task = rng.choice(("qa", *TASKS))
        count = rng.choice(DEMONSTRATIONS[task])
        strategy = rng.choice(STRATEGIES)
        return lettered([self.question(rng, task) for _ in range(count + 1)], strategy=strategy)

    def _short(self, rng: random.Random) -> Document:
        draw = rng.random()
        if draw < 0.10:
            return binding_document(self._facts.items, rng)
        if draw < 0.75:
            return lettered([self.question(rng)])
        if draw < 0.82:
            return self._answered(rng, weight=0.5)
        sentences = [rng.choice(fact.statements) for fact in (self._any_fact(rng) for _ in range(4)) if fact.statements]
        return stated(sentences or ["There is nothing to say."], weight=0.25)

    def _answered(self, rng: random.Random, *, weight: float) -> Document:
        fact = self._any_fact(rng)
        return answered(rng.choice(fact.training_questions), fact.answer, weight=weight)

    def _answered_by_another(self, rng: random.Random) -> Document:
        talk = self._prose.talk(rng, counselling=True)[-2 * (1 + EXCHANGES) :]
        return written(*answered_by_another(rng, talk, self._stated.draw), last_only=True)

    def _prose_chat(self, rng: random.Random) -> Document:
        counselling = rng.random() < COUNSELLING_SHARE
        system = counselor_prompt(rng) if counselling and rng.random() < 0.95 else ""
        return written(system, self._prose.talk(rng, counselling=counselling), weight=1.0)

    def _asked_in_chat(self, rng: random.Random) -> Document:
        strategy = rng.choice(STRATEGIES)
        return asked_in_chat(self.question(rng, rng.choice(TASKS)), strategy=strategy)

    def _any_fact(self, rng: random.Random) -> Fact:
        return self._computed(rng) if rng.random() < COMPUTED_SHARE / 2 else self._facts.draw(rng)

    def _computed(self, rng: random.Random) -> Fact:
        maker = self._computed_facts.draw(rng)
        while kept_for_bank(fact := maker(rng)):
            continue
        return fact
