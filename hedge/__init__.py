"""Hedge in a notebook: prediction sets, a report's figures, and the Alpha lab, without a server.

``hedge.sets``, ``hedge.report`` and ``hedge.lab`` take probabilities and labels, or a run's id where it has one.
``docs/text/notebook.md`` shows each of them. :mod:`hedge.inspect_scorer` scores evaluations of Inspect; nothing else
imports Inspect. The figures are those of ``core``, and nothing is computed here. They are imported when they are first
used, because the program ``hedge`` (:mod:`hedge.__main__`) needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.errors import InputError
    from hedge.figures import ByAlpha, RunFigures, SetFigures, report, sets
    from hedge.widget import lab

__all__ = ["ByAlpha", "InputError", "RunFigures", "SetFigures", "lab", "report", "sets"]

MODULES = {
    "ByAlpha": "hedge.figures",
    "InputError": "core.errors",
    "RunFigures": "hedge.figures",
    "SetFigures": "hedge.figures",
    "lab": "hedge.widget",
    "report": "hedge.figures",
    "sets": "hedge.figures",
}
"""The module of each name in ``__all__``."""


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module 'hedge' has no attribute {name!r}")
    from hedge import own_modules

    own_modules.put_last()
    return getattr(importlib.import_module(MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
