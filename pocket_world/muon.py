"""Muon (Jordan et al. 2024) for many small matrices: those of one shape are worked on as one stack.

:class:`torch.optim.Muon` computes the same, one matrix after the other, which keeps a GPU waiting when they are small.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_MOMENTUM = 0.95
_EPSILON = 1e-7


class StackedMuon(torch.optim.Optimizer):  # type: ignore[misc]
    """A step moves each matrix along the nearest orthogonal matrix of its Nesterov momentum, by rate · √max(1, rows /
    columns). ``lr`` may be a tensor of one number, which a captured graph reads at each replay."""

    def __init__(self, matrices: Iterable[torch.nn.Parameter], lr: float | torch.Tensor = 1e-3) -> None:
        shapes: dict[torch.Size, list[torch.nn.Parameter]] = {}
        for one in matrices:
            shapes.setdefault(one.shape, []).append(one)
        super().__init__([{"params": alike} for alike in shapes.values()], {"lr": lr})

    def step(self, closure: None = None) -> None:
        """One step with the gradients that the matrices have; every matrix must have one."""
        with torch.no_grad():
            self._move()

    def _move(self) -> None:
        for group in self.param_groups:
            alike = group["params"]
            gradients = torch.stack([one.grad for one in alike])
            state = self.state[alike[0]]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(gradients)
            momentum = state["momentum"].lerp_(gradients, 1 - _MOMENTUM)
            moved = orthogonal(gradients.lerp(momentum, _MOMENTUM))
            rows, columns = alike[0].shape
            moved = moved.to(alike[0].dtype) * (-group["lr"] * max(1.0, rows / columns) ** 0.5)
            torch._foreach_add_(alike, list(moved.unbind()))


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """About the nearest orthogonal matrix of each of a stack (n, rows, columns), in bfloat16, by Newton and Schulz's
    iteration; singular values come out between about 0.7 and 1.2."""
    first, second, third = _COEFFICIENTS
    wide = matrices.shape[1] <= matrices.shape[2]
    found = (matrices if wide else matrices.mT).bfloat16()
    found = found / found.norm(dim=(1, 2), keepdim=True).clamp(min=_EPSILON)
    for _ in range(_ITERATIONS):
        squares = found @ found.mT
        changed = torch.baddbmm(squares, squares, squares, beta=second, alpha=third)
        found = torch.baddbmm(found, changed, found, beta=first)
    return found if wide else found.mT
