"""A pipeline that was stopped before its jury was done."""

import contextlib
import io
import shutil
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InputError, RunCancelled
from core.jury.pipeline import jury_spec, jury_store
from core.jury.pipeline.jury_spec import JurySpec
from core.runs import store
from core.runs.execution import jury_run
from core.runs.execution.execute import execute
from core.settings import settings
from tests.damage.kinds.common import Names, other_run
from tests.damage.looks import Look, Refused, listed, report
from tests.damage.tries import Kind

PATH = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=30, steps=3, rows=4, rank=2)


def _jury_path() -> Names:
    path_id = jury_spec.create(PATH)
    spec = jury_run.spec_of(jury_spec.read_spec(path_id))
    execute(spec)
    undisturbed = _judgements(spec.run_id).to_json(double_precision=15)
    for folder in (settings().runs / spec.run_id, settings().home / "juries", jury_spec.folder_of(path_id)):
        shutil.rmtree(folder)
    jury_spec.create(PATH)
    part = jury_spec.folder_of(path_id) / "judged-pocket-1m-2.jsonl"
    with contextlib.suppress(RunCancelled):
        execute(spec, cancelled=lambda: part.is_file() and part.stat().st_size > 200)
    assert part.is_file()
    return {"path": path_id, "undisturbed": undisturbed, "run": spec.run_id, "brook": other_run()}


def _judgements(run_id: str) -> pd.DataFrame:
    return jury_store.read(str(store.read_record(run_id).provenance["jury"])).table()


def _of_jury_path(names: Names) -> list[Look]:
    def experiment() -> Any:
        try:
            execute(jury_run.spec_of(jury_spec.read_spec(names["path"])))
        except InputError as error:
            raise Refused(str(error)) from error
        table, before = _judgements(names["run"]), pd.read_json(io.StringIO(names["undisturbed"]))
        others = list(zip(table["question"], table["answer"], table["juror"], table["label"], strict=True))
        # Verdicts depend in their seventh digit on which answers share a batch.
        same = np.allclose(table["p_true"], before["p_true"], rtol=0, atol=1e-5)
        return [bool(same) or table["p_true"].tolist(), others]

    files = ("/path.json", "/jurors/", "/jury.json")
    return [Look("made", files, experiment, central=True), report(names["brook"]), listed(names["brook"])]


KINDS = {
    "jury path": Kind(_jury_path, _of_jury_path, ("jury-paths/**/*",)),
}
