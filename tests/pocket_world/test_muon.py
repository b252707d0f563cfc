"""Muon's steps are orthogonal, and they lead down."""

from __future__ import annotations

import pytest
import torch

from pocket_world.muon import Muon, orthogonal


@pytest.mark.parametrize("shape", [(4, 24, 24), (2, 16, 48), (2, 48, 16)])
def test_singular_values_become_about_one_and_directions_stay(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(1)
    drawn = torch.randn(shape)
    found = orthogonal(drawn)
    values = torch.linalg.svdvals(found)
    assert values.min() > 0.5
    assert values.max() < 1.35
    left, _, right = torch.linalg.svd(drawn, full_matrices=False)
    within = left.mT @ found @ right.mT
    off = within - torch.diag_embed(torch.diagonal(within, dim1=1, dim2=2))
    assert off.abs().max() < 0.1


def test_the_first_step_by_hand() -> None:
    """The gradient of Σ G·W is G; its nearest orthogonal matrix, times lr, is taken away."""
    weights = torch.nn.Parameter(torch.zeros(2, 2))
    (weights * torch.tensor([[3.0, 0.0], [0.0, -3.0]])).sum().backward()
    Muon([weights], lr=0.1).step()
    step = weights.detach()
    assert step[0, 1] == step[1, 0] == 0
    assert -0.13 < step[0, 0] < -0.06
    assert step[1, 1] == -step[0, 0]


def test_tall_matrices_step_further() -> None:
    """rows / columns = 4, so that a step's singular values are twice as large."""
    torch.manual_seed(2)
    tall, wide = torch.nn.Parameter(torch.zeros(32, 8)), torch.nn.Parameter(torch.zeros(8, 32))
    aim = torch.randn(32, 8)
    ((tall * aim).sum() + (wide * aim.T).sum()).backward()
    Muon([tall, wide], lr=0.1).step()
    torch.testing.assert_close(tall.detach(), 2 * wide.detach().T, rtol=2e-2, atol=2e-3)


def test_it_finds_a_linear_map() -> None:
    torch.manual_seed(3)
    truth, seen = torch.randn(8, 12), torch.randn(200, 12)
    weights = torch.nn.Parameter(torch.zeros(8, 12))
    optimizer = Muon([weights], lr=0.3)
    losses = []
    for step in range(150):
        optimizer.param_groups[0]["lr"] = 0.3 * (1 - step / 150)
        loss = ((seen @ (weights - truth).T) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 200
