"""The Alpha lab's view as one HTML file."""

from __future__ import annotations

from dataclasses import replace

from app import state
from app.caches import alpha_lab_cache, run_cache
from app.components.alpha_lab import lab_view
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.runs import file_stem, title
from app.state.alpha_lab import AlphaLabView
from charts.embed import lab_embed, run_source
from core.runs.store import RunRecord

HEIGHT = 720


def embed_lab(record: RunRecord) -> None:
    """Show the button that embeds the lab as it is when it is pressed; alpha moves without a run of the page."""
    run = record.run_id

    def name() -> str:
        return about([run], state.remembered(AlphaLabView).alpha).file_name("alpha-lab", "html")

    def made(theme: str, texts: bool) -> bytes:
        return lab_embed(
            alpha_lab_cache.lab_tables(run),
            title=title(record),
            file_stem=file_stem(record),
            source=" ".join([run_source(run_cache.evaluation(run)), *alpha_lab_cache.lab_notes(run)]),
            theme=theme,
            texts=texts,
            **lab_view(replace(state.remembered(AlphaLabView), present="0", shown="page")),
        )

    embed(made, name, f"Alpha lab: {title(record)}", height=HEIGHT, key="alpha_lab", texts=True)
