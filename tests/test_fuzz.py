"""The short form of ``python -m tests.fuzz``: some hundred inputs for each target, and nothing found."""

import contextlib
import os
import pickle
import socket
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.findings import Finding, fuzz
from tests.fuzz.mutations import mutated
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import read_drop, targets
from tests.fuzz.watch import watched

INPUTS = 30


@pytest.mark.parametrize("name", sorted(targets()))
def test_changed_inputs_end_in_sentences(home, name):
    target = targets()[name]
    findings = fuzz(target.strategy, target.check, inputs=INPUTS, begin=20261123)
    assert findings.inputs >= min(INPUTS, 10)
    assert findings.counts == {}, {kind: trace[-1500:] for kind, (_, trace) in findings.smallest.items()}


def test_a_change_within_a_value_leaves_the_value_for_other_inputs():
    value = [None]
    assert mutated(b"[1]", (), [("set", 0, value), ("set", 1, value)], 0) == b"[[[null]]]"
    assert value == [None]


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (lambda folder: subprocess.run(["true"], check=True), "subprocess.Popen"),
        (lambda folder: os.system("true"), "os.system"),
        (lambda folder: socket.create_connection(("127.0.0.1", 9)), "socket"),
        (lambda folder: (folder.parent / "x").write_bytes(b""), "open"),
        (lambda folder: os.mkdir(folder / "in" / ".." / ".." / "y"), "mkdir"),
        (lambda folder: pickle.loads(pickle.dumps(Path())), "pickle.find_class"),
    ],
)
def test_what_a_file_must_not_do_is_seen(tmp_path, does, message):
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    with pytest.raises(Finding, match=message), watched(folder), contextlib.suppress(OSError):
        does(folder)
    with watched(folder):
        (folder / "in" / "x").write_bytes(b"")


@pytest.mark.parametrize("name", sorted(seeds()))
def test_whole_files_are_read(home, caplog, name):
    caplog.set_level("INFO", "core.exchange.dropped.reading")
    for drop in seeds()[name]:
        read_drop(dict(drop))
    assert [record.exc_text for record in caplog.records if record.exc_info] == []
