"""Sentences that agree with a scene, and the same with one thing changed."""

from __future__ import annotations

import random
from collections.abc import Set

from pocket_world.relations import Difficulty
from pocket_world.scenes.frame import Scene, false_values, say, slots_of


def fitting(scene: Scene, told: Set[str], rng: random.Random) -> str | None:
    """A summary's wording that uses nothing but slots which were told; None if there is none."""
    wordings = [wording for wording in scene.frame.summaries if slots_of(wording) <= told]
    return rng.choice(wordings) if wordings else None


def changed(scene: Scene, wording: str, told: Set[str], level: Difficulty, rng: random.Random) -> str:
    """The wording with one slot false; where it is hard, with a value that was told of something else."""
    slots = sorted(slots_of(wording))
    kept = {slot for slot in slots if slot not in scene.frame.sums}
    twins = {slot: [o for o in scene.frame.others(slot) if o in told and o not in slots] for slot in kept}
    confusable = sorted(slot for slot in kept if twins[slot])
    if level == "hard" and confusable:
        slot = rng.choice(confusable)
        value = scene.values[rng.choice(twins[slot])]
    else:
        slot = rng.choice(sorted(kept))
        value = false_values(scene, slot, rng, count=1, inside=False, excluded=())[0]
    return say(wording, {**scene.values, slot: value})
