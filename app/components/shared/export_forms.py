"""The content of a page's export section: figures with their looks, tables, references, a workbook, the report.

A file is made when its button is pressed, not when the page runs.
"""

import base64
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

from app.caches import export_cache, run_cache
from app.components.shared.controls import choice
from app.errors import spoken
from app.formatting import plain, sentence
from charts.figure_files import KINDS, FigureFile
from charts.figure_style import NARROWEST, THEMES, WIDEST, WIDTHS, FigureStyle
from core.errors import InputError
from core.exchange import writing
from core.questions.bank_names import bank_name
from core.reports import exports
from core.reports.compare.benchmark import SetRule
from core.reports.figure_names import FILE_KINDS, RUN_FIGURES
from core.reports.file_names import of_runs
from core.reports.titles import record_task_title

WIDTH_TITLES = {
    "single": f"One column ({WIDTHS['single']} in)",
    "double": f"Two columns ({WIDTHS['double']} in)",
    "slide": "Slide (16:9)",
    "own": "Own width",
}
FONT_TITLES = {"sans": "Sans", "serif": "Serif", "own": "The paper's"}
THEME_TITLES = {"light": "Light", "dark": "Dark"}
FONT_HELP = (
    "Sans and serif come with Hedge. A PDF and a PNG hold the paper's own font if this machine has it, and the serif "
    "one if not. An SVG names its font, and the program that opens it must have that font or one of the same widths."
)

Called = Callable[[str, str], str]
"""Makes a file's name from what the file holds and its ending."""


def runs_exports(run_ids: Sequence[str], rule: SetRule, figure_names: Sequence[str], *, key: str) -> None:
    """Show what can be exported of runs: the figures named, tables for a paper, references, a workbook, the report."""
    called = called_by_runs(run_ids, rule)
    # A figure that shows one task would need a file for each.
    one_task = len({record_task_title(run_cache.record(run_id)) for run_id in run_ids}) == 1
    titles = {name: RUN_FIGURES[name] for name in figure_names if one_task or name != "accuracy-and-set-size"}
    figure_part(titles, lambda name, style: export_cache.runs_figure(name, run_ids, rule, style), called, key=key)
    _tables(run_ids, rule, called, key=key)


def called_by_runs(run_ids: Sequence[str], rule: SetRule) -> Called:
    """Names of files about these runs at the rule's alpha."""
    records = [run_cache.record(run_id) for run_id in run_ids]
    specs = [(record.spec, bank_name(record.spec, record.provenance)) for record in records]
    return lambda what, ending: of_runs(what, ending, specs, alpha=rule.alpha)


def figure_part(
    titles: Mapping[str, str],
    draw: Callable[[str, FigureStyle], Sequence[FigureFile]],
    called: Called,
    *,
    key: str,
) -> None:
    """Show a choice of a figure and its look, with a button for each kind of file, and the figure on demand.

    ``titles`` maps the figures' names to their titles; ``draw`` draws one.
    """
    st.markdown("**Figure**")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox("Figure", list(titles), format_func=titles.__getitem__, key=f"{key}_figure", width=330)
        look = _style(key)
    if look is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in (*FILE_KINDS, "html"):
            button(kind.upper(), called(name, kind), _drawn(draw, name, look, kind), key=f"{key}_{kind}")
        button("Caption", called(name, "txt"), _drawn(draw, name, look, "txt"), key=f"{key}_txt")
        if len(titles) > 1:
            button("All figures", called("figures", "zip"), lambda: _all(list(titles), draw, look), key=f"{key}_zip")
        shown = st.toggle("Show the figure and its caption", key=f"{key}_preview")
    if shown:
        with spoken():
            for figure in draw(name, look):
                _preview(figure)


def _style(key: str) -> FigureStyle | None:
    """The look that is chosen. Says what is wrong with it and returns None if it can't be."""
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


def _preview(figure: FigureFile) -> None:
    # A picture inside the page: an SVG in an image element runs no script.
    source = f"data:image/svg+xml;base64,{base64.b64encode(figure.svg()).decode()}"
    st.image(source, width=round(min(figure.style.inches * 96, 900)))
    st.code(figure.text, language=None, wrap_lines=True)


def _drawn(
    draw: Callable[[str, FigureStyle], Sequence[FigureFile]], name: str, look: FigureStyle, kind: str
) -> Callable[[], bytes]:
    """A function that makes one file of a figure. The page itself does not change."""

    def content() -> bytes:
        return _content(draw(name, look)[0], kind)

    return content


def _content(figure: FigureFile, kind: str) -> bytes:
    return figure.text.encode() if kind == "txt" else KINDS[kind](figure)


def _all(names: Sequence[str], draw: Callable[[str, FigureStyle], Sequence[FigureFile]], look: FigureStyle) -> bytes:
    """All figures as SVG, PDF and PNG with their captions, in one archive."""
    figures = [figure for name in names for figure in draw(name, look)]
    return zipped(
        {figure.file_name(kind): _content(figure, kind) for figure in figures for kind in (*FILE_KINDS, "txt")}
    )


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one archive."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


TEXTS: dict[str, tuple[str, str, Callable[..., str]]] = {
    "LaTeX": ("table", "tex", exports.latex),
    "Markdown": ("table", "md", exports.markdown),
    "BibTeX": ("references", "bib", exports.bibtex),
}
"""Maps a format's title to the content of the file, its ending, and the function that writes it."""


def _tables(run_ids: Sequence[str], rule: SetRule, called: Called, *, key: str) -> None:
    st.markdown("**Tables with intervals, references, report**")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for title, (what, ending, write) in TEXTS.items():
            button(title, called(what, ending), _text(write, run_ids, rule), key=f"{key}_{ending}")
        button(
            "XLSX",
            called("sets", "xlsx"),
            lambda: exports.xlsx(export_cache.evaluations(run_ids), rule),
            key=f"{key}_xlsx",
        )
        button("Report (works offline)", called("report", "html"), lambda: _report(run_ids, rule), key=f"{key}_report")
        shown = st.toggle("Show texts to copy", key=f"{key}_copy")
    if shown:
        which = st.segmented_control("Text", list(TEXTS), default="LaTeX", required=True, key=f"{key}_text")
        with spoken():
            st.code(_text(TEXTS[which][2], run_ids, rule)().decode(), language=None)


def _text(write: Callable[..., str], run_ids: Sequence[str], rule: SetRule) -> Callable[[], bytes]:
    return lambda: write(export_cache.evaluations(run_ids), rule).encode()


def _report(run_ids: Sequence[str], rule: SetRule) -> bytes:
    from charts.static_report import report_html

    return report_html(export_cache.evaluations(run_ids), rule)


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
