"""A model's chat template, which is a program from outside, runs in a process with limits.

There transformers renders it as everywhere, in jinja2's sandbox: it reaches no file, no module and no attribute with an
underscore. The sandbox does not keep a template from looping or from filling the memory; the limits do.
"""

from __future__ import annotations

import threading
from typing import Any

from jinja2 import TemplateError

from core.confined import Channel, LimitReached, Limits, Nursery, Session
from core.errors import HedgeError, InputError

LIMITS = Limits(memory=512 << 20, seconds=5.0)
"""For one prompt, of which a template writes thousands in a second."""
LONGEST = 20_000_000
"""Characters that a template may write."""
SWITCHES = ("enable_thinking", "thinking", "reasoning")
"""The names by which templates switch a model's reasoning on or off: Qwen3 and GLM, DeepSeek and Granite, Command."""
RAISED: dict[str, type[Exception]] = {"TypeError": TypeError, "ValueError": ValueError}
"""What a template that does not fit its conversation raises beside ``TemplateError``."""


class ConfinedTemplate:
    """A tokenizer's chat template; it has the part of a tokenizer that :mod:`core.prompting.chat` uses."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    @property
    def chat_template(self) -> Any:
        """The template, or templates by their names; None if the model has none."""
        return getattr(self._tokenizer, "chat_template", None)

    def apply_chat_template(
        self, conversation: Any, *, tokenize: bool = False, add_generation_prompt: bool, enable_thinking: bool
    ) -> str:
        """The conversation as one text, as the tokenizer's own method writes it.

        Raises :class:`~jinja2.TemplateError` if the template refuses it, and :class:`InputError` if it reaches a limit.
        """
        if not conversation:
            raise ValueError("a chat template needs at least one message")
        words = {"add_generation_prompt": add_generation_prompt, "enable_thinking": enable_thinking}
        if not hasattr(self._tokenizer, "get_chat_template"):  # one that writes without a template of jinja2
            text: str = self._tokenizer.apply_chat_template(conversation, tokenize=tokenize, **words)
            return text
        template = self._tokenizer.get_chat_template()
        words |= dict.fromkeys(SWITCHES, enable_thinking)
        words |= {name: str(token) for name, token in self._tokenizer.special_tokens_map.items()}
        return _RENDERER.render(template, conversation, words)


class _Renderer:
    """The process that renders, which starts with the first template and again after one that reached a limit."""

    def __init__(self) -> None:
        self._nursery = Nursery("transformers.utils.chat_template_utils", "core.inference.chat_templates")
        self._lock = threading.Lock()
        self._session: Session | None = None

    def render(self, template: str, conversation: Any, words: dict[str, Any]) -> str:
        with self._lock:
            try:
                self._session = self._session or self._nursery.open(_render_all, limits=LIMITS)
                self._session.send((template, conversation, words))
                raised, text = self._session.receive(tuple[str, str])
            except LimitReached as error:
                self._session = None
                raise InputError(
                    f"the model's chat template can't be used: {error}; choose another model, or ask in the plain "
                    "format (--format plain)"
                ) from error
            except HedgeError:  # the process has ended with it
                self._session = None
                raise
        if raised:
            raise RAISED.get(raised, TemplateError)(text)
        return str(text)


_RENDERER = _Renderer()


def _render_all(channel: Channel) -> None:
    """In the process with limits: render what comes; reply what was raised, empty for nothing, and the text."""
    from transformers.utils.chat_template_utils import render_jinja_template

    while True:
        template, conversation, words = channel.receive()
        try:
            (text,), _ = render_jinja_template([conversation], chat_template=template, **words)
            if len(text) > LONGEST:
                raise TemplateError(f"it writes {len(text):,} characters, and at most {LONGEST:,} are read")
            channel.send(("", text))
        except MemoryError:
            raise
        except Exception as error:
            channel.send((type(error).__name__, str(error)[:500]))
