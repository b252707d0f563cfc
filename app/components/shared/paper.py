"""The dialog "For a paper": a page's numbers as a table, its figures, and a caption that says where they come from.

Every page with results has its button in the same place, below them. Nothing is computed, and no chart library loaded,
before a person opens the dialog. A file is made when its button is pressed.
"""

import base64
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.background import DIALOG_KEY
from app.components.shared.controls import choice
from app.components.shared.static_table import static_table
from app.errors import spoken
from app.formatting import plain, sentence
from core.errors import InputError
from core.exchange import writing

if TYPE_CHECKING:  # the chart libraries and the reports, which no page waits for
    from charts.figure_files import FigureFile
    from charts.figure_style import FigureStyle
    from core.reports.paper.results import PaperResults, TableChoice

OPEN_KEY = "paper_dialog_open"
"""In the session: the page whose dialog is open."""
DISMISSED_KEY = "paper_dialog_dismissed"
PARTS = {"table": "Table", "figure": "Figure"}
WIDTH_TITLES = {
    "single": "One column (3.25 in)",
    "double": "Page wide (6.75 in)",
    "slide": "Slide (16:9)",
    "own": "Own width",
}
TABLE_WIDTHS = {"table": "One column (table)", "table*": "Page wide (table*)"}
FONT_TITLES = {"sans": "Sans", "serif": "Serif", "own": "The paper's"}
THEME_TITLES = {"light": "Light", "dark": "Dark"}
FONT_HELP = (
    "Sans and serif come with Hedge. A PDF and a PNG hold the paper's own font if this machine has it, and the serif "
    "one if not. An SVG names its font, and the program that opens it must have that font or one of the same widths."
)
TOO_SMALL = ":material/warning: On paper this table would be too small to read. Choose fewer columns, or a wider table."
PAGE_INCHES = 9.0
"""The height that a figure has on a page of a paper."""
WIDER = "Choose a wider one, or fewer runs."
LIST = "list"
NO_REFERENCE = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """What a page has for a paper: its numbers, its figures by name with their titles, and the function that draws one
    of them. ``references`` makes the works to cite, as BibTeX; None if the page has none."""

    results: "PaperResults"
    figures: Mapping[str, str]
    draw: "Callable[[str, FigureStyle], Sequence[FigureFile]]"
    references: Callable[[], str] | None = None


def for_paper(page: str, make: Callable[[], Paper]) -> None:
    """Show the button, and the dialog while it is open. ``make`` collects what the page has, only then.

    ``page`` begins the widgets' keys.
    """
    st.button(
        "For a paper: table, figure, caption",
        key=f"{page}_paper",
        type="tertiary",
        icon=":material/article:",
        on_click=_open,
        args=(page,),
    )
    if st.session_state.pop(DISMISSED_KEY, False):
        st.rerun()  # a run that began before the dialog closed may have sent it again
    if st.session_state.get(OPEN_KEY) == page:
        st.session_state[DIALOG_KEY] = True
        st.dialog("For a paper", width="large", on_dismiss=_dismiss)(_dialog)(page, make)


def _open(page: str) -> None:
    st.session_state[OPEN_KEY] = page


def _dismiss() -> None:
    st.session_state.pop(OPEN_KEY, None)
    st.session_state[DIALOG_KEY] = False
    st.session_state[DISMISSED_KEY] = True


def _dialog(page: str, make: Callable[[], Paper]) -> None:
    with spoken():
        paper = make()
        part = choice("Part", PARTS, default="table", key=f"{page}_paper_part") if paper.figures else "table"
        if part == "figure":
            _figure(paper, page)
        else:
            _table(paper, page)


