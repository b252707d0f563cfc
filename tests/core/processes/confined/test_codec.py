"""The caller builds what it expects of a process's messages, and refuses everything else in one sentence."""

import io
import json
import os
import pickle
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import errors
from core.errors import InputError, RunError
from core.processes.confined import Channel, ForkServer, LimitReached, Limits
from core.processes.confined.codec import ERRORS, LONGEST_JSON, Misunderstood, Reader, Writer

LIMITS = Limits(memory=300 << 20, seconds=2.0)


@dataclass(frozen=True, slots=True)
class Row:
    """A record of these tests."""

    name: str
    numbers: tuple[int, ...]
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Another one."""

    rows: list[Row]
    values: npt.NDArray[np.float32]
    path: Path
    table: pa.Table
    more: dict[str, Any]


def sent(value: Any, kind: Any, *, most: int = 1 << 24) -> Any:
    """The value after its way through a message."""
    into = io.BytesIO()
    Writer(into.write).send(value)
    into.seek(0)
    return Reader(into.read, most=most).receive(kind)[1]


@pytest.mark.quick
@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_001, 2_500])
def test_records_come_back(count):
    rows = [Row(f"ä{i}\ud83d"[: 1 + i % 3], (i, -i), None if i % 2 else i / 3) for i in range(count)]
    table = pa.table({"a": pa.array([1, None]), "b": pa.array(["x", "y"]), "c": pa.array([0.5, float("inf")])})
    values = np.arange(count * 2, dtype=np.float32).reshape(count, 2)
    block = Block(rows, values[:, ::-1], Path("/a/b"), table, {"x": [1, {"y": None}], "": True})
    back = sent(block, Row | Block)
    assert [row.numbers for row in back.rows] == [row.numbers for row in rows]
    assert [row.share for row in back.rows] == [row.share for row in rows]
    assert np.array_equal(back.values, block.values)
    assert back.values.dtype == np.float32
    assert (back.path, back.more) == (block.path, block.more)
    assert back.table.equals(table)


@pytest.mark.quick
def test_columns_of_other_types_become_text():
    table = pa.table({"when": pa.array([0], pa.date32()), "list": pa.array([[1, 2]])})
    assert sent(table, pa.Table).to_pylist() == [{"when": "1970-01-01", "list": "[1, 2]"}]


@pytest.mark.quick
def test_long_rows_are_sent_in_shorter_parts():
    rows = ["x" * 100_000] * 1_001
    assert sent(rows, list[str], most=1 << 28) == rows


@pytest.mark.quick
def test_a_long_list_comes_back_where_any_value_may_stand():
    value = {"claims": [[1, "a"]] * 2_500}
    assert sent(value, dict[str, Any]) == value


@pytest.mark.quick
def test_each_error_of_ours_comes_back_and_no_other():
    names = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert set(ERRORS) == names
    for name, kind in ERRORS.items():
        into = io.BytesIO()
        Writer(into.write).fail(kind("a sentence"))
        into.seek(0)
        with pytest.raises(kind, match="a sentence") as caught:
            Reader(into.read, most=1000).receive(str)
        assert type(caught.value).__name__ == name


def frame(letter: bytes, content: bytes, *, size: int | None = None) -> bytes:
    return letter + (len(content) if size is None else size).to_bytes(8, "little") + content


def json_message(value: Any) -> bytes:
    return frame(b"S", json.dumps(value).encode())


def block(array: Any = ("<f8", [1]), path: str = "p", columns: Any = (), more: Any = None) -> bytes:
    """A message with a block, well formed but for what a case changes; the array's frame has eight bytes."""
    values = [[], {"#": [0, *array]}, path, {"|": list(columns)}, {"": {} if more is None else more}]
    return frame(b"A", bytes(8)) + json_message({"Block": values})


