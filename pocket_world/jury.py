"""The juries that ship: pocket models on the free answers of the chat-tuned one and of the largest one.

Each is made by the path that anyone takes (:mod:`core.jury.pipeline.jury_spec`); ``python -m core jury make`` with
the same words repeats it.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.runs import store
from core.runs.execution import jury_run
from core.runs.execution.execute import execute
from core.runs.store import Progress
from core.settings import ASSETS
from pocket_world.jurors import JURORS
from pocket_world.record import empty_home

LOG = logging.getLogger("hedge.pocket")
FOLDER = ASSETS / "juries"
SPECS = {
    "pocket-3m-instruct": JurySpec(base="pocket-3m-instruct", jurors=("pocket-8m",) * 3),
    "pocket-8m": JurySpec(base="pocket-8m", jurors=tuple(JURORS)),
}
"""By the model that answers: pocket-3m-instruct's jurors are tuned on the way, pocket-8m's ship."""


def make(spec: JurySpec, folder: Path = FOLDER) -> str:
    """Make a jury anew into ``folder``, in place of an older one of the same answers, and return its id."""

    def say(progress: Progress) -> None:
        LOG.info("%s: %d of %d", progress.stage, progress.done, progress.total)

    with empty_home():
        run_id = execute(jury_run.spec_of(jury_spec.read_spec(jury_spec.create(spec))), on_progress=say)
        jury_id = str(store.read_record(run_id).provenance["jury"])
        for older in folder.glob(f"{jury_id.rpartition('-')[0]}-*"):
            shutil.rmtree(older)
        shutil.copytree(jury_store.folder_of(jury_id), folder / jury_id)
    return jury_id
