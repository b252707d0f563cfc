"""MkDocs hooks: the generated pages, the menu, and the head of each app page's help.

MkDocs loads this file by its path (``hooks`` in ``mkdocs.yml``), so the repository root has to be put on the path.
"""

import ast
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from mkdocs.structure.pages import Page  # noqa: E402

from app.navigation import PAGES, PageEntry  # noqa: E402
from docs import command_line, formulas, glossary, run_folder, shapes  # noqa: E402


def changes() -> str:
    """The changelog as it stands in the repository."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


GENERATED = {
    "formulas/scores.md": ("Scores", formulas.scores),
    "formulas/coverage.md": ("Thresholds and coverage", formulas.coverage),
    "formulas/calibration.md": ("Calibration", formulas.calibration),
    "formulas/juries.md": ("Juries", formulas.juries),
    "glossary.md": ("Glossary", glossary.page),
    "files.md": ("Files that Hedge reads", shapes.page),
    "run-folder.md": ("The run folder", run_folder.page),
    "command-line.md": ("Command line", command_line.page),
    "changes.md": ("Changes", changes),
}
"""Each generated page: its file, its name in the menu and what writes it."""
GUIDES = {
    "shell.md": "Using the command line",
    "shelf.md": "The shelf",
    "servers.md": "Models on a server",
    "notebook.md": "In a notebook",
    "inspect.md": "In Inspect",
    "running.md": "Running Hedge",
    "deploying.md": "Deploying Hedge",
    "serving.md": "Serving others",
    "intruders.md": "What a viewer tried",
    "slurm.md": "GPUs and clusters",
    "figures.md": "What the figures mean",
    "accessibility.md": "Accessibility",
}
"""The written pages that belong to no page of the app, and their names in the menu."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The menu: the app's pages in the order of the app, then what is generated."""
    named = [{title: name} for name, (title, _) in GENERATED.items()]
    config.nav = [
        {"Hedge": "index.md"},
        {"Pages": [{entry.title: f"pages/{entry.name}.md"} for entry in PAGES]},
        {"Guides": [{title: name} for name, title in GUIDES.items()]},
        {"Formulas": named[:4]},
        *named[4:],
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The written files and the generated ones."""
    for name, (_, write) in GENERATED.items():
        files.append(File.generated(config, name, content=write()))
    files.append(File.generated(config, "icon.svg", abs_src_path=str(ROOT / "assets" / "icon.svg")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put the app's own title, question and one sentence above each page's help."""
    shown = {f"pages/{entry.name}.md": entry for entry in PAGES}.get(page.file.src_uri)
    return markdown if shown is None else f"# {shown.title}\n\n{_question(shown)}{shown.help}\n\n{markdown}"


def _question(entry: PageEntry) -> str:
    """The question below the page's title, if its script has one in its call of ``head`` or ``head_beside``."""
    for node in ast.walk(ast.parse(entry.script.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="head" | "head_beside"), args=[_, ast.Constant(value=str(question)), *_]):
                return f"> {question}\n\n"
    return ""
