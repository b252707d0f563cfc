"""One message's tokens under two prompts, coloured by loss under A, by loss under B, and by their difference.

``token_strip.js`` draws the strips, the loss along the message, and the details of the token that is pointed at or
focused. The browser computes nothing but differences.
"""

from pathlib import Path

from app.components.shared.bundled import component
from core.models.perplexity.figures import ScoredMessage, Word
from core.models.spelling import token_names

_mount = component("token_strip", Path(__file__).with_name("token_strip.html"))


def token_strip(a: ScoredMessage, b: ScoredMessage, changed: list[Word], *, names: tuple[str, str], key: str) -> None:
    """Mount the strips of one message under two prompts called ``names``. ``changed`` are the words to list."""
    _mount(
        key=key,
        data={
            "pieces": list(a.pieces),
            "tokens": token_names(a.pieces),
            "a": [float(loss) for loss in a.losses],
            "b": [float(loss) for loss in b.losses],
            "names": list(names),
            "changed": [{"text": word.text, "at": word.at, "a": word.a, "b": word.b} for word in changed],
        },
    )
