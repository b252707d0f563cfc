"""A model's next-token predictions: their confidence, whether they are correct, and the parts of their uncertainty.

``logits[:-1]`` against ``labels[1:]``, labels of −100 left out. The whole vocabulary's softmax is computed for a few
tokens at a time and dropped. With ``passes`` an ARD-LoRA draws its latents that often; the prediction is then the mean
of the softmaxes. The entropy of that mean is the total uncertainty, the mean of the entropies its aleatoric part, and
what is between them the epistemic one (Depeweg et al. 2018, arXiv 1710.07283).
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from core.calibration.bins import TopLabel
from core.errors import InputError
from core.models.adapters.layer import latents, layers_of
from core.models.adapters.texts import IGNORED, Tokenized, batch_of
from core.models.decoder import Decoder
from core.records import FloatArray

SPARE = 4
"""Sequences are read until they hold this many times the wanted number of tokens, which are then drawn from them."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Judged:
    """n predicted tokens, (n,) each.

    ``confidence`` the top token's probability and ``correct`` whether it is the truth (1 or 0); ``loss`` the true
    token's −log p in nats; ``entropy`` in nats of the prediction, ``aleatoric`` and ``epistemic`` its parts (the
    second is 0 for one pass at the means).
    """

    confidence: FloatArray
    correct: FloatArray
    loss: FloatArray
    entropy: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def top(self) -> TopLabel:
        """The two arrays from which calibration is computed."""
        return TopLabel(self.confidence, self.correct)


def draw_tokens(texts: Sequence[Tokenized], count: int | None, *, seed: int) -> list[tuple[Tokenized, tuple[int, ...]]]:
    """Texts with the places of the tokens that are judged in them: ``count`` tokens drawn by the seed, or all.

    Texts are taken in a random order until they hold four times as many, which is where an evaluation stops early.

    Raises :class:`InputError` for a count below 1.
    """
    if count is not None and count < 1:
        raise InputError(f"at least one token must be judged, got {count}")
    if count is None:
        return [(text, tuple(range(text.first, len(text.tokens)))) for text in texts]
    rng = random.Random(f"{seed}|tokens")
    order = list(range(len(texts)))
    rng.shuffle(order)
    places: list[tuple[int, int]] = []
    for i in order:
        places += [(i, at) for at in range(texts[i].first, len(texts[i].tokens))]
        if len(places) >= SPARE * count:
            break
    chosen: dict[int, list[int]] = {}
    for i, at in rng.sample(places, min(count, len(places))):
        chosen.setdefault(i, []).append(at)
    return [(texts[i], tuple(sorted(chosen[i]))) for i in order if i in chosen]


def in_order(texts: Sequence[Tokenized], count: int | None, *, seed: int) -> list[tuple[Tokenized, tuple[int, ...]]]:
    """The drawn tokens in the order in which :func:`judge` judges them: the longest text first."""
    return sorted(draw_tokens(texts, count, seed=seed), key=lambda text: -len(text[0].tokens))


def judge(
    model: Any,
    texts: Sequence[Tokenized],
    *,
    count: int | None = None,
    rows: int = 8,
    passes: int = 0,
    seed: int = 0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Judged:
    """Judge the next-token predictions of a causal model on texts.

    ``count`` tokens are drawn by the seed (None: all), ``rows`` texts share a batch; ``passes`` 0 takes the latents'
    means. ``report`` is called with the tokens done and the total. Raises :class:`InputError` for passes on a
    model without probabilistic layers.
    """
    if passes < 0 or rows < 1:
        raise InputError(f"passes count from 0 and texts a batch from 1, got {passes} and {rows}")
    if passes and not layers_of(model):
        raise InputError("only an ARD-LoRA adapter has latents to draw; leave out --passes for this model")
    drawn = in_order(texts, count, seed=seed)
    total = sum(len(at) for _, at in drawn)
    decoder = Decoder(model)
    torch.manual_seed(seed)
    parts: list[Judged] = []
    done = 0
    for start in range(0, len(drawn), rows):
        part = drawn[start : start + rows]
        parts.append(_judged(decoder, part, passes))
        done += len(parts[-1])
        report(done, total)
    return Judged(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Judged)))


def _judged(decoder: Decoder, part: Sequence[tuple[Tokenized, tuple[int, ...]]], passes: int) -> Judged:
    batch = batch_of([text for text, _ in part], decoder.device)
    where = [(row, at) for row, (_, places) in enumerate(part) for at in places]
    rows = torch.tensor([row for row, _ in where], device=decoder.device)
    columns = torch.tensor([at for _, at in where], device=decoder.device)
    wanted = batch.labels[rows, columns]
    assert not bool((wanted == IGNORED).any()), "a token that is not judged was drawn"
    with latents(decoder.model, sampling=passes > 0):
        lengths = [len(text.tokens) for text, _ in part]
        states = [decoder.hidden(batch.tokens, lengths=lengths)[rows, columns - 1] for _ in range(max(passes, 1))]
    return _measured(decoder, states, wanted)


def _measured(decoder: Decoder, states: Sequence[torch.Tensor], wanted: torch.Tensor) -> Judged:
    """Judge m tokens from the states of each pass, (m, size) each."""
    pieces_of: list[list[Floats]] = []
    streams = [decoder.logits(state, copies=4 + len(states)) for state in states]
    for pieces in zip(*streams, strict=True):
        start = pieces[0][0]
        with torch.inference_mode():
            mean = torch.zeros_like(pieces[0][1])
            inner = mean.new_zeros(len(mean))
            truth = wanted[start : start + len(mean), None].to(mean.device)
            logs = []  # of the true token, pass by pass
            for _, logits in pieces:
                logs.append(logits.gather(1, truth)[:, 0] - logits.logsumexp(dim=-1))
                p = torch.softmax(logits, dim=-1)
                inner += -torch.special.xlogy(p, p).sum(dim=-1) / len(pieces)
                mean += p / len(pieces)
            total = -torch.special.xlogy(mean, mean).sum(dim=-1)
            confidence, top = mean.max(dim=-1)
            loss = math.log(len(logs)) - torch.stack(logs).logsumexp(dim=0)  # −log of the mean probability
            parts = (confidence, top == truth[:, 0], loss, total, inner, (total - inner).clamp(min=0))
            pieces_of.append([part.float().cpu().numpy() for part in parts])
    columns = [np.concatenate([piece[i] for piece in pieces_of]).astype(np.float64) for i in range(6)]
    return Judged(np.minimum(columns[0], 1.0), *columns[1:])
