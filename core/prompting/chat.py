"""A prompt in a model's own chat format (V1 of Ye et al. 2024; V2 leaves it plain).

The whole prompt is what the user says; the assistant's turn begins with the prompt's last words, ``Answer:``, so that
the next token is the answer in either format.
"""

from __future__ import annotations

from typing import Any, Protocol

from jinja2 import TemplateError

from core.errors import InputError

OPENING = "Answer:"


class ChatTokenizer(Protocol):
    """The part of a transformers tokenizer that this module uses."""

    @property
    def chat_template(self) -> Any:
        """The template, or None."""

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool, enable_thinking: bool
    ) -> Any:
        """The conversation as one text, up to the beginning of the assistant's turn."""
        ...


def render(tokenizer: ChatTokenizer, text: str, *, system: str = "") -> str:
    """``text`` as a conversation up to and including the assistant's first word, with special tokens.

    Raises :class:`InputError` if the model has no chat template, or if the template knows no ``system`` message.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise InputError("the model has no chat template; ask it in the plain format (--format plain)")
    said = text.removesuffix(OPENING).rstrip()
    opening = OPENING if text.endswith(OPENING) else ""
    turns = [{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": said}]
    # Models that think aloud first would not answer with their next token; other templates ignore the word.
    try:
        rendered = tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    except TemplateError as error:
        raise InputError(
            f"the model's chat template refuses this conversation ({error}); leave out the system prompt, or ask in "
            "the plain format (--format plain)"
        ) from error
    if system and system not in rendered:
        raise InputError(
            "the model's chat template passes over a system prompt; ask in the plain format (--format plain), which "
            "puts it first"
        )
    return f"{rendered}{opening}"
