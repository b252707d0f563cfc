"""The state that the comparison and the inspector share: the keys of both, and changes that a person made in one of
them."""

from collections.abc import Sequence

from app import state
from app.components.shared.messages import message_texts
from app.components.shared.seed import browser_shows
from app.state.compare import CompareView

COMPARISON_KEY = "comparison"
INSPECTOR_KEY = "inspector"


def take_view(key: str, names: Sequence[str]) -> None:
    """Store what the component ``key`` reports of the fields ``names``. The browser shows that already."""
    reported = message_texts(key, "view")
    view = state.read_changes(CompareView, {name: reported[name] for name in names if name in reported})
    browser_shows(key, {name: getattr(view, name) for name in names})
