"""Token losses: −log p of every token of a text given all tokens before it, in nats.

They are used for perplexity and for the uncertainty of single tokens. Sequences share padded batches, as in
:mod:`core.models.paths`. After :meth:`TokenLosses.prepare` they also share the cache of their common beginning.
Logits are computed for a few positions at a time, never for a whole batch. The fast path is compared with the model's
own call before it is used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from core.errors import InputError
from core.models.boundaries import boundaries, ends_of_sides, side
from core.models.budget import Budget, free, work_through
from core.models.decoder import Decoder
from core.models.engine import SelfCheck
from core.models.path_selection import TOLERANCE, WRONG_PATH, refusal
from core.models.prefix import WORTH_SHARING, Prefix, after
from core.models.rows import Tokens, common_prefix

Losses = npt.NDArray[np.float32]
CHECKED = 4


@dataclass(frozen=True, slots=True)
class Scored:
    """Tokens; those from ``first`` on are scored, and the ones before are their context. ``first`` ≥ 1, because
    nothing comes before the first token."""

    tokens: Tokens
    first: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.first < len(self.tokens):
            raise InputError(
                f"losses from token {self.first} of {len(self.tokens)} can't be computed; "
                "give at least one token before the first that is scored, and one that is"
            )


class TokenLosses:
    """Losses of one model; :meth:`self_check` chooses between a shared beginning, batches, and one by one."""

    def __init__(self, decoder: Decoder, budget: Budget, *, dtype: str) -> None:
        self.decoder = decoder
        self.budget = budget
        self.dtype = dtype
        self.batched = False
        self.prefix: Prefix | None = None
        self._refused: tuple[str, ...] = ()

    def prepare(self, sequences: Sequence[Scored]) -> None:
        """Compute the common beginning of all ``sequences`` once, up to their first scored token, if it is long enough.
        Until the next call, only sequences with this beginning may be scored."""
        self.batched, self.prefix, self._refused = False, None, ()
        shared = common_prefix([scored.tokens[: scored.first] for scored in sequences]) if len(sequences) > 1 else 0
        if shared < WORTH_SHARING:
            return
        try:
            self.prefix = Prefix(
                self.decoder, sequences[0].tokens[:shared], [len(scored.tokens) - 1 for scored in sequences]
            )
        except WRONG_PATH as error:
            self._without_prefix(refusal(error))

    def self_check(self, sequences: Sequence[Scored]) -> SelfCheck:
        """Compare a batch of different lengths, on both sides of the model's boundaries, with its own call, token by
        token."""
        spread = sorted(sequences, key=lambda s: len(s.tokens))
        edges, shared = boundaries(self.decoder.model.config), len(self.prefix or ())
        sides = [side(edges, shared, scored.first, len(scored.tokens) - 1) for scored in spread]
        places = {round(i) for i in np.linspace(0, len(spread) - 1, CHECKED)}
        places |= ends_of_sides(sides, [len(scored.tokens) for scored in spread])
        picked = [spread[i] for i in sorted(places)]
        truth = [self._alone(scored) for scored in picked]
        allowed = TOLERANCE[self.dtype]
        if self.prefix is not None:
            try:
                difference = self._difference(picked, truth)
            except WRONG_PATH as error:
                self._without_prefix(refusal(error))
            else:
                if difference <= allowed:
                    self.batched = True
                    return SelfCheck(len(picked), difference, allowed, "prefix cache", self._refused)
                self._without_prefix(f"differs by {difference:.3g}")
        difference = self._difference(picked, truth)
        self.batched = difference <= allowed
        if self.batched:
            return SelfCheck(len(picked), difference, allowed, "padded rows", self._refused)
        refused = (*self._refused, f"padded rows: differs by {difference:.3g}")
        return SelfCheck(len(picked), 0.0, allowed, "one by one", refused)

    def score(self, sequences: Sequence[Scored]) -> Iterator[tuple[int, Losses]]:
        """Yield (index, losses), in any order; the losses are those of tokens ``first`` … last."""
        shared = len(self.prefix) if self.prefix and self.batched else 0

        def compute(batch: list[int]) -> list[Losses]:
            chosen = [sequences[i] for i in batch]
            return self._together(chosen) if self.batched else [self._alone(scored) for scored in chosen]

        widths = [len(sequence.tokens) - 1 - shared for sequence in sequences]
        plan = partial(self.budget.batches, prefix=shared)
        for batch, losses in work_through(widths, compute, plan=plan, budget=self.budget):
            yield from zip(batch, losses, strict=True)

    def _without_prefix(self, why: str) -> None:
        self.prefix = None
        self._refused = (f"prefix cache: {why}",)
        free(self.decoder.device)

    def _difference(self, picked: Sequence[Scored], truth: Sequence[Losses]) -> float:
        return max(float(np.abs(a - b).max()) for a, b in zip(self._together(picked), truth, strict=True))

    def _together(self, sequences: Sequence[Scored]) -> list[Losses]:
        shared = len(self.prefix) if self.prefix else 0
        tokens = self.decoder.tokens([scored.tokens[shared:-1] for scored in sequences])
        lengths = [len(scored.tokens) - 1 for scored in sequences]
        if self.prefix is None:
            hidden = self.decoder.hidden(tokens, lengths=lengths)
        else:
            positions = after(self.prefix, rows=len(sequences), width=tokens.shape[1], device=self.decoder.device)
            cache = self.prefix.cache(lengths)
            hidden = self.decoder.hidden(tokens, cache=cache, positions=positions, lengths=lengths)
        rows: list[int] = []
        columns: list[int] = []
        wanted: list[int] = []
        for row, scored in enumerate(sequences):
            places = range(scored.first - 1 - shared, len(scored.tokens) - 1 - shared)
            rows += [row] * len(places)
            columns += places
            wanted += scored.tokens[scored.first :]
        log_p = self.decoder.log_probabilities(hidden[rows, columns], torch.tensor(wanted)[:, None])[:, 0]
        ends = np.cumsum([len(scored.tokens) - scored.first for scored in sequences])[:-1]
        return [part.astype(np.float32) for part in np.split(-log_p.cpu().numpy(), ends)]

    def _alone(self, scored: Scored) -> Losses:
        log_p = torch.log_softmax(self.decoder.whole(scored.tokens[:-1])[scored.first - 1 :], dim=-1)
        picked = log_p.gather(1, torch.tensor(scored.tokens[scored.first :], device=log_p.device)[:, None])[:, 0]
        losses: Losses = -picked.cpu().numpy().astype(np.float32)
        return losses
