"""What several files of tests need and only one process of a session makes: a folder that a slow program fills."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.files import file_lock

MADE_WITHIN_S = 280.0


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` of this session, filled by ``make`` in the first process that asks for it. The others wait.

    Nobody may change what lies in it.
    """
    of_process = factory.getbasetemp()
    # With pytest-xdist each process has a folder of its own within the session's.
    of_session = of_process.parent if "PYTEST_XDIST_WORKER" in os.environ else of_process
    folder, begun = of_session / name, of_session / f"{name}-begun"
    lock = file_lock.take(of_session / f"{name}.lock", wait_s=MADE_WITHIN_S)
    assert lock is not None, f"{folder} was not made within {MADE_WITHIN_S:g} s"
    with lock:
        if not folder.exists():
            assert not begun.exists(), f"{folder} could not be made; the first test that asked for it says why"
            begun.mkdir()
            make(begun)
            begun.rename(folder)
    return folder
