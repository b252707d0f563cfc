"""Strategies that know a format: the operations of a pickle, the headers of an npz, the columns of a run's folder."""

import copy
import io
import json
import pickle
import pickletools
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from core.exchange.dropped.kind import Files
from core.exchange.unpickle import OPERATIONS
from core.records import OptionLogits, Question
from core.runs import store
from core.runs.spec import RunSpec
from tests.fuzz.mutations import VALUES, files
from tests.fuzz.seeds import seeds

PLACES = st.integers(0, 1 << 20)

# ---------------------------------------------------------------- pickles

TYPES = (
    *("f8", "f4", "U3", "S5", "b1", "i8", "u2", "O8", "O", "V8", "M8", "m8", "c16", "f3", "U99999999", "U0", "S0", ""),
    *("f8,f8", "a5", "²", "i-1", "f16", "(2,)f8", "object", "|O"),
)
NAMES = (
    *(b"os system", b"posix system", b"builtins eval", b"builtins exec", b"builtins getattr", b"subprocess Popen"),
    *(b"numpy dtype", b"numpy ndarray", b"numpy.core.multiarray scalar", b"numpy.core.multiarray _reconstruct"),
    *(b"numpy._core.numeric _frombuffer", b"numpy load", b"numpy.core.multiarray frombuffer", b"_codecs encode"),
    *(b"_codecs decode", b"numpy.core._internal _restore_dict", b"copyreg _reconstructor", b"__builtin__ bytes"),
    *(
        b"numpy ndarray.__setstate__",
        b"numpy.rec recarray",
        b"pathlib Path",
        b"functools partial",
        b"operator attrgetter",
    ),
)
STATES = (
    b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
    b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
    b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x3ftb",
    b"(K\x04U\x01<N(U\x01at}J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00}tb",
    b"(K\x03U\x01<NNNK\x0cK\x04K\x08tb",
    b"(N}U\x05dtypeU\x02O8stb",
    b"}U\x0a__reduce__U\x01xsb",
)
SIZES = (0, 1, 2, 7, 8, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)


def _named(name: bytes, protocol: int) -> bytes:
    module, _, last = name.partition(b" ")
    if protocol < 4:
        return b"c" + module + b"\n" + last + b"\n"
    return b"\x8c" + bytes([len(module)]) + module + b"\x8c" + bytes([len(last)]) + last + b"\x93"


def _typed(code: str, state: bytes) -> bytes:
    content = code.encode()
    return b"cnumpy\ndtype\n(X" + len(content).to_bytes(4, "little") + content + b"\x89\x88tR" + state


FRAGMENTS = st.one_of(
    st.sampled_from([opcode.code for opcode in pickletools.opcodes if opcode.name in OPERATIONS]).map(
        lambda code: code.encode("latin1")
    ),
    st.integers(0, 255).map(lambda code: bytes([code])),
    st.builds(_named, st.sampled_from(NAMES), st.sampled_from((2, 4))),
    st.builds(_typed, st.sampled_from(TYPES), st.sampled_from(STATES)),
    st.sampled_from(STATES),
    st.sampled_from(
        [b"(X\x08\x00\x00\x00touch /xtR", b")R", b")\x81", b"(i", b"o", b"Q", b"\x82\x01", b"\x97", b"\x98"]
    ),
    st.sampled_from([b"\x94", b"h\x00", b"h\x01", b"h\x05", b"q\x00", b"j\xff\x00\x00\x00", b"2", b"0", b"1"]),
    st.sampled_from(SIZES).map(lambda n: b"\x8a\x09" + n.to_bytes(9, "little")),
    st.sampled_from(SIZES).map(lambda n: b"\x8e" + (n % 2**64).to_bytes(8, "little")),
    st.sampled_from(SIZES).map(lambda n: b"B" + (n % 2**32).to_bytes(4, "little") + bytes(min(n, 16))),
    st.sampled_from(SIZES).map(lambda n: b"I%d\n" % n),
    st.sampled_from(
        [b"G\x7f\xf8" + bytes(6), b"G\xff\xf0" + bytes(6), b"Fnan\n", b"F1e999\n", b"N", b"\x88", b"]", b"}"]
    ),
    st.sampled_from(
        [b"(l", b"(d", b")", b"(t", b"\x85", b"\x86", b"\x87", b"a", b"e", b"s", b"u", b"(" * 50, b"]" * 50]
    ),
    st.text(max_size=8).map(lambda text: b"X" + len(b := text.encode()).to_bytes(4, "little") + b),
)


