"""A token view of a person's own text, computed by a separate process, because this one never loads torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import streamlit as st

from core.errors import InputError
from core.settings import ROOT, settings

WITHIN_S = 180


# 5 kB per entry for a short text, 2 MB for the longest. A view needs one.
@st.cache_resource(max_entries=64, show_spinner="Asking the model …")
def token_view(model: str, text: str) -> dict[str, Any]:
    """A person's own text, token by token; see :func:`ask`."""
    return ask(model, text)


def ask(model: str, text: str) -> dict[str, Any]:
    """The output of ``python -m core tokens view --json``. Raises :class:`InputError` with the command's sentence if it
    refuses.
    """
    command = [sys.executable, "-m", "core", "tokens", "view", f"--model={model}", f"--text={text}", "--json"]
    environment = {**os.environ, "HEDGE_HOME": str(settings().home)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=WITHIN_S
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"the model did not answer within {WITHIN_S} s; try a smaller model") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("hedge: ")] or ["no reason was given"]
        raise InputError(said[-1].removeprefix("hedge: "))
    values: dict[str, Any] = json.loads(done.stdout)
    return values
