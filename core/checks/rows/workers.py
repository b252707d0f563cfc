"""Two workers of this host's agent execute runs on two devices at the same time."""

import time
from collections.abc import Sequence

from core.checks.outcome import CheckOutcome, Figure, NotHereError, Place
from core.models.devices.slots import CPU, slots
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.spec import RunSpec

MODEL = "pocket-1m"
SAMPLES = 400
WITHIN_S = 150.0
LOOK_EVERY_S = 0.02


def two_workers(place: Place, *, model: str = MODEL) -> CheckOutcome:
    """Two runs in the queue of an agent of this check's own, one question at a time so that they overlap."""
    if len([slot for slot in slots() if slot.name != CPU]) < 2:
        raise NotHereError("There are not two GPUs here.")
    specs = [RunSpec(model=model, task="qa", samples=SAMPLES, seed=seed, batch_size=1) for seed in (0, 1)]
    try:
        ids = [engine.submit(spec) for spec in specs]
        together, workers = _followed(ids)
    finally:
        liveness.end_agent()
    states = [store.read_record(run_id).state for run_id in ids]
    reasons = [store.read_record(run_id).message for run_id in ids]
    return judged(states, reasons, together, workers)


def judged(states: Sequence[str], reasons: Sequence[str], together: int, workers: Sequence[str]) -> CheckOutcome:
    """The verdict: the runs' states at the end, why they failed, how often both were seen running at once, and on
    which workers."""
    figures: dict[str, Figure] = {"times both were seen running": together, "workers": ", ".join(workers)}
    if any(state != "done" for state in states):
        why = "; ".join(filter(None, reasons)) or f"after {WITHIN_S:g} s"
        return CheckOutcome(False, f"The runs are {' and '.join(states)}: {why}.", figures)
    if len(workers) < 2 or not together:
        return CheckOutcome(False, "Both runs ended well, but one after the other.", figures)
    return CheckOutcome(True, f"Two runs were running at once, on {' and '.join(workers)}.", figures)


def _followed(run_ids: Sequence[str]) -> tuple[int, list[str]]:
    """Wait until both runs have ended. Returns how often both were seen scoring at once, and the workers seen."""
    together, seen = 0, set()
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end and any(store.read_record(run_id).state not in store.ENDED for run_id in run_ids):
        progress = [store.read_progress(run_id) for run_id in run_ids]
        at_work = {run.worker for run in progress if run and run.stage == "scoring"}
        seen |= at_work
        together += len(at_work) > 1
        time.sleep(LOOK_EVERY_S)
    return together, sorted(seen)
