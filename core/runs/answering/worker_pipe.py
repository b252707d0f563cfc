"""The desk's line to its answerer: a process of its own, spoken to in lines of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from core.runs.agent import liveness
from core.runs.agent.exit_reasons import in_words
from core.runs.agent.worker_process import environment, open_log
from core.runs.devices.slots import Slot
from core.settings import ROOT

DIES_WITHIN_S = 10.0

Hear = Callable[["Line", dict[str, Any] | None], None]


class Line:
    """Starts an answerer and hears it in a thread: ``hear(line, news)`` for each line, and with None at its end.

    The answerer sees the devices of ``slot``. Raises :class:`OSError` where no process can be started.
    """

    def __init__(self, hear: Hear, slot: Slot) -> None:
        with open_log(f"answerer-{liveness.host()}.log") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "core.runs.answering.answerer"],
                cwd=ROOT,
                env=environment() | {"CUDA_VISIBLE_DEVICES": slot.devices},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._hear = hear
        threading.Thread(target=self._listen, daemon=True, name="hedge-line").start()

    def say(self, message: dict[str, Any]) -> None:
        """Hand the answerer a question, without waiting until it reads; of one that is dead :meth:`_listen` hears."""

        def write() -> None:
            with suppress(OSError, ValueError):
                self._stdin.write(json.dumps(message).encode() + b"\n")
                self._stdin.flush()

        threading.Thread(target=write, daemon=True, name="hedge-say").start()

    def end(self) -> None:
        """Kill the answerer."""
        self._process.kill()

    def death(self) -> str:
        """How it died, as the second half of "the answerer was …"."""
        return in_words(self._process.wait(DIES_WITHIN_S))

    def _listen(self) -> None:
        with self._stdout as said:
            for text in said:
                with suppress(ValueError):  # a line cut short by death
                    self._hear(self, json.loads(text))
        self._process.wait()
        with suppress(OSError):
            self._stdin.close()
        self._hear(self, None)


def free_slot(found: Sequence[Slot]) -> Slot:
    """The first of a host's slots that no run occupies, or the very first: answers then share it with the run."""
    return next((slot for slot in found if not liveness.busy_with(liveness.executor_id(slot.name))), found[0])
