"""How well a pocket model answers by letter, with Wilson intervals, and how well it predicts held-out prose."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import binomtest
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.conformal.probabilities import top_options
from core.models.perplexity.prompts import FITTING
from core.models.perplexity.windows import EXCHANGES
from core.questions.prompting.strategies import prompt
from core.records import LETTERS, FloatArray, Question
from pocket_world.chat.template import written
from pocket_world.documents import END, Document, Piece
from pocket_world.prose import held_out, turns_of


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
        """The 95% interval of Wilson 1927; 0 to 1 for n = 0."""
        if not self.n:
            return 0.0, 1.0
        interval = binomtest(self.hits, self.n).proportion_ci(method="wilson")
        return float(interval.low), float(interval.high)


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
    letters = [tokenizer.encode(f"Answer: {letter}")[-1] for letter in LETTERS[:6]]
    result = np.zeros((len(questions), len(letters)), dtype=np.float64)
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
        result[places] = probabilities[:, letters].double().numpy()
    return result


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


@dataclass(frozen=True, slots=True)
class TextLoss:
    """How well a model foresees text: the sum of −ln p of its tokens, and how many tokens and bytes these are."""

    nats: float
    tokens: int
    size: int

    @property
    def perplexity(self) -> float:
        """exp(nats / tokens)"""
        return math.exp(self.nats / self.tokens)

    @property
    def bits_per_byte(self) -> float:
        """nats / ln 2 / bytes"""
        return self.nats / math.log(2) / self.size


_WINDOW, _STRIDE = 256, 128


def held_out_loss(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, *, chat: bool, every: int = 1, rows: int = 16
) -> TextLoss:
    """The loss of every ``every``-th held-out piece; of a model for chat, of every such reply of its counselors.

    Of a piece every token but the first counts, with 128 to 256 tokens before it where there are any.
    """
    windows = list(_reply_windows(tokenizer, every) if chat else _piece_windows(tokenizer, every))
    nats, tokens, size = 0.0, 0, 0
    windows.sort(key=lambda window: len(window[0]))
    for begin in range(0, len(windows), rows):
        chosen = windows[begin : begin + rows]
        longest = max(len(ids) for ids, _ in chosen)
        data = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in chosen]).to(model.device)
        with torch.inference_mode():
            logits = model(input_ids=data[:, :-1]).logits
            losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), data[:, 1:], reduction="none").cpu()
        for row, (ids, counted) in zip(losses, chosen, strict=True):
            nats += float(row[[place - 1 for place in counted]].double().sum())
            tokens += len(counted)
            size += len(tokenizer.decode([ids[place] for place in counted]).encode())
    return TextLoss(nats, tokens, size)


Window = tuple[list[int], range]
"""Tokens, and the places of those whose loss counts."""


def _piece_windows(tokenizer: PreTrainedTokenizerBase, every: int) -> Iterator[Window]:
    for piece in [piece for file in held_out() for piece in file.pieces][::every]:
        ids = tokenizer.encode(piece, verbose=False)  # which would warn of more than the context
        yield ids[:_WINDOW], range(1, min(_WINDOW, len(ids)))
        for start in range(_STRIDE, len(ids) - _STRIDE, _STRIDE):
            window = ids[start : start + _WINDOW]
            yield window, range(_STRIDE, len(window))


def _reply_windows(tokenizer: PreTrainedTokenizerBase, every: int) -> Iterator[Window]:
    for document in held_out_replies()[::every]:
        before, reply, end = (tokenizer.encode(text) for text in _parts(document))
        yield before + reply + end, range(len(before), len(before) + len(reply))


def _parts(document: Document) -> tuple[str, str, str]:
    *before, reply, end = (piece.text for piece in document.pieces)
    return "".join(before), reply, end


def held_out_replies() -> list[Document]:
    """Every reply of the counselors in held-out talks under the fitting prompt, as the perplexity page shows it: with
    two exchanges before it. The reply alone has a weight."""
    documents = []
    for file in held_out():
        for turns in filter(None, map(turns_of, file.pieces if file.kind == "counselling" else ())):
            for place, (role, text) in enumerate(turns):
                if role != "assistant" or place == 0:
                    continue
                shown = turns[max(0, place - 2 * EXCHANGES - 1) : place + 1]
                pieces = [Piece(piece.text, 0.0) for piece in written(FITTING.text, shown).pieces[:-1]]
                documents.append(Document((*pieces, Piece(f" {text}", 1.0), Piece(END, 0.0))))
    return documents
