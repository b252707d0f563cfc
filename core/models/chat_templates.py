"""A model's chat template, which is a program from outside, runs in a process with limits.

There transformers renders it as everywhere, in jinja2's sandbox: it reaches no file, no module and no attribute with an
underscore. The sandbox does not keep a template from looping or from filling the memory; the limits do.
"""

import threading
from datetime import datetime
from typing import Any

from jinja2 import TemplateError

from core.errors import HedgeError, InputError, plain
from core.processes.confined import Channel, ForkServer, LimitReached, Limits, Session
from core.questions.prompting.chat import MARKER, conversation
from core.questions.prompting.reasoning import SWITCHES

LIMITS = Limits(memory=512 << 20, seconds=5.0)
"""For one prompt; a template writes thousands in a second."""
LONGEST = 20_000_000
"""Characters that a template may write."""
RAISED: dict[str, type[Exception]] = {"TypeError": TypeError, "ValueError": ValueError}
"""What a template that does not fit its conversation raises beside ``TemplateError``."""


class ConfinedTemplate:
    """A tokenizer's chat template; it has the part of a tokenizer that :mod:`core.questions.prompting.chat` uses.

    ``now`` is the time for a template that writes the date, the same for all prompts; ``dated`` says that it did, and
    ``parts`` that it got the texts as lists of parts. ``opened`` is the mark of a block of reasoning that it left open
    before an answer (:mod:`core.questions.prompting.reasoning`), empty if none.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.now = datetime.now()
        self.wrote = self.dated = self.parts = False
        self.opened = ""
        self._header: tuple[str, bool] | None = None

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
        if names := named_without_default(self._tokenizer):
            raise InputError(
                f"the model has chat templates named {names}, and none named default, so Hedge can't tell which one to "
                "use; name one of them default where the model is stored, or ask in the plain format (--format plain)"
            )
        self.wrote = True
        self.parts = any(isinstance(turn["content"], list) for turn in conversation)
        if not hasattr(self._tokenizer, "get_chat_template"):  # one that writes without a template of jinja2
            text: str = self._tokenizer.apply_chat_template(conversation, tokenize=tokenize, **words)
            return text
        template = self._tokenizer.get_chat_template()
        words |= dict.fromkeys(SWITCHES, enable_thinking)
        words |= {name: str(token) for name, token in self._tokenizer.special_tokens_map.items()}
        rendered, dated = _RENDERER.render(template, conversation, words, self.now)
        self.dated |= dated
        return rendered

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the conversations that the template wrote, for readers of the figures."""
        sentences = []
        if self.dated:
            sentences.append(
                f"The model's chat template writes today's date into each prompt, here {self.now:%Y-%m-%d}; with "
                "another date the figures may differ."
            )
        if self.wrote and self.lacks_header:
            sentences.append(
                "The model's chat template writes no header for the assistant's turn, so the answer follows the "
                "user's turn."
            )
        if self.opened:
            sentences.append(
                f"The chat template leaves the model's reasoning open ({self.opened}), so the options are read inside "
                "the reasoning and not in the answer. Ask in the plain format."
            )
        return tuple(sentences)

    @property
    def lacks_header(self) -> bool:
        """Whether the template ignores ``add_generation_prompt`` although it writes a header before an answer."""
        template = str(self.chat_template)
        if self._header is None or self._header[0] != template:
            self._header = template, _lacks_header(self._tokenizer)
        return self._header[1]


def _lacks_header(tokenizer: Any) -> bool:
    question, answer = ({"role": role, "content": MARKER.format(role)} for role in ("user", "assistant"))
    template = ConfinedTemplate(tokenizer)
    try:
        opening = conversation(template, [question])
        whole = conversation(template, [question, answer], asks=False)
    except (TemplateError, TypeError, ValueError, InputError):
        return False
    return whole.startswith(opening) and bool(whole[len(opening) : whole.index(answer["content"])].strip())


def named_without_default(tokenizer: Any) -> str:
    """The names of the templates of a model that has several and does not say which one is its default."""
    templates = getattr(tokenizer, "chat_template", None)
    if not isinstance(templates, dict) or "default" in templates:
        return ""
    return plain(", ".join(sorted(map(str, templates))), one_line=True)[:200]


class _Renderer:
    """The process that renders, which starts with the first template and again after one that reached a limit."""

    def __init__(self) -> None:
        self._fork_server = ForkServer("transformers.utils.chat_template_utils", "core.models.chat_templates")
        self._lock = threading.Lock()
        self._session: Session | None = None

    def render(self, template: str, conversation: Any, words: dict[str, Any], now: datetime) -> tuple[str, bool]:
        """The text, and whether it depends on ``now``."""
        with self._lock:
            try:
                self._session = self._session or self._fork_server.open(_render_all, limits=LIMITS)
                self._session.send((template, conversation, words, now.isoformat()))
                raised, text, dated = self._session.receive(tuple[str, str, bool])
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
        return str(text), dated


_RENDERER = _Renderer()


class _Clock:
    """Stands in for ``datetime`` in transformers: one time for all prompts, and whether a template asked for it."""

    def __init__(self, now: str) -> None:
        self._now = datetime.fromisoformat(now)
        self.asked = False

    def now(self) -> datetime:
        self.asked = True
        return self._now


def _render_all(channel: Channel) -> None:
    """In the process with limits: render what comes; reply what was raised (empty for nothing), the text, and whether
    it depends on the time."""
    from transformers.utils import chat_template_utils

    while True:
        template, conversation, words, now = channel.receive()
        clock = _Clock(now)
        setattr(chat_template_utils, "datetime", clock)  # noqa: B010 - mypy knows it as a class
        try:
            (text,), _ = chat_template_utils.render_jinja_template([conversation], chat_template=template, **words)
            if len(text) > LONGEST:
                raise TemplateError(f"it writes {len(text):,} characters, and at most {LONGEST:,} are read")
            channel.send(("", text, clock.asked))
        except MemoryError:
            raise
        except Exception as error:
            channel.send((type(error).__name__, str(error)[:500], clock.asked))
