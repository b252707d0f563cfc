import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy._core import multiarray

from core.errors import InputError
from core.exchange.llm_uncertainty_bench import _rows
from core.exchange.unpickle import load_arrays

HERE = Path("results.pkl")


@pytest.mark.quick
def test_arrays_and_plain_values_come_back():
    value = [{"id": 3, "logits_options": np.arange(6, dtype=np.float32), "n": np.float64(1.5)}, "text", None, (1, 2.0)]
    back = load_arrays(pickle.dumps(value), HERE)
    assert np.array_equal(back[0]["logits_options"], np.arange(6))
    assert back[1:] == value[1:]


@pytest.mark.quick
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


@pytest.mark.quick
@pytest.mark.parametrize("content", [b"", b"\x80", b"hello", b"\x80\x04]", pickle.dumps(np.ones(50))[:-20]])
def test_a_damaged_file_is_said_to_be_one(content):
    with pytest.raises(InputError, match=r"results\.pkl is not a complete pickle"):
        load_arrays(content, HERE)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x80\x04\x8e" + (2**45).to_bytes(8, "little") + b"short", "expected 35184372088832 bytes in a bytes8"),
        (b"\x80\x05\x96" + (2**45).to_bytes(8, "little") + b"short", "expected 35184372088832 bytes in a bytearray8"),
        (b"\x80\x04]r\xff\xff\xff\x7f.", "it numbers an object 2147483647, after 2 others"),
        (pickle.dumps(Runs(multiarray._reconstruct, np.ndarray, (2**45,), b"b")), r"the shape \(35184372088832,\)"),
    ],
    ids=["bytes", "bytearray", "number", "shape"],
)
def test_no_damaged_length_asks_for_memory(content, said):
    """The cause is the damage. A lack of memory would be said of the whole file, and of how much there is."""
    with pytest.raises(InputError, match=said) as caught:
        load_arrays(content, HERE)
    assert not isinstance(caught.value.__cause__, MemoryError)


@pytest.mark.quick
def test_a_long_text_where_numbers_stand_is_not_repeated_in_full(tmp_path):
    path = tmp_path / "Tiny_halu_dialogue_base_icl1.pkl"
    path.write_bytes(pickle.dumps([{"id": 0, "logits_options": "x" * 5000}]))
    with pytest.raises(InputError, match="does not have rows with an id and logits_options") as caught:
        _rows(load_arrays(path.read_bytes(), path), path)
    assert len(str(caught.value)) < 400