def _table(paper: Paper, page: str) -> None:
    """Show the choice of columns, the table with its caption, and a button for each kind of file."""
    from core.reports.paper import writers
    from core.reports.paper.layout import LEGIBLE, lay_out

    results, key = paper.results, f"{page}_paper"
    chosen = _table_choice(results, key)
    table = lay_out(results, chosen)
    shown = [[f"{cell.text} {_round(cell.interval)}".rstrip() for cell in row] for row in table.rows]
    static_table(
        pd.DataFrame(shown, columns=list(table.titles)),
        alt="The table as it will be",
        texts=min(table.words, 2),
        bold=frozenset((i, j) for i, row in enumerate(table.rows) for j, cell in enumerate(row) if cell.bold),
    )
    if table.scale(wide=chosen.wide) < LEGIBLE:
        st.caption(TOO_SMALL)
    st.caption(plain(table.caption))
    named = results.about.file_name
    with st.container(horizontal=True, gap="small"):
        button("LaTeX", named("table", "tex"), lambda: writers.latex(results, chosen).encode(), key=f"{key}_tex")
        button("CSV", named("table", "csv"), lambda: writers.csv(results, chosen), key=f"{key}_csv")
        button("XLSX", named("table", "xlsx"), lambda: writers.xlsx(results, chosen), key=f"{key}_xlsx")
        button("Markdown", named("table", "md"), lambda: writers.markdown(results, chosen).encode(), key=f"{key}_md")
        if cite := paper.references:
            button("BibTeX", named("references", "bib"), lambda: cite().encode(), key=f"{key}_bib")
    with st.expander("LaTeX to copy"):
        st.code(writers.latex(results, chosen), language="latex", height=300)


def _table_choice(results: "PaperResults", key: str) -> "TableChoice":
    """Show what can be chosen of the table."""
    from core.reports.paper.layout import LEGIBLE, lay_out
    from core.reports.paper.results import TableChoice

    titles = {measure.name: measure.title for measure in results.measures}
    names = st.multiselect(
        "Columns",
        list(titles),
        [measure.name for measure in results.measures if measure.first],
        format_func=titles.__getitem__,
        key=f"{key}_columns",
        wrap=True,
    )
    scores: list[str] = []
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if len(results.scores) > 1:
            scores = st.multiselect("Scores", results.scores, results.scores[:1], key=f"{key}_scores", width=190)
        layouts = {LIST: "List"} | {
            name: f"{next(iter(results.keys.values()))} × {results.keys[name].lower()}"
            for name in results.laid_across(scores)
        }
        layout = LIST
        if len(layouts) > 1:
            begins = results.first_across if results.first_across in layouts else LIST
            layout = choice("Layout", layouts, default=begins, key=f"{key}_layout_{'_'.join(layouts)}")
        reference = NO_REFERENCE
        if results.references and layout == LIST:
            reference = st.selectbox(
                "Differences from",
                [NO_REFERENCE, *results.references],
                format_func=lambda name: name or "No differences",
                key=f"{key}_reference",
                width=230,
                help="Each row's difference from this one, with its 95% interval and its p-value.",
            )
        measures = results.measured(names)
        intervals = bool(reference or any(measure.low for measure in measures))
        if intervals:
            intervals = st.toggle("95% intervals", True, key=f"{key}_intervals")
        across = "" if layout == LIST else layout
        chosen = TableChoice(tuple(names), tuple(scores), across, intervals, reference)
        begins = "table" if lay_out(results, chosen).scale(wide=False) >= LEGIBLE else "table*"
        width = choice("Width", TABLE_WIDTHS, default=begins, key=f"{key}_table_width_{begins}")
    return replace(chosen, wide=width == "table*")


def _round(interval: str) -> str:
    """An interval in round brackets, which a table of a page keeps on one line."""
    low, _, high = interval.strip("[]").partition(", ")
    return f"({low} to {high})" if interval else ""


