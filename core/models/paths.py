"""Four ways to score options, from the fastest to the plainest. All that are correct for a model give the same sums.

Each function takes rows and returns, for each row, Σ log p of each option. ``prefix`` holds tokens that all rows begin
with; ``TokenRow.context`` then leaves them out.

Rows are padded on the right without a mask and read at their own last real token: under a causal model nothing at
or before that position can see the padding, whatever kind of attention or recurrence the model has.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import torch

from core.models.decoder import Decoder
from core.models.masks import tree, tree_mask
from core.models.prefix import Prefix, after
from core.models.rope_lengths import Regime
from core.models.rows import TokenRow, Tokens

Sums = list[list[float]]
Path = Callable[..., Sums]


class LetterSums(list[list[float]]):
    """Sums of one token each, and ``tops``, the most probable token of the vocabulary at each row's place."""

    def __init__(self, sums: Iterable[list[float]], tops: list[int]) -> None:
        super().__init__(sums)
        self.tops = tops


def one_by_one(decoder: Decoder, rows: Sequence[TokenRow]) -> Sums:
    """The reference: the model's own call, one option at a time, without padding or sharing."""
    sums: Sums = []
    tops: list[int] = []
    for row in rows:
        if row.is_letters:
            log_p = torch.log_softmax(decoder.whole(row.context, last=1)[-1], dim=-1)
            sums.append([float(log_p[option[0]]) for option in row.options])
            tops.append(int(log_p.argmax()))
        else:
            sums.append([_naive_sum(decoder, row.context, option) for option in row.options])
    return LetterSums(sums, tops) if len(tops) == len(sums) else sums


def _naive_sum(decoder: Decoder, context: Tokens, option: Tokens) -> float:
    log_p = torch.log_softmax(decoder.whole(context + option[:-1], last=len(option)), dim=-1)
    return sum(float(log_p[i, token]) for i, token in enumerate(option))


def letters(decoder: Decoder, rows: Sequence[TokenRow], *, prefix: Prefix | None = None) -> Sums:
    """Options of one token each: one padded pass, read at each row's last token."""
    hidden = _forward(decoder, [row.context for row in rows], prefix)
    last = torch.tensor(read_positions([len(row.context) for row in rows]), device=hidden.device)
    states = hidden[torch.arange(len(rows), device=hidden.device), last]
    most = max(len(row.options) for row in rows)
    wanted = torch.tensor([[o[0] for o in row.options] + [0] * (most - len(row.options)) for row in rows])
    scores, tops = decoder.with_top(states, wanted)
    sums = [scored[: len(row.options)] for scored, row in zip(scores.tolist(), rows, strict=True)]
    return LetterSums(sums, tops.tolist())


def read_positions(lengths: Sequence[int]) -> list[int]:
    """The column of each row's last real token, where its answer is read."""
    return [length - 1 for length in lengths]


def padded_options(decoder: Decoder, rows: Sequence[TokenRow], *, prefix: Prefix | None = None) -> Sums:
    """One padded row per option. Logits are computed only at the options' tokens."""
    flat = [(i, row.context, option) for i, row in enumerate(rows) for option in row.options]
    hidden = _forward(decoder, [context + option[:-1] for _, context, option in flat], prefix)
    places = [
        (r, len(context) - 1 + t, token)
        for r, (_, context, option) in enumerate(flat)
        for t, token in enumerate(option)
    ]
    of_rows = iter(_sum_by_row(decoder, hidden, places, len(flat)))
    return [[next(of_rows) for _ in row.options] for row in rows]


def _one_regime_a_row(path: Path) -> Path:
    """The path with each row's options scored in as many rows as they have regimes, because the options of a row share
    the computation of its context."""

    @wraps(path)
    def split(decoder: Decoder, rows: Sequence[TokenRow], *, prefix: Prefix | None = None, **named: Any) -> Sums:
        start = len(prefix or ())
        parts: list[tuple[int, list[int]]] = []
        for i, row in enumerate(rows):
            alike: dict[Regime, list[int]] = {}
            for j, option in enumerate(row.options):
                alike.setdefault(decoder.regime(start + len(row.context) + len(option) - 1), []).append(j)
            parts += [(i, places) for places in alike.values()]
        if len(parts) == len(rows):
            return path(decoder, rows, prefix=prefix, **named)
        given = [TokenRow(rows[i].context, tuple(rows[i].options[j] for j in places)) for i, places in parts]
        sums: Sums = [[0.0] * len(row.options) for row in rows]
        for (i, places), scored in zip(parts, path(decoder, given, prefix=prefix, **named), strict=True):
            for j, value in zip(places, scored, strict=True):
                sums[i][j] = value
        return sums

    return split


