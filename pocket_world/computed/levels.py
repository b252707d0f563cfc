"""How hard a computed fact is, by the size of what it computes with."""

from __future__ import annotations

from pocket_world.relations import DIFFICULTIES, Difficulty


def difficulty(size: int, limits: tuple[int, int]) -> Difficulty:
    """Easy up to the first of two limits, medium up to the second, hard beyond."""
    return DIFFICULTIES[sum(size > limit for limit in limits)]
