"""How well a pocket model answers: accuracy over the six letters, letter mass, Wilson intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.conformal.probabilities import top_options
from core.questions.prompting.strategies import prompt
from core.records import LETTERS, FloatArray, Question


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``n``, with its 95 % Wilson interval ``low`` to ``high`` (0 to 1; 0 to 1 for n = 0)."""

    hits: int
    n: int

    @property
    def value(self) -> float:
        """hits / n, NaN for n = 0."""
        return self.hits / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 1927: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.96.

        >>> [round(bound, 3) for bound in Share(50, 100).interval]
        [0.404, 0.596]
        """
        if not self.n:
            return 0.0, 1.0
        z2 = 1.959963984540054**2 / self.n
        middle = self.value + z2 / 2
        spread = math.sqrt(z2 * self.value * (1 - self.value) + z2 * z2 / 4)
        return (middle - spread) / (1 + z2), (middle + spread) / (1 + z2)


def letter_ids(tokenizer: PreTrainedTokenizerBase, k: int = 6) -> list[int]:
    """The tokens of the first k letters behind ``Answer:``: the last token of "Answer: A" and so on."""
    return [tokenizer.encode(f"Answer: {letter}")[-1] for letter in LETTERS[:k]]


def letter_probabilities(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[Question],
    *,
    strategy: str = "base",
    rows: int = 64,
) -> FloatArray:
    """The next-token probabilities of the letters A to F, (n, 6); a row's sum is its letter mass."""
    texts = [prompt(question, strategy=strategy).text for question in questions]
    encoded = [tokenizer.encode(text) for text in texts]
    letters = letter_ids(tokenizer)
    found = np.zeros((len(questions), len(letters)), dtype=np.float64)
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place]))
    for start in range(0, len(order), rows):
        places = order[start : start + rows]
        longest = len(encoded[places[-1]])
        inputs = torch.tensor([encoded[place] + [0] * (longest - len(encoded[place])) for place in places])
        last = torch.tensor([len(encoded[place]) - 1 for place in places])
        # Padding stands behind the last real token, which therefore never sees it.
        with torch.inference_mode():
            hidden = model.model(input_ids=inputs.to(model.device)).last_hidden_state
            probabilities = model.lm_head(hidden[torch.arange(len(places)), last]).float().softmax(-1).cpu()
        found[places] = probabilities[:, letters].double().numpy()
    return found


def accuracy(probabilities: FloatArray, questions: Sequence[Question]) -> Share:
    """How often the likeliest letter is the right one."""
    labels = np.array([question.label for question in questions], dtype=np.int64)
    return Share(int((top_options(probabilities) == labels).sum()), len(questions))


def accuracy_by(probabilities: FloatArray, questions: Sequence[Question], names: Sequence[str]) -> dict[str, Share]:
    """Accuracy among the questions of each name, the best first; ``names`` has one entry a question."""
    shares = {}
    for name in sorted(set(names)):
        places = [place for place, other in enumerate(names) if other == name]
        shares[name] = accuracy(probabilities[places], [questions[place] for place in places])
    return dict(sorted(shares.items(), key=lambda item: -item[1].value))
