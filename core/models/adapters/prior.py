"""Automatic relevance determination: the prior's variances from latents on a held-out share, once an epoch.

``β_k = Σ z_k² / 2`` over the share's tokens, ``α₀`` half their number, and ``est_var_k = β_k / α₀ + 1e-6``: the
variance of the rank's latents about 0. Padding does not count.
"""

from collections.abc import Iterable
from typing import Any

import torch

from core.errors import InputError
from core.models.adapters.layer import SMALLEST_VARIANCE, ProbLora, latents
from core.models.adapters.texts import Batch


@torch.no_grad()  # type: ignore[untyped-decorator]
def update_prior(model: Any, batches: Iterable[Batch]) -> dict[str, torch.Tensor]:
    """Set every layer's ``est_var`` from latents drawn on the batches; returns them by layer.

    Raises :class:`InputError` if the batches hold no token.
    """
    sums: dict[str, torch.Tensor] = {}
    tokens = 0
    with latents(model, sampling=True, keeping=True) as layers:
        for batch in batches:
            model(input_ids=batch.tokens, attention_mask=batch.mask)
            tokens += int(batch.mask.sum())
            for name, layer in layers.items():
                sums[name] = sums.get(name, torch.zeros_like(layer.est_var)) + half_squares(layer, batch.mask)
        if tokens == 0:
            raise InputError("the prior's share holds no tokens; give more texts or a larger share")
        for name, layer in layers.items():
            layer.est_var.copy_(sums[name] / (tokens / 2) + SMALLEST_VARIANCE)
        return {name: layer.est_var.clone() for name, layer in layers.items()}


def half_squares(layer: ProbLora, mask: torch.Tensor) -> torch.Tensor:
    """``Σ z_k² / 2`` over the tokens of the layer's last call, (r,)."""
    assert layer.latent is not None, "the layer was not asked to keep its latents"
    z = layer.latent.z * mask[..., None].to(layer.latent.z.dtype)
    return (z**2).flatten(0, -2).sum(dim=0) / 2
