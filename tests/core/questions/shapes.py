"""Rows in the shapes of the hub's data sets, made up."""

from core.questions.subjects import CATEGORIES

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "jetty", "knoll", "lagoon"]


def word(i: int) -> str:
    """A made-up word that no other number has."""
    name = WORDS[i % len(WORDS)]
    while (i := i // len(WORDS)) > 0:
        name += WORDS[i % len(WORDS)]
    return name


def mmlu(n: int):
    subjects = [subject for category in CATEGORIES.values() for subject in category]
    return [
        {
            "question": f"What is the {word(i)} of the {word(7 * i + 1)}?",
            "subject": subjects[i % len(subjects)],
            "choices": [f"{word(i + j)} {j}" for j in range(4)],
            "answer": i % 4,
        }
        for i in range(n)
    ]


def cosmos(n: int):
    return [
        {
            "id": f"row{i}",
            "context": f"{word(3 * i)} went to the {word(i + 9)} and saw {word(i)} there.",
            "question": f"Why did {word(3 * i)} go?",
            **{f"answer{j}": f"For {word(i + j)} {j}" for j in range(4)},
            "label": i % 4,
        }
        for i in range(n)
    ]


def hellaswag(n: int):
    return [
        {
            "ind": i,
            "activity_label": "Canoeing",
            "ctx": f"[header] How to {word(i)} [title] Take the {word(i + 3)}. [step] A man",
            "endings": [f"lifts the {word(i + j)}. [substeps] Slowly {j}." for j in range(4)],
            "label": str(i % 4),
        }
        for i in range(n)
    ]


def dialogue(n: int):
    return [
        {
            "knowledge": "none",
            "dialogue_history": f"[Human]: Do you like {word(i)}?",
            "right_response": f"Yes, {word(i)} {i}.",
            "hallucinated_response": f"No, {word(i)} {i}.",
        }
        for i in range(n)
    ]


def summarization(n: int):
    return [
        {
            "document": f"The {word(i)} was found {i} times.",
            "right_summary": f"{word(i)} found {i}.",
            "hallucinated_summary": f"{word(i)} lost {i}.",
        }
        for i in range(n)
    ]


def arc(n: int, k: int = 4):
    return [
        {
            "id": f"Mercury_{k}_{i}",
            "question": f"Which {word(i)} is heaviest?",
            "choices": {
                "text": [f"{word(i + j)}" for j in range(k)],
                "label": list("ABCDE"[:k] if i % 2 else "12345"[:k]),
            },
            "answerKey": ("ABCDE" if i % 2 else "12345")[i % k],
        }
        for i in range(n)
    ]


def csqa(n: int):
    return [row | {"question_concept": "weight"} for row in arc(n, k=5)]


SHAPES = {
    "qa": mmlu,
    "rc": cosmos,
    "ci": hellaswag,
    "drs": dialogue,
    "ds": summarization,
    "arc": arc,
    "csqa": csqa,
}
