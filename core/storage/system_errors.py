"""Errors of the system that a person can fix, as sentences."""

import errno
import os

from core.storage import names

WAYS_OUT = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space, or ask for a larger quota",
    errno.EROFS: "choose a place that can be written",
    errno.EACCES: "ask for the permission, or choose another place",
    errno.EPERM: "ask for the permission, or choose another place",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "close other programs",
    errno.EIO: "check its disk",
}


def sentence(error: BaseException) -> str:
    """What is wrong and what to do; empty for an error that only a programmer can fix."""
    if problem := names.problem(error):
        return problem
    if isinstance(error, FileNotFoundError) and "No usable temporary directory" in str(error):
        return "no folder for temporary files can be written; set TMPDIR to one with free space"
    if isinstance(error, FileNotFoundError) and str(error.filename).startswith("/proc/"):
        return f"{error.filename} is not there, so memory and processes can't be looked at; mount /proc"
    if isinstance(error, OSError) and error.errno in WAYS_OUT:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "a file"
        return f"{name} can't be used ({error.strerror}); {WAYS_OUT[error.errno]}"
    return ""
