"""The kinds of files that Hedge keeps, each made by the code that people use, with what they get from it."""

from __future__ import annotations

from tests.damage.kinds import juries, people, remembered, runs, token_level, unfinished
from tests.damage.tries import Kind

KINDS: dict[str, Kind] = {
    **runs.KINDS,
    **unfinished.KINDS,
    **juries.KINDS,
    **token_level.KINDS,
    **people.KINDS,
    **remembered.KINDS,
}
