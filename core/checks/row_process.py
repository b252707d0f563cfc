"""The process of one row: ``python -m core.checks.row_process FUNCTION DEVICE DTYPE FOLDER``.

It calls a check's function, which ``module:name`` names, and writes ``result.json`` into the folder. When the process
that started it dies, its standard input closes, and it ends itself and everything that it started.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from core.checks.outcome import CheckOutcome, NotHereError, Place
from core.errors import HedgeError
from core.processes.oom_score import raise_oom_score


def main(function: str, device: str, dtype: str, folder: str) -> None:
    """Make the check and write down what it came to."""
    threading.Thread(target=_end_with_parent, daemon=True, name="hedge-orphan-guard").start()
    raise_oom_score()
    module, _, name = function.partition(":")
    try:
        check: Callable[[Place], CheckOutcome] = getattr(importlib.import_module(module), name)
        made = check(Place(device, dtype))
        state = "passed" if made.passed else "failed"
    except NotHereError as error:
        state, made = "not here", CheckOutcome(True, str(error))
    except HedgeError as error:
        state, made = "failed", CheckOutcome(False, f"{str(error)[:1].upper()}{str(error)[1:]}.")
    except Exception as error:
        traceback.print_exc()
        first = (str(error).strip().splitlines() or [""])[0]
        state, made = "failed", CheckOutcome(False, f"It stopped with {type(error).__name__}: {first[:300]}.")
    values = {"state": state, "says": made.says, "figures": dict(made.figures)}
    path = Path(folder) / "result.json"
    path.with_suffix(".part").write_text(json.dumps(values), encoding="utf-8")
    path.with_suffix(".part").replace(path)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    if os.getpgid(0) == os.getpid():  # else this process was started by hand, and the group is a person's shell
        os.killpg(os.getpgid(0), signal.SIGKILL)
    os._exit(3)


if __name__ == "__main__":
    main(*sys.argv[1:])
