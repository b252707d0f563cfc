"""What a chat template does about a model that reasons before it answers.

Letters are scored as the next token, so the answer has to come first. :func:`core.prompting.chat.render` switches
reasoning off where a template has a switch. A template without one may leave a block of reasoning open, as those of
DeepSeek-R1 and QwQ do; the letters are then read inside it.
"""

from __future__ import annotations

import re

from jinja2 import TemplateError

from core.errors import HedgeError
from core.prompting.chat import OPENING, ChatTokenizer

MARK = re.compile(
    r"[<\[◁]\|?(?P<end>/|END_)?(?:\w+:|START_)?(?:think|thought|reason|scratchpad)\w*\|?[>\]▷]"
    r"|<\|channel\|>analysis(?:<\|message\|>)?",
    re.IGNORECASE,
)
"""What begins or ends a block of reasoning, such as ``<think>``, ``</think>``, ``[THINK]`` and ``<|END_THINKING|>``."""
TAIL = 300
"""Characters at the end of a conversation that are searched where the template has changed the question's text."""


def opened(conversation: str, text: str) -> str:
    """The mark of the block of reasoning that a template has left open behind ``text``, the prompt; empty if none.

    >>> opened("<user>Which?<assistant><think>Answer:", "Which? Answer:")
    '<think>'
    >>> opened("<user>Which?<assistant><think></think>Answer:", "Which? Answer:")
    ''
    """
    asked = text.removesuffix(OPENING).rstrip()
    place = conversation.rfind(asked) if asked else -1
    marks = list(MARK.finditer(conversation[place + len(asked) :] if place >= 0 else conversation[-TAIL:]))
    return marks[-1][0] if marks and not marks[-1]["end"] else ""


def opened_sentence(mark: str) -> str:
    """What it means that a template leaves a block of reasoning open."""
    return (
        f"The chat template leaves the model's reasoning open ({mark}), so the options are read inside the reasoning "
        "and not in the answer."
    )


def has_switch(tokenizer: ChatTokenizer) -> bool:
    """Whether a template writes another conversation where reasoning is switched on."""
    turns = [{"role": "user", "content": "?"}]
    try:
        on, off = (
            tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, enable_thinking=switch)
            for switch in (True, False)
        )
    except (HedgeError, TemplateError, LookupError, TypeError, ValueError):
        return False
    return bool(on != off)
