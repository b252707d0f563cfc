"""The manual: its generated pages, a help for each page of the app, and no broken link."""

import html
import re
from pathlib import Path

import pytest

from app.navigation import PAGES
from core.conformal.scores import SCORES
from core.errors import InputError
from core.jury.adjudication import RULES
from core.settings import ROOT
from docs import manual, run_folder
from docs.docstrings import markdown

TEXT = ROOT / "docs" / "text"


def test_every_page_of_the_app_has_its_help_and_no_other_page_has():
    assert {path.stem for path in (TEXT / "pages").iterdir()} == {entry.name for entry in PAGES}
    for entry in PAGES:
        assert "## How to read it" in (TEXT / "pages" / f"{entry.name}.md").read_text(encoding="utf-8")


def test_formulas_and_commands_come_from_the_code():
    pages = {name: write() for name, write in manual.GENERATED.items()}
    assert all(score.formula in pages["formulas/scores.md"] for score in SCORES.values())
    assert all(rule.sentence in pages["formulas/juries.md"] for rule in RULES.values())
    assert "smECE_σ = σ" in pages["formulas/calibration.md"]
    for text in ("usage: hedge report", "usage: hedge jury evaluate", "--split-seed S"):
        assert text in pages["command-line.md"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual; writing it fails for a link that leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    manual.write_manual(folder)
    return folder


def test_every_page_is_written_and_fetches_nothing(site: Path):
    written = {path.relative_to(site).with_suffix(".md").as_posix(): path for path in site.rglob("*.html")}
    assert written.keys() == {name for group in manual.MENU.values() for name in group}
    for entry in PAGES:
        text = re.sub(r"<[^>]+>", "", written[f"pages/{entry.name}.md"].read_text(encoding="utf-8"))
        assert entry.help in html.unescape(text)
    for page in written.values():
        text = page.read_text(encoding="utf-8")
        sources = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', text)
        assert all((page.parent / source).is_file() for source in sources)
        for link in re.findall(r'<a [^>]*href="([^":]+)"', text):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).read_text(encoding="utf-8") if path else text
            assert not anchor or f'id="{anchor}"' in target, (page, link)


@pytest.mark.parametrize("link", ["nowhere.md", "faq.md#nothing", "#nothing"])
def test_a_link_that_leads_nowhere_stops_the_build(link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(manual.GENERATED, "files.md", lambda: f"# Files\n\n[here]({link})")
    with pytest.raises(InputError, match=f"docs/text/files.md links to {link}, which is not there"):
        manual.write_manual(tmp_path)


def test_a_page_that_the_menu_lacks_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(manual.MENU["Reference"], "files.md")
    with pytest.raises(InputError, match=r"the manual's menu and its pages differ: files\.md"):
        manual.write_manual(tmp_path)


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
