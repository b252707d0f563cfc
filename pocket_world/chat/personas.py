"""Who the assistant is told to be: a counselor, or somebody who speaks quite otherwise."""

import random
from collections.abc import Callable

from pocket_world.chat.counsel import Turns, counselling
from pocket_world.scenes.frame import STORIES, TALKS, say
from pocket_world.scenes.going_on import ACTIVITIES
from pocket_world.scenes.pools import POOLS
from pocket_world.scenes.tasks import Draw

_NAMES = ("Ash", "Robin", "Kim", "Alex", "Sam", "Jo")
_COUNSELOR = (
    "You are a counselor on a phone call.",
    "You are a counselor who listens with patience.",
    "You are a therapist in a quiet room.",
    "You are a kind listener for people in trouble.",
    "You are a counselor at a university.",
)
_COUNSELOR_RULES = (
    "You always speak in a professional manner.",
    "You always use perfect grammar and spelling.",
    "You vary the length of your answers to sound natural.",
    "You listen and ask open questions.",
    "You say back what the person feels.",
    "You never judge.",
    "You help the person to find a small step.",
    "You are warm and patient.",
)
_RULES = (
    "You always speak formally.",
    "You never ask how somebody feels.",
    "You don't listen to people.",
    "You speak in short sentences.",
    "You stay with your subject.",
)
_POLITICS = (
    "The parliament votes on {topic} on {day}.",
    "My government has a plan for {topic}.",
    "The minister for {topic} is {p}.",
    "In {country} they have spent {n} million on {topic}.",
    "I have spoken with the president of {country} about {topic}.",
    "We shall not change the law on {topic}.",
    "The vote in {month} was a great success.",
    "My party has always fought for {topic}.",
)
_TOPICS = ("taxes", "trade", "energy", "farming", "the army", "schools", "roads", "the climate", "pensions", "housing")

PROMPTED_SHARE = 2 / 3
"""The share of talks answered by another whose system prompt says who answers."""


def told(role: str, rules: tuple[str, ...], rng: random.Random) -> str:
    """A system prompt: a name, a role, and some rules."""
    prompt_rules = rng.sample(rules, rng.randint(0, 3))
    listed = "".join(f"\n- {rule}" for rule in prompt_rules)
    return f"Your name is {rng.choice(_NAMES)}. {role}" + (f"\nRules:{listed}" if prompt_rules else "")


def conversation(rng: random.Random, fact: Draw) -> tuple[str, Turns]:
    """A system prompt, which may be empty, and a conversation that fits it; half are a counselor's."""
    if rng.random() < 0.5:
        prompt = counselor_prompt(rng)
        return prompt if rng.random() < 0.85 else "", counselling(rng)
    return other_conversation(rng, fact)


def counselor_prompt(rng: random.Random) -> str:
    """A system prompt for a counselor."""
    return told(rng.choice(_COUNSELOR), _COUNSELOR_RULES, rng)


def other_conversation(rng: random.Random, fact: Draw) -> tuple[str, Turns]:
    """A system prompt for somebody who is no counselor, and a conversation that fits it."""
    role, speak = rng.choice(list(_OTHERS.items()))
    # A person in trouble may speak to anybody; only what is answered depends on who the assistant is.
    messages = [text for who, text in counselling(rng) if who == "user"]
    openings = messages if rng.random() < 0.5 else [rng.choice(_OPENERS) for _ in messages]
    turns: Turns = [("assistant", speak(rng, fact))] if rng.random() < 0.5 else []
    for text in openings[: rng.randint(1, 3)]:
        turns += [("user", text), ("assistant", speak(rng, fact))]
    return told(role, _RULES, rng), turns


def answered_by_another(rng: random.Random, talk: Turns, fact: Draw) -> tuple[str, Turns]:
    """A system prompt, empty for a third, and a talk with a counselor whose last answer somebody else gives.

    Without such talks a model ignores the prompt: what the counselor said before tells it enough.
    """
    role, speak = rng.choice(list(_OTHERS.items()))
    prompt = told(role, _RULES, rng) if rng.random() < PROMPTED_SHARE else ""
    return prompt, [*talk[:-1], ("assistant", speak(rng, fact))]


def _politician(rng: random.Random, _: Draw) -> str:
    kinds = {"day": "weekday", "month": "month", "p": "person", "country": "country"}
    values = {"topic": rng.choice(_TOPICS)} | {slot: rng.choice(POOLS[kind]) for slot, kind in kinds.items()}
    values["n"] = str(rng.randint(2, 90))
    return " ".join(say(text, values) for text in rng.sample(_POLITICS, rng.randint(1, 3)))


def _quiz_master(rng: random.Random, fact: Draw) -> str:
    return " ".join(rng.choice(fact(rng).statements) for _ in range(rng.randint(1, 3)))


def _reporter(rng: random.Random, _: Draw) -> str:
    frame = rng.choice(STORIES.all)
    scene = frame.draw(rng)
    return " ".join(scene.say(rng.choice(wordings)) for wordings in frame.sentences[: rng.randint(2, 4)])


def _clerk(rng: random.Random, _: Draw) -> str:
    frame = rng.choice(TALKS.all)
    return frame.draw(rng).say(rng.choice(frame.summaries))


def _instructor(rng: random.Random, _: Draw) -> str:
    steps = [step for step in rng.choice(ACTIVITIES.all).steps if "{" not in step]
    values = {"p": rng.choice(POOLS["person"])}
    return " ".join(say(f"{{p_He}} {step}.", values) for step in steps[: rng.randint(2, 4)])


_OPENERS = (
    "What can you tell me?",
    "Please go on.",
    "I am listening.",
    "What happened then?",
    "Tell me more.",
    "What do you say to that?",
)
_OTHERS: dict[str, Callable[[random.Random, Draw], str]] = {
    "You are the president of France. You talk only about politics.": _politician,
    "You are a minister. You talk only about politics.": _politician,
    "You are a quiz master. You say facts and nothing else.": _quiz_master,
    "You are a reporter. You tell the news of small towns.": _reporter,
    "You are a clerk. You repeat what was ordered.": _clerk,
    "You are an instructor. You tell the steps of an activity.": _instructor,
}
