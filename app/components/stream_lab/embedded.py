"""The Stream lab's view as one HTML file."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.components.shared.caveat_notes import caveat_line
from app.components.shared.downloads import about
from app.components.shared.embed import embed
from app.components.shared.runs import title
from app.components.stream_lab import embedded_streams
from app.state.stream_lab import StreamLabView
from charts.embed import embed_html
from core.conformal.scores import SCORES
from core.runs.store import RunRecord

HEIGHT = 800


def embed_streams(
    runs: Sequence[RunRecord], tables: Mapping[str, Any], names: Sequence[str], view: StreamLabView
) -> None:
    """Show the button that embeds the lab as it is now: the first of ``runs``, and the one after the change."""
    titles = [title(record) for record in runs]

    def html_file(theme: str, texts: bool) -> bytes:
        source = f"Data: {', then '.join(titles)}. Score: {SCORES[view.score].title}."
        source = f"{source} {caveat_line(*runs)}".rstrip()
        data = embedded_streams(tables, names, view)
        return embed_html(
            "stream-lab", data, title=f"Stream lab: {', then '.join(names)}", source=source, heading=True, theme=theme
        )

    name = about([record.run_id for record in runs], view.alpha).file_name("stream-lab", "html")
    embed(html_file, lambda: name, f"Stream lab: {', then '.join(names)}", height=HEIGHT, key="stream_lab")