@cache
def _operations() -> tuple[tuple[dict[str, bytes], str, tuple[bytes, ...]], ...]:
    """Whole drops with a pickle in each protocol, the pickle's name, and its operations."""
    drops = []
    for drop in (*seeds()["bench"], *seeds()["vlm"]):
        name = next(iter(drop))
        value = pickle.loads(drop[name])[:12]
        arrays = [
            row | {"more": [np.float32(1), np.str_("x"), np.ones((2, 2)), (True, None), {"a": 2**40}]} for row in value
        ]
        for protocol in range(2, 6):
            for content in (pickle.dumps(value, protocol), pickle.dumps(arrays, protocol)):
                starts = [place for _, _, place in pickletools.genops(content)]
                parts = [content[a:b] for a, b in zip(starts, [*starts[1:], len(content)], strict=True)]
                drops.append((dict(drop), name, tuple(parts)))
    return tuple(drops)


OPERATION_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("insert", "replace", "delete", "double", "swap", "move", "argument", "join")),
        PLACES,
        PLACES,
        FRAGMENTS,
    ),
    min_size=1,
    max_size=6,
)


def _rewritten(number: int, changes: Sequence[tuple[str, int, int, bytes]]) -> dict[str, bytes]:
    drop, name, parts = _operations()[number % len(_operations())]
    changed = list(parts)
    for what, at, to, fragment in changes:
        # near the beginning, where most of what is read depends on it
        at, to = 1 + at % min(len(changed), 90), 1 + to % min(len(changed), 90)
        at, to = min(at, len(changed) - 1), min(to, len(changed) - 1)
        if what == "insert":
            changed.insert(at, fragment)
        elif what == "replace":
            changed[at] = fragment
        elif what == "delete" and len(changed) > 3:
            del changed[at]
        elif what == "double":
            changed[at:at] = changed[at : at + to % 6 + 1]
        elif what == "swap":
            changed[at], changed[to] = changed[to], changed[at]
        elif what == "move":
            changed.insert(to, changed.pop(at))
        elif what == "argument" and len(changed[at]) > 1:
            changed[at] = changed[at][:1] + fragment[: len(changed[at]) - 1].ljust(len(changed[at]) - 1, b"\0")
        else:
            changed[at] = changed[at][:1] + changed[to][1:]
    return drop | {name: b"".join(changed)}


def pickles() -> st.SearchStrategy[dict[str, bytes]]:
    """Drops with a pickle whose operations, values or bytes are changed, and pickles made of pieces alone."""
    pieces = st.lists(FRAGMENTS, max_size=12).map(lambda parts: {"oodcv.pkl": b"\x80\x04" + b"".join(parts) + b"."})
    rewritten = st.builds(_rewritten, PLACES, OPERATION_CHANGES)
    return st.one_of(rewritten, rewritten, rewritten, pieces, files((*seeds()["bench"], *seeds()["vlm"])))


# ---------------------------------------------------------------- npz

DESCRIPTIONS = st.one_of(
    st.sampled_from(
        [repr(code) for code in ("<f8", "<f4", ">f8", "<i8", "|b1", "<U1", "<U9", "|S3", "|O", "<c16", "<M8[s]")]
    ),
    st.sampled_from(
        [repr(code) for code in ("|V8", "<f16", "<u1", "<f2", "<U999999999", "<U0", "|S0", "f8,f8", "", "²")]
    ),
    st.sampled_from(
        ["[('a', '<f8')]", "[('a', '|O')]", "('<f8', (2,))", "None", "1", "__import__('os')", "{'a': 1}", "["]
    ),
)
SHAPES = st.one_of(
    st.sampled_from(
        ["(6, 3)", "(6,)", "()", "(0,)", "(0, 3)", "(6, 0)", "(3, 6)", "(2, 6, 3)", "(6, 3, 1)", "(6, 30)"]
    ),
    st.sampled_from(
        ["(-1,)", "(-1, 3)", "(99999999999, 3)", "(18446744073709551616, )", "(6.0,)", "('6',)", "(True, 3)"]
    ),
    st.sampled_from(["None", "6", "[6, 3]", "(6, 3", "(" + "1, " * 70 + ")", "(999999999999, 0)", "(0, 999999999999)"]),
)
MEMBERS = st.sampled_from(
    (
        *(
            "cal_probs.npy",
            "test_probs.npy",
            "cal_labels.npy",
            "test_labels.npy",
            "scores.npy",
            "labels.npy",
            "model.npy",
        ),
        *("../x.npy", "/tmp/x.npy", "a/b.npy", "x", "\\x.npy", "", "task.npy", "model.npy", "é.npy", "scores.npy.npy"),
    )
)
CONTENTS = st.one_of(
    st.sampled_from(
        [
            np.array([[0.5, 0.3, 0.2]] * 6).tobytes(),
            np.array([0, 1, 2, 0, 2, 1]).tobytes(),
            np.array([[np.nan, np.inf, -np.inf]] * 6).tobytes(),
            np.full(18, 1e308).tobytes(),
            np.full(6, -1).tobytes(),
            "mäx".encode("utf-32-le"),
            b"\xff" * 144,
            b"",
        ]
    ),
    st.binary(max_size=40),
)


