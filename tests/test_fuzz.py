"""The short form of ``python -m tests.fuzz``: some hundred inputs for each target, and nothing found."""

from __future__ import annotations

import pytest

from tests.fuzz.findings import fuzz
from tests.fuzz.seeds import seeds
from tests.fuzz.targets import read_drop, targets

INPUTS = 60


@pytest.mark.parametrize("name", sorted(targets()))
def test_changed_inputs_end_in_sentences(home, name):
    target = targets()[name]
    found = fuzz(target.strategy, target.check, inputs=INPUTS, begin=20261123)
    assert found.inputs >= min(INPUTS, 10)
    assert found.counts == {}, {kind: told[-1500:] for kind, (_, told) in found.smallest.items()}


@pytest.mark.parametrize("name", sorted(seeds()))
def test_whole_files_are_read(home, caplog, name):
    caplog.set_level("INFO", "core.exchange.dropped.reading")
    for drop in seeds()[name]:
        read_drop(dict(drop))
    assert [record.exc_text for record in caplog.records if record.exc_info] == []
