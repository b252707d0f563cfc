"""Hedge in a notebook: prediction sets, a report's figures, and the Alpha lab, without a server.

``hedge.sets``, ``hedge.report`` and ``hedge.lab`` take probabilities and labels, or a run's id where it has one.
``docs/text/notebook.md`` shows each of them. :mod:`hedge.inspect_scorer` scores evaluations of Inspect; nothing else
imports Inspect. The figures are those of ``core``, and nothing is computed here.
"""

from __future__ import annotations

from core.errors import InputError
from hedge.figures import RunFigures, SetFigures, report, sets
from hedge.widget import lab

__all__ = ["InputError", "RunFigures", "SetFigures", "lab", "report", "sets"]
