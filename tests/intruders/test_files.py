"""Files from outside that attack the process that reads them, imported from the command line in an archive."""

import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hedge.cli import main

VICTIM = object()
DTYPE = b"cnumpy\ndtype\n(U\x02O8I00\nI01\ntR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
"""A dtype of objects whose state claims that it holds no references."""
ADDRESS = b"C\x08" + struct.pack("P", id(VICTIM))


def _calls(name: bytes, argument: str) -> bytes:
    return (
        b"\x80\x02c"
        + name.replace(b".", b"\n")
        + b"\n(X"
        + struct.pack("<I", len(argument))
        + argument.encode()
        + b"tR."
    )


def _npz(path: Path) -> bytes:
    into = io.BytesIO()
    np.savez(into, scores=np.array([_Touch(path)], dtype=object), labels=np.arange(6))
    return into.getvalue()


class _Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


ATTACKS = {
    "a pointer as a scalar": lambda marker: b"\x80\x03cnumpy.core.multiarray\nscalar\n(" + DTYPE + ADDRESS + b"tR.",
    "a pointer in an array": lambda marker: (
        b"\x80\x03cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"
        b"(K\x01(K\x01t" + DTYPE + b"I00\n" + ADDRESS + b"tb."
    ),
    "a shell": lambda marker: _calls(b"os.system", f"touch {marker}"),
    "a builtin": lambda marker: _calls(b"builtins.eval", f"open({str(marker)!r}, 'w')"),
    "an object that writes": lambda marker: pickle.dumps(_Touch(marker)),
    "an npz with objects": _npz,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_runs_no_code(home, tmp_path, capsys, name):
    """One sentence, and the honest file beside it is read."""
    marker = tmp_path / "ran"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.npz" if "npz" in name else "oodcv.pkl", ATTACKS[name](marker))
        archive.writestr("good.csv", "p_A,p_B,label\n" + "0.9,0.1,A\n0.2,0.8,B\n" * 4)
    main(["import", str(tmp_path / "a.zip"), "--model", "m", "--task", "t"])
    printed = capsys.readouterr()
    assert not marker.exists()
    assert "could run code" in printed.err + printed.out or "can run code" in printed.err + printed.out
    assert "Traceback" not in printed.err
    assert "good.csv" in printed.err + printed.out or len(list((home / "runs").iterdir())) == 1
