"""Homes whose files are damaged, each made by the code that people use, with what they get from it.

Files that one function reads are damaged by ``tests/core/test_kept_files.py``.
"""

from tests.damage.kinds import juries, people, runs, unfinished
from tests.damage.tries import Kind

KINDS: dict[str, Kind] = {
    **runs.KINDS,
    **unfinished.KINDS,
    **juries.KINDS,
    **people.KINDS,
}
