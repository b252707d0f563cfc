"""Shared by all kinds: a run that stays intact, and the arguments of commands."""

from tests.conftest import synthetic_run

Names = dict[str, str]
QUESTIONS = ("run", "--model", "fake", "--task", "qa")
TALK = """Counselor: Hello, how are you?
Client: I am sad today.
Counselor: Tell me more about it.
Client: My dog is ill.
Counselor: That must be hard for you.
"""


def other_run(model: str = "brook") -> str:
    """A finished run that no damage is done to."""
    return synthetic_run(60, model=model)
