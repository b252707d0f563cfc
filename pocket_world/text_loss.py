"""How well a model foresees held-out prose: perplexity a token and bits a byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from core.models.perplexity.prompts import FITTING
from core.models.perplexity.windows import EXCHANGES
from pocket_world.batches import batch
from pocket_world.chat.template import written
from pocket_world.documents import END, Document, Piece
from pocket_world.prose import held_out, turns_of


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


def text_loss(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, pieces: Sequence[str], *, rows: int = 16
) -> TextLoss:
    """The loss of every token of each piece but its first, with 128 to 256 tokens before it where there are any."""
    windows: list[tuple[list[int], int]] = []
    for piece in pieces:
        ids = tokenizer.encode(piece, verbose=False)  # which would warn of more than the context
        windows.append((ids[:_WINDOW], 1))
        starts = range(_STRIDE, len(ids) - _STRIDE, _STRIDE)
        windows += [(ids[start : start + _WINDOW], _STRIDE) for start in starts]
    nats, tokens, size = 0.0, 0, 0
    windows.sort(key=lambda window: len(window[0]))
    for begin in range(0, len(windows), rows):
        chosen = windows[begin : begin + rows]
        longest = max(len(ids) for ids, _ in chosen)
        data = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in chosen]).to(model.device)
        with torch.inference_mode():
            logits = model(input_ids=data[:, :-1]).logits
            losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), data[:, 1:], reduction="none").cpu()
        for row, (ids, first) in zip(losses, chosen, strict=True):
            nats += float(row[first - 1 : len(ids) - 1].double().sum())
            tokens += len(ids) - first
            size += len(tokenizer.decode(ids[first:]).encode())
    return TextLoss(nats, tokens, size)


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


def document_loss(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, documents: Sequence[Document], *, rows: int = 16
) -> TextLoss:
    """The loss of the tokens that have a weight."""
    nats, tokens = 0.0, 0
    for begin in range(0, len(documents), rows):
        data = batch(documents[begin : begin + rows], tokenizer)
        with torch.inference_mode():
            read = data.tokens.to(model.device)
            logits = model(input_ids=read[:, :-1]).logits
            losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), read[:, 1:], reduction="none").cpu()
        chosen = data.weights[:, 1:] > 0
        nats += float(losses[chosen].double().sum())
        tokens += int(chosen.sum())
    size = sum(len(piece.text.encode()) for document in documents for piece in document.pieces if piece.weight > 0)
    return TextLoss(nats, tokens, size)


def held_out_loss(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerBase, *, chat: bool, every: int = 1
) -> TextLoss:
    """The loss of every ``every``-th held-out piece; of a model for chat, of every such reply of its counselors."""
    if chat:
        return document_loss(model, tokenizer, held_out_replies()[::every])
    return text_loss(model, tokenizer, [piece for file in held_out() for piece in file.pieces][::every])
