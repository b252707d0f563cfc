"""Parquet files that are written in one step, or chunk by chunk.

A chunk is a file in ``chunks/``, written whole, so a writer that is killed loses at most the chunk it was in. When the
last one is there, they become one file with a row group for each chunk.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.errors import InputError
from core.storage.atomic import replacing
from core.storage.sealed import checked_digest, damage, seal_parquet

SMALL = 2**18
"""Bytes of a file that is hashed in less than a millisecond."""
AT_ONCE = 16_384
"""Rows that are held at the same time where one of them is looked for."""
REPAIRS = 3
"""How often chunks that are damaged while a run is running are made again before it fails."""

Fits = Callable[[int, pa.Table], str]
"""What is wrong with the table of a chunk of this index; empty if nothing is."""
Log = Callable[[str], object]


def _anything(index: int, table: pa.Table) -> str:
    return ""


class DamagedTableError(InputError):
    """A Parquet file is missing or damaged, for this ``reason``, half a sentence that begins with "it"."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is missing or damaged ({reason}); make it again, or copy it here again")
        self.reason = reason


def read_table(path: Path, *, columns: Sequence[str] | None = None, digest: str = "") -> pa.Table:
    """A Parquet file, or only these columns of it.

    Raises :class:`DamagedTableError` if it is missing or damaged, or is not the file with this ``digest``
    (:func:`~core.storage.sealed.digest_of`).
    """
    with _reading(path):
        checked_digest(path, digest)
        # Without the data sets and threads of pq.read_table, a small file is read in half the time.
        with pq.ParquetFile(path, memory_map=False, page_checksum_verification=True) as file:
            table = file.read(columns=columns, use_threads=False)
        if not digest:
            table.validate(full=True)  # an older file may hold invalid texts
    return table


def read_row(path: Path, column: str, value: str, *, digest: str = "") -> tuple[int, pa.Table]:
    """The first row of a Parquet file with this value in a column of texts: its place, from 0, and a table of it; -1
    and an empty table if there is none. Few rows are held at the same time. Raises as :func:`read_table`.
    """
    with _reading(path):
        checked_digest(path, digest)
        try:
            with pq.ParquetFile(path, memory_map=False, page_checksum_verification=True) as file:
                return _found(file, column, value)
        finally:
            if path.stat().st_size > SMALL:
                pa.default_memory_pool().release_unused()  # else Arrow holds 100 MB of a million rows for a while


def _found(file: pq.ParquetFile, column: str, value: str) -> tuple[int, pa.Table]:
    start = 0
    for group in range(file.num_row_groups):
        before = 0
        for batch in file.iter_batches(AT_ONCE, row_groups=[group], columns=[column], use_threads=False):
            if (place := pc.index(batch.column(0), value).as_py()) >= 0:
                return start + before + place, _row_of(file, group, before + place)
            before += len(batch)
        start += before
    return -1, file.schema_arrow.empty_table()


def _row_of(file: pq.ParquetFile, group: int, place: int) -> pa.Table:
    for batch in file.iter_batches(AT_ONCE, row_groups=[group], use_threads=False):
        if place < len(batch):
            return pa.Table.from_batches([batch.slice(place, 1)])
        place -= len(batch)
    return file.schema_arrow.empty_table()


