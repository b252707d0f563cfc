"""Which option a written answer names, by rules that anybody can check.

Of the text up to its first line break, the first rule that holds decides:

1. it begins with an option's letter that no word follows directly: ``B``, ``(B)``, ``B. Paris``, ``B) Paris``;
2. it says ``answer is B`` or ``answer: B``, and no other letter in the same way;
3. it holds the text of exactly one option, as whole words, whatever their case.

Where none holds the answer is not found, which is counted and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.records import LETTERS

NOT_FOUND = -1
BEGINS = re.compile(r"^[\s(\[*\"']*([A-Z])(?=$|[\s]*$|[).\]:,*\"'])")
# Possessive (*+), because a model may write any number of spaces, which could be shared out in as many ways.
SAYS = re.compile(r"\banswer(?:\s++is)?\s*+(?::\s*+)?[(\[*\"']*+([A-Z])(?=$|[^\w])", re.IGNORECASE)


def answer_line(text: str) -> str:
    """What counts of a written answer: up to its first line break.

    >>> answer_line(" B. Paris\\nQuestion: and Rome?")
    'B. Paris'
    """
    return text.strip().partition("\n")[0].strip()


def find_answer(text: str, options: Sequence[str]) -> int:
    """The place of the option that ``text`` names, -1 if none can be found.

    >>> options = ("Paris", "Rome", "New York")
    >>> [find_answer(text, options) for text in ("B", "(C) New York", "The answer is A.", "It is rome", "A city")]
    [1, 2, 0, 1, -1]
    """
    line = answer_line(text)
    letters = LETTERS[: len(options)]
    begins = BEGINS.match(line)
    if begins and begins[1] in letters:
        return letters.index(begins[1])
    says = {found[1] for found in SAYS.finditer(line) if found[1] in letters}
    if len(says) == 1:
        return letters.index(says.pop())
    named = [i for i, option in enumerate(options) if _holds(line, option)]
    return named[0] if len(named) == 1 else NOT_FOUND


def _holds(line: str, option: str) -> bool:
    words = option.strip().rstrip(".")
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", line, re.IGNORECASE) is not None
