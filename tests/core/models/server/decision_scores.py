"""The loopback server's scores: asked as choices among letters, and answered by their places."""

from typing import Any


def scores_of(questions: Any) -> list[Any]:
    """The names of the questions that ask for a score, or their places."""
    names = questions.items() if isinstance(questions, dict) else enumerate(questions)
    return [name for name, question in names if question["type"] == "score"]


def as_choices(questions: Any) -> Any:
    """The questions with a choice among letters in place of each score."""
    if isinstance(questions, list):
        return [
            {**question, "type": "choice", "choices": [level | {"value": level["label"]} for level in levels]}
            if (levels := question.get("levels"))
            else question
            for question in questions
        ]
    return {
        name: question | {"type": "choice", "criteria": dict(zip("ABCDEFGHIJ", question["criteria"], strict=False))}
        if question["type"] == "score"
        else question
        for name, question in questions.items()
    }


def as_score(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer of :func:`as_choices` as that of a score."""
    given = answer["probabilities"]
    if isinstance(given, dict):
        shares = list(given.values())
        levels: Any = {str(level): p for level, p in enumerate(shares)}
    else:
        shares = [each["probability"] for each in given]
        levels = [
            {"value": level, "label": each["value"], "probability": each["probability"]}
            for level, each in enumerate(given)
        ]
    score = sum(level * p for level, p in enumerate(shares))
    return answer | {"type": "score", "score": score, "probabilities": levels}
