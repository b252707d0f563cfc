"""The documentation builds strictly: no broken link, no page of the app without its help, nothing out of date."""

from __future__ import annotations

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
from docs import run_folder
from docs.docstrings import markdown


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_every_page_of_the_app_has_its_help_and_no_other_page_has(site: Path):
    assert {path.stem for path in (ROOT / "docs" / "text" / "pages").iterdir()} == {entry.name for entry in PAGES}
    for entry in PAGES:
        text = text_of(site / "pages" / f"{entry.name}.html")
        assert entry.help in text
        assert "How to read it" in text
    assert "How often may a set miss the truth?" in text_of(site / "pages" / "alpha_lab.html")


def test_formulas_come_from_the_code(site: Path):
    scores = text_of(site / "formulas" / "scores.html")
    assert all(of.formula in scores and of.source in scores for of in SCORES.values())
    juries = text_of(site / "formulas" / "juries.html")
    assert all(of.sentence in juries for of in RULES.values())
    assert "smECE_σ = σ" in text_of(site / "formulas" / "calibration.html")


def test_every_command_is_there(site: Path):
    text = text_of(site / "command-line.html")
    assert "usage: python -m core report" in text
    assert "usage: python -m core jury evaluate" in text
    assert "--split-seed S" in text


def test_nothing_is_fetched_from_the_network(site: Path):
    for page in site.rglob("*.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page.read_text(encoding="utf-8"))


def test_a_run_folder_that_is_not_as_described_stops_the_build(monkeypatch):
    monkeypatch.delitem(run_folder.KEYS, "provenance")
    with pytest.raises(InputError, match=r"the keys of run\.json are not those .*: provenance"):
        run_folder.page()


def test_docstrings_become_markdown():
    assert markdown(None) == ""
    assert markdown("See :func:`~core.a.b` and ``x``.") == "See `core.a.b` and `x`."
    assert markdown("One.\n\n>>> 1 + 1\n2") == "One.\n\n```pycon\n>>> 1 + 1\n2\n```"
