"""Token losses of a request by one loaded model. It imports torch when the model is loaded, not before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError, RunError
from core.models.engine import SelfCheck
from core.models.model_fingerprint import pinned, revisions
from core.models.model_sources import FAKE_MODEL, resolve
from core.models.perplexity.conversations import Message as Said
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.layout import Laid
from core.models.perplexity.request import Part
from core.models.perplexity.tokens import Words, beginnings, encode
from core.models.perplexity.windows import Window

if TYPE_CHECKING:
    from core.models.transformers_engine import TransformersEngine

LONGEST_ENDING = 60
"""The most tokens of a generated ending."""


class Scorer:
    """One loaded model. :meth:`lay_out` tokenizes, :meth:`begin` computes what one prompt's windows share and checks
    the fast path, and :meth:`score` computes the losses. ``at_once`` says whether to ask for all windows of a prompt at
    once, or part by part."""

    at_once = False

    def __init__(self, engine: TransformersEngine) -> None:
        from core.models.token_losses import TokenLosses

        self.engine = engine
        self.tokenizer = engine.encoder.tokenizer
        self.losses = TokenLosses(engine.decoder, engine.budget, dtype=engine.dtype)
        self.notes: tuple[str, ...] = ()
        self.rung = ""

    @classmethod
    def load(
        cls,
        model: str,
        *,
        dtype: str,
        batch_size: int | None = None,
        device: str = "",
        fingerprint: str = "",
        report: Callable[[str], None] | None = None,
    ) -> Scorer:
        """Load a model onto ``device``, if one is named; ``fingerprint`` names the revision on the hub, and ``report``
        is told how far the loading is.

        Raises :class:`InputError` if it can't be loaded.
        """
        source = pinned(resolve(model, revision=revisions(fingerprint)[0]), fingerprint)
        if source.location == FAKE_MODEL:
            raise InputError("the fake engine has no words to score; choose a model")
        from core.models.transformers_engine import TransformersEngine

        return cls(TransformersEngine.load(source, dtype=dtype, batch_size=batch_size, device=device, report=report))

    @property
    def description(self) -> dict[str, Any]:
        """The model and how it computes, for ``run.json``."""
        about = self.engine.description
        names = ("model", "architecture", "revision", "parameters", "dtype", "device", "context", "budget")
        return {name: about[name] for name in (*names, "torch", "transformers")} | {
            "vocabulary": _vocabulary(self.engine.model),
            "rung": self.rung,
            "notes": list(self.notes),
        }

    def lay_out(self, parts: Sequence[Part], *, mode: str) -> list[list[Words]]:
        """The windows of every part as tokens, all in one layout. ``notes`` are about that layout and the model."""
        words, notes = encode(parts, self.tokenizer, mode=mode, context=self.engine.encoder.context)
        self.notes = (*([self.engine.other_base] if self.engine.other_base else []), *notes)
        return words

    def begin(self, words: Sequence[Words]) -> SelfCheck:
        """Prepare for ``words``, the windows of one system prompt. Returns how they will be computed."""
        scored = self._scored(words)
        self.losses.prepare(scored)
        check = self.losses.self_check(scored)
        self.rung = check.rung
        return check

    def score(self, windows: Sequence[Window], words: Sequence[Words]) -> Iterator[tuple[int, ScoredMessage]]:
        """The place of each window of a part with its scored message, in any order."""
        for i, losses in self.losses.score(self._scored(words)):
            if not np.isfinite(losses).all():
                raise RunError(
                    "the model gives no numbers for these words; its weights are broken, or it needs 32-bit "
                    "precision (float32)"
                )
            yield i, ScoredMessage(windows[i].number, words[i].pieces, losses)

    def write(self, contexts: Sequence[Sequence[Said]], *, prompt: str, each: int, seed: int = 0) -> list[list[str]]:
        """``each`` sampled endings after each context, seeded."""
        from core.models.generation import sample

        def ending(laid: Laid, seed: int) -> str:
            model, encoder, text = self.engine.model, self.engine.encoder, laid.text[: laid.start].rstrip(" ")
            return sample(model, encoder, text, chat=laid.chat, seed=seed, most=LONGEST_ENDING)

        texts = enumerate(beginnings(contexts, self.tokenizer, prompt=prompt))
        return [[ending(laid, seed + number * each + place) for place in range(each)] for number, laid in texts]

    def _scored(self, words: Sequence[Words]) -> list[Any]:
        from core.models.token_losses import Scored

        return [Scored(each.tokens, each.first) for each in words]


def _vocabulary(model: Any) -> int:
    """Over how many tokens the model spreads its probability: the rows of its output layer, padding included."""
    layer = model.get_output_embeddings()
    return int(model.config.get_text_config().vocab_size if layer is None else layer.weight.shape[0])
