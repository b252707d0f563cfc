"""Models that stay loaded, by memory."""

from typing import Any

import pytest

from core.runs.answering.model_cache import MOST, ModelCache


def cache(**options: Any) -> ModelCache:
    """Models without files."""
    return ModelCache(weights=lambda model: "", **options)


class Sized:
    """An engine of this many parameters."""

    def __init__(self, parameters: int) -> None:
        self.description = {"parameters": parameters}


class Loader:
    """Loads ``"30"`` as a model of 30 parameters, and says what it has loaded."""

    def __init__(self, *, fails: int = 0) -> None:
        self.loaded: list[str] = []
        self.fails = fails

    def __call__(self, model: str, *, dtype: str) -> Any:
        self.loaded.append(model)
        if self.fails:
            self.fails -= 1
            raise RuntimeError("CUDA out of memory. Tried to allocate")
        return Sized(int(model.split(".")[0]))


def test_a_model_is_loaded_once_for_each_precision():
    load = Loader()
    models = cache(limit=1000, load=load)
    assert models.get(("30", "float32")) is models.get(("30", "float32"))
    assert models.get(("30", "float32")).size == 120
    models.get(("30", "float16"))
    assert load.loaded == ["30", "30"]


@pytest.mark.parametrize(
    ("limit", "asked", "left"),
    [
        (
            400,
            ["20", "21", "20", "22", "23"],
            ["20", "22", "23"],
        ),  # 80 to 92 bytes; half is free for the next
        (100, ["10", "1000"], ["1000"]),  # too large, and kept alone
        (10**9, [f"1.{i}" for i in range(10)], [f"1.{i}" for i in range(10 - MOST, 10)]),
    ],
)
def test_the_models_that_were_asked_longest_ago_go_first(limit: int, asked: list[str], left: list[str]):
    models = cache(limit=limit, load=Loader())
    for model in asked:
        models.get((model, "float32"))
    assert [model for model in dict.fromkeys(asked) if (model, "float32") in models] == left


def test_where_memory_runs_out_the_others_go_and_it_is_tried_again():
    load = Loader()
    models = cache(limit=10**9, load=load)
    models.get(("10", "float32"))
    load.fails = 1
    models.get(("20", "float32"))
    assert load.loaded == ["10", "20", "20"]
    assert len(models) == 1
    load.fails = 2
    with pytest.raises(RuntimeError, match="out of memory"):
        models.get(("30", "float32"))
    assert len(models) == 0


def test_another_error_costs_no_other_model():
    models = cache(limit=10**9, load=Loader())
    models.get(("10", "float32"))
    with pytest.raises(ValueError, match="invalid literal"):
        models.get(("x", "float32"))
    assert ("10", "float32") in models


def test_a_model_that_was_loaded_beforehand_and_never_asked_makes_room_for_the_next_one():
    models = cache(limit=10**9, load=Loader())
    models.warm(("1.1", "float32"))
    models.warm(("1.1", "float32"))
    models.get(("1.2", "float32"))
    models.warm(("1.2", "float32"))
    models.warm(("1.3", "float32"))
    assert [("1.1", "float32") in models, ("1.2", "float32") in models] == [False, True]
    models.get(("1.3", "float32"))
    models.warm(("1.4", "float32"))
    assert [key in models for key in (("1.2", "float32"), ("1.3", "float32"), ("1.4", "float32"))] == [True] * 3
