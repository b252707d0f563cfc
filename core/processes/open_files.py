"""How many files and connections this process has open, and how many it may have."""

import os
from contextlib import suppress

MOST = 65_536
MOST_ON_A_MAC = 10_240
"""What macOS grants where the limit is called unlimited (its OPEN_MAX)."""
WITHOUT_LIMIT = 8192
"""What Windows lets a process open."""
MOST_RESERVED, LEAST_RESERVED = 100, 16
FOLDER = "/dev/fd"
"""On Linux and macOS, it lists this process's open files."""


def raise_limit() -> None:
    """Let this process and those it starts open as many files as the system allows, up to :data:`MOST`."""
    with suppress(ImportError):
        import resource  # not on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
        for most in sorted({allowed, min(allowed, MOST_ON_A_MAC)}, reverse=True):
            if soft == resource.RLIM_INFINITY or soft >= most:
                return
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
                return


def limit() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource  # not on Windows
    except ImportError:
        return WITHOUT_LIMIT
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if soft == resource.RLIM_INFINITY else soft


def reserved() -> int:
    """How many of them a server keeps for its own work: for reading a run, the database, and monitoring."""
    return max(LEAST_RESERVED, min(MOST_RESERVED, limit() // 4))


def count() -> int:
    """How many files and connections this process has open."""
    try:
        return len(os.listdir(FOLDER)) - 1  # without the listing's own
    except FileNotFoundError:
        return _lowest_free()
    except OSError:  # it could not be opened
        return limit()


def _lowest_free() -> int:
    """The number of the next file, which is the lowest that is free."""
    try:
        number = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return limit()
    os.close(number)
    return number


def problem() -> str:
    """One sentence if they are nearly used up; empty if not."""
    opened = count()
    if limit() - opened > reserved():
        return ""
    return (
        f"{opened} of {limit()} files and connections that the server may have open are in use; raise the limit "
        "(`ulimit -n`, or LimitNOFILE in a systemd unit) and start it again."
    )
