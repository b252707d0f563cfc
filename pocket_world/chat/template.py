"""How a conversation is written for the chat-tuned model: every message behind a token of its role."""

from core.questions.prompting.chat import OPENING
from core.questions.prompting.strategies import prompt
from core.records import Question
from pocket_world.chat.counsel import Turns
from pocket_world.documents import END, END_WEIGHT, Document, Piece

SYSTEM, USER, ASSISTANT = "<|system|>", "<|user|>", "<|assistant|>"

MARKS = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}

TEMPLATE = (
    "{% for message in messages %}"
    "<|{{ message['role'] }}|> {{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|end|>{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""The same for transformers; a message of the assistant ends with the token that ends a document."""

READ, SAID = 0.05, 0.3
"""Weights in the loss of what is read (system, user) and of what the assistant says."""


def asked_in_chat(question: Question, *, strategy: str) -> Document:
    """A lettered question as a user asks it and the assistant answers; the text is that of
    :func:`core.questions.prompting.chat.render` with :data:`TEMPLATE`, and the letter alone is learned."""
    text = prompt(question, strategy=strategy).text.removesuffix(OPENING).rstrip()
    head = Piece(f" {text}", 0.0)
    letter = Piece(f" {question.letter}", 1.0)
    return Document(
        (Piece(USER, 0.0), head, Piece(ASSISTANT, 0.0), Piece(OPENING, 0.0), letter, Piece(END, END_WEIGHT))
    )


def written(system: str, turns: Turns, *, weight: float = SAID, last_only: bool = False) -> Document:
    """A conversation as a document; what the assistant says has ``weight``, what the user says :data:`READ`.

    With ``last_only`` the weight of all messages but the last is 0.
    """
    pieces = [Piece(f"{SYSTEM} {system}", 0.0)] if system else []
    for place, (role, text) in enumerate(turns):
        learned = weight if role == "assistant" else READ
        learned = 0.0 if last_only and place < len(turns) - 1 else learned
        pieces.append(Piece(MARKS[role], 0.0))
        pieces.append(Piece(f" {text}{END if role == 'assistant' else ''}", learned))
    return Document(tuple(pieces))
