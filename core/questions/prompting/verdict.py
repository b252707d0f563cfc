"""Questions to a juror: is this answer to this question true? What follows is True or False."""

from core.records import Prompt

TRUE, FALSE = "True", "False"


def verdict_text(question: str, answer: str) -> str:
    """What a juror reads; its verdict is the next token.

    The answer stands where a lettered question has its first option.

    >>> print(verdict_text("What is the capital of Peru?", "Lima"))
    Question: What is the capital of Peru?
    A. Lima
    Is A right, True or False?
    Answer:
    """
    return f"Question: {question}\nA. {answer}\nIs A right, True or False?\nAnswer:"


def verdict_prompt(name: str, question: str, answer: str) -> Prompt:
    """That text as a prompt of an engine, with the two verdicts as its continuations."""
    return Prompt(name, verdict_text(question, answer), 2, continuations=(f" {TRUE}", f" {FALSE}"))