HOSTILE: dict[str, bytes] = {
    "a pickle": pickle.dumps(("value", 1)),
    "another letter": frame(b"X", b"{}"),
    "no JSON": frame(b"S", b"{"),
    "no UTF-8": frame(b"S", b'"\xff"'),
    "deep JSON": frame(b"S", b"[" * 100_000),
    "a length beyond memory": frame(b"A", b"", size=1 << 60),
    "a long frame of JSON": frame(b"J", b"", size=LONGEST_JSON + 1),
    "frames without end": frame(b"J", b"1") * 100_001,
    "a class that nobody expects": json_message({"Popen": ["id"]}),
    "two marks": json_message({"Row": ["a", [], None], "Block": []}),
    "a field too few": json_message({"Row": ["a", []]}),
    "a field too many": json_message({"Row": ["a", [], None, 1]}),
    "a text for numbers": json_message({"Row": ["a", "12", None]}),
    "a truth value for a number": json_message({"Row": ["a", [True], None]}),
    "numbers in a text": json_message({"Row": [1, [], None]}),
    "a frame that is not there": json_message({"Row": ["a", {"+": [7]}, None]}),
    "a frame twice": frame(b"J", b"[1]") + json_message({"Row": ["a", {"+": [0, 0]}, None]}),
    "a part that is no list": frame(b"J", b"{}") + json_message({"Row": ["a", {"+": [0]}, None]}),
    "an array of objects": block(array=("|O", [1])),
    "an array of another kind": block(array=("<i8", [1])),
    "an array that is too short": block(array=("<f8", [2])),
    "a negative shape": block(array=("<f8", [-1, -1])),
    "a huge shape": block(array=("<f8", [0, 2**62])),
    "a column of another type": block(columns=[["a", "object", []]]),
    "columns that differ": block(columns=[["a", "int64", [1]], ["b", "int64", []]]),
    "a path with a zero": block(path="p\0"),
    "a number for a dict": block(more=1),
    "deep values": block(more={"x": json.loads("[" * 40 + "]" * 40)}),
    "millions of lists": frame(b"S", b"[" + b"[]," * 1_000_000 + b"[]]"),
    "nothing": b"",
    "half a frame": frame(b"S", b"[", size=5),
}


def received(content: bytes, kind: Any) -> Any:
    source = io.BytesIO(content)

    def read(size: int) -> bytes:
        content = source.read(min(size, 1 << 20))
        if len(content) < size:
            raise EOFError
        return content

    return Reader(read, most=1 << 28).receive(kind)


@pytest.mark.quick
def test_a_block_is_well_formed_where_nothing_is_changed():
    table = {"columns": [["a", "int64", [1]]]}
    _, value = received(block(array=("<f4", [2]), **table), Block)
    assert (value.values.tolist(), value.path, value.table.to_pylist()) == ([0, 0], Path("p"), [{"a": 1}])


@pytest.mark.quick
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_expected_is_refused(name):
    with pytest.raises((Misunderstood, EOFError)):
        received(HOSTILE[name], Row | Block)


@pytest.mark.quick
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_other_value_is_refused(value):
    with pytest.raises(Misunderstood):
        received(json_message(value), Row)


@pytest.mark.quick
def test_an_unknown_error_becomes_one_of_ours():
    for name in ("SystemExit", "KeyboardInterrupt", "LimitReached", "HedgeError.__class__"):
        with pytest.raises(RunError, match="text"):
            received(frame(b"E", json.dumps([name, "text"]).encode()), Row)


# ---------------------------------------------------------------- a child that a file has taken over


class Runs:
    """A pickle that runs a command where it is read."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return subprocess.getoutput, (self.command,)


def answer(channel: Channel, content: bytes) -> None:
    channel._sock.sendall(content)
    os._exit(0)


def test_the_caller_runs_no_pickle_of_its_child(tmp_path):
    """The child sends what a taken over child would send. Its caller has all rights."""
    marker = tmp_path / "ran"
    fork_server = ForkServer()
    session = fork_server.open(answer, pickle.dumps(("value", Runs(f"touch {marker}"))), limits=LIMITS)
    with session, pytest.raises(LimitReached):
        session.receive()
    assert not marker.exists()


def test_a_child_that_sends_something_else_is_stopped_with_one_sentence():
    fork_server = ForkServer()  # it ends its children when it has ended
    session = fork_server.open(answer, frame(b"S", b'{"Popen":[]}'), limits=LIMITS)
    with session, pytest.raises(InputError, match="instead of what the file holds, so it was stopped"):
        session.receive(Row)
