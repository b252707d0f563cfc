import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.storage.tables import drop_chunks, finished_chunks, join_chunks, read_table, write_chunk, write_table

pytestmark = pytest.mark.quick


def test_chunks_are_joined_in_their_order_with_a_row_group_each(tmp_path):
    write_chunk(tmp_path, 1, pa.table({"x": [3]}))
    write_chunk(tmp_path, 0, pa.table({"x": [0]}))
    write_chunk(tmp_path, 0, pa.table({"x": [1, 2]}))  # written again: replaced
    assert finished_chunks(tmp_path) == [0, 1]
    join_chunks(tmp_path, "all.parquet")
    assert read_table(tmp_path / "all.parquet")["x"].to_pylist() == [1, 2, 3]
    assert pq.ParquetFile(tmp_path / "all.parquet").num_row_groups == 2
    assert finished_chunks(tmp_path) == [0, 1]
    drop_chunks(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


def test_a_chunk_that_was_not_finished_is_not_seen(tmp_path):
    (tmp_path / "chunks").mkdir()
    (tmp_path / "chunks" / ".000000.parquet.0a.part").write_bytes(b"half")
    assert finished_chunks(tmp_path) == []
    with pytest.raises(InputError, match="nothing to write"):
        join_chunks(tmp_path, "all.parquet")


def test_a_damaged_table_says_so(tmp_path):
    path = tmp_path / "x.parquet"
    write_table(path, pa.table({"x": [1]}))
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match="missing or damaged"):
        read_table(path)
    with pytest.raises(InputError, match="missing or damaged"):
        read_table(tmp_path / "y.parquet")
