"""What a chat template does about a model that reasons before it answers.

Letters are scored as the next token, so the answer has to come first. :func:`core.questions.prompting.chat.render`
switches reasoning off where a template has a switch. A template without one may leave a block of reasoning open, as
those of DeepSeek-R1 and QwQ do; the letters are then read inside it, which is one of a template's notes
(:mod:`core.models.chat_templates`).
"""

import re

from core.questions.prompting.chat import OPENING

SWITCHES = ("enable_thinking", "thinking", "reasoning")
"""The names by which templates switch a model's reasoning on or off: Qwen3 and GLM, DeepSeek and Granite, Command."""
MARK = re.compile(
    r"[<\[◁]\|?(?P<end>/|END_)?(?:\w{1,16}:|START_)?(?:think|thought|reason|scratchpad)\w{0,16}\|?[>\]▷]"
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
    prompt_end = text.removesuffix(OPENING).rstrip()
    place = conversation.rfind(prompt_end) if prompt_end else -1
    marks = list(MARK.finditer(conversation[place + len(prompt_end) :] if place >= 0 else conversation[-TAIL:]))
    return marks[-1][0] if marks and not marks[-1]["end"] else ""
