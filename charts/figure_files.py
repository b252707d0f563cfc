"""Figures as files, without a server and without a browser: SVG, PDF, PNG and HTML by vl-convert.

One function draws a figure for a page, the command line and a notebook alike: :func:`figure`, and :func:`jury_figure`
for a jury. A figure is drawn at the width, font and theme of a :class:`~charts.figure_style.FigureStyle`.

A file says where its figures come from, in its metadata: Dublin Core in an SVG, the document information of a PDF, text
chunks in a PNG. The same stands in :attr:`FigureFile.text`, to be put beside a figure.
"""

import json
import math
import re
import struct
import textwrap
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.sax.saxutils import escape

from charts.figure_style import DPI, FONT_FOLDER, FigureStyle
from charts.forests import jury_forest, jury_votes
from charts.html_page import html_page
from charts.label_widths import label_widths
from charts.run_figures import FIGURES, Drawing, FigureRequest
from core.errors import InputError
from core.exchange.writing import write
from core.jury.adjudication import rules_in_words
from core.jury.experiment import JuryExperiment
from core.jury.judgements import Judgements, in_words
from core.reports import jury as jury_reports
from core.reports import label_budget
from core.reports.caveats import MARK, footnotes
from core.reports.compare.benchmark import SetRule
from core.reports.compare.common_options import offered_alike
from core.reports.evaluation import Evaluation
from core.reports.figure_names import JURY_FIGURES
from core.reports.file_names import file_name, of_runs
from core.reports.provenance import Provenance
from core.reports.provenance import of_runs as provenance_of_runs
from core.reports.report import shown_with

HEIGHT = 0.72
"""The height of a figure that has no rows, over its width, up to :data:`HIGHEST` units."""
HIGHEST = 330
LEGEND_ROW = 16
SLIDE = 9 / 16
PANELS = 3
"""How often panels are drawn again, until together they have the intended width."""
STRETCHED = 2.5
"""How much higher than elsewhere the panels of a slide may be, to fill it."""
SMALLEST = 100
"""To this height, panels of a slide get less high. Beyond it, the slide is drawn smaller with its texts."""
LETTER = 0.56
"""The width of a letter over the size of its font, on average."""
PDF_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
PDF_RESOURCES = re.compile(rb"(?:^ *+/\w++ \d++ 0 R\n){2,}", re.M)
"""Entries of a dictionary that refer to other objects, one on a line."""
DRAWN = """
// Expressions are interpreted, because the page's policy lets no text become a script.
const spec = JSON.parse(document.getElementById("embedded").textContent);
drawFigure("#figure", spec, { ast: true, renderer: "svg", actions: { editor: false } });
"""
HTML = FigureStyle(width=40 / 6)
"""The look of a figure as an HTML page of its own."""


