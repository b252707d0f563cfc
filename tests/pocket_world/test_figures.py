"""The report's figures are those of the cards, of the shipped runs and of the prose."""

from __future__ import annotations

import re

from core.settings import ASSETS
from pocket_world import figures
from pocket_world.prose import files


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_letters_are_those_of_the_card() -> None:
    card = (ASSETS / "models" / "pocket-1m" / "README.md").read_text(encoding="utf-8")
    wanted = {
        task: cells(
            next(line for line in card.splitlines() if line.startswith(f"| {task} | letters | base | 0 | float"))
        )
        for task in ("qa", "rc", "ci", "drs", "ds")
    }
    found = figures._letters("pocket-1m", figures._runs("pocket-1m"))
    assert found[1:6] == [row[6] for row in wanted.values()]
    mean = sum(float(row[6].partition("%")[0]) for row in wanted.values()) / 5
    assert abs(float(found[6].rstrip("%")) - mean) < 0.11  # each of the five is rounded to a tenth


def test_shares_of_files_are_of_all_words() -> None:
    rows = figures._files()
    assert len(rows) == len(files()) + 1
    assert abs(sum(float(row[3].rstrip("%")) for row in rows[:-1]) - 100) < 0.5
    assert sum(row[4] == "yes" for row in rows) == 10


def test_conversations_have_a_line_each_under_three_prompts() -> None:
    _, table, said = figures._conversations("pocket-1m")
    lines = table.splitlines()
    assert cells(lines[0]) == ["conversation", "fitting", "unfitting", "empty"]
    assert len(lines) == 2 + 9 + 1
    rows = [[float(cell.replace(",", "")) for cell in cells(line)[1:]] for line in lines[2:11]]
    lowest = int(said.removeprefix("Lowest under the fitting prompt in ").partition(" of 9;")[0])
    # The figures of the table are rounded, so that two of them may be equal.
    assert sum(row[0] < min(row[1:]) for row in rows) <= lowest <= sum(row[0] <= min(row[1:]) for row in rows)


def test_juries_and_recordings() -> None:
    said = figures._jury(next(path.name for path in (ASSETS / "juries").iterdir() if "8m" in path.name))
    votes = re.search(r"worth ([\d.]+) \(([\d.]+) to ([\d.]+)\) votes", said)
    assert votes
    assert 1 <= float(votes[2]) <= float(votes[1]) <= float(votes[3]) <= 3
    assert "runs in " in figures._recorded(list(figures._runs("pocket-1m").values()))
