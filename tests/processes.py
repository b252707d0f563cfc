"""The processes that live in a home: agents, their workers and those of own questions, no matter who started them."""

import time
from contextlib import suppress
from pathlib import Path

import psutil

from core.runs.answering import client
from core.runs.answering.answer_queue import AnswerQueue

ENDS_WITHIN_S = 40.0


def living(home: Path, modules: str | tuple[str, ...] = ("core.runs.", "core.runs.answering.")) -> list[psutil.Process]:
    """The running processes of a home whose command line names one of ``modules`` or a module below it."""
    matching = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            ours = process.environ().get("HEDGE_HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE
            if ours and any(word.startswith(modules) for word in process.cmdline()):
                matching.append(process)
    return matching


def oom_score(process: psutil.Process) -> int:
    """The out-of-memory score adjustment of a process: the kernel stops processes with higher ones first."""
    return int(Path(f"/proc/{process.pid}/oom_score_adj").read_text(encoding="ascii"))


def suspended(agent: psutil.Process) -> list[psutil.Process]:
    """Suspend an agent, then the processes below it, so that it starts no other meanwhile; all of them."""
    stopped: list[psutil.Process] = []
    while running := [each for each in (agent, *agent.children(recursive=True)) if each not in stopped]:
        for process in running:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                while process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
                    time.sleep(0.001)
        stopped += running
    return stopped


def kill_together(agent: psutil.Process) -> None:
    """Kill an agent and the processes below it as a power cut would: none of them sees another's death."""
    for process in suspended(agent):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def end_all(home: Path) -> None:
    """Kill what lives in a home, until nothing comes after: what is killed may just have been starting another. This
    process forgets its questions."""
    client.QUEUE.waiting.clear()
    client.QUEUE = AnswerQueue()
    end = time.monotonic() + ENDS_WITHIN_S
    quiet = 0
    while quiet < 3:
        assert time.monotonic() < end, f"processes of {home} still live after {ENDS_WITHIN_S:g} s"
        left = living(home)
        quiet = 0 if left else quiet + 1
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.05)


def gone(pid: int) -> bool:
    """Whether a process ends: it is gone, or dead and not yet reaped. It was killed and may take a moment."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        end = time.monotonic() + ENDS_WITHIN_S
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
    return True
