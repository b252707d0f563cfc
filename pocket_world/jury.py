"""The juries that ship: pocket models on the free answers of the smallest and of the largest one.

Each is made by the path that anyone takes (:mod:`core.runs.juries.jury_pipeline`); ``python -m core jury make`` with
the same words repeats it.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from core.runs.juries import jury_pipeline, jury_stages, jury_store
from core.runs.juries.jury_pipeline import PathSpec, PathState
from core.settings import ASSETS
from pocket_world.jurors import JURORS
from pocket_world.record import empty_home

LOG = logging.getLogger("hedge.pocket")
FOLDER = ASSETS / "juries"
SPECS = {
    "pocket-1m": PathSpec(base="pocket-1m", jurors=("pocket-3m", "pocket-8m", "pocket-3m-instruct")),
    "pocket-8m": PathSpec(base="pocket-8m", jurors=tuple(JURORS)),
}
"""By the model that answers: pocket-1m's jurors are tuned on the way, pocket-8m's ship."""


def make(spec: PathSpec, folder: Path = FOLDER) -> str:
    """Make a jury anew into ``folder``, in place of an older one of the same answers, and return its id."""

    def say(state: PathState) -> None:
        LOG.info("%s %s: %d of %d", state.stage, state.what, state.done, state.total)

    with empty_home():
        jury_id = jury_stages.perform(jury_pipeline.create(spec), on_state=say)
        for older in folder.glob(f"{jury_id.rpartition('-')[0]}-*"):
            shutil.rmtree(older)
        shutil.copytree(jury_store.folder_of(jury_id), folder / jury_id)
    return jury_id
