"""Adapters on disk, and whole-model checkpoints as the documents write them."""

import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from core.errors import InputError
from core.models.adapters import stored
from core.models.adapters.inject import inject
from core.models.adapters.layer import layers_of, variances
from core.models.adapters.texts import Tokenized
from core.models.adapters.train import AdapterRecipe, AdapterTrainer
from tests.conftest import without_digests
from tests.core.models.adapters.conftest import tiny
from tests.damaged import check_damages

TEXTS = [Tokenized((1 + i, 5, 9), 1) for i in range(8)]
ASKED = torch.tensor([[3, 1, 4, 1, 5]])


def said(model) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=ASKED).logits


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_what_is_saved_comes_back(kind, tmp_path):
    trained = AdapterTrainer(
        tiny(), TEXTS, AdapterRecipe(kind=kind, rank=2, epochs=1, rate=0.1), folder=tmp_path, base="pocket-1m"
    ).run()
    back = stored.put_adapter(tiny(), tmp_path)
    torch.testing.assert_close(said(back), said(trained))
    assert not torch.equal(said(back), said(tiny()))
    assert stored.is_adapter(tmp_path)
    assert stored.base_of(tmp_path).name == "pocket-1m"
    assert not any(path.suffix in (".bin", ".pt", ".pkl") for path in tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_an_adapter_of_another_architecture_is_refused(kind, tmp_path):
    AdapterTrainer(tiny(), TEXTS, AdapterRecipe(kind=kind, rank=2, epochs=1), folder=tmp_path, base="pocket-1m").run()
    if kind == "ard-lora":
        with pytest.raises(InputError, match=r"of another architecture: model\.layers\.2"):
            stored.put_adapter(tiny(layers=3), tmp_path)
    wide = tiny()
    for layer in wide.model.layers:
        layer.self_attn.q_proj = nn.Linear(24, 16)
    with pytest.raises(InputError, match=r"another architecture|another shape"):
        stored.put_adapter(wide, tmp_path)


@pytest.mark.parametrize("kind", ["ard-lora", "lora"])
def test_one_other_bit_of_an_adapter_changes_nothing(kind, tmp_path):
    AdapterTrainer(tiny(), TEXTS, AdapterRecipe(kind=kind, rank=2, epochs=1), folder=tmp_path, base="pocket-1m").run()
    weights = [stored.WEIGHTS] if kind == "ard-lora" else ["adapter_model.safetensors", "adapter_config.json"]
    for name in [stored.CONFIGURATION, *weights]:
        check_damages(tmp_path / name, lambda: said(stored.put_adapter(tiny(), tmp_path)).tolist(), tries=12)
    before = said(stored.put_adapter(tiny(), tmp_path))
    (tmp_path / stored.CONFIGURATION).write_text(json.dumps(without_digests(tmp_path / stored.CONFIGURATION)))
    assert torch.equal(said(stored.put_adapter(tiny(), tmp_path)), before)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is damaged .adapter.json: it is no JSON"),
        ('{"recipe": {}}', "does not say"),
        (
            '{"schema": 9, "base": "x", "recipe": {"kind": "lora", "rank": 1, "alpha": 1, "targets": []}}',
            "schema 9, this version reads 1",
        ),
    ],
)
def test_a_configuration_that_says_nothing_is_refused(tmp_path, content, says):
    (tmp_path / stored.CONFIGURATION).write_text(content)
    with pytest.raises(InputError, match=says):
        stored.put_adapter(tiny(), tmp_path)


def test_no_adapter_and_broken_weights_are_said(tmp_path):
    with pytest.raises(InputError, match="holds no adapter"):
        stored.put_adapter(tiny(), tmp_path)
    AdapterTrainer(tiny(), TEXTS, AdapterRecipe(rank=2, epochs=1), folder=tmp_path, base="pocket-1m").run()
    (tmp_path / stored.WEIGHTS).write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"is damaged .adapter.safetensors: it is not the file that was written"):
        stored.put_adapter(tiny(), tmp_path)
    (tmp_path / stored.CONFIGURATION).write_text(json.dumps(without_digests(tmp_path / stored.CONFIGURATION)))
    with pytest.raises(InputError, match="can't be read as tensors alone"):  # of an older version
        stored.put_adapter(tiny(), tmp_path)


def whole(rename) -> tuple[nn.Module, dict[str, torch.Tensor]]:
    """A model with drawn layers, and its state dict with names as another code base has them."""
    model = tiny(seed=5)
    inject(model, rank=3, alpha=3)
    torch.manual_seed(2)
    for layer in layers_of(model).values():
        nn.init.normal_(layer.B)
        layer.est_var.uniform_()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return model, {rename(name): tensor for name, tensor in state.items()}


@pytest.mark.parametrize("name", ["base", "base_proj", "base_layer", ""])
@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin"])
def test_a_whole_model_checkpoint_is_read(tmp_path, name, file):
    model, state = whole(lambda key: key.replace(".base.", f".{name}." if name else "."))
    save_file(state, tmp_path / file) if file.endswith("safetensors") else torch.save(state, tmp_path / file)
    tiny().config.save_pretrained(tmp_path)
    assert stored.holds_whole(tmp_path)
    back = stored.put_whole(tiny(seed=8), tmp_path)
    torch.testing.assert_close(said(back), said(model))
    assert variances(back) == variances(model)


def test_a_checkpoint_without_variances_keeps_the_first_ones(tmp_path):
    _, state = whole(str)
    save_file({k: v for k, v in state.items() if not k.endswith("est_var")}, tmp_path / "model.safetensors")
    back = stored.put_whole(tiny(), tmp_path)
    assert all(torch.equal(layer.est_var, torch.ones(3)) for layer in layers_of(back).values())


def test_a_checkpoint_with_code_in_it_is_not_run(tmp_path, capsys):
    import pickle

    class Evil:
        def __reduce__(self):
            return (print, ("owned",))

    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps({"a.A": Evil()}))
    with pytest.raises(InputError, match="can't be read as tensors alone"):
        stored.put_whole(tiny(), tmp_path)
    assert "owned" not in capsys.readouterr().out


def test_whole_checkpoints_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds no checkpoint"):
        stored.put_whole(tiny(), tmp_path)
    save_file(
        {k: v.clone() for k, v in tiny().state_dict().items() if k != "lm_head.weight"}, tmp_path / "model.safetensors"
    )
    with pytest.raises(InputError, match="no ARD-LoRA layers"):
        stored.put_whole(tiny(), tmp_path)
    assert not stored.holds_whole(tmp_path)
    _, state = whole(str)
    save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"another architecture than its config\.json"):
        stored.put_whole(tiny(layers=3), tmp_path)
    state["model.layers.0.self_attn.q_proj.A"] = torch.zeros(5, 16)
    save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="whose A is not"):
        stored.put_whole(tiny(), tmp_path)


def test_the_configuration_is_readable_json(tmp_path):
    AdapterTrainer(tiny(), TEXTS, AdapterRecipe(rank=2, epochs=2), folder=tmp_path, base="pocket-1m").run()
    values = json.loads((tmp_path / stored.CONFIGURATION).read_bytes())
    assert (values["base"], values["recipe"]["rank"]) == ("pocket-1m", 2)
    assert [row["epoch"] for row in values["progress"]] == [0, 1]
    assert {len(by_rank) for by_rank in values["variances"].values()} == {2}
