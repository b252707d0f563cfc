"""Docstrings as Markdown: their roles, their literals, their lists of terms and their examples."""

import inspect
import re

ROLE = re.compile(r":\w+:`~?([^`]+)`")
LITERAL = re.compile(r"``([^`]+)``")
TERM = re.compile(r"^``([^`]+)``\s{2,}", re.MULTILINE)


def markdown(docstring: str | None) -> str:
    """The docstring as Markdown; a missing one gives an empty text.

    >>> print(markdown("The ``rank`` of :func:`core.ranks`."))
    The `rank` of `core.ranks`.
    >>> print(markdown("Two ways:\\n\\n``one``  the first\\n``two``  the second"))
    Two ways:
    <BLANKLINE>
    - `one`: the first
    - `two`: the second
    """
    blocks = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(_example(block) if block.startswith(">>>") else _prose(block) for block in blocks)


def _prose(block: str) -> str:
    listed = TERM.sub(lambda match: f"- ``{match[1]}``: ", block)
    return LITERAL.sub(r"`\1`", ROLE.sub(r"`\1`", listed))


def _example(block: str) -> str:
    return f"```pycon\n{block}\n```"
