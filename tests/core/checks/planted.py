"""Checks with planted faults, which the tests let real processes make."""

import os
import subprocess
import sys
import time
from pathlib import Path

from core.checks.outcome import CheckOutcome, NotHereError, Place
from core.errors import InputError


def assert_fails(outcome: CheckOutcome, says: str) -> None:
    assert not outcome.passed
    assert says in outcome.says


def well(place: Place) -> CheckOutcome:
    return CheckOutcome(
        True,
        f"All is well on {place.device} in {place.dtype}.",
        {"home": os.environ["HEDGE_HOME"]},
    )


def wrong(place: Place) -> CheckOutcome:
    return CheckOutcome(False, "It is off by 3.", {"off": 3.0})


def raises(place: Place) -> CheckOutcome:
    raise ValueError("no such device\nwith a second line")


def refuses(place: Place) -> CheckOutcome:
    raise InputError("there is no model")


def absent(place: Place) -> CheckOutcome:
    raise NotHereError("There is no such device here.")


def dies(place: Place) -> CheckOutcome:
    print("the last words", flush=True)
    os.kill(os.getpid(), 11)
    raise AssertionError


def ends_without_result(place: Place) -> CheckOutcome:
    os._exit(4)


def hangs(place: Place) -> CheckOutcome:
    """Leaves a process of its own behind, whose id is in the file that the variable names."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    file = Path(os.environ["PLANTED_CHILD"])
    file.with_suffix(".part").write_text(str(child.pid))
    file.with_suffix(".part").replace(file)
    time.sleep(600)
    raise AssertionError
