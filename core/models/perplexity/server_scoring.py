"""Token losses of a request by a model on a server, which echoes each text with its log-probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError, SelfCheckError
from core.models.engine import SelfCheck
from core.models.perplexity.figures import ScoredMessage
from core.models.perplexity.layout import lines, published
from core.models.perplexity.request import Part, Request
from core.models.perplexity.windows import Window
from core.models.server.left_out import LeftOut, NoAnswer
from core.models.server.spending import estimate

if TYPE_CHECKING:
    from core.models.server.engine import ServerEngine
    from core.models.server.replies import EchoedText

CHECKED = 3
BYTES_A_TOKEN = 4
NO_TEMPLATE = "a server scores no text in its chat template, so the messages stand in lines of “role: text”"


@dataclass(frozen=True, slots=True)
class ServedWords:
    """A window's text, where ``continuation`` is scored after ``before``. Its ``tokens`` are estimated from its
    length: only the server knows them. No message of the context is ``dropped``; a server refuses a text that is too
    long."""

    before: str
    continuation: str
    dropped: int = 0

    @property
    def tokens(self) -> range:
        """As many as the text may have."""
        return range(1 + len((self.before + self.continuation).encode()) // BYTES_A_TOKEN)


class ServerScorer:
    """One model on servers, with the methods of :class:`~core.models.perplexity.scoring.Scorer`."""

    at_once = True

    def __init__(self, engine: ServerEngine) -> None:
        self.engine = engine
        self.notes: tuple[str, ...] = ()
        self.last_missed = False
        self.missing: dict[int, NoAnswer] = {}

    @property
    def description(self) -> dict[str, Any]:
        """The model and how it computes, for ``run.json``. The number of tokens is not known."""
        return self.engine.description | {"vocabulary": None, "rung": "echo of the server", "notes": list(self.notes)}

    def lay_out(self, parts: Sequence[Part], *, mode: str) -> list[list[ServedWords]]:
        self.last_missed = mode == "published"  # there the last token of each message is missed
        self.notes = () if self.last_missed else (NO_TEMPLATE,)
        return [_texts(part, mode) for part in parts]

    def begin(self, words: Sequence[ServedWords]) -> SelfCheck:
        """Score a few texts one after the other and then at the same time.

        Raises :class:`~core.errors.InputError` if the server does not give the log-probabilities of a text, and
        :class:`~core.errors.SelfCheckError` if all tokens of a text have the same, or the two differ.
        """
        from core.models.server.engine import TOLERANCE

        chosen = sorted(words, key=lambda text: len(text.tokens))[:: max(1, len(words) // CHECKED)][:CHECKED]
        pairs = [(text.before, text.continuation) for text in chosen]
        refused = LeftOut()

        def leave_out(i: int, missing: NoAnswer) -> None:
            refused.add(str(i), missing)

        scored = {
            i: self._losses(echo)
            for i, text in enumerate(pairs)
            for _, echo in self.engine.echo([text], leave_out=leave_out)
        }
        refused.confirm(len(scored))
        answered, alone = list(scored), list(scored.values())
        texts = [pairs[i] for i in answered]
        together = {i: self._losses(echo) for i, echo in self.engine.echo(texts, leave_out=leave_out)}
        refused.confirm(len(together))
        if all(len(losses) > 1 and np.ptp(losses) == 0 for losses in alone):
            raise SelfCheckError(
                f"the server {self.engine.client.urls[0]} gives every token of a text the same score, so its "
                "log-probabilities are not those of the model; use another server, or another version of it"
            )
        difference = max(
            float(np.abs(text - together[i]).max(initial=0.0)) if len(text) == len(together[i]) else np.inf
            for i, text in enumerate(alone)
            if i in together
        )
        check = SelfCheck(len(alone), difference, TOLERANCE, rung="echo of the server")
        if not check.passed:
            raise SelfCheckError(
                f"the server gives the tokens of one text log-probabilities that differ by {difference:.3g} from one "
                f"request to the next, more than {TOLERANCE:g}; its scores can't be trusted"
            )
        return check

    def score(self, windows: Sequence[Window], words: Sequence[ServedWords]) -> Iterator[tuple[int, ScoredMessage]]:
        """The place of each window with its scored message, in any order. All are asked at the same time. Those that
        the server does not answer are :attr:`missing`."""
        self.missing = {}
        limit = LeftOut(len(words))

        def leave_out(i: int, missing: NoAnswer) -> None:
            self.missing[i] = missing
            limit.add(str(i), missing, what="messages")

        for i, echo in self.engine.echo([(text.before, text.continuation) for text in words], leave_out=leave_out):
            pieces, losses = pieces_of(echo), self._losses(echo)
            if self.last_missed:
                pieces = pieces[:-1]
            if not len(losses):
                raise InputError(f"message {windows[i].number + 1} has no token that can be scored; leave it out")
            yield i, ScoredMessage(windows[i].number, pieces, losses)

    def _losses(self, echo: EchoedText) -> np.ndarray[Any, np.dtype[np.float32]]:
        losses = -np.array(echo.log_p[first_scored(echo) :], dtype=np.float32)
        if np.isnan(losses).any():
            raise InputError("the server gives no log-probabilities for some tokens of the messages")
        return losses[:-1] if self.last_missed else losses


def _texts(part: Part, mode: str) -> list[ServedWords]:
    layout = published if mode == "published" else lines
    laid = [layout(part.prompt.text, window.context, window.reply) for window in part.windows]
    return [ServedWords(text.text[: text.start], text.text[text.start :]) for text in laid]


def estimated_tokens(request: Request) -> tuple[int, int]:
    """The tokens that a server will read and write for a request, by the length of its texts."""
    texts = [text for part in request.parts() for text in _texts(part, request.mode)]
    estimates = [estimate({"prompt": text.before + text.continuation, "max_tokens": 1}) for text in texts]
    return sum(read for read, _ in estimates), sum(written for _, written in estimates)


def first_scored(echo: EchoedText) -> int:
    """The first token that ends behind the text before; nothing comes before the first token, so that is not scored."""
    return max(1, echo.context - echo.joined)


def pieces_of(echo: EchoedText) -> tuple[str, ...]:
    """The texts of the scored tokens; together they are the continuation."""
    pieces = echo.pieces
    if echo.context - echo.joined < first_scored(echo) and len(pieces) > 1:
        pieces = (pieces[0] + pieces[1], *pieces[2:])
    return pieces
