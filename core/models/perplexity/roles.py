"""Who speaks in a conversation: the names that files give to the counselor, to the person, and to what is neither."""

import re
from collections.abc import Iterable

from core.errors import InputError
from core.models.perplexity.conversations import COUNSELOR, PERSON
from core.tables.safe_read import shown

COUNSELORS = frozenset(
    (
        *("assistant", "counselor", "counsellor", "therapist", "psychotherapist", "psychologist", "psychiatrist"),
        *("doctor", "dr", "physician", "clinician", "nurse", "coach", "helper", "supporter", "listener", "advisor"),
        *("adviser", "mentor", "tutor", "teacher", "agent", "interviewer", "provider", "caregiver", "operator", "sys"),
        *("gpt", "chatgpt", "gpt-3", "gpt-4", "bot", "chatbot", "ai", "model", "claude", "gemini", "llama", "llm"),
        *("ai assistant", "virtual assistant", "bing", "bard", "answer", "response", "reply", "completion", "output"),
    )
)
"""Names of the one whose words are scored."""
PERSONS = frozenset(
    (
        *("user", "human", "person", "client", "patient", "seeker", "help seeker", "help-seeker", "helpseeker", "usr"),
        *("caller", "customer", "student", "participant", "interviewee", "questioner", "speaker", "me", "visitor"),
        *("prompter", "question", "prompt", "query", "input", "mentee", "coachee", "learner"),
    )
)
"""Names of the one who is answered."""
SYSTEM_MESSAGE = "system message"
OTHERS = {
    **dict.fromkeys(("system", "developer", "system prompt", "instructions"), SYSTEM_MESSAGE),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool_result"), "tool result"),
    **dict.fromkeys(("function_call", "tool_call", "tool_calls", "function-call", "tool_use"), "tool call"),
    **dict.fromkeys(("thinking", "reasoning"), "note on reasoning"),
}
"""Names of what is no message of either, and what it is called in the sentence that says that it is left out."""
PAIRS = ("aq", "tc", "tp", "dp", "cp", "ah", "au", "bu", "ip")
"""Pairs of single letters: the counselor's, then the person's, as in A and Q or T and C."""
MARKS = " \t<>[]|(){}*#_\"'"
"""What files put around a role: ``**User**``, ``<HUMAN>``, ``### Human``, ``[client]``."""


def plain_role(name: str) -> str:
    """A role's name in lower case, without marks around it and a number behind it.

    >>> plain_role("**Therapist 2**"), plain_role("<HUMAN>")
    ('therapist', 'human')
    """
    plain = " ".join(name.strip(MARKS).lower().split())
    return plain if plain in COUNSELORS else re.sub(r"[ _-]?\d+$", "", plain)


def is_role(name: str) -> bool:
    """Whether this is the name of a role that is known by itself, without the others of its file."""
    plain = plain_role(name)
    return plain in COUNSELORS or plain in PERSONS or plain in OTHERS


def roles_of(names: Iterable[str]) -> dict[str, str]:
    """The role of each of a file's names: the counselor's, the person's, or what it is called when it is left out.

    Raises :class:`InputError` for any other name.
    """
    names = set(names)
    letters = {plain for name in names if len(plain := plain_role(name)) == 1}
    pair = next((pair for pair in PAIRS if letters == set(pair)), "")
    roles = {}
    for name in sorted(names):
        plain = plain_role(name)
        if plain in COUNSELORS or plain == pair[:1] != "":
            roles[name] = COUNSELOR
        elif plain in PERSONS or plain == pair[1:] != "":
            roles[name] = PERSON
        elif plain in OTHERS:
            roles[name] = OTHERS[plain]
        else:
            raise InputError(
                f"unknown role {shown(name)}; a message is the counselor's (such as {COUNSELOR}, therapist or gpt) or "
                f"the person's (such as {PERSON}, client or human)"
            )
    return roles
