"""The logs of processes that outlive their starter."""

import pytest

from core.processes import starting

pytestmark = pytest.mark.quick


def test_a_log_is_put_aside_when_it_grows(home, monkeypatch):
    monkeypatch.setattr(starting, "LARGEST_LOG", 10)
    with starting.open_log("a.log") as log:
        log.write(b"0123456789abc")
    with starting.open_log("a.log") as log:
        log.write(b"new")
    folder = home / "logs"
    assert (folder / "a.log").read_bytes() == b"new"
    assert (folder / "a.old").read_bytes() == b"0123456789abc"
