"""A question of each task about a made-up scene."""

import random

from pocket_world.questions import BankQuestion
from pocket_world.scenes.agreeing import REPLIES, SUMMARIES
from pocket_world.scenes.going_on import going_on
from pocket_world.scenes.reading import reading
from pocket_world.scenes.replying import Draw, about_a_fact


def scene_question(task: str, rng: random.Random, fact: Draw, *, training: bool) -> BankQuestion:
    """A question of the task ``rc``, ``ci``, ``ds`` or ``drs``. Half of the dialogues of ``drs`` are about what was
    said in them, half ask for a fact that ``fact`` draws."""
    if task == "rc":
        return reading(rng, training=training)
    if task == "ci":
        return going_on(rng, training=training)
    if task == "drs" and rng.random() < 0.5:
        return about_a_fact(rng, fact)
    questions, level = (REPLIES if task == "drs" else SUMMARIES).draw(rng, training=training)
    return BankQuestion(questions[0], level)
