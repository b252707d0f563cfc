"""The calibration of every score by a run, and the run's caveats, kept on disk (:mod:`core.reports.kept`).

A run of a million questions takes seconds to score under every score; its sorted scores are read in a fraction of one.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from core.conformal.scores import Parameters, offered_scores
from core.records import OPTION_NAMES
from core.reports import evaluation, kept, one_question
from core.reports.caveats import of_run
from core.reports.one_question import CalibratedRun, ScoreCalibration
from core.runs import store
from core.runs.caveats import Caveat, Caveats

KIND = "run_calibrations"
CAVEATS = "run_caveats"


def calibrated_run(run_id: str) -> CalibratedRun:
    """A finished run with the calibration of every score (:func:`core.reports.one_question.bench`).

    Raises :class:`~core.errors.InputError` for any other run, and for one without calibration questions.
    """
    state = kept.state_of(run_id)
    if stored := kept.read(KIND, run_id, state):
        return _unpacked(run_id, *stored)
    computed = one_question.bench(evaluation.load(run_id))
    if kept.state_of(run_id) == state:
        values = {name: [asdict(own.parameters), own.note, own.tuned] for name, own in computed.scores.items()}
        letters = list(computed.letters) if computed.classes else None
        about = {"k": computed.k, "letters": letters, "places": computed.places, "first": computed.first}
        arrays = {name: own.scores for name, own in computed.scores.items()}
        kept.write(KIND, run_id, state, about | {"scores": values}, arrays)
    return computed


def _unpacked(run_id: str, values: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> CalibratedRun:
    record, letters = store.read_record(run_id), values["letters"]
    return CalibratedRun(
        run_id=record.run_id,
        spec=record.spec,
        k=values["k"],
        letters=OPTION_NAMES[: values["k"]] if letters is None else tuple(letters),
        classes=letters is not None,
        places=values["places"],
        scores={
            name: ScoreCalibration(name, arrays[name], Parameters(**parameters), note, tuned)
            for name in offered_scores(ordered=record.ordered)
            for parameters, note, tuned in [values["scores"][name]]
        },
        first=values["first"],
    )


def caveats(run_id: str, *, with_bounds: bool = False) -> Caveats:
    """What a reader of a finished run's figures must know (:func:`core.reports.caveats.of_run`).

    Raises :class:`~core.errors.InputError` for any other run.
    """
    state = kept.state_of(run_id)
    if stored := kept.read(CAVEATS, run_id, state):
        return tuple(Caveat(*caveat) for caveat in stored[0]["caveats"])
    computed = of_run(evaluation.load(run_id, with_bounds=with_bounds))
    if kept.state_of(run_id) == state:
        values = {"caveats": [[caveat.kind, caveat.sentence, caveat.way_out] for caveat in computed]}
        kept.write(CAVEATS, run_id, state, values, {})
    return computed
