"""The probabilistic low-rank layer of ARD-LoRA.

A frozen linear layer W gets a random low-rank addition. ``A`` (2r, in) gives for each token x the mean μ and the
log-variance log σ² of r latent numbers, ``z = μ + σ·ε``, and ``B`` (out, r), zero at first, their effect:

``output = W x + (alpha / r) · B z``

At rest z = μ; with :attr:`ProbLora.sampling` on it is drawn. The prior of z is N(0, t), its r variances ``t = est_var +
1e-6`` found from data (:mod:`core.models.adapters.prior`): a rank that carries nothing loses its variance, which is
automatic relevance determination. A, B and the addition are computed in float32 whatever the model's precision.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

SMALLEST_VARIANCE = 1e-6
ACTIVE_SHARE = 0.01
LOG_VARIANCE = 30.0
"""log σ² is kept within ±30, where its exponential is a number."""


@dataclass(slots=True)
class Latent:
    """What a layer's latents were at its last call: each (rows, width, r)."""

    mean: torch.Tensor
    log_variance: torch.Tensor
    z: torch.Tensor


class ProbLora(nn.Module):  # type: ignore[misc]
    """``base`` with the probabilistic addition of ``rank`` latents, scaled by ``alpha / rank``."""

    def __init__(self, base: nn.Linear, *, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.rank = rank
        self.scaling = alpha / rank
        where = base.weight.device
        self.A = nn.Parameter(torch.empty(2 * rank, base.in_features, dtype=torch.float32, device=where))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank, dtype=torch.float32, device=where))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.register_buffer("est_var", torch.ones(rank, dtype=torch.float32, device=where))
        self.sampling = False
        self.keeping = False
        self.latent: Latent | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's output for inputs (…, in)."""
        mean, log_variance = (x.float() @ self.A.T).split(self.rank, dim=-1)
        log_variance = log_variance.clamp(-LOG_VARIANCE, LOG_VARIANCE)
        z = mean + torch.exp(log_variance / 2) * torch.randn_like(mean) if self.sampling else mean
        if self.keeping:
            self.latent = Latent(mean, log_variance, z)
        out = self.base(x)
        return out + (self.scaling * (z @ self.B.T)).to(out.dtype)

    def divergence(self, counts: torch.Tensor) -> torch.Tensor:
        """KL of the last call's latents to the prior, the mean over ranks and over the tokens where ``counts``."""
        assert self.latent is not None, "the layer was not asked to keep its latents"
        return kl_to_prior(self.latent.mean, self.latent.log_variance, self.est_var, counts)


def kl_to_prior(
    mean: torch.Tensor, log_variance: torch.Tensor, est_var: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Mean over tokens and ranks of ``½[log t − log σ² + (σ² + μ²)/t − 1]``, t = est_var + 1e-6.

    ``mean`` and ``log_variance`` (…, r), ``counts`` (…) 1 for a token and 0 for padding, ``est_var`` (r,).
    """
    t = est_var + SMALLEST_VARIANCE
    each = 0.5 * (t.log() - log_variance + (log_variance.exp() + mean**2) / t - 1)
    weight = counts.to(each.dtype)[..., None]
    return (each * weight).sum() / (weight.sum() * each.shape[-1]).clamp(min=1)


def layers_of(model: nn.Module) -> dict[str, ProbLora]:
    """Every probabilistic layer of a model by its name."""
    return {name: module for name, module in model.named_modules() if isinstance(module, ProbLora)}


@contextmanager
def latents(model: nn.Module, *, sampling: bool, keeping: bool = False) -> Iterator[dict[str, ProbLora]]:
    """Layers that draw their latents, and keep them, within the block."""
    layers = layers_of(model)
    for layer in layers.values():
        layer.sampling, layer.keeping = sampling, keeping
    try:
        yield layers
    finally:
        for layer in layers.values():
            layer.sampling, layer.keeping, layer.latent = False, False, None


@torch.no_grad()  # type: ignore[untyped-decorator]
def variances(model: nn.Module) -> dict[str, list[float]]:
    """The variance that each rank adds to its layer's output, ``(alpha/r)² · est_var_k · ‖B_k‖²``, the largest first.

    ``est_var`` alone says little of a rank that carries nothing: the KL is the same whatever scale its latent has, so
    it is B that is let go. Their product does not depend on how the scale is shared between the two.
    """
    return {
        name: sorted((layer.scaling**2 * layer.est_var * (layer.B**2).sum(dim=0)).tolist(), reverse=True)
        for name, layer in layers_of(model).items()
    }


def active_ranks(values_by_layer: dict[str, list[float]], *, share: float = ACTIVE_SHARE) -> dict[str, int]:
    """How many of each layer's ranks add at least ``share`` of the variance of its largest one; none of a new layer."""
    return {name: sum(v >= share * max(values) > 0 for v in values) for name, values in values_by_layer.items()}


def is_linear(module: Any) -> bool:
    """Whether a module is a plain linear layer that can be wrapped."""
    return isinstance(module, nn.Linear)
