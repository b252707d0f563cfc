"""Where models change their arithmetic, and the rows that a self-check draws there."""

import pytest
from transformers import AutoConfig

from core.models.boundaries import boundaries, ends_of_sides, side

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("kind", "settings", "length"),
    [
        ("mistral", {"sliding_window": 4096}, 4096),
        ("llama4", {}, 8192),
        ("phi3", {"original_max_position_embeddings": 300}, 300),
        ("gemma3", {"text_config": {"sliding_window": 700}}, 700),
        ("recurrent_gemma", {"attention_window_size": 900}, 900),
        ("gpt_neo", {}, 256),
        ("deepseek_v32", {}, 2048),
        ("doge", {}, 2048),
        ("reformer", {}, 64),
        ("minimax", {}, 256),
    ],
)
def test_a_boundary_is_read_from_the_configuration(kind, settings, length):
    edges = boundaries(AutoConfig.for_model(kind, **settings))
    assert {length - 1, length, 2 * length} <= set(edges)
    assert side(edges, length) < side(edges, length + 1)


def test_ordinary_models_have_none():
    for kind in ("llama", "gpt2", "gpt_neox", "opt", "bloom"):
        assert boundaries(AutoConfig.for_model(kind)) == ()
    assert side((), 5, 10**6) == (0, 0)


def test_the_ends_of_each_side_are_drawn():
    lengths = [10, 30, 64, 65, 90, 200]
    assert ends_of_sides([side((64, 128), n) for n in lengths], lengths) == {0, 2, 3, 4, 5}
    assert ends_of_sides([side((), n) for n in lengths], lengths) == set()
