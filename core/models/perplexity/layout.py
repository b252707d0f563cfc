"""Layouts: how a window becomes one text, and from which character on the text is scored.

*Standard*: the model's chat template where it has one; else lines of ``role: text``, the role's name not scored.
*Published*: system prompt and messages joined by spaces, ``assistant: `` scored with the message.

A template that refuses a system prompt, or a conversation that the assistant opens, gets the system prompt at the
head of the first user message (of an empty one before an opening).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import InputError
from core.models.chat_templates import ConfinedTemplate, named_without_default
from core.models.perplexity.conversations import COUNSELOR, PERSON, Message
from core.questions.prompting.chat import LeftOutError, conversation
from core.questions.prompting.reasoning import opened

MODES = ("standard", "published")
NO_TEMPLATE = "the model has no chat template, so the messages stand in lines of “role: text”"
FOLDED = "the model's chat template takes no system prompt as such, so it stands at the head of the first user message"
REFUSED = "the model's chat template refuses these conversations, so the messages stand in lines of “role: text”"
NO_DEFAULT = (
    "the model has several chat templates and none named default, so the messages stand in lines of “role: text”"
)


@dataclass(frozen=True, slots=True)
class Laid:
    """A window's text, scored from character ``start``. ``chat``: the text already contains its special tokens."""

    text: str
    start: int
    chat: bool = False


Layout = Callable[[str, Sequence[Message], str], Laid]
"""Takes the system prompt, the context and the reply, and returns a text."""


def published(prompt: str, context: Sequence[Message], reply: str) -> Laid:
    """The published layout: everything in one line, with the counselor's role scored as part of the message.

    >>> published("Be kind.", [Message("user", "Hi.")], "Hello.")
    Laid(text='Be kind. user: Hi. assistant: Hello.', start=19, chat=False)
    """
    before = " ".join([*([prompt] if prompt else []), *(f"{m.role}: {m.text}" for m in context)])
    lead = f"{before} " if before else ""
    return Laid(f"{lead}{COUNSELOR}: {reply}", len(lead))


def lines(prompt: str, context: Sequence[Message], reply: str) -> Laid:
    """One message per line.

    >>> lines("Be kind.", [Message("user", "Hi.")], "Hello.").text
    'Be kind.\\n\\nuser: Hi.\\nassistant: Hello.'
    """
    lead = (f"{prompt}\n\n" if prompt else "") + "".join(f"{m.role}: {m.text}\n" for m in context) + f"{COUNSELOR}: "
    return Laid(f"{lead}{reply}", len(lead))


def layouts(mode: str, tokenizer: Any) -> list[tuple[Layout, tuple[str, ...]]]:
    """The layouts to try for this tokenizer, best first, each with a note for the person who reads the figures."""
    if mode not in MODES:
        raise InputError(f"unknown mode {mode!r}; choose from {', '.join(MODES)}")
    if mode == "published":
        return [(published, ())]
    if not getattr(tokenizer, "chat_template", None):
        return [(lines, (NO_TEMPLATE,))]
    if named_without_default(tokenizer):
        return [(lines, (NO_DEFAULT,))]
    template = ConfinedTemplate(tokenizer)
    return [(ChatLayout(template, _plain_turns), ()), (ChatLayout(template, _folded), (FOLDED,)), (lines, (REFUSED,))]


@dataclass(frozen=True, slots=True)
class ChatLayout:
    """The layout of a chat template.

    Raises :class:`~core.questions.prompting.chat.LeftOutError` if it leaves a text out.
    """

    template: ConfinedTemplate
    turns: Callable[[str, Sequence[Message]], list[dict[str, str]]]
    opened: set[str] = field(default_factory=set)
    """The marks of reasoning that the template leaves open before an answer."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known about the texts that the template wrote."""
        begun = (
            f"The model's chat template begins each answer with reasoning ({mark}); the messages are scored without "
            "it, right after the assistant's mark."
            for mark in sorted(self.opened)
        )
        return (*self.template.notes, *begun)

    def __call__(self, prompt: str, context: Sequence[Message], reply: str) -> Laid:
        before = self.turns(prompt, context)
        opening = conversation(self.template, before)
        if mark := opened(opening, before[-1]["content"]):  # the message is no reasoning
            self.opened.add(mark)
            opening = opening[: opening.rindex(mark)]
        try:
            whole = conversation(self.template, [*before, {"role": COUNSELOR, "content": reply}], asks=False)
        except LeftOutError:  # it writes the reply in another way, and the reply itself is scored
            whole = ""
        # A space or line break that the template puts between the assistant's mark and the message is not scored.
        at = whole.find(reply, len(opening)) if whole.startswith(opening) else -1
        lead = whole[:at] if at >= 0 and not whole[len(opening) : at].strip() else opening
        return Laid(lead + reply, len(lead), chat=True)


def _plain_turns(prompt: str, context: Sequence[Message]) -> list[dict[str, str]]:
    system = [{"role": "system", "content": prompt}] if prompt else []
    return [*system, *({"role": m.role, "content": m.text} for m in context)]


def _folded(prompt: str, context: Sequence[Message]) -> list[dict[str, str]]:
    turns = [{"role": PERSON, "content": prompt}]
    for message in context:
        if message.role == turns[-1]["role"]:
            turns[-1]["content"] = "\n\n".join(filter(None, (turns[-1]["content"], message.text)))
        else:
            turns.append({"role": message.role, "content": message.text})
    return turns