def _figure(paper: Paper, page: str) -> None:
    """Show the choice of a figure and its look, the figure with its caption, and a button for each kind of file."""
    from charts.figure_files import KINDS
    from core.reports.figure_names import FILE_KINDS

    key, titles = f"{page}_paper", paper.figures
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox("Figure", list(titles), format_func=titles.__getitem__, key=f"{key}_figure", width=330)
        look = _style(key)
    if look is None:
        return
    figures = paper.draw(name, look)
    for figure in figures:
        # A picture inside the page: an SVG in an image element runs no script.
        source = f"data:image/svg+xml;base64,{base64.b64encode(figure.svg()).decode()}"
        st.image(source, width=round(min(look.inches * 96, 900)), alt=figure.drawing.figure.alt)
        if figure.inches_high > PAGE_INCHES:
            st.caption(f":material/warning: It is {figure.inches_high:.1f} in high, more than a page holds. {WIDER}")
        st.caption(plain(f"{figure.caption} {paper.results.origin}"))
    with st.container(horizontal=True, gap="small"):
        for kind in (*FILE_KINDS, "html"):
            button(
                kind.upper(),
                _named(figures, kind),
                lambda kind=kind: _files(figures, lambda figure: KINDS[kind](figure), kind),  # type: ignore[misc]
                key=f"{key}_{kind}",
            )
        button("Caption", figures[0].file_name("txt"), lambda: _texts(figures), key=f"{key}_txt")
        if len(titles) > 1:
            every = paper.results.about.file_name("figures", "zip")
            button("All figures", every, lambda: _all(paper, look), key=f"{key}_zip")


def _named(figures: "Sequence[FigureFile]", kind: str) -> str:
    return figures[0].file_name(kind if len(figures) == 1 else "zip")


def _files(figures: "Sequence[FigureFile]", content: "Callable[[FigureFile], bytes]", kind: str) -> bytes:
    """The file of a figure, or an archive of those of each task."""
    files = {figure.file_name(kind): content(figure) for figure in figures}
    return next(iter(files.values())) if len(files) == 1 else zipped(files)


def _texts(figures: "Sequence[FigureFile]") -> bytes:
    return "\n\n".join(figure.text for figure in figures).encode()


def _all(paper: Paper, look: "FigureStyle") -> bytes:
    """All figures as SVG, PDF and PNG with their captions, in one archive."""
    from charts.figure_files import KINDS
    from core.reports.figure_names import FILE_KINDS

    figures = [figure for name in paper.figures for figure in paper.draw(name, look)]
    files = {figure.file_name(kind): KINDS[kind](figure) for figure in figures for kind in FILE_KINDS}
    return zipped(files | {figure.file_name("txt"): figure.text.encode() for figure in figures})


def _style(key: str) -> "FigureStyle | None":
    """The look that is chosen. Says what is wrong with it and returns None if it can't be."""
    from charts.figure_style import NARROWEST, THEMES, WIDEST, FigureStyle

    width = st.selectbox(
        "Width", list(WIDTH_TITLES), format_func=WIDTH_TITLES.__getitem__, key=f"{key}_width", width=190
    )
    inches: str | float = width
    if width == "own":
        inches = st.number_input("Inches", NARROWEST, WIDEST, 5.0, 0.25, key=f"{key}_inches", width=110)
    font = st.selectbox(
        "Font", list(FONT_TITLES), format_func=FONT_TITLES.__getitem__, key=f"{key}_font", help=FONT_HELP, width=130
    )
    if font == "own":
        font = st.text_input("Font's name", "Times New Roman", key=f"{key}_family", width=180).strip() or "serif"
    theme = choice("Theme", THEME_TITLES, THEMES, default="light", key=f"{key}_theme")
    try:
        return FigureStyle(inches, font, theme)
    except InputError as error:
        st.error(plain(sentence(str(error))))
        return None


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one archive."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


def button(label: str, name: str, make: Callable[[], bytes], *, key: str) -> None:
    """Show a button that saves a file called ``name``, which is made when it is pressed."""
    st.download_button(
        label,
        data=make,
        file_name=name,
        mime=writing.MEDIA_TYPES[Path(name).suffix[1:]],
        on_click="ignore",
        icon=":material/download:",
        key=f"export_{key}",
    )
