"""A run as one table with one row per scored question, which holds everything its figures are computed from.

Read back by :mod:`core.exchange.table`, it gives the same report to the last digit: probabilities that were given and
logits travel as they are, and the columns of the run say what it was. ``caveats`` holds those that its questions do not
show; a run without them lacks the column.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from core.conformal.probabilities import option_shares
from core.errors import InputError
from core.exchange.table_columns import ASKED, BANK, PRECISION, RUN_COLUMNS
from core.questions import bank_names
from core.questions.option_names import OF_CLASSES
from core.records import OPTION_NAMES
from core.runs import store
from core.runs.caveats import COLUMN, of_run_record


def run_table(run_id: str) -> pa.Table:
    """``run`` and the columns that name it, ``bank``, ``id``, ``split``, ``group``, ``context``, ``question``,
    ``option_A …``, ``label`` (its letter), ``letter_mass`` and ``logit_A …``; what a question hasn't got is missing.
    Where rows repeat a question, ``cluster`` numbers the question of each row. ``ordered`` says where options are
    ordered levels, if any are.

    A run whose source gave probabilities has ``p_A …`` instead. One whose source gave logits in double precision has
    the column ``precision``. One whose probabilities are frequencies has ``samples``, the number of picks of each
    question: p times it is a count.
    """
    record = store.read_record(run_id)
    if record.bounded:
        raise InputError(
            f"{record.bounded_because}, so only an upper bound is known, and a table would show it as a figure; take "
            "the run's folder instead"
        )
    scored = store.read_logits(run_id)
    questions = store.read_questions(run_id)
    places = {name: i for i, name in enumerate(questions["id"].to_pylist())}
    rows = questions.take(pa.array([places[name] for name in scored.ids]))
    n, k = scored.logits.shape
    options = rows["options"].to_pylist()
    counts = np.array([len(row) for row in options])
    spec = record.spec.to_json()
    columns: dict[str, pa.Array] = {"run": pa.repeat(pa.scalar(record.run_id), n)}
    if record.provenance.get(OF_CLASSES):
        spec |= dict.fromkeys(ASKED, "")
    columns |= {name: pa.repeat(pa.scalar(spec[name]), n) for name in RUN_COLUMNS}
    columns[BANK] = pa.repeat(pa.scalar(bank_names.bank_name(record.spec, record.provenance)), n)
    if caveats := [caveat for caveat in of_run_record(record) if caveat.kind != "frequencies"]:  # samples say it
        columns[COLUMN] = pa.repeat(pa.scalar(" ".join(caveat.text for caveat in caveats)), n)
    columns |= {"id": rows["id"], "split": rows["role"]}
    columns |= {name: rows[name] for name in ("cluster", "ordered") if name in rows.column_names}
    columns |= {name: rows[name] for name in ("group", "context", "question")}
    columns |= {
        f"option_{OPTION_NAMES[j]}": pa.array([row[j] if j < len(row) else None for row in options], pa.string())
        for j in range(k)
    }
    columns["label"] = pa.array([OPTION_NAMES[label] for label in rows["label"].to_pylist()])
    columns["letter_mass"] = pa.array(scored.letter_mass, mask=np.isnan(scored.letter_mass))
    if scored.samples is not None:
        columns["samples"] = pa.array(scored.samples)
    name, figures = ("logit", scored.logits) if scored.probabilities is None else ("p", option_shares(scored)[0])
    if name == "logit" and figures.dtype == np.float64:
        columns[PRECISION] = pa.repeat(pa.scalar("float64"), n)
    columns |= {f"{name}_{OPTION_NAMES[j]}": pa.array(figures[:, j], mask=counts <= j) for j in range(k)}
    return pa.table(columns)


def runs_table(run_ids: Sequence[str]) -> pa.Table:
    """The tables of several runs concatenated. Columns that a run lacks are missing in its rows."""
    return pa.concat_tables([run_table(run_id) for run_id in run_ids], promote_options="permissive")
