"""The probabilistic layer, its KL and its prior, against slow references."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

from core.errors import InputError
from core.models.adapters.inject import inject, inject_lora
from core.models.adapters.layer import ProbLora, active_ranks, kl_to_prior, latents, layers_of, variances
from core.models.adapters.prior import update_prior
from core.models.adapters.texts import Tokenized, batch_of
from tests.core.models.adapters.conftest import tiny


@pytest.fixture
def layer() -> ProbLora:
    torch.manual_seed(1)
    prob_lora = ProbLora(nn.Linear(6, 5), rank=3, alpha=12)
    nn.init.normal_(prob_lora.B)
    return prob_lora


def test_at_rest_it_is_the_linear_layer_and_the_scaled_means(layer: ProbLora):
    x = torch.randn(2, 4, 6)
    expected = layer.base(x) + (12 / 3) * (x @ layer.A[:3].T) @ layer.B.T
    torch.testing.assert_close(layer(x), expected)


def test_a_new_layer_changes_nothing():
    base = nn.Linear(6, 5)
    x = torch.randn(3, 6)
    torch.testing.assert_close(ProbLora(base, rank=2, alpha=4)(x), base(x))


def test_draws_have_the_mean_and_variance_that_a_says(layer: ProbLora):
    x = torch.randn(1, 6)
    layer.sampling = layer.keeping = True
    drawn = []
    for _ in range(4000):
        layer(x)
        drawn.append(layer.latent.z[0])
    z = torch.stack(drawn)
    torch.testing.assert_close(z.mean(dim=0), (x @ layer.A[:3].T)[0], atol=0.08, rtol=0)
    torch.testing.assert_close(z.var(dim=0), (x @ layer.A[3:].T)[0].exp(), atol=0.1, rtol=0.1)


def test_the_base_is_frozen_and_half_precision_keeps_a_float32_addition():
    prob_lora = ProbLora(nn.Linear(6, 5).half(), rank=2, alpha=4)
    assert not prob_lora.base.weight.requires_grad
    assert (prob_lora.A.dtype, prob_lora.B.dtype) == (torch.float32, torch.float32)
    assert prob_lora(torch.randn(3, 6).half()).dtype == torch.float16


def test_the_kl_against_torchs_own_and_a_loop():
    torch.manual_seed(0)
    mean, log_variance, est_var = torch.randn(2, 5, 3), torch.randn(2, 5, 3), torch.tensor([0.5, 1.0, 3.0])
    counts = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    kl = float(kl_to_prior(mean, log_variance, est_var, counts))
    slow, n = 0.0, 0
    for i in range(2):
        for j in range(5):
            if counts[i, j]:
                n += 1
                for k in range(3):
                    t, v, m = float(est_var[k]) + 1e-6, math.exp(float(log_variance[i, j, k])), float(mean[i, j, k])
                    slow += 0.5 * (math.log(t) - math.log(v) + (v + m * m) / t - 1)
    assert kl == pytest.approx(slow / n / 3, rel=1e-5)
    prior = Normal(torch.zeros(3), (est_var + 1e-6).sqrt())
    by_torch = kl_divergence(Normal(mean, (log_variance / 2).exp()), prior)[counts == 1].mean()
    assert kl == pytest.approx(float(by_torch), rel=1e-5)


def test_a_latent_that_is_its_prior_costs_nothing():
    est_var = torch.tensor([0.3, 2.0])
    zeros = torch.zeros(1, 1, 2)
    assert float(
        kl_to_prior(zeros, (est_var + 1e-6).log().expand(1, 1, 2), est_var, torch.ones(1, 1))
    ) == pytest.approx(0, abs=1e-6)


def test_injection_wraps_what_is_named_and_freezes_the_rest(model):
    names = inject(model, rank=4, alpha=8, targets=("q_proj", "v_proj"))
    assert names == [f"model.layers.{i}.self_attn.{name}" for i in range(2) for name in ("q_proj", "v_proj")]
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained == {f"{name}.{part}" for name in names for part in "AB"}


@pytest.mark.parametrize(
    ("targets", "rank", "says"), [(("qkv",), 4, "choose targets among"), (("q_proj",), 0, "from 1")]
)
def test_what_can_not_be_injected_is_said(model, targets, rank, says):
    with pytest.raises(InputError, match=says):
        inject(model, rank=rank, alpha=8, targets=targets)
    with pytest.raises(InputError):
        inject_lora(tiny(), rank=rank, alpha=8, targets=targets)


def test_the_priors_update_against_a_loop_and_padding_does_not_count(model):
    inject(model, rank=3, alpha=6)
    rows = [Tokenized(tuple(range(1, 4 + 5 * i)), 1) for i in range(3)]
    torch.manual_seed(9)
    priors = update_prior(model, [batch_of(rows[:2]), batch_of(rows[2:])])
    torch.manual_seed(9)
    sums, tokens = {name: np.zeros(3) for name in priors}, 0
    with latents(model, sampling=True, keeping=True) as layers:
        for part in (rows[:2], rows[2:]):
            data = batch_of(part)
            model(input_ids=data.tokens, attention_mask=data.mask)
            tokens += sum(len(row.tokens) for row in part)
            for name, layer in layers.items():
                for i, row in enumerate(part):
                    for at in range(len(row.tokens)):
                        sums[name] += layer.latent.z[i, at].detach().numpy().astype(float) ** 2 / 2
    for name, variance in priors.items():
        assert variance.numpy() == pytest.approx(sums[name] / (tokens / 2) + 1e-6, rel=1e-4)
        assert torch.equal(layers_of(model)[name].est_var, variance)


def test_a_prior_of_nothing_is_refused(model):
    inject(model, rank=2, alpha=4)
    with pytest.raises(InputError, match="holds no tokens"):
        update_prior(model, [])


def test_latents_are_dropped_behind_the_block(model):
    inject(model, rank=2, alpha=4)
    with latents(model, sampling=True, keeping=True) as layers:
        model(input_ids=torch.tensor([[1, 2, 3]]))
        assert all(layer.latent is not None for layer in layers.values())
    assert all(layer.latent is None and not layer.sampling for layer in layers.values())


def test_active_ranks_are_counted_by_layer(model):
    inject(model, rank=3, alpha=4)
    assert list(active_ranks(variances(model)).values()) == [0] * 4  # a new layer adds nothing
    first, *others = layers_of(model).values()
    first.est_var.copy_(torch.tensor([1.0, 0.02, 0.001]))
    for layer in (first, *others):
        nn.init.ones_(layer.B)
    assert list(active_ranks(variances(model)).values()) == [2, 3, 3, 3]
    # (4/3)² · 1 · 16, the columns of B having 16 ones.
    assert variances(model)["model.layers.0.self_attn.q_proj"][0] == pytest.approx(16 / 9 * 16)
