"""An engine that takes over another's way of scoring gives its scores, bit for bit, batch by batch."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.checks.rows.bank_prompts import prompts_for
from core.models.engine import SharingEngine
from core.models.engine_factory import load_engine
from core.records import joined

MODEL = "pocket-1m"


@pytest.fixture(scope="module")
def engines():
    """Two engines of the same model, as in two processes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load_engine(MODEL, dtype="float32"), load_engine(MODEL, dtype="float32")
    torch.set_num_threads(before)


def scored_apart(first, other, prompts):
    """The batches of the first engine, scored by the other one from last to first, after a trip through a pipe."""
    other.take_setup(pickle.loads(pickle.dumps(first.setup())))
    packed = [pickle.loads(pickle.dumps(first.packed(batch))) for batch in first.batches(prompts)]
    batches = [batch for packed_batch in reversed(packed) for batch in other.score_packed(packed_batch)]
    return joined(batches, [p.question_id for p in prompts], k=max(p.k for p in prompts))


@pytest.mark.parametrize(
    ("form", "shots", "rung"),
    [
        ("letters", 0, "fastest"),
        ("letters", 5, "fastest"),
        ("letters", 5, "one by one"),
        ("cloze", 5, "fastest"),
        ("cloze", 5, "slowest but one"),
        ("continuation", 0, "fastest"),
    ],
)
def test_another_engine_gives_the_same_bits(engines, form, shots, rung):
    first, other = engines
    assert isinstance(first, SharingEngine)
    prompts = prompts_for(form, shots, questions=28)
    first.prepare(prompts)
    first.self_check(prompts)
    chosen = {"fastest": first.climb.rung, "slowest but one": first.rungs[-2], "one by one": first.rungs[-1]}[rung]
    first.climb = replace(first.climb, rung=chosen)
    chunk = prompts[:24]
    alone = joined(list(first.score(chunk)), [p.question_id for p in chunk], k=max(p.k for p in chunk))
    apart = scored_apart(first, other, chunk)
    assert len(first.batches(chunk)) > 1
    assert other.climb.rung.name == chosen.name
    assert np.array_equal(apart.logits, alone.logits)
    assert np.array_equal(apart.letter_mass, alone.letter_mass, equal_nan=True)
    assert apart.top_tokens == alone.top_tokens
    assert (apart.option_tokens is None) == (form == "letters")
    assert form == "letters" or np.array_equal(apart.option_tokens, alone.option_tokens)


def test_another_engine_halves_a_batch_for_which_its_memory_is_too_small(engines):
    first, other = engines
    prompts = prompts_for("letters", 0, questions=40)
    first.prepare(prompts)
    first.self_check(prompts)
    batch = first.batches(prompts)[0]
    other.take_setup(first.setup())
    rung, sizes = other.climb.rung, []

    def little(rows, prefix):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return rung.compute(rows, prefix)

    other.climb = replace(other.climb, rung=replace(rung, compute=little))
    batches = list(other.score_packed(first.packed(batch)))
    assert sizes[0] == len(batch) > 2
    assert sorted(name for scored_batch in batches for name in scored_batch.ids) == sorted(p.question_id for p in batch)
    assert other.budget.halvings > 0 == first.budget.halvings
