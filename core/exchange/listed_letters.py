"""Log-probabilities of option letters where a tool logs only the most probable tokens.

A letter that is not listed is at most as probable as the least probable token listed, and as what the listed ones leave
over: it gets the lesser of the two, an upper bound.
"""

import math
from collections.abc import Mapping

from core.errors import InputError
from core.records import OPTION_NAMES
from core.tables.token_lists import ABOVE_ZERO, letter

LEAST = 1e-12
"""The remaining probability of unlisted letters is taken to be at least this, because listed figures are rounded."""


def bounded(listed: Mapping[str, float], k: int, where: str) -> tuple[list[float], int, float]:
    """The log-probability of each of k letters, how many are upper bounds, and the share that fell on listed letters.

    ``listed`` are tokens with their log-probabilities. Raises :class:`InputError` for one above 0.
    """
    if any(value > ABOVE_ZERO for value in listed.values()):
        raise InputError(f"{where}: expected log-probabilities of at most 0, found {max(listed.values())}")
    shares: dict[str, float] = {}
    for text, value in listed.items():
        shares[letter(text)] = shares.get(letter(text), 0.0) + math.exp(value)
    total = sum(math.exp(value) for value in listed.values())
    bound = min(min(listed.values()), math.log(max(1 - total, LEAST)))
    own = [shares.get(name, 0.0) for name in OPTION_NAMES[:k]]
    logits = [math.log(share) if share > 0 else bound for share in own]
    return logits, sum(name not in shares for name in OPTION_NAMES[:k]), min(sum(own), 1.0)