@dataclass(frozen=True)
class FigureFile:
    """A figure for a file: its ``name``, its ``drawing``, the look, and where its figures come from.

    ``called`` makes the file's name from what it holds and its ending. ``footnotes`` are the caveats of its runs.
    """

    name: str
    drawing: Drawing
    style: FigureStyle
    provenance: Provenance
    called: Callable[[str, str], str]
    footnotes: tuple[str, ...] = ()

    def file_name(self, ending: str) -> str:
        """The file's name, with model, task and alpha."""
        return self.called(self.name, ending)

    @property
    def caption(self) -> str:
        """The caption below the figure in a paper."""
        return " ".join([f"{self.drawing.title}. {self.drawing.reading}".rstrip(), *self.footnotes])

    @property
    def text(self) -> str:
        """The caption, the figure in words for those who do not see it, and its provenance."""
        words = self.drawing.figure.alt.replace("\n", " ")  # narrow figures break the names of runs
        return f"{self.caption}\n\nIn words: {words}\n\n{self.provenance.text()}\n"

    @cached_property
    def _drawn(self) -> tuple[str, float, float]:
        """The SVG, and its width and height in units."""
        return _fitted(self.drawing, self.style)

    @property
    def inches_high(self) -> float:
        """The height on paper."""
        _, width, height = self._drawn
        return self.style.inches * height / width

    def svg(self) -> bytes:
        """The figure as SVG, as wide as asked for, with its provenance as metadata.

        Its text can be searched and edited. The file names several fonts of the same widths, because most machines have
        at least one of them.
        """
        drawn, width, height = self._drawn
        inches = self.style.inches
        sized = _sized(drawn, width, height, f"{inches:.4g}in", f"{inches * height / width:.4g}in")
        sized = sized.replace(f'font-family="{self.style.drawn_family}"', f'font-family="{self.style.family}"')
        end = sized.index(">") + 1
        return (sized[:end] + self._dublin_core() + sized[end:]).encode(errors="replace")

    def pdf(self) -> bytes:
        """The figure as PDF, as wide as asked for, with its fonts inside and its provenance as document information."""
        drawn, width, height = self._drawn
        points = 72 * self.style.inches  # a PDF takes the SVG's units for points (72 per inch)
        sized = _sized(drawn, width, height, f"{points:g}", f"{points * height / width:g}")
        return with_pdf_information(bytes(_renderer().svg_to_pdf(sized)), self._metadata())

    def png(self) -> bytes:
        """The figure as PNG with 300 pixels per inch, and its provenance in text chunks."""
        drawn, width, _ = self._drawn
        image = bytes(_renderer().svg_to_png(drawn, scale=self.style.inches * 72 / width, ppi=DPI))
        return with_png_texts(image, self._metadata())

    def html(self) -> bytes:
        """The figure as an HTML file of its own, with its scripts inside: hovers work offline."""
        titled = {"text": self.drawing.title, "subtitle": self.provenance.of("Made by"), "anchor": "start"}
        spec = standalone(self.drawing, HTML) | {"title": titled, "padding": 14}
        script = _embed_script() + DRAWN
        return html_page(
            "figure", script=script, data=spec, title=self.drawing.title, background=HTML.colors.background
        )

    def _metadata(self) -> dict[str, str]:
        """The metadata of a file, under PDF's names of document information."""
        runs = "; ".join(value for what, value in self.provenance.facts if what.startswith("Run"))
        return {
            "Title": self.drawing.title,
            "Author": "Hedge",
            "Subject": self.caption,
            "Keywords": runs or self.provenance.of("Jury"),
            "Creator": self.provenance.of("Made by"),
            "Provenance": self.provenance.text(),
        }

    def _dublin_core(self) -> str:
        facts = self.provenance
        terms = {
            "title": self.drawing.title,
            "description": self.caption,
            "creator": facts.of("Made by"),
            "date": facts.of("Date"),
            "source": facts.text(),
        }
        inner = "".join(f"<dc:{term}>{escape(value)}</dc:{term}>" for term, value in terms.items())
        return (
            f"<title>{escape(self.drawing.title)}</title><desc>{escape(self.drawing.figure.alt)}</desc>"
            '<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description rdf:about="">'
            f"{inner}</rdf:Description></rdf:RDF></metadata>"
        )


KINDS: dict[str, Callable[[FigureFile], bytes]] = {
    "svg": FigureFile.svg,
    "pdf": FigureFile.pdf,
    "png": FigureFile.png,
    "html": FigureFile.html,
}
"""From a file's ending to what draws it."""


def written(figure_files: Sequence[FigureFile], kinds: Sequence[str], folder: Path) -> list[Path]:
    """Write figures into a folder as files of these kinds, each with its caption and provenance as text beside it.

    Raises :class:`InputError` if the folder can't be written.
    """
    paths = []
    for figure_file in figure_files:
        contents = {kind: KINDS[kind](figure_file) for kind in kinds} | {"txt": figure_file.text.encode()}
        paths += [write(folder.resolve(), figure_file.file_name(kind), content) for kind, content in contents.items()]
    return paths


def figure(
    name: str, runs: Sequence[Evaluation], alpha: int | SetRule = 100, style: FigureStyle | None = None
) -> FigureFile:
    """The figure ``name`` of :data:`~charts.run_figures.FIGURES` of ``runs``, at ``alpha`` thousandths.

    A :class:`SetRule` in the place of ``alpha`` says more of the sets; without one they are LAC's. Raises
    :class:`InputError` for an unknown name, without runs, and for a figure of one task where the runs are of several.
    """
    drawn = figures([name], runs, alpha, style)
    if len(drawn) > 1:
        raise InputError(f"the figure {name} shows one task, and these runs are of {len(drawn)}; choose runs of one")
    return drawn[0]


