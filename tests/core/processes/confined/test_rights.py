"""A process with limits can't reach the network, other processes, other files or keys, even if a file takes it over.

Each attack is tried in a real child. Doctor names the rights that the kernel of this machine does not offer.
"""

import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from core.processes.confined import Channel, ForkServer, Limits
from core.processes.confined.check import remaining_rights
from core.processes.confined.rights import FILE_RIGHTS, MACHINES, _filter
from core.processes.confined.syscalls import CLONE, CLONE3, IOCTL, ONLY_ITSELF, REFUSED

LIMITS = Limits(memory=300 << 20, seconds=5.0)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are parts of Linux")


@pytest.fixture(scope="module")
def fork_server() -> ForkServer:
    return ForkServer("numpy")


def attempt(channel: Channel, name: str, *arguments: str) -> str:
    """What an attack ends in: its error's name, or what it reached."""
    try:
        return f"reached {ATTACKS[name](*arguments)!r}"
    except BaseException as error:
        return type(error).__name__


def _system(number: int, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _link(folder: str) -> None:
    os.symlink("/etc/passwd", f"{folder}/link")


def _move(folder: str, outside: str) -> None:
    Path(folder, "moved").write_bytes(b"x")
    os.rename(f"{folder}/moved", outside)


ATTACKS = {
    "tcp": lambda *_: socket.create_connection(("127.0.0.1", 9)),
    "udp": lambda *_: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "ipv6": lambda *_: socket.socket(socket.AF_INET6),
    "unix": lambda *_: socket.socket(socket.AF_UNIX),
    "netlink": lambda *_: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "pair": lambda *_: socket.socketpair(),
    "shell": lambda *_: subprocess.run(["/bin/sh", "-c", "id"], check=True),
    "spawn": lambda *_: os.posix_spawn("/bin/sh", ["sh", "-c", "id"], {}),
    "fork": lambda *_: os.fork(),
    "exec": lambda *_: os.execv("/bin/true", ["true"]),
    "kill": lambda *_: os.kill(os.getppid(), signal.SIGKILL),
    "kill all": lambda *_: os.kill(-1, signal.SIGKILL),
    "kill the group": lambda *_: os.killpg(0, signal.SIGKILL),
    "a signal when something can be read": lambda *_: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid()),
    "the signal SIGKILL then": lambda *_: fcntl.fcntl(0, 10, signal.SIGKILL),
    "the same by ioctl": lambda *_: fcntl.ioctl(0, 0x8901, os.getppid().to_bytes(4, "little")),
    "memory beside the limit": lambda *_: os.memfd_create("beside"),
    "news of a folder": lambda *_: _system(REFUSED["inotify_init1"][COLUMN] or 0, 0),
    "a huge file": lambda outside, own: _huge(own),
    "priority": lambda *_: os.setpriority(os.PRIO_USER, 0, 19),
    "trace": lambda *_: _system(REFUSED["ptrace"][COLUMN] or 0, 16, os.getppid(), 0, 0),
    "namespace": lambda *_: _system(REFUSED["unshare"][COLUMN] or 0, 0x10000000),
    "ring": lambda *_: _system(REFUSED["io_uring_setup"][COLUMN] or 0, 1, None),
    "clone3": lambda *_: _system(CLONE3[COLUMN], None, ctypes.c_size_t(0)),
    "a call of the future": lambda *_: _system(1000),
    "a call of another machine": lambda *_: _system(0x40000000 | 41, 2, 1, 0),
    "read": lambda outside, *_: Path(outside, "secret").read_text(),
    "list": lambda outside, *_: os.listdir(outside),
    "write": lambda outside, *_: Path(outside, "written").write_text("x"),
    "cut": lambda outside, *_: os.truncate(f"{outside}/secret", 0),
    "delete": lambda outside, *_: os.unlink(f"{outside}/secret"),
    "mode": lambda outside, *_: os.chmod(f"{outside}/secret", 0o777),
    "times": lambda outside, *_: os.utime(f"{outside}/secret", (0, 0)),
    "link": lambda outside, own: _link(own),
    "hard link": lambda outside, own: os.link(f"{outside}/secret", f"{own}/linked"),
    "move": lambda outside, own: _move(own, f"{outside}/moved"),
    "pipe": lambda outside, own: os.mkfifo(f"{own}/pipe"),
    "password file": lambda *_: Path("/etc/passwd").read_bytes(),
    "runs of others": lambda outside, *_: os.listdir(os.environ["HEDGE_HOME"]),
    "environment of the caller": lambda *_: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "a way round": lambda outside, *_: Path(f"/proc/self/root{outside}/secret").read_text(),
}
COLUMN = MACHINES.get(os.uname().machine, (0, 0))[0]


