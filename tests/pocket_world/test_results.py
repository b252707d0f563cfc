"""A card's section on recorded runs has a line a run, with the figures of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.reports.evaluation import load
from core.reports.report import report
from core.settings import ASSETS
from pocket_world.record import recorded_specs
from pocket_world.results import HEADING, add_results

CARDS = sorted((ASSETS / "models").glob("*/README.md"))


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.parent.name)
def test_the_shipped_cards_are_of_the_shipped_runs(card: Path, tmp_path: Path) -> None:
    text = card.read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(text.partition(f"\n{HEADING}\n")[0], encoding="utf-8")
    add_results(card.parent.name, tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_the_section_is_replaced(tmp_path: Path) -> None:
    text = CARDS[0].read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    add_results(CARDS[0].parent.name, tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_a_line_has_the_reports_figures() -> None:
    spec = recorded_specs("pocket-1m")[0]
    found = report(load(spec.run_id), 100)
    line = next(line for line in CARDS[0].read_text(encoding="utf-8").splitlines() if "| qa | letters | base |" in line)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[7] == f"{found.scores['lac'].mean_set_size:.2f}"
    assert cells[8] == f"{found.scores['lac'].coverage:.1%}"
    low, high = found.scores["lac"].coverage_band
    assert cells[11] == f"{low:.1%} to {high:.1%}"
