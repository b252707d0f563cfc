"""Fifty flipped bits of each database, and those that a random flip seldom meets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.database import flips


@pytest.fixture
def filled(home: Path) -> Path:
    flips.fill()
    return home


@pytest.mark.parametrize("name", flips.FIGURES)
def test_a_flipped_bit_changes_no_figure(filled: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    outcomes = flips.try_flips(filled, name, 50, seed=1, monkeypatch=monkeypatch)
    assert outcomes.total() == 50
    assert outcomes["sentence"] > 0
