"""The rights of a process with limits: it reads the files that it needs, writes into its own folder, and nothing more.

Two parts of Linux, which need no privileges, take the rights away for good. Landlock limits which files the process can
read and write. A seccomp filter refuses new connections, processes and signals, and what Landlock does not cover of
files. Where a kernel lacks one of them, the process has the other; :mod:`core.processes.confined.check` tries what is
left.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from core.processes.confined.syscalls import CLONE, CLONE3, FCNTL, IOCTL, NEWEST, ONLY_ITSELF, REFUSED
from core.settings import ROOT, settings

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By machine: which of a call's two numbers is its own, and how a seccomp filter knows the machine."""
SYSTEM_FILES = (
    *("/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache"),
    *(
        "/etc/localtime",
        "/etc/mime.types",
        "/dev/null",
        "/dev/zero",
        "/dev/urandom",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/self",
    ),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),
)
"""What programs read of a system: libraries, time zones, and the number of processors."""
OWN_FOLDERS = ("core", "assets", "app", "charts", "hedge")
"""What is read of Hedge. Its own folder may also hold runs and keys."""

NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2  # numbers of prctl
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls of Landlock, on every machine
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""The rights on files that Landlock can take away, by the version that brought them."""
WRITING = sum(1 << bit for bit in (1, 2, 3, 4, 5, 7, 8, 13, 14))
"""Write, read and delete files and folders, make plain files and folders, move and cut files."""
TCP, OTHERS = 0b11, 0b11
"""Bind and connect (from version 4 on), and sockets and signals of other processes (from version 6 on)."""


def give_up(*, reads: Iterable[Path], writes: Iterable[Path]) -> None:
    """Keep the right to read ``reads`` and what programs need, and to write below ``writes``; give up the others.

    Must be called while the process has one thread. Rights that the system does not know are left out.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _landlock(libc, [*_needed(), *reads], writes)
    _seccomp(libc)


def _needed() -> list[Path]:
    """The files of Python, its packages, the system's libraries and Hedge, and what a person said about tables."""
    home = settings().home
    packages = [Path(folder) for folder in (*sys.path, *sysconfig.get_paths().values(), sys.base_prefix) if folder]
    own = [ROOT / name for name in OWN_FOLDERS]
    safe = [path for path in packages if path.resolve() != ROOT and not home.is_relative_to(path.resolve())]
    return [*map(Path, SYSTEM_FILES), *safe, *own, home / "table-mappings.json"]


# ---------------------------------------------------------------- Landlock


def _landlock(libc: ctypes.CDLL, reads: Iterable[Path], writes: Iterable[Path]) -> None:
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    known = sum(rights for since, rights in FILE_RIGHTS.items() if since <= version)
    content = struct.pack("=QQQ", known, TCP if version >= 4 else 0, OTHERS if version >= 6 else 0)
    ruleset = libc.syscall(CREATE_RULESET, content, ctypes.c_size_t(8 if version < 4 else 16 if version < 6 else 24), 0)
    if ruleset < 0:
        return
    for path in reads:
        _allow(libc, ruleset, path, READ_FILE | READ_FOLDER)
    for path in writes:
        _allow(libc, ruleset, path, WRITING & known)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    """Allow something below a folder, or with a file. A path that is not there needs no right."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not path.is_dir():
            rights &= READ_FILE
        libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0)
        os.close(place)


# ---------------------------------------------------------------- seccomp

LOAD, EQUAL, ABOVE, HAS_BITS, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06  # operations of BPF
CALL, MACHINE, ARGUMENT = 0, 4, 16  # where they are in what the filter looks at; an argument has 8 bytes
PASS, FAIL = 0x7FFF0000, 0x00050000
CLONE_THREAD = 0x10000
REFUSED_IOCTL = (0x5412, 0x541C, 0x8901, 0x8902)
"""Requests that type into a terminal (TIOCSTI and TIOCLINUX), or give another process a signal when something can be
read (FIOSETOWN and SIOCSPGRP)."""
REFUSED_FCNTL = (8, 10, 15)
"""The same by fcntl: F_SETOWN, F_SETSIG and F_SETOWN_EX."""


def _filter(column: int, machine: int, own: int) -> list[tuple[int, int, int, int]]:
    """The instructions of the filter, for the process with the number ``own``."""
    refuse, unknown, allow = (
        (RETURN, 0, 0, FAIL | errno.EPERM),
        (RETURN, 0, 0, FAIL | errno.ENOSYS),
        (RETURN, 0, 0, PASS),
    )

    def only(number: int, argument: int, test: int, values: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
        """Allow a call whose argument passes a test with one of the values."""
        tests = [line for value in values for line in ((test, 0, 1, value), allow)]
        return [(EQUAL, 0, len(tests) + 2, number), (LOAD, 0, 0, ARGUMENT + 8 * argument), *tests, refuse]

    program = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 1, 0, machine),
        refuse,
        (LOAD, 0, 0, CALL),
        (ABOVE, 0, 1, NEWEST),
        unknown,
    ]
    program += [(EQUAL, 0, 1, CLONE3[column]), unknown]  # glibc then uses clone, whose flags the filter can see
    program += only(CLONE[column], 0, HAS_BITS, (CLONE_THREAD,))
    for numbers in ONLY_ITSELF.values():
        program += only(numbers[column], 0, EQUAL, (own, 0) if numbers == ONLY_ITSELF["prlimit64"] else (own,))
    for number, requests in ((IOCTL[column], REFUSED_IOCTL), (FCNTL[column], REFUSED_FCNTL)):
        tests = [line for request in requests for line in ((EQUAL, 0, 1, request), refuse)]
        program += [(EQUAL, 0, len(tests) + 2, number), (LOAD, 0, 0, ARGUMENT + 8), *tests, allow]
    for pair in REFUSED.values():
        if pair[column] is not None:
            program += [(EQUAL, 0, 1, pair[column] or 0), refuse]
    return [*program, allow]


def _seccomp(libc: ctypes.CDLL) -> None:
    if platform.machine() not in MACHINES or sys.byteorder != "little":
        return
    instructions = _filter(*MACHINES[platform.machine()], os.getpid())
    content = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(instructions), ctypes.addressof(content)))
    libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)