def check_table(path: Path, digest: str = "", *, whole: bool = True) -> None:
    """Raise :class:`DamagedTableError` if a Parquet file is missing or damaged, or has not this ``digest``.

    Without one, and of a large file unless ``whole``, only its footer is certain to be right.
    """
    with _reading(path):
        if whole or path.stat().st_size <= SMALL:
            checked_digest(path, digest)
            if digest:
                return
        pq.read_metadata(path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever a reader makes of bytes that are no table
        raise DamagedTableError(path, damage(error)) from error


def write_table(path: Path, *tables: pa.Table) -> None:
    """Write a Parquet file in one step, with a row group for each table."""
    _write(path, tables)


def write_chunk(folder: Path, index: int, table: pa.Table) -> None:
    """Write one finished chunk; writing it again replaces it."""
    (folder / "chunks").mkdir(exist_ok=True)
    _write(_chunk(folder, index), [table])


def write_part(folder: Path, index: int, table: pa.Table) -> None:
    """Write what there is of a chunk that is not finished; :func:`join_chunks` leaves it out."""
    (folder / "chunks").mkdir(exist_ok=True)
    _write(_part(folder, index), [table])


def read_part(folder: Path, index: int, *, fits: Fits = _anything, log: Log = str) -> pa.Table | None:
    """What an earlier try had of a chunk that it did not finish; None if it had nothing, or if it is damaged."""
    path = _part(folder, index)
    return _sound(path, index, fits, log) if path.is_file() else None


def finished_chunks(folder: Path) -> list[int]:
    """The indices of the chunks that are on disk, damaged or not."""
    return sorted(int(path.stem) for path in (folder / "chunks").glob("[0-9]*.parquet") if path.stem.isdecimal())


def sound_chunks(folder: Path, *, fits: Fits, log: Log) -> list[int]:
    """The indices of the chunks that are wholly on disk, can be read and fit; ``log`` is told of the others."""
    tables = {i: _sound(_chunk(folder, i), i, fits, log) for i in finished_chunks(folder)}
    columns = {i: str(table.schema.remove_metadata()) for i, table in tables.items() if table is not None}
    usual = Counter(columns.values()).most_common(1)
    for i in columns:
        if columns[i] != usual[0][0]:
            log(f"{_chunk(folder, i).name} is damaged (it has not the columns of the others)")
    return [i for i in columns if columns[i] == usual[0][0]]


def join_chunks(
    folder: Path,
    name: str,
    indices: Sequence[int] | None = None,
    *,
    fits: Fits = _anything,
    repair: Callable[[], object] = lambda: None,
) -> None:
    """Make one file of these chunks, by default of all, with a row group for each.

    The chunks stay until the run is recorded as done, so a worker that is killed before that scores nothing again. If
    one was damaged meanwhile, ``repair`` makes it again. Raises :class:`InputError` if that does not help.
    """
    damage: list[str] = []
    for _ in range(REPAIRS):
        try:
            _write(
                folder / name, _fitting(folder, finished_chunks(folder) if indices is None else indices, fits, damage)
            )
            return
        except DamagedTableError:
            repair()
    raise InputError(f"{damage[-1]} each time it is written; check the disk of {folder}, then resume the run")


def _fitting(folder: Path, indices: Sequence[int], fits: Fits, damage: list[str]) -> Iterator[pa.Table]:
    for i in indices:
        table = _sound(_chunk(folder, i), i, fits, damage.append)
        if table is None:
            raise DamagedTableError(_chunk(folder, i), damage[-1])
        yield table


def _sound(path: Path, index: int, fits: Fits, log: Log) -> pa.Table | None:
    """The table in the file of a chunk, None if it is damaged."""
    try:
        table = read_table(path)
        reason = fits(index, table)
    except DamagedTableError as error:
        reason = error.reason
    except (InputError, KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        reason = damage(error)
    if not reason:
        return table
    log(f"{path.name} is damaged ({reason})")
    return None


def _chunk(folder: Path, index: int) -> Path:
    return folder / "chunks" / f"{index:06d}.parquet"


def _part(folder: Path, index: int) -> Path:
    return folder / "chunks" / f"part-{index:06d}.parquet"


def keep_rows(path: Path, column: str, values: Sequence[str]) -> None:
    """Keep only the rows of a Parquet file that have one of these values in a column of texts."""
    table = read_table(path)
    write_table(path, table.filter(pc.is_in(table[column], pa.array(values, pa.string()))))


def drop_chunks(folder: Path) -> None:
    """Delete the finished chunks."""
    shutil.rmtree(folder / "chunks", ignore_errors=True)


def _write(path: Path, tables: Iterable[pa.Table]) -> None:
    writer: pq.ParquetWriter | None = None
    with replacing(path) as part:
        for table in tables:
            writer = writer or pq.ParquetWriter(part, table.schema, compression="zstd", write_page_checksum=True)
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
        if writer is None:
            raise InputError(f"there is nothing to write to {path}")
        writer.close()
        seal_parquet(part)
