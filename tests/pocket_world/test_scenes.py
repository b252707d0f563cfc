"""Frames: how they are read, what is said of a scene, and what is false of it."""

from __future__ import annotations

import random

import pytest

from core.errors import InputError
from pocket_world.scenes.activities import ACTIVITIES
from pocket_world.scenes.agreeing import changed, fitting
from pocket_world.scenes.frame import Scene, false_values, parse, say
from pocket_world.scenes.pools import MEN, POOLS, WOMEN
from pocket_world.scenes.shown import Plans, share
from pocket_world.scenes.stories import STORIES
from pocket_world.scenes.talks import TALKS

FRAME = """
shop
with p q: person; n m: few; c d: {red/blue/green/black/white}; thing: thing; all = n + m
- {p} bought {n} apples and {q} {m}. | {n} apples went to {p}, {m} to {q}.
- {p_He} took {an_thing}, {c}, with {p_him}. | {an_thing} in {c} was {p_his}.
? easy 0 -> n. How many did {p} buy?
? hard 0 -> all. How many together?
? medium 0 -> p not q. Who bought {n}?
! {p} bought {n} apples.
! {q} bought {m} apples, and {p} took {an_thing}.
"""


def test_a_frame_is_read() -> None:
    (frame,) = parse(FRAME)
    assert frame.kinds["m"] == "few"
    assert frame.sums == {"all": ("n", "+", "m")}
    assert frame.others("p") == ("q",)
    assert frame.asks[2].excluded == ("q",)
    scene = frame.draw(random.Random(1))
    assert scene.values["p"] != scene.values["q"]
    assert int(scene.values["all"]) == int(scene.values["n"]) + int(scene.values["m"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{q} {m}.", "{q} {x}."), "x"),
        (("-> n.", "-> nobody."), "nobody"),
        (("easy 0 ", "easy 7 "), "7"),
        (("few;", "fewer;"), "fewer"),
        (("? easy", "?? easy"), "no sentence"),
        (("? easy 0 -> n", "? easy 0 -> c"), "leave out"),
    ],
)
def test_a_frame_that_can_not_be_is_refused(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(FRAME.replace(*change))


def test_pronouns_and_articles() -> None:
    values = {"p": "Anna", "q": "Ben", "thing": "umbrella"}
    assert say("{p_He} and {q_he} saw {p_him}, {q_him}, {p_his}, {q_his} {q_himself}.", values) == (
        "She and he saw her, him, her, his himself."
    )
    assert say("{an_thing} was there. {q} saw it.", values) == "An umbrella was there. Ben saw it."
    assert not set(WOMEN) & set(MEN)


def test_false_values_by_hand() -> None:
    (frame,) = parse(FRAME)
    scene = Scene(
        frame, {"p": "Anna", "q": "Ben", "n": "2", "m": "7", "c": "red", "d": "blue", "thing": "key", "all": "9"}
    )
    rng = random.Random(3)
    inside = false_values(scene, "n", rng, count=3, inside=True, excluded=())
    assert inside[0] == "7"
    assert all(2 <= int(value) <= 9 and value != "2" for value in inside)
    assert "Ben" not in false_values(scene, "p", rng, count=3, inside=True, excluded=("q",))
    for _ in range(50):
        outside = false_values(scene, "c", rng, count=3, inside=False, excluded=())
        assert set(outside) == {"green", "black", "white"}


def test_one_thing_is_changed() -> None:
    (frame,) = parse(FRAME)
    scene = frame.draw(random.Random(4))
    told = {"p", "n"}
    assert fitting(scene, told, random.Random(0)) == "{p} bought {n} apples."
    assert fitting(scene, {"p"}, random.Random(0)) is None
    for seed in range(40):
        for level in ("easy", "medium", "hard"):
            text = changed(scene, "{p} bought {n} apples.", {"p", "n", "q", "m"}, level, random.Random(seed))
            words = text.split()
            assert (words[0] == scene.values["p"]) != (words[2] == scene.values["n"])
            if level == "hard":
                assert (words[0] == scene.values["q"]) or (words[2] == scene.values["m"])


@pytest.mark.parametrize("frame", [*STORIES, *TALKS], ids=lambda frame: frame.name)
def test_every_frame_can_be_said_and_asked(frame) -> None:
    rng = random.Random(9)
    for _ in range(30):
        scene = frame.draw(rng)
        for wording in [*(w for ws in frame.sentences for w in ws), *frame.summaries]:
            text = scene.say(wording)
            assert "{" not in text
            assert text[-1] in ".?"
        for ask in frame.asks:
            wrong = false_values(scene, ask.answer, rng, count=3, inside=True, excluded=ask.excluded)
            assert len({scene.values[ask.answer], *wrong}) == 4


def test_names_of_plans_are_their_own() -> None:
    names = [*(frame.name for frame in STORIES), *(frame.name for frame in TALKS), *(one.aim for one in ACTIVITIES)]
    assert len(names) == len(set(names))
    steps = [step for activity in ACTIVITIES for step in activity.steps]
    assert len(steps) == len(set(steps))


def test_pools_have_no_value_twice() -> None:
    for kind, values in POOLS.items():
        assert len(values) == len(set(values)), kind


def test_training_never_draws_some_plans() -> None:
    plans = Plans(ACTIVITIES, lambda activity: activity.aim)
    rng = random.Random(2)
    drawn = {plans.draw(rng, training=True).aim for _ in range(4000)}
    never = {activity.aim for activity in ACTIVITIES if share(activity.aim) == 0}
    assert never
    assert drawn == {activity.aim for activity in ACTIVITIES} - never
    assert {plans.draw(rng, training=False).aim for _ in range(4000)} >= never
