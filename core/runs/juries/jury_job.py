"""A jury path in the background: ``python -m core.runs.juries.jury_job PATH``, which outlives whoever started it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from core.errors import HedgeError
from core.runs.agent.file_lock import is_held
from core.runs.agent.worker_process import start_detached
from core.runs.juries import jury_pipeline, jury_stages
from core.runs.juries.jury_pipeline import PathSpec

STARTS_WITHIN_S = 15.0
NICENESS = 19


def launch(spec: PathSpec) -> str:
    """Start a path, or go on with it, and return its id; one that runs or is done is left as it is.

    Raises :class:`~core.errors.InputError`, and starts nothing, where its models or questions are not there.
    """
    path_id = jury_pipeline.create(spec)
    resume(path_id)
    return path_id


def resume(path_id: str) -> None:
    """Go on with a path; :class:`~core.errors.RunError` where its process does not come to life."""
    lock = jury_pipeline.folder_of(path_id) / "lock"
    if is_held(lock) or jury_pipeline.read_state(path_id).state == "done":
        return

    def up() -> bool:
        return is_held(lock) or jury_pipeline.read_state(path_id).state in ("done", "failed", "cancelled")

    (jury_pipeline.folder_of(path_id) / "state.json").unlink(missing_ok=True)
    what = f"jury path {path_id} could not be started"
    start_detached(("core.runs.juries.jury_job", path_id), log="jury.log", up=up, within_s=STARTS_WITHIN_S, what=what)


def main(arguments: Sequence[str]) -> int:
    """Do the path."""
    os.nice(NICENESS)
    try:
        jury_stages.perform(arguments[0])
    except HedgeError as error:
        print(error, file=sys.stderr, flush=True)
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