def _huge(own: str) -> None:
    with Path(own, "huge").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 31)


@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_process_with_limits_must_not_do(fork_server, home, tmp_path, name):
    outside, own = tmp_path / "outside", tmp_path / "own"
    for folder in (outside, own, home):
        folder.mkdir(exist_ok=True)
    (outside / "secret").write_text("the key")
    with fork_server.open(attempt, name, str(outside), str(own), limits=LIMITS, writes=[own]) as session:
        _, outcome = session.receive()
    assert outcome in ("PermissionError", "OSError"), outcome
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "the key"


def test_no_key_is_in_its_environment_nor_in_that_of_the_fork_server(monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "HEDGE_DATABASE_URL", "PGPASSWORD"):
        monkeypatch.setenv(name, "hunter2")
    fork_server = ForkServer("numpy")
    with fork_server.open(environment, limits=LIMITS) as session:
        _, environments = session.receive()
    assert "hunter2" not in environments
    assert "hunter2" not in repr(psutil.Process(fork_server.warm().pid).environ())


def environment(channel: Channel) -> str:
    return repr(dict(os.environ)) + Path("/proc/self/environ").read_text()


def test_it_reads_and_writes_what_it_is_given(fork_server, tmp_path):
    given, own = tmp_path / "given.txt", tmp_path / "own"
    given.write_text("content")
    own.mkdir()
    with fork_server.open(copy, str(given), str(own), limits=LIMITS, reads=[given], writes=[own]) as session:
        assert session.receive() == ("value", "content")
    assert (own / "folder" / "copy").read_text() == "content"
    assert not (own / "deleted").exists()


def copy(channel: Channel, given: str, own: str) -> str:
    Path(own, "folder").mkdir()
    Path(own, "deleted").write_text("x")
    Path(own, "deleted").rename(Path(own, "folder", "deleted"))
    Path(own, "folder", "deleted").unlink()
    Path(own, "folder", "copy").write_text(Path(given).read_text())
    return Path(own, "folder", "copy").read_text()


def test_threads_start(fork_server):
    with fork_server.open(threads, limits=LIMITS) as session:
        assert session.receive() == ("value", 6)


def threads(channel: Channel) -> int:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        return sum(pool.map(int, "123"))


def test_what_is_tried_works_where_nothing_is_given_up(tmp_path):
    """The same attempts in a process with all rights: so a refusal is one by the system."""
    (tmp_path / "secret").write_text("the key")
    command = "import sys; from pathlib import Path; from core.processes.confined.check import possible; "
    command += "print(*possible(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])), sep='\\n')"
    arguments = [str(tmp_path / "secret"), str(tmp_path), str(os.getpid())]
    ran = subprocess.run([sys.executable, "-c", command, *arguments], capture_output=True, text=True, check=True)
    assert len(ran.stdout.splitlines()) == 6, ran.stdout


@pytest.mark.quick
@pytest.mark.parametrize("machine", MACHINES)
def test_each_jump_of_the_filter_stays_within_it(machine):
    program = _filter(*MACHINES[machine], 1234)
    assert len(program) < 4096
    for place, (code, yes, no, _) in enumerate(program):
        assert max(yes, no) < 256
        if code & 7 == 5:  # a jump
            assert place + 1 + max(yes, no) < len(program)
    assert program[-1][0] == 0x06


@pytest.mark.quick
def test_no_two_calls_have_one_number():
    for column in (0, 1):
        numbers = [pair[column] for pair in (*REFUSED.values(), *ONLY_ITSELF.values(), CLONE, CLONE3, IOCTL)]
        known = [number for number in numbers if number is not None]
        assert len(set(known)) == len(known)


@pytest.mark.quick
def test_each_right_on_files_is_known_once():
    assert sum(FILE_RIGHTS.values()) == (1 << 16) - 1


def test_nothing_is_left_on_this_machine():
    assert remaining_rights() == ()
