"""Conversations of a counselor with a person, made by a grammar; none is one of ``assets/conversations``.

A conversation is about one trouble. The person tells a part of it in every message; the counselor says back what was
felt, asks, and at the end closes with a small step.
"""

import random

from pocket_world.scenes.frame import say
from pocket_world.scenes.pools import POOLS

Turns = list[tuple[str, str]]
"""(role, text) of each message; roles are ``assistant`` and ``user``."""

_GREETINGS = (
    "Hello {p}, I'm Ash. It's good to meet you. What brings you here today?",
    "Hi {p}, my name is Ash. What would you like to talk about?",
    "Good morning, {p}. I'm Ash, and I am glad that you called. How can I help you?",
    "Welcome, {p}. I'm Ash. What is on your mind today?",
    "Hello {p}. Take your time and tell me what you would like to look at.",
    "Hi {p}, thank you for coming in. How are you feeling today?",
)

_TROUBLES: dict[str, tuple[str, ...]] = {
    "work": (
        "I have worked as {an_job} for {n} years, and I don't like it any more.",
        "My boss gives me more and more to do, and I never say no.",
        "I am tired when I get up, and I am tired when I come home from work.",
        "They offered me a new job in {town}, but I would earn less.",
        "I sometimes think about doing something with {hobby} instead.",
        "Everybody tells me that I should be happy to have a safe job.",
    ),
    "study": (
        "I failed my exam in {subject}, and I have not told my parents.",
        "I have to decide whether I want to study in {country} for a year.",
        "I sit in the library all day, but I can't learn anything.",
        "My friends seem to find {subject} easy, and I feel stupid.",
        "I chose {subject} because my {relative} wanted me to.",
        "If I fail once more, I have to leave the school.",
    ),
    "family": (
        "My {relative} calls me every evening and asks what I did.",
        "My parents don't listen to me when I talk about my plans.",
        "I look after my {relative}, and I have no time for myself.",
        "Since my {relative} died, nobody at home says what they feel.",
        "My {relative} and I have not talked to each other for {n} months.",
        "I shouted at my {relative} yesterday, and now I feel awful.",
    ),
    "love": (
        "My partner and I argue about small things every day.",
        "My girlfriend moved to {town}, and I don't know whether it can last.",
        "We have been together for {n} years, but we hardly talk any more.",
        "I told {q} how I feel, and the answer was very quiet.",
        "I am afraid to be alone, so I never say what I want.",
        "My boyfriend does not notice how much I do at home.",
    ),
    "health": (
        "I haven't slept well for {n} weeks.",
        "The doctor told me that I should eat better and move more.",
        "Since my accident I can't do any {hobby}, and I miss it.",
        "I lie awake at night and think of all the things I have to do.",
        "I want to stop smoking, but I have tried {n} times already.",
        "I get anxious when there are many people in a room.",
    ),
    "friends": (
        "I moved to {town} {n} months ago, and I don't know anyone here.",
        "My friends from the {hobby} club meet without me.",
        "{q} and I were best friends, and now {q} does not answer.",
        "At the weekend I sometimes speak to nobody until Monday.",
        "I always make a joke when I am sad, so nobody knows.",
        "I am not good at meeting new people.",
    ),
}
_MORE = (
    "I don't know what to do.",
    "I feel alone with it.",
    "I am scared that it will never change.",
    "Sometimes I could cry.",
    "I have not told anyone about it.",
    "I think that it is my fault.",
    "I want to do something, but I don't know where to begin.",
    "Yes, that is how it feels.",
    "I suppose so. I had not seen it like that.",
    "Honestly, I am a little angry as well.",
)
_FELT = (
    "That sounds hard.",
    "I am sorry to hear that.",
    "It sounds like you feel {feeling}, and that makes sense.",
    "I can hear that you are {feeling}.",
    "It seems that this matters a lot to you.",
    "That must be very {feeling_for} for you.",
    "So there is a part of you that feels {feeling}.",
    "I can imagine that this is {feeling_for}.",
    "Thank you for telling me that.",
    "You have been carrying this for a long time.",
)
_ASKED = (
    "How long have you been feeling like this?",
    "When did you first notice it?",
    "What goes through your mind then?",
    "Have you talked to your {relative} about it?",
    "What would you like to be different?",
    "What stops you from saying that?",
    "Is there someone who could help you with it?",
    "Can you think of a time when you managed something like that?",
    "What would you say to a friend who told you this?",
    "How did you feel afterwards?",
    "Can you tell me a bit more about that?",
    "What do you think would happen if you tried?",
    "If you imagine yourself in a year, what do you see?",
    "What is it about {hobby} that you enjoy?",
)
_IDEAS = (
    "I could talk to my {relative} on {day}.",
    "I could go to the {hobby} club once.",
    "I will call {q} tonight.",
    "I want to write down what I need.",
    "I could close the laptop at {n} o'clock.",
    "I could ask {q} for help.",
    "I will go for a walk every day.",
    "I could say no the next time.",
)
_STEPS = (
    "That sounds like a good step.",
    "I think that is a kind plan.",
    "That takes courage.",
    "What is one small thing that you could do this week?",
    "How do you feel when you think of it?",
    "It is enough to try it once.",
)
_CLOSINGS = (
    "I'm glad that you came, {p}. Take care.",
    "You're welcome, {p}. I look forward to hearing about it.",
    "Be patient with yourself, {p}. Goodbye for now.",
    "I am here if you want to talk again. I wish you a good week, {p}.",
    "Shall we talk again on {day}? Goodbye, {p}.",
)
_FEELINGS = ("alone", "tired", "sad", "afraid", "angry", "ashamed", "worried", "guilty", "torn", "nervous", "hurt")
_FEELINGS_FOR = ("hard", "painful", "lonely", "tiring", "frightening", "confusing", "sad")


def counselling(rng: random.Random) -> Turns:
    """A conversation of 5 to 13 messages; the counselor speaks first and last."""
    values = _values(rng)
    trouble = list(rng.choice(list(_TROUBLES.values())))
    rng.shuffle(trouble)
    remarks = rng.sample(_MORE, 4)
    turns: Turns = [("assistant", rng.choice(_GREETINGS))]
    for _ in range(rng.randint(1, 4)):
        words = [trouble.pop()] + ([trouble.pop()] if len(trouble) > 3 and rng.random() < 0.4 else [])
        turns.append(("user", " ".join(words + ([remarks.pop()] if remarks and rng.random() < 0.6 else []))))
        turns.append(("assistant", f"{rng.choice(_FELT)} {rng.choice(_ASKED)}"))
    turns.append(("user", rng.choice(_IDEAS)))
    if rng.random() < 0.5:
        turns += [("assistant", rng.choice(_STEPS)), ("user", rng.choice(_IDEAS))]
    turns.append(("assistant", f"{rng.choice(_STEPS)} {rng.choice(_CLOSINGS)}"))
    return [(role, say(text, values)) for role, text in turns]


def _values(rng: random.Random) -> dict[str, str]:
    p, q = rng.sample(POOLS["person"], 2)
    values = {"p": p, "q": q, "job": rng.choice(POOLS["job"]), "n": str(rng.randint(2, 11))}
    pools = {name: POOLS[name] for name in ("town", "hobby", "school subject", "country")}
    pools |= {"relative": ("mother", "father", *POOLS["relative"]), "day": POOLS["weekday"]}
    pools |= {"feeling": _FEELINGS, "feeling_for": _FEELINGS_FOR}
    return values | {name.removeprefix("school "): rng.choice(pool) for name, pool in pools.items()}
