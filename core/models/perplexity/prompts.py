"""System prompts: three that ship with Hedge, and any that a person writes. A hash of the text is the version."""

from dataclasses import dataclass

from core.errors import InputError
from core.models.perplexity.conversations import digest

LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """A system prompt. The empty one is the baseline. The name is for people and not part of the version."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise InputError(
                f"system prompt {self.name!r} has {len(self.text):,} characters, at most {LONGEST:,} can be used"
            )

    @property
    def digest(self) -> str:
        """A hash of the text, ten hexadecimal digits."""
        return digest(self.text)


FITTING = SystemPrompt(
    "Counselor",
    "Your name is Ash. You are a counselor who listens with patience.\n"
    "Rules:\n"
    "- You say back what the person feels.\n"
    "- You ask open questions and never judge.\n"
    "- You help the person to find a small step.",
)
UNFITTING = SystemPrompt(
    "Minister",
    "Your name is Alex. You are a minister. You talk only about politics.\n"
    "Rules:\n"
    "- You always speak formally.\n"
    "- You never ask how somebody feels.\n"
    "- You don't listen to people.",
)
EMPTY = SystemPrompt("No prompt", "")

SHIPPED = {"fitting": FITTING, "unfitting": UNFITTING, "empty": EMPTY}
"""By the name that the command line takes."""


def named(text: str, name: str) -> SystemPrompt:
    """The shipped prompt with this text, or one of the given name."""
    prompt = SystemPrompt(name, text.strip())
    return next((shipped for shipped in SHIPPED.values() if shipped.digest == prompt.digest), prompt)
