"""Columns of the most probable next tokens, as servers list them, as a column for each option's letter.

A cell is an object (``{"A": -0.4, " B": -1.2, …}``), a list (``[{"token": "A", "logprob": -0.4}, …]``), or a response
of a server of OpenAI's kind that has such a list for its first token.
"""

import math
import re
from typing import Any

import pyarrow as pa

from core.records import LETTERS
from core.tables.cells import value_of
from core.tables.tabular import Sheet

NAMES = re.compile(
    r"(?:(?:top|token|first|next|answer|option|letter|model)s?[_ .-]?){0,3}log[_ -]?prob(?:s|abilit(?:y|ies))?"
    r"|choices|response|raw_response|completion|output|api_response|content|top_tokens"
)
"""Names of a column of such cells, in lower case."""
LIST_KEYS = ("top_logprobs", "logprobs", "content", "choices", "message", "response", "body", "tokens")
"""In a response, the keys below which the list stands."""
DEEPEST = 8
SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})
AROUND_LETTER = " \n\t*()[]$.:,\"'"
LEAST_LISTED, LISTED_MASS = "least_listed", "listed_mass"
"""Columns with the log-probability of the least probable token listed, and the probability of all listed tokens."""
ABOVE_ZERO = 1e-6
"""How far rounding may take a log-probability above 0."""


def letter(token: str) -> str:
    """What a token says without the spaces and marks around it.

    >>> letter("Ġ(B)")
    'B'
    """
    return token.translate(SPACES).strip(AROUND_LETTER)


def token_columns(sheet: Sheet, name: str) -> dict[str, pa.Array]:
    """The columns of the letters' log-probabilities, and the two on all listed tokens; nothing for another column. The
    options are the letters from A on that more than half of the rows list. Tokens that say the same letter, such as "A"
    and " A", are added."""
    if not NAMES.fullmatch(name.strip().lower()):
        return {}
    rows: list[dict[str, float]] = []
    for cell in sheet.table[name].to_pylist():
        if (tokens := _tokens(cell)) is None:
            return {}
        rows.append(tokens)
    columns = _of_letters(rows, LETTERS) or _of_letters(rows, LETTERS.lower())
    if columns:
        columns[LEAST_LISTED] = pa.array([min(row.values(), default=None) for row in rows], pa.float64())
        columns[LISTED_MASS] = pa.array([sum(map(math.exp, row.values())) for row in rows], pa.float64())
    return columns


def _of_letters(rows: list[dict[str, float]], letters: str) -> dict[str, pa.Array]:
    shares: list[dict[str, float]] = []
    for row in rows:
        own: dict[str, float] = {}
        for token, value in row.items():
            if (mark := letter(token)) in letters and mark:
                own[mark] = own.get(mark, 0.0) + math.exp(value)
        shares.append(own)
    k = next((i for i, mark in enumerate(letters) if 2 * sum(mark in own for own in shares) <= len(rows)), len(letters))
    exact = {mark: [row.get(mark) for row in rows] for mark in letters[:k]}
    return {
        f"logprob_{mark.upper()}": pa.array(
            [
                value if value is not None and math.exp(value) == own.get(mark) else _log(own.get(mark, 0.0))
                for value, own in zip(exact[mark], shares, strict=True)
            ],
            pa.float64(),
        )
        for mark in letters[: k if k >= 2 else 0]
    }


def _log(share: float) -> float | None:
    return math.log(share) if share > 0 else None


def _tokens(cell: Any) -> dict[str, float] | None:
    """The tokens of a cell with their log-probabilities; an empty cell has none; None for another cell."""
    if cell is None or cell == "":
        return {}
    logprobs = _listed(value_of(cell), DEEPEST)
    return logprobs if logprobs and all(value <= ABOVE_ZERO for value in logprobs.values()) else None


def _listed(value: Any, depth: int) -> dict[str, float] | None:
    if depth == 0 or not value:
        return None
    if isinstance(value, dict):
        if all(isinstance(figure, (int, float)) and not isinstance(figure, bool) for figure in value.values()):
            return {str(token): float(figure) for token, figure in value.items() if math.isfinite(figure)}
        for key in LIST_KEYS:
            if isinstance(value.get(key), (dict, list)) and (tokens := _listed(value[key], depth - 1)) is not None:
                return tokens
        return None
    if not isinstance(value, list):
        return None
    items = [item for item in value if isinstance(item, dict)]
    pairs = [pair for item in items if "top_logprobs" not in item and (pair := _pair(item)) is not None]
    if len(pairs) == len(value):
        shares: dict[str, float] = {}
        for token, logprob in pairs:
            shares[token] = logprob if token not in shares else math.log(math.exp(shares[token]) + math.exp(logprob))
        return shares
    return _listed(value[0], depth - 1)  # the first token, or the first choice


def _pair(item: dict[Any, Any]) -> tuple[str, float] | None:
    token = next((item[key] for key in ("token", "text", "decoded_token", "letter", "option") if key in item), None)
    value = next((item[key] for key in ("logprob", "log_prob", "logprobs") if key in item), None)
    if not isinstance(token, str) or not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return (token, float(value)) if math.isfinite(value) else None
