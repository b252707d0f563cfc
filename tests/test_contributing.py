"""CONTRIBUTING.md and README.md name files that exist and say what is so."""

import re

import pytest
from PIL import Image

from core.conformal.scores import SCORES
from core.settings import ROOT
from tests.test_architecture import FLOORS

pytestmark = pytest.mark.quick

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = re.compile(r"(?:core|app|pages|tests|assets|pocket_world)/[\w./-]*[\w/]")


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_path_in_it_exists():
    paths = set(NAMED.findall(TEXT))
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_map_has_the_order_of_the_floors():
    folders = re.findall(r"^\| `core/(\w+)/", section("The map"), re.MULTILINE)
    assert set(folders) == {name for name in FLOORS if (ROOT / "core" / name).is_dir()}
    assert sorted(folders, key=FLOORS.__getitem__) == folders


def test_the_walk_has_seven_files_at_most():
    rows = re.findall(r"^\| (\w+) \| `([^`]+)` \|", section("A run, from the page to its figures"), re.MULTILINE)
    assert [step for step, _ in rows][:1] == ["Page"]
    assert {"Launch", "Queue", "Worker", "Store", "Figures"} < {step for step, _ in rows}
    assert len(rows) <= 7
    assert all((ROOT / path).is_file() for _, path in rows)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_has_its_three_files(name: str):
    """The files that CONTRIBUTING asks for, and no other one in the folders of scores."""
    file = name.replace("-", "_")
    assert (ROOT / "core/conformal/scores" / f"{file}.py").is_file()
    assert (ROOT / "app/components/shared/scores" / f"{file}.js").is_file()
    assert (ROOT / "tests/core/conformal/scores" / f"test_{file}.py").is_file()


def test_the_readme_begins_with_a_short_moving_picture():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"\A# Hedge\n\n!\[[^\]]+\]\((assets/\S+)\)\n", readme)
    assert match is not None
    picture = ROOT / match[1]
    assert picture.stat().st_size <= 2_000_000
    with Image.open(picture) as film:
        frames = [(film.seek(i), film.load(), film.info["duration"])[2] for i in range(film.n_frames)]
    assert len(frames) > 50
    assert 15_000 <= sum(frames) <= 25_000  # milliseconds


def test_the_readmes_links_lead_to_files():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", readme)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_no_text_counts_the_scores():
    """A number of scores in a text is wrong as soon as one is added."""
    numbers = "|".join(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", r"\d+"))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "assets" / "lessons").glob("*.toml")):
        phrases = re.findall(rf"\b(?:{numbers}) (?:nonconformity )?scores\b", path.read_text(encoding="utf-8"))
        assert [phrase for phrase in phrases if phrase != "two scores"] == [], path.name
