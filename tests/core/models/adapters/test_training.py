"""Training: it learns, resumes as if it had not stopped, and lets go of ranks that carry nothing."""

import math

import pytest
import torch
from torch import nn

from core.errors import InputError, RunError
from core.models.adapters import stored
from core.models.adapters.layer import ProbLora, active_ranks, variances
from core.models.adapters.prior import half_squares
from core.models.adapters.texts import Tokenized, batches
from core.models.adapters.train import CHECKPOINT, AdapterRecipe, AdapterTrainer, answer_loss
from tests.core.models.adapters.conftest import tiny
from tests.damage.damages import flipped

TEXTS = [Tokenized((1 + i % 5, 20 + i % 3, 7 + (i % 5) * 3, 9, 2 + i % 7), 2) for i in range(40)]


def loss_of(model) -> float:
    with torch.no_grad():
        return float(answer_loss(model, batches(TEXTS, len(TEXTS))[0]))


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_it_learns_and_changes_only_what_is_its_own(kind, tmp_path):
    model = tiny()
    before, weights = loss_of(model), {name: weight.clone() for name, weight in model.named_parameters()}
    recipe = AdapterRecipe(kind=kind, rank=4, epochs=6, rows=8, rate=2e-2, targets=("q_proj", "v_proj", "o_proj"))
    heard = []
    trained = AdapterTrainer(model, TEXTS, recipe, folder=tmp_path, base="pocket-1m").run(
        lambda *said: heard.append(said)
    )
    assert loss_of(trained) < before - 0.05
    assert heard[-1][0] == heard[-1][1]
    frozen = {name.replace(".base.", ".").replace(".base_layer.", ".").removeprefix("base_model.model."): weight
              for name, weight in trained.named_parameters() if not weight.requires_grad}  # fmt: skip
    for name, weight in weights.items():
        assert torch.equal(frozen[name], weight), name
    assert not list(tmp_path.glob("checkpoint*"))


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_a_stopped_training_goes_on_as_if_it_had_not(kind, tmp_path):
    recipe = AdapterRecipe(kind=kind, rank=2, epochs=3, rows=8)
    AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path / "whole", base="pocket-1m").run()
    steps = []

    def cancelled() -> bool:
        steps.append(1)
        return len(steps) > (8 if kind == "ard-lora" else 10)  # in the third epoch of four or five steps each

    with pytest.raises(RunError, match="the same folder again to continue"):
        AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path / "cut", base="pocket-1m").run(cancelled=cancelled)
    again = AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path / "cut", base="pocket-1m")
    assert len(again.progress.rows) == 2
    again.run()
    name = stored.WEIGHTS if kind == "ard-lora" else "adapter_model.safetensors"
    whole, other = (stored._read(tmp_path / place / name) for place in ("whole", "cut"))
    assert all(torch.equal(whole[key], other[key]) for key in whole)


def test_a_training_with_a_damaged_checkpoint_begins_anew(tmp_path):
    recipe = AdapterRecipe(rank=2, epochs=2, rows=8)
    trainer = AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path, base="pocket-1m")
    trainer._epoch(0, lambda done, total, loss: None, lambda: False)
    trainer._save()
    trainer._save()
    (path,) = tmp_path.glob("checkpoint*")
    again = AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path, base="pocket-1m")
    assert (len(again.progress.rows), again.note) == (1, "")
    content = path.read_bytes()
    path.write_bytes(flipped(content, 4 * len(content)))
    damaged = AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path, base="pocket-1m")
    assert damaged.progress.rows == []
    assert damaged.note == f"{path} was damaged, so the training begins at its first epoch"
    path.write_bytes(content)
    path.rename(tmp_path / CHECKPOINT)  # as older versions called it
    assert len(AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path, base="pocket-1m").progress.rows) == 1


def test_a_training_of_other_settings_is_refused(tmp_path):
    trainer = AdapterTrainer(tiny(), TEXTS, AdapterRecipe(rank=2), folder=tmp_path, base="pocket-1m")
    trainer._save()
    with pytest.raises(InputError, match="other settings"):
        AdapterTrainer(tiny(), TEXTS, AdapterRecipe(rank=3), folder=tmp_path, base="pocket-1m")


def test_a_checkpoint_with_code_in_it_is_not_run(tmp_path):
    import pickle

    class Evil:
        def __reduce__(self):
            return (print, ("owned",))

    (tmp_path / CHECKPOINT).write_bytes(pickle.dumps(Evil()))
    with pytest.raises(InputError, match="no checkpoint of a training"):
        AdapterTrainer(tiny(), TEXTS, AdapterRecipe(), folder=tmp_path, base="pocket-1m")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"kind": "qlora"}, "choose from ard-lora, lora"),
        ({"rank": 0}, "from 1 to 1024"),
        ({"epochs": 0}, "epochs and rows count from 1"),
        ({"prior_share": 1.0}, "prior's share must lie in"),
        ({"rate": math.nan}, "rate must be above 0"),
    ],
)
def test_a_recipe_that_can_not_be_is_said(values, says):
    with pytest.raises(InputError, match=says):
        AdapterRecipe(**values)


def test_too_few_texts_are_said(tmp_path):
    with pytest.raises(InputError, match="at least 4 training texts"):
        AdapterTrainer(tiny(), TEXTS[:3], AdapterRecipe(), folder=tmp_path, base="pocket-1m")


def test_a_rate_far_too_large_is_said(tmp_path):
    recipe = AdapterRecipe(rank=2, epochs=8, rate=1e30, kl=1.0)
    with pytest.raises(RunError, match="smaller learning rate"):
        AdapterTrainer(tiny(), TEXTS, recipe, folder=tmp_path, base="pocket-1m").run()


def test_the_answers_tokens_alone_count():
    model = tiny()
    data = batches(TEXTS[:2], 2)[0]
    logits = model(input_ids=data.tokens).logits.detach()
    slow = [
        -float(torch.log_softmax(logits[i, at - 1], dim=-1)[text.tokens[at]])
        for i, text in enumerate(TEXTS[:2])
        for at in range(text.first, len(text.tokens))
    ]
    assert float(answer_loss(model, data).detach()) == pytest.approx(sum(slow) / len(slow), rel=1e-5)


def test_ranks_that_carry_nothing_lose_their_variance():
    """A planted map of rank 2 is learnt by a layer of 8 ranks: two carry it, and six add nothing any more."""
    torch.manual_seed(3)
    planted = torch.randn(12, 2) @ torch.randn(2, 10) / 3
    model = nn.Sequential(ProbLora(nn.Linear(10, 12, bias=False), rank=8, alpha=8))
    (layer,) = model
    optimizer = torch.optim.Adam([layer.A, layer.B], lr=1e-2)
    counts, steps = torch.ones(256), 2500
    layer.keeping = layer.sampling = True
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - 0.95 * step / steps)
        x = torch.randn(256, 10)
        x[:, 0] = 2  # what all tokens share, from which log σ² has a level
        output = layer(x)
        if step % 50 == 0:
            with torch.no_grad():
                layer.est_var.copy_(half_squares(layer, counts) / 128 + 1e-6)
        loss = ((output - layer.base(x) - x @ planted.T) ** 2).mean() / 0.02
        optimizer.zero_grad()
        (loss + layer.divergence(counts)).backward()
        optimizer.step()
    added = variances(model)["0"]
    assert added[1] > 1000 * added[2]
    assert active_ranks(variances(model)) == {"0": 2}
