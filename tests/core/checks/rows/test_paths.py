"""A path that scores wrong makes its row fail, whatever the precision; one that only rounds differently does not."""

import math

import pytest

from core.checks.outcome import Place
from core.checks.rows import bundled, shapes
from core.checks.rows.path_differences import judged
from core.checks.rows.peaks import TFLOPS, peak_tflops
from core.models import paths
from tests.core.checks.planted import assert_fails

CPU = Place("cpu", "float32")
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.fixture
def few(home, monkeypatch):
    """One way of asking, a few questions, and a shape that is computed in no time."""
    monkeypatch.setattr("core.checks.rows.bank_prompts.WAYS", (("letters", 5),))
    monkeypatch.setattr(bundled, "ASKED", 16)
    monkeypatch.setattr(shapes, "SHAPES", {"cpu": SMALL})
    monkeypatch.setattr(shapes, "ASKED", {"cpu": 16})


def one_too_early(lengths):
    """As :func:`paths.read_positions`, and wrong: the state before the last token of each row."""
    return [length - 2 for length in lengths]


def test_the_bundled_model_s_paths_pass_and_a_wrong_one_fails(few, monkeypatch):
    outcome = bundled.paths(CPU)
    assert outcome.passed
    assert outcome.says.startswith("2 paths of pocket-3m agree with one by one")
    assert all(0 <= float(value) < 1e-3 for value in outcome.figures.values())
    monkeypatch.setattr(paths, "read_positions", one_too_early)
    outcome = bundled.paths(CPU)
    assert_fails(outcome, "prefix cache is off by")
    assert_fails(outcome, "padded rows is off by")


def test_fewer_bits_are_held_against_float32(few, monkeypatch):
    bfloat16 = Place("cpu", "bfloat16")
    outcome = bundled.paths(bfloat16)
    assert outcome.passed
    assert 0 < float(outcome.figures["by letter, 5 shots: off float32, mean"]) < bundled.MEAN_OFF
    monkeypatch.setattr(bundled, "MEAN_OFF", 1e-6)  # as if the device's arithmetic were worse than it may be
    assert_fails(bundled.paths(bfloat16), "is off float32 on the CPU")


def test_a_path_that_the_model_refuses_fails_with_its_error(few, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no such argument")

    monkeypatch.setattr(paths, "letters", broken)
    assert_fails(bundled.paths(CPU), "padded rows stopped with ValueError: no such argument")


def test_the_shape_says_its_speed_and_fails_with_a_wrong_path(few, monkeypatch):
    outcome = shapes.shape(CPU)
    assert outcome.passed
    assert "questions and" in outcome.says
    assert "by prefix cache" in outcome.says
    figures = outcome.figures
    # Two layers, each with 64 · 64 · 2 for queries and outputs, 64 · 16 · 2 for keys and values, 3 · 64 · 128 for the
    # inner layer and 2 · 64 for the norms.
    assert figures["parameters in layers, million"] == pytest.approx(2 * (8192 + 2048 + 24576 + 128) / 1e6)
    assert "share of the peak" not in figures  # a processor's peak is not known
    monkeypatch.setattr(paths, "read_positions", one_too_early)
    assert_fails(shapes.shape(CPU), "prefix cache is off by")


@pytest.mark.parametrize(
    ("dtype", "got", "truth", "reference", "wrong"),
    [
        ("float32", -1.0, -1.0005, None, False),
        ("float32", -1.0, -1.02, None, True),
        ("float32", math.nan, -1.0, None, True),
        ("bfloat16", -1.3, -1.0, None, False),  # three tolerances of .1
        ("bfloat16", -1.5, -1.0, None, True),
        ("bfloat16", -1.7, -1.0, -1.4, False),  # on the other side of float32, as far as one by one
        ("bfloat16", -2.5, -1.0, -1.4, True),
        ("bfloat16", math.nan, -1.0, -1.4, True),
    ],
)
def test_what_rounding_explains_and_what_it_does_not(dtype, got, truth, reference, wrong):
    exact = None if reference is None else [[reference]]
    allowed = {"float32": 1e-4, "bfloat16": 1e-1}[dtype]
    assert judged("a path", [[got]], [[truth]], exact, allowed=allowed, dtype=dtype).wrong is wrong


def test_a_peak_is_said_of_known_devices_alone():
    assert peak_tflops("NVIDIA H200", "bfloat16") == peak_tflops("NVIDIA H200", "float16") == 989.5
    assert peak_tflops("NVIDIA H200", "float32") == 67.0
    assert peak_tflops("NVIDIA H200", "int4") is None
    assert peak_tflops("NVIDIA unknown", "bfloat16") is None
    assert all(half > (single or 0) > 0 for half, single in TFLOPS.values())
