"""The limit of open files: raised as far as the system allows, and said when it is nearly reached."""

import os
import resource
import subprocess
import sys

import pytest

from core.processes import open_files
from core.settings import ROOT

pytestmark = [pytest.mark.quick, pytest.mark.skipif(os.name != "posix", reason="Windows has no such limit")]

IN_FEW = """
from core.processes import open_files
import os
open_files.raise_limit()
before, first = open_files.count(), open_files.problem()
kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(open_files.limit() - open_files.reserved() - before)]
print(open_files.limit(), open_files.count() - before == len(kept), [first], open_files.problem(), sep="\\n")
try:
    while True:
        os.dup(0)
except OSError:
    print(open_files.count(), open_files.problem()[:9])
"""


def test_the_soft_limit_becomes_the_hard_one_and_is_said_when_it_is_nearly_reached():
    command = ("sh", "-c", 'ulimit -Sn 50; ulimit -Hn 120; exec "$0" -c "$1"', sys.executable, IN_FEW)
    limit, counts, first, full, last = subprocess.check_output(command, text=True, cwd=ROOT).splitlines()
    assert (limit, counts, first) == ("120", "True", "['']")
    assert full == (
        "90 of 120 files and connections that the server may have open are in use; raise the limit (`ulimit -n`, or "
        "LimitNOFILE in a systemd unit) and start it again."
    )
    assert last == "120 120 of 12"


@pytest.mark.parametrize(
    ("soft", "hard", "most", "then"),
    [
        (256, resource.RLIM_INFINITY, 10_240, 10_240),  # macOS: called unlimited, and is not
        (256, resource.RLIM_INFINITY, 10**6, 65_536),
        (256, 4096, 10**6, 4096),
        (4096, 4096, 0, 4096),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 0, resource.RLIM_INFINITY),
    ],
)
def test_a_limit_that_is_called_unlimited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, then: int):
    now = [(soft, hard)]

    def limit(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > most:
            raise ValueError("current limit exceeds maximum limit")
        now.append(limits)

    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", limit)
    open_files.raise_limit()
    assert now[-1] == (then, hard)