def figures(
    names: Sequence[str], runs: Sequence[Evaluation], alpha: int | SetRule = 100, style: FigureStyle | None = None
) -> list[FigureFile]:
    """Several figures of the same runs; a figure that shows one task is there once for each task."""
    look = style or FigureStyle()
    rule = alpha if isinstance(alpha, SetRule) else SetRule(alpha, shown_with("lac"))
    for name in names:
        if name not in FIGURES:
            raise InputError(f"unknown figure {name!r}; choose from {', '.join(FIGURES)}")
    if not runs:
        raise InputError("a figure needs at least one run, got none")
    runs = offered_alike(runs)
    request = FigureRequest(runs, rule, look.units)
    facts = provenance_of_runs(runs, rule)
    specs = [(run.spec, run.bank) for run in runs]
    notes = footnotes(zip((name.replace(f" {MARK}", "") for name in request.names), request.caveats, strict=True))

    def file_names(what: str, ending: str) -> str:
        return of_runs(what, ending, specs, alpha=rule.alpha)

    figure_files = []
    for name in names:
        drawn = FIGURES[name](request)
        for drawing in drawn:
            called = drawing.figure.name if len(drawn) > 1 else name
            figure_files.append(FigureFile(called, drawing, look, facts, file_names, notes))
    return figure_files


def jury_figure(
    name: str, judgements: Judgements, evaluated: JuryExperiment, called: str, style: FigureStyle | None = None
) -> FigureFile:
    """A figure of a jury that is ``called`` so, from its evaluation ``evaluated``; ``name`` is one of
    :data:`~core.reports.figure_names.JURY_FIGURES`.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in JURY_FIGURES:
        raise InputError(f"unknown figure {name!r}; choose from {', '.join(JURY_FIGURES)}")
    if name == "jury-labels":
        return labels_figure(judgements, called, style)
    facts = jury_reports.provenance(evaluated, called)
    words = rules_in_words(pairwise=judgements.pairwise)
    best = evaluated.best_constant
    if name == "jury-forest":
        rows = jury_reports.accuracy_rows(evaluated, {rule: entry.title for rule, entry in words.items()})
        reading = (
            f"The share of right verdicts on {evaluated.n:,} answers, a mean over {len(evaluated.protocol.seeds)} "
            "splits. Circles are rules, squares single jurors. A line is a 95% interval that covers the random draw of "
            "the calibration answers."
        )
        if best:
            reading += f" The dashed line is {words[best.rule].title}."
        forest = jury_forest(rows, best.accuracy.value if best else None)
        drawing = Drawing(forest, "Accuracy of each rule and each juror", reading)
    else:
        rows = jury_reports.vote_rows(judgements)
        what = "pairs" if judgements.pairwise else "answers"
        reading = (
            f"All {len(judgements):,} {what}, by how many of the {len(judgements.jurors)} jurors say True. "
            "The left bar of two counts those whose label says True too, the right bar those whose label says False."
        )
        drawing = Drawing(
            jury_votes(rows, judgements.pairwise),
            in_words("How many jurors say True, and what the label says", pairwise=judgements.pairwise),
            in_words(reading, pairwise=judgements.pairwise),
            free=True,
        )
    return FigureFile(
        name, drawing, style or FigureStyle(), facts, lambda what, end: file_name(what, end, models=[called])
    )


def labels_figure(judgements: Judgements, called: str, style: FigureStyle | None = None) -> FigureFile:
    """The width of the interval by the number of labels, which needs no evaluation of rules."""
    what = "how often the first answer is better" if judgements.pairwise else "the share of right answers"
    reading = (
        f"The 95% interval of {what}, from the first labels of a random order of all {len(judgements):,}, and a "
        "judge's verdicts on all of them (PPI++). It refers to new answers like these."
    )
    drawing = Drawing(
        label_widths(label_budget.width_rows(judgements)), "Width of the interval by the number of labels", reading
    )
    facts = label_budget.provenance(judgements, called)
    return FigureFile(
        "jury-labels", drawing, style or FigureStyle(), facts, lambda what, end: file_name(what, end, models=[called])
    )


def standalone(drawing: Drawing, style: FigureStyle) -> dict[str, Any]:
    """The figure's Vega-Lite specification with its data, in a style's font and colours, as wide as its drawing."""
    drawn = drawing.figure.spec
    look = style.colors
    axis = {"labelColor": look.text, "titleColor": look.text, "gridColor": look.border, "domainColor": look.border}
    spec = {
        **drawn,
        "description": drawing.figure.alt,
        "background": look.background,
        "padding": 5,
        "config": {
            "font": style.family,
            "lineBreak": "\n",
            "range": {"category": list(look.colors)},
            "title": {"color": look.text, "subtitleColor": look.text, "fontSize": 12, "subtitleFontSize": 10},
            "axis": {
                **axis,
                "tickColor": look.border,
                "labelFontSize": 10,
                "labelSeparation": 4,
                "titleFontSize": 10,
                "titleFontWeight": "normal",
            },
            "legend": {"labelColor": look.text, "titleColor": look.text, "labelFontSize": 10, "titleFontSize": 10},
            "header": {"labelColor": look.text, "labelFontSize": 9},
            "view": {"stroke": None},
            **drawn["config"],
        },
    }
    if style.slide:
        lines = textwrap.wrap(drawing.title, max(10, int(style.units / (12 * LETTER))))
        spec["title"] = {"text": lines, "anchor": "start", "frame": "group" if "facet" in spec else "bounds"}
    # A chart asks how wide its window is, to be narrow on a phone; here the drawing is its window.
    text = json.dumps(spec).replace("windowSize()[0]", f"{style.units:g}")
    spec = dict(json.loads(text))
    if not _panels(spec):
        spec["width"] = style.units
        spec["autosize"] = {"type": "fit", "contains": "padding"}
        if drawing.free:
            spec["height"] = _free_height(style) + (0 if style.slide else LEGEND_ROW * drawing.legend_rows)
    return spec


def _free_height(style: FigureStyle) -> float:
    if style.slide:
        return style.units * SLIDE
    return min(HIGHEST, style.units * HEIGHT)


def _panels(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a drawing that stand side by side; none if it is one."""
    return [spec["spec"]] if "facet" in spec else list(spec.get("hconcat", []))


