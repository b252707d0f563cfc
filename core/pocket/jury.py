"""The jury that ships: three pocket jurors on the free answers of the largest pocket model.

It is made by the path that anyone takes (:mod:`core.runs.jury_path`); ``python -m core jury make`` with the same words
repeats it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from core.pocket.jurors import JURORS
from core.pocket.record import empty_home
from core.runs import juries, jury_path
from core.runs.jury_path import PathSpec
from core.settings import ASSETS

SPEC = PathSpec(base="pocket-8m", jurors=tuple(JURORS))
FOLDER = ASSETS / "juries"


def make(folder: Path = FOLDER) -> str:
    """Make the jury anew into ``folder``, in place of one of the same base and jurors, and return its id."""
    with empty_home():
        path_id = jury_path.create(SPEC)
        jury_id = jury_path.perform(path_id)
        for older in folder.glob(f"{path_id.rpartition('-')[0]}-*"):
            shutil.rmtree(older)
        shutil.copytree(juries.folder_of(jury_id), folder / jury_id)
    return jury_id
