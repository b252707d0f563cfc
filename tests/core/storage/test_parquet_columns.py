import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from core.settings import ROOT
from core.storage.parquet_columns import number_rows, numbers, text_lists, texts

TEXTS = ("", "two words", "Größe – 漢字 🙂", "line\nbreak", "\x00")


@pytest.mark.quick
@pytest.mark.parametrize("values", [(), TEXTS, ("",) * 3])
def test_texts_are_as_pyarrow_makes_them(values):
    array = texts(values)
    array.validate(full=True)
    assert array.equals(pa.array(values, pa.string()))


@pytest.mark.quick
@pytest.mark.parametrize("values", [(), [TEXTS, (), ("one",)], [(), ()]])
def test_lists_of_texts_are_as_pyarrow_makes_them(values):
    array = text_lists(values)
    array.validate(full=True)
    assert array.equals(pa.array(values, pa.list_(pa.string())))


@pytest.mark.quick
@pytest.mark.parametrize("kind", [np.float32, np.int32, np.int16])
def test_numbers_are_as_pyarrow_makes_them_whatever_their_strides(kind):
    values = np.arange(12, dtype=kind).reshape(4, 3)
    for given in (values[:, 1], values[0], values[:0, 0]):
        assert numbers(given).equals(pa.array(given))
    rows = number_rows(values[:, ::2])
    rows.validate(full=True)
    assert rows.to_pylist() == values[:, ::2].tolist()


def test_a_run_begins_without_pandas(tmp_path):
    """Importing it takes a third of a second, and the first question of a run would wait for it."""
    code = (
        "import sys; from core.runs.execution.execute import execute; from core.runs.spec import RunSpec;"
        "execute(RunSpec(model='fake', task='qa', samples=20),"
        " on_progress=lambda now: now.done and print('pandas' in sys.modules))"
    )
    env = {"HEDGE_HOME": str(tmp_path), "HEDGE_FAKE_ENGINE": "{}"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "False"