@cache
def _renderer() -> ModuleType:
    """vl-convert with the fonts of figures."""
    import vl_convert

    vl_convert.register_font_directory(str(FONT_FOLDER))
    return vl_convert


@cache
def _embed_script() -> str:
    """Vega and what it needs, as a script that sets ``drawFigure``."""
    return str(_renderer().javascript_bundle("window.drawFigure = vegaEmbed;"))


def _fitted(drawing: Drawing, style: FigureStyle) -> tuple[str, float, float]:
    """The SVG of a drawing as wide as its style asks, with its width and height in units."""
    spec = standalone(drawing, style)
    spec["config"]["font"] = style.drawn_family
    wanted = style.units
    panels, facets = _panels(spec), "facet" in spec
    columns = spec.get("columns", 1) if facets else max(len(panels), 1)
    aspect = panels[0]["height"] / panels[0]["width"] if facets else 0.0
    side = wanted / columns * 0.7
    for _ in range(PANELS if panels else 1):
        for panel in panels:
            panel["width"] = side
            if facets:
                panel["height"] = side * aspect
        drawn = str(_renderer().vegalite_to_svg(spec))
        width, height = _size(drawn)
        if not panels or abs(width - wanted) < 1:
            break
        side = max(20.0, side + (wanted - width) / columns)
    if not style.slide:
        return drawn, width, height
    room = wanted * SLIDE - height
    rows = math.ceil(len(spec["facet"]["sort"]) / columns) if facets else 1
    if panels and (room > 0) != drawing.square:  # square ones get less wide, and are not shrunk with their texts
        for panel in panels:
            high = panel["height"]
            panel["height"] = max(min(high * STRETCHED, high + room / rows), min(high, SMALLEST))
            panel["width"] *= panel["height"] / high if drawing.square else 1
        drawn = str(_renderer().vegalite_to_svg(spec))
        width, height = _size(drawn)
    return _on_a_slide(drawn, width, height, style)


