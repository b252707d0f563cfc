"""A wall clock that can be set: every ``time.time`` of the process is off by the seconds in the file that
HEDGE_TEST_CLOCK names. Steady clocks are left alone, as they are where a person sets a clock. (libfaketime, which does
it below Python, makes ``time.sleep`` fail.)"""

import os
import time
from pathlib import Path

_FILE = Path(os.environ.get("HEDGE_TEST_CLOCK", "/nonexistent"))
_TIME, _TIME_NS = time.time, time.time_ns


def _offset():
    try:
        return int(_FILE.read_text())
    except (OSError, ValueError):
        return 0


if _FILE.exists():
    time.time = lambda: _TIME() + _offset()
    time.time_ns = lambda: _TIME_NS() + _offset() * 10**9
