"""The manual as HTML pages that any web space serves and that open as files: nothing in them comes from elsewhere.

Written pages lie in ``docs/text``, others are generated from the code. A link or an anchor that leads nowhere stops the
build.
"""

import ast
import json
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from shutil import copy

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.navigation import PAGES, PageEntry
from core.errors import InputError
from core.settings import ASSETS, ROOT
from docs import command_line, formulas, glossary, run_folder, shapes

TEXT, LOOK = ROOT / "docs" / "text", ROOT / "docs" / "look"


def help_page(entry: PageEntry) -> str:
    """A page's help below the title, the question and the one sentence that the app shows."""
    text = (TEXT / "pages" / f"{entry.name}.md").read_text(encoding="utf-8")
    return f"# {entry.title}\n\n{_question(entry)}{entry.help}\n\n{text}"


def _question(entry: PageEntry) -> str:
    """The question below the page's title, if its script has one in its call of ``head`` or ``head_beside``."""
    for node in ast.walk(ast.parse(entry.script.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="head" | "head_beside"), args=[_, ast.Constant(value=str(question)), *_]):
                return f"> {question}\n\n"
    return ""


GENERATED: dict[str, Callable[[], str]] = {
    "formulas/scores.md": formulas.scores,
    "formulas/coverage.md": formulas.coverage,
    "formulas/calibration.md": formulas.calibration,
    "formulas/juries.md": formulas.juries,
    "glossary.md": glossary.page,
    "files.md": shapes.page,
    "run-folder.md": run_folder.page,
    "command-line.md": command_line.page,
}
"""What writes each generated page."""
MENU: dict[str, dict[str, str]] = {
    "": {"index.md": "Hedge", "faq.md": "First questions"},
    "Pages": {f"pages/{entry.name}.md": entry.title for entry in PAGES},
    "Guides": {
        "shell.md": "Using the command line",
        "shelf.md": "The shelf",
        "servers.md": "Models on a server",
        "decisions.md": "Models that answer decisions",
        "notebook.md": "In a notebook",
        "inspect.md": "In Inspect",
        "running.md": "Running Hedge",
        "deploying.md": "Deploying Hedge",
        "serving.md": "Serving others",
        "intruders.md": "What a viewer tried",
        "slurm.md": "GPUs and clusters",
        "figures.md": "What the figures mean",
        "accessibility.md": "Accessibility",
    },
    "Formulas": {
        "formulas/scores.md": "Scores",
        "formulas/coverage.md": "Thresholds and coverage",
        "formulas/calibration.md": "Calibration",
        "formulas/juries.md": "Juries",
    },
    "Reference": {
        "glossary.md": "Glossary",
        "files.md": "Files that Hedge reads",
        "run-folder.md": "The run folder",
        "command-line.md": "Command line",
        "changes.md": "Changes",
    },
}
"""The pages by group, with their names in the menu."""


@dataclass
class ManualPage:
    """A page in work: its Markdown tokens, its headings by anchor, and the text below each for the search."""

    name: str
    tokens: list[Token]
    headings: dict[str, tuple[int, str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The page's first heading."""
        return next(iter(self.headings.values()))[1]

    @property
    def address(self) -> str:
        """The page's file in the manual."""
        return self.name.removesuffix(".md") + ".html"


def write_manual(folder: Path, *, site: str = "") -> None:
    """Write the whole manual into a folder, which is created if it is missing; its first page is ``index.html``.

    With ``site``, each page links to this address, which is relative to the folder.

    Raises :class:`InputError` if a link leads nowhere, or if a page is not in the menu.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _fence)
    pages = {name: _read(parser, name) for name in _names()}
    template = Environment(loader=FileSystemLoader(LOOK), autoescape=True, trim_blocks=True).get_template("page.jinja")
    for page in pages.values():
        _point_links(page, pages)
        path = folder / page.address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            template.render(
                page=page,
                body=parser.renderer.render(page.tokens, parser.options, {}),
                pages=pages,
                menu=MENU,
                root="../" * page.name.count("/"),
                site=site,
            ),
            encoding="utf-8",
        )
    sections = [
        [page.title, page.headings[anchor][1], f"{page.address}#{anchor}", text]
        for page in pages.values()
        for anchor, text in page.texts.items()
    ]
    (folder / "sections.js").write_text(
        f"const SECTIONS = {json.dumps(sections, ensure_ascii=False)};\n", encoding="utf-8"
    )
    for path in (LOOK / "manual.css", LOOK / "search.js", ASSETS / "icon.svg"):
        copy(path, folder)


def _names() -> list[str]:
    """The pages in the order of the menu, after checking that it lists each."""
    listed = [name for group in MENU.values() for name in group]
    there = {path.relative_to(TEXT).as_posix() for path in TEXT.rglob("*.md")} | GENERATED.keys()
    if there != set(listed):
        raise InputError(f"the manual's menu and its pages differ: {', '.join(sorted(there ^ set(listed)))}")
    return listed


def _read(parser: MarkdownIt, name: str) -> ManualPage:
    """A page with anchors at its headings."""
    helped = {f"pages/{entry.name}.md": entry for entry in PAGES}
    if name in GENERATED:
        text = GENERATED[name]()
    else:
        text = help_page(helped[name]) if name in helped else (TEXT / name).read_text(encoding="utf-8")
    page = ManualPage(name, parser.parse(text))
    anchor = ""
    for before, token in pairwise(page.tokens):
        if before.type == "heading_open":
            anchor = _anchored(page, before, token)
            page.texts[anchor] = ""
        elif token.type in ("inline", "fence"):
            page.texts[anchor] = f"{page.texts[anchor]} {_plain(token)}".strip()
    return page


def _anchored(page: ManualPage, opening: Token, content: Token) -> str:
    """Give a heading its anchor: the one that it names, as in ``LAC { #lac }``, or one made from its words."""
    last = (content.children or [])[-1]
    named = re.search(r"\s*\{ #([\w-]+) \}$", last.content)
    if named:
        last.content = last.content[: named.start()]
    title = _plain(content)
    words = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    anchor = named[1] if named else re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip())
    repeats = sum(known.partition("_")[0] == anchor for known in page.headings)
    anchor = f"{anchor}_{repeats}" if repeats else anchor
    opening.attrSet("id", anchor)
    page.headings[anchor] = (int(opening.tag[1:]), title)
    return anchor


def _plain(token: Token) -> str:
    """The text of a paragraph, a heading or a block of code."""
    return (
        token.content
        if token.children is None
        else "".join(each.content or " " * (each.type == "softbreak") for each in token.children)
    )


def _links(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type == "link_open":
            yield token
        yield from _links(token.children or [])


def _point_links(page: ManualPage, pages: dict[str, ManualPage]) -> None:
    """Let links to pages lead to their files. Raises :class:`InputError` for one that leads nowhere."""
    for link in _links(page.tokens):
        target = str(link.attrGet("href"))
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), path)) if path else page.name
        if name not in pages or (anchor and anchor not in pages[name].headings):
            raise InputError(f"docs/text/{page.name} links to {target}, which is not there")
        link.attrSet("href", (path.removesuffix(".md") + ".html" if path else "") + (f"#{anchor}" if anchor else ""))


def _fence(renderer: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    """A block of code, whose comments have a colour of their own; the keyboard can scroll it."""
    token = tokens[place]
    lines = escape(token.content, quote=False)
    if token.info in ("sh", "toml", "python"):
        lines = re.sub(r"(?m)(^|\s)(# .*)$", r'\1<span class="comment">\2</span>', lines)
    return f'<pre tabindex="0"><code>{lines}</code></pre>\n'
