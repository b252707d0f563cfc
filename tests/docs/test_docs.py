"""The documentation: its generated pages, a help for each page of the app, no broken link; built strictly at night."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.navigation import PAGES
from core.conformal.scores import SCORES
from core.errors import InputError
from core.jury.adjudication import RULES
from core.settings import ROOT
from docs import hooks, run_folder
from docs.docstrings import markdown

TEXT = ROOT / "docs" / "text"
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def test_every_page_of_the_app_has_its_help_and_no_other_page_has():
    assert {path.stem for path in (TEXT / "pages").iterdir()} == {entry.name for entry in PAGES}
    for entry in PAGES:
        assert "## How to read it" in (TEXT / "pages" / f"{entry.name}.md").read_text(encoding="utf-8")


def test_formulas_and_commands_come_from_the_code():
    pages = {name: write() for name, (_, write) in hooks.GENERATED.items()}
    assert all(score.formula in pages["formulas/scores.md"] for score in SCORES.values())
    assert all(rule.sentence in pages["formulas/juries.md"] for rule in RULES.values())
    assert "smECE_σ = σ" in pages["formulas/calibration.md"]
    for text in ("usage: hedge report", "usage: hedge jury evaluate", "--split-seed S"):
        assert text in pages["command-line.md"]


def test_links_lead_to_pages():
    written = {str(path.relative_to(TEXT)) for path in TEXT.rglob("*")}
    for page in TEXT.rglob("*.md"):
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = os.path.normpath(page.parent.relative_to(TEXT) / link)
            assert target in written | hooks.GENERATED.keys(), (page, link)


@pytest.mark.nightly
def test_the_site_builds_strictly_and_fetches_nothing(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for entry in PAGES:
        text = re.sub(r"<[^>]+>", "", (tmp_path / "pages" / f"{entry.name}.html").read_text(encoding="utf-8"))
        assert entry.help in html.unescape(text)
    for page in tmp_path.rglob("*.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page.read_text(encoding="utf-8"))


def test_a_run_folder_that_is_not_as_described_stops_the_build(monkeypatch):
    monkeypatch.delitem(run_folder.KEYS, "provenance")
    with pytest.raises(InputError, match=r"the keys of run\.json are not those .*: provenance"):
        run_folder.page()


def test_docstrings_become_markdown():
    assert markdown(None) == ""
    assert markdown("See :func:`~core.a.b` and ``x``.") == "See `core.a.b` and `x`."
    assert markdown("One.\n\n>>> 1 + 1\n2") == "One.\n\n```pycon\n>>> 1 + 1\n2\n```"


def test_every_figure_has_a_date_and_a_command_that_exists():
    """And a benchmark that prints no figure of the table is gone; those without a row serve others."""
    text = (ROOT / "tests" / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 250
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| What ", "| --- "))]
    assert len(rows) > 60
    for row in rows:
        assert re.fullmatch(r"\| [^|]+ \| [^|]+ \| 20\d\d-\d\d-\d\d \| [^|]+ \| [^|]+ \|", row), row
        command = row.split("|")[5]
        assert re.search(r"`(?:\S+=\S+ )*(?:python |hedge |time hedge |du )", command), row
        for module in re.findall(r"-m ((?:tests|pocket_world)[\w.]*)", command):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), module
        for path in re.findall(r"tests/[\w/]+(?:\.py)?", command):
            assert (ROOT / path).exists(), path
    named = set(re.findall(r"tests[./]benchmarks[./](\w+)", text))
    assert {path.stem for path in (ROOT / "tests" / "benchmarks").glob("*.py")} - named == {"empty_app"}
