"""A run that is cancelled, and one that is killed: both end at once, free their memory and can be continued."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import psutil

from core.checks.outcome import CheckOutcome, Figure, Place
from core.models.devices import nvml
from core.runs import store
from core.runs.agent.worker_process import FREED_BUT_GIB, FREED_WITHIN_S
from core.settings import ROOT, settings

Value = TypeVar("Value")

RUN = ("run", "--model", "pocket-1m", "--task", "qa", "--samples", "300", "--batch-size", "1")
"""One question at a time, so that even a fast device does not finish before it is stopped."""
BEGINS_WITHIN_S = 300.0
ENDS_WITHIN_S = 20.0
LOOK_EVERY_S = 0.02
GIB = 2**30


def cancel(place: Place) -> CheckOutcome:
    """SIGTERM, which ``kill``, Slurm and a service manager send."""
    return _stopped(signal.SIGTERM, state="cancelled")


def kill(place: Place) -> CheckOutcome:
    """SIGKILL, as from ``kill -9`` or the kernel: nobody writes down how the run ended."""
    return _stopped(signal.SIGKILL, state="running")


def _stopped(number: signal.Signals, *, state: str) -> CheckOutcome:
    used_before = _gpu_gib()
    process = _start()
    run_id = _awaited(lambda: _scoring() or (None if process.poll() is None else ""), within_s=BEGINS_WITHIN_S)
    if not run_id:
        process.kill()
        printed = process.communicate()[0].decode(errors="replace").strip().splitlines() or ["it says nothing"]
        when = f"within {BEGINS_WITHIN_S:g} s" if run_id is None else "and ended"
        return CheckOutcome(False, f"The run did not begin to score {when}: {printed[-1]}.")
    held = psutil.Process(process.pid).memory_info().rss / GIB
    begun = time.monotonic()
    process.send_signal(number)
    ended = _awaited(lambda: True if process.poll() is not None else None, within_s=ENDS_WITHIN_S)
    took = time.monotonic() - begun
    process.kill()
    process.communicate()
    left = None if used_before is None else _gpu_left(used_before)
    now = store.read_record(run_id).state
    finished = _continued(run_id)
    return judged(ended=bool(ended), took=took, held=held, left=left, state=now, wanted=state, finished=finished)


def judged(
    *, ended: bool, took: float, held: float, left: float | None, state: str, wanted: str, finished: str
) -> CheckOutcome:
    """The verdict: whether the process ``ended``, after ``took`` seconds; the GiB that it ``held``, and those that are
    still ``left`` on the GPU (None: it used none); the run's ``state`` and that ``wanted``; and what is wrong with the
    run once it was continued, or nothing."""
    figures: dict[str, Figure] = {"ended after, s": took, "memory of the host that it held, GiB": held}
    figures |= {} if left is None else {"left on the GPU, GiB": left}
    if not ended:
        return CheckOutcome(False, f"The run was still there after {ENDS_WITHIN_S:g} s.", figures)
    if left is not None and left > FREED_BUT_GIB:
        return CheckOutcome(False, f"{left:.1f} GiB of the GPU were not free again.", figures)
    if state != wanted:
        return CheckOutcome(False, f"The run's state is {state} and not {wanted}.", figures)
    if finished:
        return CheckOutcome(False, finished, figures)
    gpu = "" if left is None else ", the GPU's memory was free again"
    return CheckOutcome(
        True, f"It ended after {took:.1f} s{gpu}, and the same command finished what was missing.", figures
    )


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "core", *RUN], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def _scoring() -> str | None:
    """The run's id once it scores and has not ended."""
    for path in settings().runs.glob("*/progress.json"):
        progress = store.read_progress(path.parent.name)
        if progress and 0 < progress.done < progress.total:
            return path.parent.name
    return None


def _continued(run_id: str) -> str:
    """Run the same command again, to its end. Returns what is wrong with the run then; empty if all is well."""
    done = subprocess.run([sys.executable, "-m", "core", *RUN], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"The same command failed: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}"
    record = store.read_record(run_id)
    roles = store.read_questions(run_id, columns=["role"])["role"].to_pylist()
    expected = sum(role != "demonstration" for role in roles)
    scored = store.read_logits(run_id)
    if record.state != "done" or len(set(scored.ids)) != expected or not np.isfinite(scored.logits).all():
        return f"The continued run is {record.state} and has scores of {len(set(scored.ids))} of {expected} questions."
    return ""


def _gpu_gib() -> float | None:
    """What is used of the GPU of this process, in GiB; None if it has none."""
    seen = nvml.reading(os.environ.get("CUDA_VISIBLE_DEVICES", ""))
    return seen.used_gib if seen else None


def _gpu_left(before: float) -> float:
    """What is used beyond ``before`` once that is little, or when the wait was long enough."""
    _awaited(lambda: True if (_gpu_gib() or 0.0) - before <= FREED_BUT_GIB else None, within_s=FREED_WITHIN_S)
    return max((_gpu_gib() or 0.0) - before, 0.0)


def _awaited(ask: Callable[[], Value | None], *, within_s: float) -> Value | None:
    """What ``ask`` gives as soon as that is something; None if it stays nothing for this long."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if (answer := ask()) is not None:
            return answer
        time.sleep(LOOK_EVERY_S)
    return None
