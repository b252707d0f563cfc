"""The process of one row: makes a check and sends its parent a :class:`CheckResult` without the row's names."""

import importlib
import traceback
from multiprocessing.connection import Connection

from core.checks.outcome import CheckOutcome, CheckResult, NotHereError, Place, State
from core.errors import HedgeError
from core.processes.parent import Parent


def main(connection: Connection, function: str, device: str, dtype: str) -> None:
    """Make the check whose function ``module:name`` names."""
    parent = Parent(connection)
    module, _, name = function.partition(":")
    state: State = "failed"
    try:
        outcome: CheckOutcome = getattr(importlib.import_module(module), name)(Place(device, dtype))
        state = "passed" if outcome.passed else "failed"
    except NotHereError as error:
        state, outcome = "not here", CheckOutcome(True, str(error))
    except HedgeError as error:
        outcome = CheckOutcome(False, f"{str(error)[:1].upper()}{str(error)[1:]}.")
    except Exception as error:
        traceback.print_exc()
        first = (str(error).strip().splitlines() or [""])[0]
        outcome = CheckOutcome(False, f"It stopped with {type(error).__name__}: {first[:300]}.")
    parent.send(CheckResult("", "", state, outcome.says, dict(outcome.figures)))