def _on_a_slide(drawn: str, width: float, height: float, style: FigureStyle) -> tuple[str, float, float]:
    """The drawing in the middle of a page of 16:9 that is as large as it needs."""
    wide = max(width, height / SLIDE)
    high = wide * SLIDE
    x, y = (wide - width) / 2, (high - height) / 2
    end = drawn.index(">") + 1
    head = _sized(drawn[:end], wide, high, f"{wide:g}", f"{high:g}")
    page = f'<rect width="{wide:g}" height="{high:g}" fill="{style.colors.background}"/>'
    inner = drawn[end:].removesuffix("</svg>")
    return f'{head}{page}<g transform="translate({x:g},{y:g})">{inner}</g></svg>', wide, high


def _sized(drawn: str, width: float, height: float, wide: str, high: str) -> str:
    """An SVG of ``width`` by ``height`` units that is shown as ``wide`` and ``high``."""
    shown = f'width="{wide}" height="{high}" viewBox="0 0 {width:g} {height:g}"'
    return re.sub(r'width="[^"]*" height="[^"]*" viewBox="[^"]*"', shown, drawn, count=1)


def _size(drawn: str) -> tuple[float, float]:
    match = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)
    if match is None:
        raise InputError("the figure was drawn without a size; draw it again")
    return float(match[1]), float(match[2])


def with_pdf_information(document: bytes, values: dict[str, str]) -> bytes:
    """A PDF of the renderer with document information, and always with the same bytes.

    The renderer writes a figure's fonts, and the resources of its page, in a random order. Here resources are sorted,
    and objects are numbered and written in the order in which they refer to each other (ISO 32000-1, 7.5).
    """
    trailer = document[document.rindex(b"trailer") :]
    root, table = (re.search(pattern, trailer) for pattern in (rb"/Root (\d+) 0 R", rb"startxref\s+(\d+)"))
    if root is None or table is None:
        raise InputError("the PDF has no trailer to add its provenance to; choose SVG or PNG")
    end = int(table[1])
    entries = enumerate(re.findall(rb"(\d{10}) \d{5} ([nf])", document[end:]))
    places = sorted((int(at), number) for number, (at, kind) in entries if kind == b"n")
    objects = {}
    for (at, number), after in zip(places, [at for at, _ in places[1:]] + [end], strict=True):
        head, mark, stream = document[at:after].partition(b" obj\n")[2].partition(b"\nstream\n")
        objects[number] = (
            PDF_RESOURCES.sub(lambda lines: b"".join(sorted(lines[0].splitlines(True))), head),
            mark + stream,
        )
    order, numbers = [int(root[1])], {int(root[1]): 1}
    for number in order:
        for other in map(int, PDF_REFERENCE.findall(objects[number][0])):
            if other not in numbers:
                order.append(other)
                numbers[other] = len(order)
    contents = [
        PDF_REFERENCE.sub(lambda reference: b"%d 0 R" % numbers[int(reference[1])], head) + stream
        for head, stream in (objects[number] for number in order)
    ]
    texts = " ".join(f"/{name} <{(chr(0xFEFF) + value).encode('utf-16-be').hex()}>" for name, value in values.items())
    contents.append(f"<< {texts} >>\nendobj\n\n".encode())
    pdf, rows = document[: places[0][0]], "0000000000 65535 f\r\n"
    for number, content in enumerate(contents, 1):
        rows += f"{len(pdf):010d} 00000 n\r\n"
        pdf += b"%d 0 obj\n" % number + content
    size = len(contents) + 1
    tail = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(pdf)}\n%%EOF\n"
    return pdf + f"xref\n0 {size}\n{rows}{tail}".encode()


def with_png_texts(image: bytes, values: dict[str, str]) -> bytes:
    """A PNG with a text chunk (``iTXt``) for each value, after its header."""
    header = 8 + 25  # the signature, and IHDR with its length, name and checksum
    chunks = [_chunk(b"iTXt", name.encode() + b"\0\0\0\0\0" + value.encode()) for name, value in values.items()]
    return image[:header] + b"".join(chunks) + image[header:]


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
