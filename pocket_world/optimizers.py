"""What changes the weights of a model in training, and how fast it does so at each step."""

from __future__ import annotations

import torch
from transformers import LlamaForCausalLM

from pocket_world.muon import StackedMuon
from pocket_world.recipes import Recipe, Stage

LETTERS_RATE = 0.015
"""The rate of the matrices in matching and the first half of letters, where circuits have to rise from nothing."""

RISE: dict[Stage, int] = {"matching": 50, "letters": 100, "everything": 300}
"""Steps over which the learning rate rises in each stage; the words of everything would swamp what stands at once."""

LEAST_SHARE = 0.05


def optimizers(model: LlamaForCausalLM) -> tuple[StackedMuon, torch.optim.AdamW]:
    """Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for embeddings and norms; no weight decays.

    In these models the circuits that binding needs rise in a few hundred steps of Muon; with AdamW they took thousands.
    """
    embeddings = model.model.embed_tokens.weight
    matrices = [weights for weights in model.parameters() if weights.ndim == 2 and weights is not embeddings]
    rest = [weights for weights in model.parameters() if weights.ndim != 2 or weights is embeddings]
    captured = model.device.type == "cuda"
    muon_rate, rate = (torch.zeros((), device=model.device) if captured else 0.0 for _ in range(2))
    return StackedMuon(matrices, lr=muon_rate), torch.optim.AdamW(
        rest, lr=rate, weight_decay=0.0, betas=(0.9, 0.95), fused=True, capturable=captured
    )


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Let an optimizer learn at this rate; where its rate is a tensor, which a captured graph reads, in place."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def rates(recipe: Recipe, stage: Stage, step: int) -> tuple[float, float]:
    """The learning rates of the matrices and of the rest at a step.

    Both rise at the beginning of a stage. That of the matrices falls in the second half of letters to the rate of
    everything. In everything both fall in a straight line to a twentieth: Muon's steps are all of one length, so that
    at a rate that stays high, chance alone wears away what was learned.
    """
    rise = min(1.0, (step + 1) / RISE[stage])
    if stage == "everything":
        share = min(rise, max(1 - step / recipe.steps, LEAST_SHARE))
        return recipe.rate * share, recipe.token_rate * share
    fallen = max(0.0, 2 * step / recipe.letters_steps - 1) if stage == "letters" else 0.0
    return (LETTERS_RATE + fallen * (recipe.rate - LETTERS_RATE)) * rise, recipe.token_rate * rise