@_one_regime_a_row
def option_tree(
    decoder: Decoder, rows: Sequence[TokenRow], *, prefix: Prefix | None = None, kind: str = "full"
) -> Sums:
    """A question's context and all its options in one row; a mask of the given kind hides options from each other."""
    start = len(prefix) if prefix else 0
    laid = tree(decoder, rows, start=start)
    lengths = [start + row.whole_length for row in rows]
    hidden = decoder.hidden(
        laid.tokens,
        cache=prefix.cache(lengths) if prefix else None,
        positions=laid.positions,
        mask=tree_mask(decoder, laid, prefix=start, kind=kind),
        lengths=lengths,
    )
    owners = [(i, j) for i, row in enumerate(rows) for j in range(len(row.options))]
    width = laid.tokens.shape[1]
    flat = hidden.reshape(1, len(rows) * width, -1)
    places = [
        (owner, i * width + column, token)
        for owner, (i, j) in enumerate(owners)
        for column, token in zip(laid.columns[i][j], rows[i].options[j], strict=True)
    ]
    of_options = iter(_sum_by_owner(decoder, flat[0], places, len(owners)))
    return [[next(of_options) for _ in row.options] for row in rows]


@_one_regime_a_row
def context_cache(decoder: Decoder, rows: Sequence[TokenRow], *, prefix: Prefix | None = None) -> Sums:
    """Contexts of one length share a pass, and its cache is repeated for each option. This needs no mask."""
    sums: Sums = [[] for _ in rows]
    by_length: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        by_length.setdefault(len(row.context), []).append(i)
    for members in by_length.values():
        for i, scored in zip(members, _of_one_length(decoder, [rows[i] for i in members], prefix), strict=True):
            sums[i] = scored
    return sums


def _of_one_length(decoder: Decoder, rows: Sequence[TokenRow], prefix: Prefix | None) -> Sums:
    lengths = [len(prefix or ()) + row.whole_length for row in rows]
    cache = prefix.cache(lengths) if prefix else decoder.new_cache()
    contexts = decoder.tokens([row.context for row in rows])
    width = contexts.shape[1]
    positions = after(prefix, rows=len(rows), width=width, device=decoder.device)
    hidden = decoder.hidden(contexts, cache=cache, positions=positions, lengths=lengths)[:, -1]
    owners = [(i, option) for i, row in enumerate(rows) for option in row.options]
    firsts = torch.tensor([[option[0]] for _, option in owners])
    states = hidden[torch.tensor([i for i, _ in owners], device=hidden.device)]
    totals = decoder.log_probabilities(states, firsts)[:, 0].tolist()
    longer = [at for at, (_, option) in enumerate(owners) if len(option) > 1]
    if longer:
        places_of = [owners[at][0] for at in longer]
        cache.reorder_cache(torch.tensor(places_of))
        tails = decoder.tokens([owners[at][1][:-1] for at in longer])
        start = width + (len(prefix) if prefix else 0)
        places_at = torch.arange(start, start + tails.shape[1], device=decoder.device)[None].expand(len(longer), -1)
        of_tails = [lengths[i] for i in places_of]
        after_tails = decoder.hidden(tails, cache=cache, positions=places_at, lengths=of_tails)
        places = [(r, t, token) for r, at in enumerate(longer) for t, token in enumerate(owners[at][1][1:])]
        for at, rest in zip(longer, _sum_by_row(decoder, after_tails, places, len(longer)), strict=True):
            totals[at] += rest
    flat = iter(totals)
    return [[next(flat) for _ in row.options] for row in rows]


def _forward(decoder: Decoder, rows: Sequence[Tokens], prefix: Prefix | None) -> torch.Tensor:
    tokens = decoder.tokens(rows)
    if prefix is None:
        return decoder.hidden(tokens, lengths=[len(row) for row in rows])
    lengths = [len(prefix) + len(row) for row in rows]
    positions = after(prefix, rows=len(rows), width=tokens.shape[1], device=decoder.device)
    return decoder.hidden(tokens, cache=prefix.cache(lengths), positions=positions, lengths=lengths)


def _sum_by_row(
    decoder: Decoder, hidden: torch.Tensor, places: Sequence[tuple[int, int, int]], rows: int
) -> list[float]:
    """Σ log p for each row; ``places`` are (row, column, next token)."""
    width = hidden.shape[1]
    flat = hidden.reshape(-1, hidden.shape[-1])
    return _sum_by_owner(decoder, flat, [(r, r * width + c, token) for r, c, token in places], rows)


def _sum_by_owner(
    decoder: Decoder, flat: torch.Tensor, places: Sequence[tuple[int, int, int]], owners: int
) -> list[float]:
    """Σ log p for each owner; ``places`` are (owner, index into ``flat``, next token).

    A state that several owners read (all options begin after the same context) passes the head once.
    """
    slots: dict[int, list[int]] = {}
    where = []
    for _, at, token in places:
        tokens = slots.setdefault(at, [])
        where.append(len(tokens))
        tokens.append(token)
    number = {at: i for i, at in enumerate(slots)}
    most = max(len(tokens) for tokens in slots.values())
    wanted = torch.tensor([tokens + [0] * (most - len(tokens)) for tokens in slots.values()])
    log_p = decoder.log_probabilities(flat[torch.tensor(list(slots), device=flat.device)], wanted).cpu().double()
    sums = torch.zeros(owners, dtype=torch.float64)
    read = log_p[torch.tensor([number[at] for _, at, _ in places]), torch.tensor(where)]
    sums.index_add_(0, torch.tensor([owner for owner, _, _ in places]), read)
    return [float(value) for value in sums]
