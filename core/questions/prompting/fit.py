"""A prompt made to fit: what goes first when a model's context is too short.

The question with its options always stays. Whole demonstrations go first, the oldest before the newer ones, then the
beginning of the question's own context.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.records import Prompt


@dataclass(frozen=True, slots=True)
class Fitted:
    """The text that is left, how many demonstrations and how many characters of context were dropped for it, and
    whether it fits now."""

    text: str
    demonstrations: int = 0
    characters: int = 0
    fits: bool = True


def fit(prompt: Prompt, *, limit: int, count: Callable[[str], int]) -> Fitted:
    """Shorten the prompt's text to at most ``limit`` tokens as ``count`` counts them.

    Where even the question alone is too long, the text without demonstrations and context comes back and ``fits``
    is False.

    >>> p = Prompt("1", "A: 1\\n\\nB: 2\\n\\nC: 3", 2, demonstrations=((0, 6), (6, 12)))
    >>> fit(p, limit=4, count=lambda text: len(text.split()))
    Fitted(text='B: 2\\n\\nC: 3', demonstrations=1, characters=0, fits=True)
    """
    if count(prompt.text) <= limit:
        return Fitted(prompt.text)
    text = prompt.text
    for dropped in range(1, len(prompt.demonstrations) + 1):
        start, end = prompt.demonstrations[0][0], prompt.demonstrations[dropped - 1][1]
        text = prompt.text[:start] + prompt.text[end:]
        if count(text) <= limit:
            return Fitted(text, dropped)
    removed = len(prompt.text) - len(text)
    start, end = (place - removed for place in prompt.context)
    return _cut(text, start, end, limit, count, len(prompt.demonstrations))


def _cut(text: str, start: int, end: int, limit: int, count: Callable[[str], int], dropped: int) -> Fitted:
    """Drop as few characters of ``text[start:end]``, from its left, as will do."""
    if end <= start:
        return Fitted(text, dropped, fits=False)
    low, high = 0, end - start
    if count(text[:start] + text[end:]) > limit:
        return Fitted(text[:start] + text[end:], dropped, high, fits=False)
    while high - low > 1:
        middle = (low + high) // 2
        if count(text[:start] + text[start + middle :]) <= limit:
            high = middle
        else:
            low = middle
    return Fitted(text[:start] + text[start + high :], dropped, high)