def _npy(version: bytes, description: str, order: str, shape: str, content: bytes, cut: int) -> bytes:
    header = f"{{'descr': {description}, 'fortran_order': {order}, 'shape': {shape}, }}".encode("latin1", "replace")
    header = header.ljust((len(header) // 64 + 1) * 64 - 11) + b"\n"
    width = 2 if version == b"\x01\x00" else 4
    whole = b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header + content
    return whole[: len(whole) - cut] if cut < 8 else whole


def _archive(whole: Files, members: Sequence[tuple[str, bytes]], place: int, method: int) -> dict[str, bytes]:
    """An archive with some members of a whole one, and the new ones over or beside them."""
    (name, content) = next(iter(whole.items()))
    into = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(into, "w", method) as archive:
        new = dict(members)
        for member in old.namelist():
            if member not in new and place % 5:
                archive.writestr(member, old.read(member))
            place //= 2
        for member, data in members:
            if member:
                archive.writestr(zipfile.ZipInfo(member), data)
    return {name: into.getvalue()}


def archives() -> st.SearchStrategy[dict[str, bytes]]:
    """Drops of an npz: its headers are changed, its members, or its bytes."""
    npz = (*seeds()["npz"], *seeds()["bluq"])
    orders = st.sampled_from(("False", "True", "1", "None", "'C'"))
    versions = st.sampled_from((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    cuts = st.one_of(st.just(99), st.integers(0, 9))
    arrays = st.builds(_npy, versions, DESCRIPTIONS, orders, SHAPES, CONTENTS, cuts)
    plain = st.builds(_npy, st.just(b"\x01\x00"), DESCRIPTIONS, st.just("False"), SHAPES, CONTENTS, st.just(99))
    members = st.lists(
        st.tuples(MEMBERS, st.one_of(arrays, plain)), min_size=1, max_size=4, unique_by=lambda member: member[0]
    )
    methods = st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    damaged = st.builds(_archive, st.sampled_from(npz), members, PLACES, methods)
    return st.one_of(damaged, damaged, damaged, files((*seeds()["npz"], *seeds()["bluq"], *seeds()["npy"])))


# ---------------------------------------------------------------- run folders

RUN = "small/"


@cache
def run_folders() -> tuple[dict[str, bytes], ...]:
    """Whole folders of runs as Hedge writes them: with and without what is optional."""
    folders = []
    for more in (False, True):
        questions = [
            Question(str(i), "qa", "maths", "", f"Why {i}?", ("one", "two", "three")[: 2 + more], i % 2)
            for i in range(8)
        ]
        k = len(questions[0].options)
        logits = np.random.default_rng(1).normal(size=(8, k)).astype(np.float32)
        scored = OptionLogits(
            tuple(q.id for q in questions),
            logits,
            np.linspace(0, 1, 8, dtype=np.float32),
            option_tokens=np.ones((8, k), np.int32) if more else None,
            top_tokens=tuple("ABCABCAB") if more else None,
            bounded=np.zeros((8, k), np.bool_) if more else None,
        )
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            store.write_questions(folder, questions, ("calibration", "test") * 4)
            store.write_logits(folder, scored)
            record = store.RunRecord(
                RunSpec(model="small", task="qa"), "done", created=1.0, ended=2.0, provenance={"bank": {}}
            )
            store.write_record(folder, record)
            folders.append({RUN + path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()})
    return tuple(folders)


COLUMN_VALUES = (
    *VALUES,
    *(
        [0.5, 0.25],
        [1.0, float("nan")],
        [float("inf"), 0.0],
        [0.0] * 27,
        [0.0],
        [None, None],
        ["a", "b"],
        [["a"]],
        b"\xff",
    ),
    *("calibration", "test", "rotation", "demonstration", 27, -(2**31), 2**31, 2**63 - 1),
)
COLUMN_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("cell", "column", "drop", "rename", "double", "cut", "cast", "empty", "shuffle", "columns")),
        PLACES,
        PLACES,
        st.sampled_from(COLUMN_VALUES),
    ),
    max_size=3,
)
KINDS = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.float16(),
    pa.bool_(),
    pa.binary(),
    pa.list_(pa.string()),
    pa.date32(),
)


