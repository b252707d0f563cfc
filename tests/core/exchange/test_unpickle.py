import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange.unpickle import load_arrays

HERE = Path("results.pkl")


def test_arrays_and_plain_values_come_back():
    value = [{"id": 3, "logits_options": np.arange(6, dtype=np.float32), "n": np.float64(1.5)}, "text", None, (1, 2.0)]
    back = load_arrays(pickle.dumps(value), HERE)
    assert np.array_equal(back[0]["logits_options"], np.arange(6))
    assert back[1:] == value[1:]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol):
    assert load_arrays(pickle.dumps({"a": np.ones(3)}, protocol=protocol), HERE)["a"].tolist() == [1, 1, 1]


class Runs:
    """What an attacker would send."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def test_code_is_refused_and_not_run(tmp_path):
    target = tmp_path / "run"
    for evil in (
        Runs(subprocess.getoutput, f"touch {target}"),
        Runs(eval, f"open({str(target)!r}, 'w')"),
        [np.array([Runs(subprocess.getoutput, f"touch {target}")], dtype=object)],
    ):
        with pytest.raises(InputError, match="a pickle can run code"):
            load_arrays(pickle.dumps(evil), HERE)
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"\x80", b"hello", b"\x80\x04]", pickle.dumps(np.ones(50))[:-20]])
def test_a_damaged_file_is_said_to_be_one(content):
    with pytest.raises(InputError, match=r"results\.pkl is not a complete pickle"):
        load_arrays(content, HERE)
