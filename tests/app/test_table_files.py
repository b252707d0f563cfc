"""Large tables are files that only a page's visitor can ask for, once, and that have every bit of Python's tables."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.serving import table_files
from core.tables import packed_table
from core.tables.packed_table import can_pack, packed
from tests.app.javascript import passed_tests

TEXTS = ["", "a", "Zoë", "π ≈ 3", "🎲\n\0"]
BITS = [0, 1, 0x8000000000000000, 0x7FF8000000000001, 0x3FF123456789ABCD]
"""Zero, the smallest number, minus zero, NaN, and a number with digits in every byte."""
NUMBERS = {
    "float64": np.array(BITS, np.uint64).view(np.float64),
    "float32": np.array([0.1, -0.0, np.nan, 1e-45, 3e38], np.float32),
    "rising": np.array([7, 7, 8, 400, 70_000], np.int32),
    "int64": np.array([-(2**62), 0, 1, 5, 2**62]),
    "long rising": np.array([0, 1, 2**40, 2**53 + 1, 2**62]),
    "uint8": np.array([5, 0, 255, 1, 1], np.uint8),
    "mixed": np.array([-3, 2, -1, 0, 2**31 - 1], np.int32),
}


@pytest.fixture(autouse=True)
def nothing_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    table_files._contents.clear()
    monkeypatch.setattr(table_files, "SMALLEST", 0)


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=table_files.routes("")))


def large(start: int = 0) -> pa.Table:
    return pa.table({"n": np.random.default_rng(start).random(1000)})


def test_the_browser_reads_the_same_bits(tmp_path: Path) -> None:
    texts = {"text": TEXTS, "dictionary": pa.array(TEXTS).dictionary_encode()}
    tables = {"numbers": pa.table({**NUMBERS, **texts}), "empty": pa.table({"a": pa.array([], pa.float64())})}
    tables["chunks"] = pa.concat_tables([tables["numbers"].slice(3), tables["numbers"].slice(0, 2)])
    for name, table in tables.items():
        (tmp_path / name).write_bytes(packed(table))
    expected = [{"name": n, "rows": t.num_rows, "columns": _columns(t)} for n, t in tables.items()]
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    assert passed_tests([Path(__file__).parent / "table_files.test.mjs"], HEDGE_TABLES=str(tmp_path)) == 7


def _columns(table: pa.Table) -> dict[str, Any]:
    def described(column: pa.ChunkedArray) -> dict[str, Any]:
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return {"kind": "number", "values": column.to_numpy().tobytes().hex()}
        return {"kind": "text", "values": column.to_pylist()}

    return {name: described(table[name]) for name in table.column_names}


@pytest.mark.quick
def test_a_table_is_served_to_those_who_know_its_hash(client: TestClient) -> None:
    table = large()
    path = table_files.offer(table)
    response = client.get(path)
    assert response.content == packed(table)
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"].startswith("private, immutable")
    plain = client.get(path, headers={"accept-encoding": "identity"})
    assert plain.content == packed(table)
    assert "content-encoding" not in plain.headers
    for other in ("/tables/", "/tables/0", f"/tables/{'0' * 64}", f"{path}0", "/tables/..%2F..%2Fconfig.toml"):
        assert client.get(other).status_code == 404


@pytest.mark.quick
def test_a_table_is_packed_once_and_again_after_it_was_forgotten(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(packed_table, "packed", lambda table: calls.append(table) or packed(table))
    first, second = large(0), large(1)
    assert table_files.offer(first) == table_files.offer(first)
    assert len(calls) == 1
    monkeypatch.setattr(table_files, "MOST_BYTES", len(gzip.compress(packed(first))) + 10)
    path = table_files.offer(first)
    other = table_files.offer(second)
    assert client.get(path).status_code == 404
    assert client.get(other).status_code == 200
    assert table_files.offer(first) == path
    assert client.get(path).status_code == 200
    assert len(calls) == 3


@pytest.mark.quick
def test_a_table_that_is_gone_leaves_no_name_behind() -> None:
    before = len(table_files._names)
    tables = [large(i) for i in range(5)]
    for table in tables:
        table_files.offer(table)
    assert len(table_files._names) == before + 5
    del table, tables
    assert len(table_files._names) == before


@pytest.mark.quick
def test_other_values_are_sent_with_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = pa.table({"a": pa.array([1.0, None])})
    assert not can_pack(missing)
    for value in (missing, pa.table({"a": [True]}), pa.table({"a": [[1]]}), {"a": 1}, "text", None, b"bytes"):
        assert table_files.offer(value) == ""
    monkeypatch.setattr(table_files, "SMALLEST", 10_000)
    assert table_files.offer(large()) == ""
