"""An embed: the Alpha lab, one question, one step of a lesson or the Stream lab as one HTML file, for slides and blogs.

The file holds the component's own script and its data, asks no network, and may run no other script. Its figures are
those of the app, because its data has the same precision. A file that would be larger than :data:`LARGEST` is refused;
the Alpha lab leaves out the texts of its questions first.
"""

from collections.abc import Mapping
from typing import Any

from charts import lab_outside
from charts.bundles import COMPONENTS, script, style
from charts.html_page import html_page
from core.errors import InputError
from core.reports import provenance
from core.reports.caveats import of_run, texts
from core.reports.evaluation import Evaluation
from core.reports.repeated import tested_by
from core.reports.titles import details

LARGEST = 1_500_000
"""The bytes of the largest file."""
PARTS = {
    "alpha-lab": "alpha_lab/alpha_lab",
    "one-question": "one_question/option_bars/option_bars",
    "lesson": "learn/lesson",
    "stream-lab": "stream_lab/stream_lab",
}
"""The components that can be embedded by the names that their files have. Each is a path without its ending."""


def embed_html(
    part: str,
    data: Mapping[str, Any],
    *,
    title: str,
    source: str = "",
    heading: bool = False,
    theme: str = "auto",
    around: Mapping[str, Any] | None = None,
) -> bytes:
    """One HTML file of a component and its ``data``, as the component's Python side would send them.

    ``source`` says in sentences where the data comes from; leave it out where the component says so itself. With
    ``heading``, the ``title`` is also shown above the component. ``theme`` is one of
    :data:`charts.lab_outside.THEMES`. With ``around``, the values of the template ``site.html``, it is a page of the
    static site (:mod:`docs.site`). Raises :class:`InputError` if the file would be larger than :data:`LARGEST`.
    """
    html = COMPONENTS / f"{PARTS[part]}.html"
    bundle = f"{html.stem}_embed"
    made_with = f"Made with {provenance.made_by()} on {provenance.today()}."
    content = html_page(
        "embed" if around is None else "site",
        **(around or {}),
        script=script(bundle),
        data={
            "html": html.read_text(encoding="utf-8"),
            "css": style(bundle),
            "data": lab_outside.json_values({**data, "outside": True}),
        },
        title=title,
        heading=heading,
        themes=lab_outside.themes_css(theme),
        origin=f"{source} {made_with}".strip(),
    )
    if len(content) > LARGEST:
        raise InputError(
            f"this embed would have {len(content) / 1e6:.2f} MB, and {LARGEST / 1e6:.1f} MB is the most; choose a run "
            "with fewer questions"
        )
    return content


def lab_embed(
    tables: Mapping[str, Any],
    *,
    title: str,
    source: str,
    theme: str = "auto",
    texts: bool = True,
    around: Mapping[str, Any] | None = None,
    **view: Any,
) -> bytes:
    """The Alpha lab on a run's tables (:func:`core.reports.frames.lab_tables`) as one HTML file.

    ``title`` is the run's, ``view`` is what :func:`charts.lab_outside.data` takes, and ``around`` is that of
    :func:`embed_html`. The file holds the questions' ``texts`` only if they fit, and says so where it does not. Raises
    :class:`InputError` as :func:`embed_html` does.
    """

    def made(tables: Mapping[str, Any], source: str) -> bytes:
        data = lab_outside.data(tables, version="embed", name=title, **view)
        return embed_html("alpha-lab", data, title=title, source=source, heading=True, theme=theme, around=around)

    if texts:
        try:
            return made(tables, source)
        except InputError:
            source = f"{source} {WITHOUT_TEXTS}".strip()
    return made({**tables, "questions": None}, source)


def run_source(run: Evaluation, *, name: str = "") -> str:
    """Sentences on the data of a run: its ``name`` if nothing else says it, how it was asked, its questions, and its
    caveats."""
    counts = f"{len(run.calibration):,} calibration questions and {tested_by(run)}"
    return " ".join(
        [
            f"Data: {', '.join(filter(None, (name, details(run.spec, classes=run.classes), counts)))}.",
            *texts(of_run(run)),
        ]
    )


WITHOUT_TEXTS = "The texts of the questions are left out, because there are too many of them."
