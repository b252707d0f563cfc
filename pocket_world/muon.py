"""Muon: momentum whose step is made orthogonal, for the matrices of a model (Jordan et al. 2024).

In these models the circuits that binding needs rise in a few hundred steps of it; with AdamW they took thousands.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5


class Muon(torch.optim.Optimizer):  # type: ignore[misc]  # torch has no types here
    """An optimizer of matrices; a step has all singular values near ``lr · √max(1, rows / columns)``.

    Matrices of one shape are made orthogonal together, which is what makes it cheap on a processor.
    """

    def __init__(self, matrices: Iterable[torch.nn.Parameter], *, lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    def step(self) -> None:
        """One step along the gradients."""
        for group in self.param_groups:
            alike: dict[torch.Size, list[torch.nn.Parameter]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    alike.setdefault(matrix.shape, []).append(matrix)
            for shape, matrices in alike.items():
                steps = orthogonal(torch.stack([self._direction(one, group["momentum"]) for one in matrices]))
                for matrix, by in zip(matrices, steps, strict=True):
                    matrix.data.add_(by, alpha=-group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5)

    def _direction(self, matrix: torch.nn.Parameter, momentum: float) -> torch.Tensor:
        """Nesterov's: the gradient, drawn towards its running mean."""
        state = self.state[matrix]
        if "mean" not in state:
            state["mean"] = torch.zeros_like(matrix)
        gradient = matrix.grad
        assert gradient is not None
        state["mean"].lerp_(gradient, 1 - momentum)
        return gradient.lerp(state["mean"], momentum)


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """Matrices (n, rows, columns) with their singular values drawn to about 1 (0.7 to 1.2), their directions kept."""
    a, b, c = _NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    found = (matrices.mT if tall else matrices).bfloat16()
    found = found / (found.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        square = found @ found.mT
        found = a * found + (b * square + c * square @ square) @ found
    return (found.mT if tall else found).to(matrices.dtype)
