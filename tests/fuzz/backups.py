"""Damaged and hostile backups: what a tar, its gzip and its description can get wrong, and what none may do."""

import gzip
import json
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from hypothesis import strategies as st

from core.errors import HedgeError
from core.serving import backup
from core.storage import database
from tests.fuzz.findings import Finding

RECORD = b'{"schema": 1, "spec": {}, "state": "queued", "created": 0}'
DESCRIBED = {"hedge": "1", "created": 0.0, "files": 3, "bytes": 4_000, "database": "none", "schema": 1}
NAMES = st.sampled_from(
    [
        "home/runs/a/run.json",
        "home/runs/a/questions.parquet",
        "home/groups.json",
        "home/../../out",
        "home/./a",
        "home//a",
        "/out",
        "home",
        "home/",
        "home/agents/a",
        "home/cache/a",
        "home/classes.sqlite-wal",
        "engine.sqlite",
        "engine.dump",
        "backup.json",
        "home/a\x1b[2J",
        "home/" + "a" * 300,
        "home/" + "a/" * 120 + "b",
        "home/ü\udcff",
    ]
)
KINDS = st.sampled_from(
    [tarfile.REGTYPE] * 8
    + [tarfile.AREGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
    + [tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, b"?"]
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from([1 << 40, 1 << 70, 1e300, -1.5, float("nan"), "", "a" * 300, [], {}, [[]], "postgresql"]),
)

CONTENTS = st.one_of(st.just(RECORD), st.binary(max_size=60), st.just(bytes(3_000)))
KEYS = ("path", "size", "mtime", "linkpath", "GNU.sparse.map", "GNU.sparse.major", "GNU.sparse.name", "hdrcharset")
PAX_VALUES = ("", "1", "nan", "-1", "1e999", "../../out", "0,1,2", "BINARY", "9" * 99)


@st.composite
def backups(draw: st.DrawFn) -> bytes:
    """The bytes of one file."""
    values = dict(DESCRIBED)
    if _rarely(draw, 4):
        values |= draw(st.dictionaries(st.sampled_from([*DESCRIBED, "more"]), VALUES, max_size=2))
    if _rarely(draw, 9):
        values.pop(draw(st.sampled_from(list(DESCRIBED))))
    described = json.dumps(values).encode() if not _rarely(draw, 9) else draw(st.binary(max_size=40))
    content = bytearray()
    if not _rarely(draw, 19):
        content += _member(draw, "backup.json", described, tarfile.REGTYPE if not _rarely(draw, 9) else draw(KINDS))
    for _ in range(draw(st.integers(0, 4))):
        content += _member(draw, draw(NAMES), draw(CONTENTS), draw(KINDS))
    content += bytes(1024 * draw(st.integers(0, 1)))
    for _ in range(draw(st.integers(0, 3)) if content and _rarely(draw, 2) else 0):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    packed = bytearray(gzip.compress(bytes(content), 1, mtime=0))
    if _rarely(draw, 4):
        packed = packed[: draw(st.integers(0, len(packed)))]
    if packed and _rarely(draw, 4):
        packed[draw(st.integers(0, len(packed) - 1))] = draw(st.integers(0, 255))
    return bytes(packed)


def _rarely(draw: st.DrawFn, times: int) -> bool:
    """True about once in ``times`` draws. Hypothesis draws 0 and the largest number more often than others."""
    return draw(st.integers(0, times)) == times - 1


def _member(draw: st.DrawFn, name: str, content: bytes, kind: bytes) -> bytes:
    """A member of a tar, whose header may say what is not so."""
    about = tarfile.TarInfo(name)
    about.type, about.size, about.linkname = kind, len(content), "/etc/passwd"
    if _rarely(draw, 5):
        about.size = draw(st.sampled_from([0, 1, 70_000, 1 << 33, 1 << 60]))
    if _rarely(draw, 5):
        about.mode, about.mtime = (
            draw(st.sampled_from([0, 0o7777, 0o2644])),
            draw(st.sampled_from([0, 1 << 40, 1 << 62])),
        )
    if _rarely(draw, 5):
        about.pax_headers = {draw(st.sampled_from(KEYS)): draw(st.sampled_from(PAX_VALUES))}
    form = draw(st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]))
    return about.tobuf(form, errors="surrogateescape") + content + bytes(-len(content) % 512)


def restore(content: bytes) -> None:
    """Restore one; it ends in a home or in one sentence, and nothing else is written."""
    folder = Path(tempfile.mkdtemp(prefix="hedge-fuzz-"))
    before = os.environ["HEDGE_HOME"]
    os.environ["HEDGE_HOME"] = str(folder / "home")
    try:
        file = folder / "one.tar.gz"
        file.write_bytes(content)
        try:
            backup.restore(file)
        except HedgeError as error:
            text = str(error)
            if "\n" in text or not text.isprintable() or "Traceback" in text:
                raise Finding(f"no single sentence: {text[:80]!r}") from None
            if (folder / "home").exists():
                raise Finding("leaves a home behind") from None
        if beside := {path.name for path in folder.iterdir()} - {"one.tar.gz", "home"}:
            raise Finding(f"writes {sorted(beside)} beside the home")
        odd = [
            path for path in folder.rglob("*") if path.is_symlink() or (path.is_file() and path.stat().st_mode & 0o7111)
        ]
        if odd:
            raise Finding(f"writes a link or a program: {odd[0].name!r}")
    finally:
        database.forget()
        os.environ["HEDGE_HOME"] = before
        shutil.rmtree(folder, ignore_errors=True)