def _table(content: bytes, changes: Sequence[tuple[str, int, int, Any]]) -> bytes:
    table = pq.read_table(io.BytesIO(content))
    for what, at, to, value in changes:
        if not table.num_columns:
            break
        place = at % table.num_columns
        name, column = table.column_names[place], table.column(place)
        try:
            if what in ("cell", "column"):
                cells = column.to_pylist()
                cells = [
                    value if what == "column" or i == to % max(len(cells), 1) else cell for i, cell in enumerate(cells)
                ]
                kind = None if to % 2 else column.type
                table = table.set_column(place, name, pa.array(cells, kind))
            elif what == "drop":
                table = table.remove_column(place)
            elif what == "rename":
                table = table.rename_columns(
                    [str(value) if i == place else cell for i, cell in enumerate(table.column_names)]
                )
            elif what == "double":
                table = pa.concat_tables([table, table.slice(to % max(len(table), 1), 1)])
            elif what == "cut":
                table = table.slice(0, to % (len(table) + 1))
            elif what == "cast":
                table = table.set_column(place, name, column.cast(KINDS[to % len(KINDS)], safe=False))
            elif what == "empty":
                table = table.slice(0, 0)
            elif what == "shuffle":
                table = table.take(pa.array([(i * 3 + to) % len(table) for i in range(len(table))]))
            else:
                table = table.append_column(str(value), column)
        except (pa.ArrowException, ValueError, TypeError, OverflowError, UnicodeError, ZeroDivisionError):
            continue  # a change that can't be made
    into = io.BytesIO()
    try:
        pq.write_table(table, into)
    except pa.ArrowException:  # values that Parquet can't hold
        return content
    return into.getvalue()


RECORD_CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("set", "delete", "add", "spec", "spec", "spec", "provenance")),
        PLACES,
        st.one_of(
            st.sampled_from(VALUES), st.sampled_from(("done", "failed", "hedge", "table", "..", "letters", "jury"))
        ),
    ),
    max_size=3,
)


def _record(content: bytes, changes: Sequence[tuple[str, int, Any]]) -> bytes:
    record = json.loads(content)
    for what, at, value in changes:
        inside = record.get(what) if isinstance(record.get(what), dict) else record
        if not inside:
            break
        key = sorted(inside, key=str)[at % len(inside)]
        if what == "delete":
            del inside[key]
        elif what == "add":
            inside[str(value)] = copy.deepcopy(value)
        else:
            inside[key] = copy.deepcopy(value)
    return json.dumps(record).encode()


def _folder(number: int, in_record: Any, in_questions: Any, in_logits: Any, lost: int) -> dict[str, bytes]:
    files = dict(run_folders()[number % len(run_folders())])
    for name, content in list(files.items()):
        if name.endswith("run.json"):
            files[name] = _record(content, in_record)
        elif name.endswith("questions.parquet"):
            files[name] = _table(content, in_questions)
        elif name.endswith("logits.parquet"):
            files[name] = _table(content, in_logits)
    if lost < len(files):
        del files[sorted(files)[lost]]
    return files


def folders() -> st.SearchStrategy[dict[str, bytes]]:
    """Drops of a run's folder: its record is changed, its tables, or the bytes of a file."""
    lost = st.one_of(st.just(99), st.just(99), st.just(99), st.integers(0, 5))
    damaged = st.builds(_folder, PLACES, RECORD_CHANGES, COLUMN_CHANGES, COLUMN_CHANGES, lost)
    return st.one_of(damaged, damaged, damaged, files(run_folders()))
