"""One question with its bars as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence

from app.caches import run_cache
from app.components.one_question.option_bars import AskedQuestion, embedded_bars
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.runs import title
from app.state.one_question import OneQuestionView
from charts.embed import embed_html, run_source
from core.reports.one_question import CalibratedRun, OptionPValues
from core.runs.store import RunRecord

TITLE = "One question and its prediction sets"
HEIGHT = 720


def embed_question(
    asked: AskedQuestion,
    found: Sequence[OptionPValues],
    by: CalibratedRun,
    *,
    record: RunRecord,
    view: OneQuestionView,
) -> None:
    """Show the button that embeds a question as it is now; ``record`` is the run that calibrates it."""

    def made(theme: str, texts: bool) -> bytes:
        source = run_source(run_cache.evaluation(record.run_id), name=title(record))
        data = embedded_bars(asked, found, by, view)
        return embed_html("one-question", data, title=TITLE, source=source, theme=theme)

    name = about([record.run_id], view.alpha).file_name("one-question", "html")
    embed(made, lambda: name, TITLE, height=HEIGHT, key="question")
