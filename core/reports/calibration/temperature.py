"""The rows and the range of the temperature slider, which changes the probabilities of calibration and test questions.

The browser computes the figures at each temperature (``app/components/calibration``); thresholds are computed again, so
the coverage guarantee is the same at every temperature and only the sets change.
"""

import numpy as np
import pyarrow as pa

from core.errors import InputError
from core.reports.evaluation import Evaluation
from core.reports.frames import sample_for_lab

HUNDRED = 100
COLDEST, HOTTEST = 20, 500
"""The slider's temperatures, in hundredths."""


def check_hundredths(temperature: int) -> int:
    """The temperature in hundredths. Raises :class:`InputError` if it is not one of the slider's."""
    if not COLDEST <= temperature <= HOTTEST:
        raise InputError(
            f"a temperature must be between {COLDEST / HUNDRED:.2f} and {HOTTEST / HUNDRED:.2f}, got "
            f"{temperature / HUNDRED:.2f}"
        )
    return temperature


def dial_rows(run: Evaluation) -> pa.Table:
    """The slider's data: calibration and test questions in file order, sampled as in the alpha lab.

    Columns ``l0 … l(k−1)``, log-probabilities in nats (−inf for a probability of 0, NaN for an option that a question
    lacks), ``y``, ``own`` (1 if the run calibrates), and for frequencies of picks ``frequency``, which is 1.
    """
    run = sample_for_lab(run)
    rows = np.sort(np.concatenate([run.calibration, run.test]))
    logs = run.lacking(run.log_probabilities)[rows]
    columns = {f"l{j}": np.ascontiguousarray(logs[:, j]) for j in range(run.k)}
    own = np.isin(rows, run.calibration).astype(np.uint8)
    frequency = {} if run.samples is None else {"frequency": np.ones(len(rows), np.uint8)}
    return pa.table(columns | {"y": run.labels[rows].astype(np.int32), "own": own} | frequency)
