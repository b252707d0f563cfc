"""Rotary frequencies that depend on the length of the whole text.

Some models take other frequencies for every token of a text once the text is longer than a limit (longrope, the mscale
of PhiMoE), or other ones for each length (dynamic NTK). transformers reads that length from the positions of the call.
So a row that shares a batch with a longer one, or a beginning that is computed before the rest of its row, would take
the frequencies of another length. Here each row of a call states the length of its whole text, and gets the frequencies
of that length.

transformers also lets a dynamic model keep the frequencies of an earlier, longer text. Each call begins afresh here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

Regime = tuple[int, ...]
"""What the length of a text decides: two texts with equal regimes have the same frequencies."""

WRAPPED = "_rope_of_length"


class RopeOfLength:
    """A model's rotary module whose frequencies depend on the length. ``lengths`` are those of the rows of the current
    call; None leaves the choice to the module, by the longest row."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.lengths: Sequence[int] | None = None
        self._compute: Callable[..., Any] = module.forward
        module.forward = self._forward

    def regime(self, length: int) -> Regime:
        """What a text of ``length`` tokens decides in this module."""
        return tuple(
            max(length, self.module.original_max_seq_len) if "dynamic" in kind else int(length > limit)
            for kind, limit in _rules(self.module)
        )

    def _forward(self, x: Any, position_ids: torch.Tensor, *rest: Any, **named: Any) -> Any:
        if self.lengths is None:
            self._begin_afresh()
            return self._compute(x, position_ids, *rest, **named)
        regimes = [self.regime(length) for length in self.lengths]
        chosen: Any = None
        for regime in dict.fromkeys(regimes):
            mine = [own == regime for own in regimes]
            longest = max(length for length, own in zip(self.lengths, mine, strict=True) if own)
            # One more column at the last position of the text, from which the module reads the length.
            last = torch.full_like(position_ids[..., :1], longest - 1)
            positions = torch.cat([position_ids.clamp(max=longest - 1), last], dim=-1)
            self._begin_afresh()
            computed = self._compute(x, positions, *rest, **named)
            parts = [part[..., :-1, :] for part in (computed if isinstance(computed, tuple) else (computed,))]
            if chosen is None:
                chosen, whole = parts, isinstance(computed, tuple)
                continue
            here = torch.tensor(mine, device=parts[0].device)[:, None, None]
            chosen = [torch.where(here, part, before) for part, before in zip(parts, chosen, strict=True)]
        return tuple(chosen) if whole else chosen[0]

    def _begin_afresh(self) -> None:
        """Forget the frequencies of an earlier text; only dynamic modules keep them."""
        kinds = self.module.rope_type
        named = kinds.items() if isinstance(kinds, Mapping) else [("", kinds)]
        for layer, kind in named:
            before = f"{layer}_" if layer else ""
            if "dynamic" in str(kind):
                frequencies = getattr(self.module, f"{before}original_inv_freq")
                self.module.register_buffer(f"{before}inv_freq", frequencies, persistent=False)
                setattr(self.module, f"{before}max_seq_len_cached", self.module.original_max_seq_len)


def ropes_of_length(model: Any) -> list[RopeOfLength]:
    """The rotary modules of a model whose frequencies depend on the length; empty for most models. The modules are
    wrapped the first time."""
    for module in model.modules():
        if WRAPPED not in module.__dict__ and _rules(module):
            module.__dict__[WRAPPED] = RopeOfLength(module)
    return [module.__dict__[WRAPPED] for module in model.modules() if WRAPPED in module.__dict__]


@contextmanager
def stated_lengths(ropes: Sequence[RopeOfLength], lengths: Sequence[int] | None) -> Iterator[None]:
    """While the body runs, row i of a call belongs to a text of ``lengths[i]`` tokens."""
    for rope in ropes:
        rope.lengths = lengths
    try:
        yield
    finally:
        for rope in ropes:
            rope.lengths = None


def _rules(module: Any) -> list[tuple[str, int]]:
    """The kind and the limit of each of a module's frequencies that depend on the length."""
    kinds = getattr(module, "rope_type", None)
    parameters = getattr(getattr(module, "config", None), "rope_parameters", None)
    if not kinds or not isinstance(parameters, Mapping):
        return []
    pairs = (
        [(kind, parameters.get(layer) or {}) for layer, kind in kinds.items()]
        if isinstance(kinds, Mapping)
        else [(kinds, parameters)]
    )
    return [
        (str(kind), int(values.get("original_max_position_embeddings") or 0))
        for kind, values in pairs
        if "dynamic" in str(kind) or kind == "longrope" or (kind != "default" and "long_mscale" in values)
    ]
