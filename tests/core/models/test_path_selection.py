"""Every architecture on the rung that is right for it, and every silently wrong rung caught."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.errors import RunError, SelfCheckError
from core.models import masks, paths
from core.models.budget import Budget
from core.models.decoder import Decoder
from core.models.memory import geometry
from core.models.path_selection import climb_down, ladder, shared_part
from core.models.prefix import Prefix
from core.models.rows import TokenRow
from tests.core.models.architectures import SETTINGS, VOCABULARY, WINDOW, tiny
from tests.parameters import rest_nightly

PREFIX = 2 * WINDOW - 8
WINDOWED = ("mistral", "phi3_window")
DICTIONARY = ("gemma2", "gemma3_text", "qwen2_window", "cohere2", "gpt_oss")
TREE = dict.fromkeys(WINDOWED, "windowed") | dict.fromkeys(DICTIONARY, "dictionary")
NO_TREE = {"mpt", "bloom", "falcon_alibi", "falcon_h1", "lfm2"}
NO_PREFIX = {"mamba", "mamba2", "falcon_mamba", "jamba", "rwkv"}
"""Where the cache can't be repeated: silently wrong with ``reorder_cache`` or with a cache at all."""


def ids(rng, n):
    return tuple(int(token) for token in rng.integers(3, VOCABULARY, n))


def letter_rows(seed=0, lengths=(3, 9, 9, 30)):
    rng = np.random.default_rng(seed)
    prefix = ids(rng, PREFIX)
    letters = tuple((int(token),) for token in rng.choice(np.arange(3, VOCABULARY), 6, replace=False))
    return prefix, [TokenRow(prefix + ids(rng, n), letters) for n in lengths]


def option_rows(seed=0, lengths=(3, 9, 9, 30)):
    """Options from one token to more than a window."""
    rng = np.random.default_rng(seed)
    prefix = ids(rng, PREFIX)
    return prefix, [TokenRow(prefix + ids(rng, n), tuple(ids(rng, m) for m in (1, 4, 7, WINDOW + 6))) for n in lengths]


@functools.cache
def decoder(model_type: str) -> Decoder:
    return Decoder(tiny(model_type))


def climbed(model_type, prefix, rows, *, shared=True):
    model_decoder = decoder(model_type)
    cache = Prefix(model_decoder, prefix) if shared else None
    rungs = ladder(model_decoder, letters=rows[0].is_letters, prefix=shared)
    return climb_down(rungs, rows, prefix=cache, dtype="float32"), cache


def test_every_architecture_that_has_to_be_right_is_tried():
    wanted = (
        "gpt2 gpt_neox llama qwen2 qwen3 mistral gemma2 gemma3_text phi phi3 falcon mpt stablelm olmo2 smollm3 granite "
        "bloom opt mamba falcon_mamba jamba falcon_h1 lfm2"
    )
    assert set(wanted.split()) <= set(SETTINGS)
    # A prefix shorter than a window would hide a cache that forgets.
    assert PREFIX > WINDOW


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[::3]))
def test_letters_on_their_rung(model_type):
    climb, _ = climbed(model_type, *letter_rows())
    assert climb.rung.name == ("padded rows" if model_type in NO_PREFIX else "prefix cache")
    assert climb.difference < 1e-4
    assert bool(climb.refused) == (model_type in NO_PREFIX)


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[::3]))
def test_texts_on_their_rung(model_type):
    climb, _ = climbed(model_type, *option_rows())
    if model_type in NO_PREFIX:
        assert climb.rung.name == "padded rows"
    elif model_type in NO_TREE:
        assert climb.rung.name == "prefix cache and context cache"
    else:
        assert climb.rung.name == f"prefix cache and tree ({TREE.get(model_type, 'full')} mask)"
    assert climb.difference < 1e-4


@pytest.mark.parametrize("model_type", ["llama", "gemma2", "mistral", "bloom", "mamba"])
def test_without_a_prefix(model_type):
    for build_rows in (letter_rows, option_rows):
        climb, _ = climbed(model_type, *build_rows(), shared=False)
        assert climb.rung.name != "one by one"
        assert climb.difference < 1e-4


@pytest.mark.parametrize("model_type", ["llama", "gemma2", "mistral", "mpt", "gpt2"])
def test_what_passed_is_right_on_other_rows(model_type):
    """Rows that the check did not see, in batches of another make-up."""
    prefix, seen = option_rows()
    climb, cache = climbed(model_type, prefix, seen)
    unseen = [
        TokenRow(prefix + row.context[PREFIX:], row.options) for row in option_rows(seed=5, lengths=(1, 2, 17, 40))[1]
    ]
    truth = paths.one_by_one(decoder(model_type), unseen)
    got = [climb.rung.compute(*shared_part(climb.rung, [row], cache))[0] for row in unseen[:2]]
    got += climb.rung.compute(*shared_part(climb.rung, unseen[2:], cache))
    assert np.abs(np.array(got) - np.array(truth)).max() < 1e-4


@pytest.mark.parametrize(
    ("model_type", "kind"), [("gemma2", "full"), ("gemma3_text", "full"), ("mistral", "full"), ("bloom", "full")]
)
def test_the_plain_tree_is_wrong_here(model_type, kind):
    """The tree that a ladder would use if it trusted one mask for all: far off, or refused."""
    prefix, rows = option_rows()
    model_decoder = decoder(model_type)
    truth = paths.one_by_one(model_decoder, rows)
    try:
        got = paths.option_tree(
            model_decoder, [row.without(len(prefix)) for row in rows], prefix=Prefix(model_decoder, prefix), kind=kind
        )
    except (RuntimeError, ValueError, IndexError):
        return
    assert np.abs(np.array(got) - np.array(truth)).max() > 0.01


def test_the_repeated_cache_is_silently_wrong_for_mamba():
    climb, _ = climbed("mamba", *letter_rows())
    assert any(reason.startswith("prefix cache: differs by") for reason in climb.refused)


# ---------------------------------------------------------------- planted faults


def test_the_last_column_instead_of_the_last_token_is_caught(monkeypatch):
    """The published fault: reading the padding. It steps down to one by one."""
    monkeypatch.setattr(paths, "read_positions", lambda lengths: [max(lengths) - 1] * len(lengths))
    climb, _ = climbed("llama", *letter_rows())
    assert climb.rung.name == "one by one"
    assert [reason.split(":")[0] for reason in climb.refused] == ["prefix cache", "padded rows"]
    assert all("differs by" in reason for reason in climb.refused)


def test_positions_that_forget_the_prefix_are_caught(monkeypatch):
    monkeypatch.setattr(
        paths, "after", lambda prefix, *, rows, width, device: torch.arange(width)[None].expand(rows, -1)
    )
    climb, _ = climbed("llama", *letter_rows())
    assert climb.rung.name == "padded rows"


def test_a_prefix_of_another_run_is_caught():
    prefix, rows = letter_rows()
    model_decoder = decoder("llama")
    other = Prefix(model_decoder, prefix[::-1])
    climb = climb_down(ladder(model_decoder, letters=True, prefix=True), rows, prefix=other, dtype="float32")
    assert climb.rung.name == "padded rows"


def test_a_tree_whose_options_see_each_other_is_caught(monkeypatch):
    from core.models import masks

    def open_mask(laid):
        width = laid.tokens.shape[1]
        return torch.ones(len(laid.tokens), width, width, dtype=torch.bool).tril()

    monkeypatch.setattr(masks, "_visible", open_mask)
    climb, _ = climbed("llama", *option_rows())
    assert climb.rung.name == "prefix cache and context cache"


def test_a_fault_a_little_above_the_tolerance_is_caught(monkeypatch):
    whole = paths.letters
    monkeypatch.setattr(
        paths, "letters", lambda d, rows, *, prefix=None: [[v + 2e-4 for v in s] for s in whole(d, rows, prefix=prefix)]
    )
    climb, _ = climbed("llama", *letter_rows())
    assert climb.rung.name == "one by one"


def test_no_numbers_are_no_result():
    model = tiny("llama")
    with torch.no_grad():
        model.lm_head.weight[5] = float("nan")
    model_decoder = Decoder(model)
    _, rows = letter_rows()
    with pytest.raises(SelfCheckError, match="gives no numbers"):
        climb_down(ladder(model_decoder, letters=True, prefix=False), rows, prefix=None, dtype="float32")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_has_its_own_tolerance(dtype):
    model_decoder = Decoder(tiny("llama").to(getattr(torch, dtype)))
    prefix, rows = letter_rows()
    climb = climb_down(
        ladder(model_decoder, letters=True, prefix=True), rows, prefix=Prefix(model_decoder, prefix), dtype=dtype
    )
    assert climb.tolerance == {"bfloat16": 1e-1, "float16": 2e-2}[dtype]


# ---------------------------------------------------------------- body and head


@pytest.mark.parametrize("model_type", rest_nightly(SETTINGS, now=list(SETTINGS)[::3]))
def test_the_head_alone_equals_the_whole_model(model_type):
    """Soft-capping, scaling and multipliers are part of the head."""
    model_decoder = decoder(model_type)
    assert model_decoder.splits
    rng = np.random.default_rng(1)
    row = ids(rng, 12)
    truth = torch.log_softmax(model_decoder.whole(row), dim=-1)
    got = model_decoder.log_probabilities(
        model_decoder.hidden(model_decoder.tokens([row]))[0], torch.arange(VOCABULARY)[None].expand(12, -1)
    )
    assert (got - truth).abs().max() < 1e-5


def test_a_model_that_can_not_be_split_runs_whole():
    model = tiny("llama")
    model.base_model_prefix = "nonesuch"
    model_decoder = Decoder(model)
    assert not model_decoder.splits
    prefix, rows = option_rows()
    climb = climb_down(
        ladder(model_decoder, letters=False, prefix=True), rows, prefix=Prefix(model_decoder, prefix), dtype="float32"
    )
    assert climb.rung.name == "prefix cache and tree (full mask)"


def test_the_vocabulary_is_never_held_for_a_whole_batch(monkeypatch):
    from core.models import decoder as module

    model_decoder = decoder("llama")
    seen = []
    head = model_decoder._head
    monkeypatch.setattr(module, "VOCABULARY_BYTES", {"cpu": 8 * VOCABULARY * 5})
    monkeypatch.setattr(model_decoder, "_head", lambda hidden: seen.append(len(hidden)) or head(hidden))
    hidden = model_decoder.hidden(model_decoder.tokens([tuple(range(3, 20))]))[0]
    with torch.inference_mode():
        whole = torch.log_softmax(head(hidden), dim=-1)[:, :1]
    monkeypatch.setattr(module, "CACHE_BYTES", {"cpu": 4 * VOCABULARY * 2})
    got = model_decoder.log_probabilities(hidden, torch.zeros(17, 1, dtype=torch.long))
    assert seen == [5, 5, 5, 2]
    assert torch.allclose(got, whole, atol=1e-6)


def test_what_all_options_follow_passes_the_head_once(monkeypatch):
    """Options of 1, 4, 7 and 30 tokens after one context: 1 + 0 + 3 + 6 + 29 states, not 42."""
    model_decoder, seen = decoder("llama"), []
    head = model_decoder._head
    monkeypatch.setattr(model_decoder, "_head", lambda hidden: seen.append(len(hidden)) or head(hidden))
    _, (row, *_) = option_rows()
    got = paths.option_tree(model_decoder, [row])
    assert seen == [39]
    assert got[0] == pytest.approx(paths.one_by_one(model_decoder, [row])[0], abs=1e-4)


def test_a_check_that_runs_out_of_memory_goes_on_with_less(monkeypatch):
    whole, seen = paths.letters, []

    def narrow(made, rows, *, prefix=None):
        seen.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(made, rows, prefix=prefix)

    monkeypatch.setattr(paths, "letters", narrow)
    climb, _ = climbed("llama", *letter_rows())
    assert climb.rung.name == "prefix cache"
    assert seen == [4, 2, 2]


def test_a_single_row_without_memory_is_said(monkeypatch):
    def never(made, rows, *, prefix=None):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(paths, "letters", never)
    with pytest.raises(RunError, match="there was not enough memory on a single question"):
        climbed("llama", *letter_rows())


def test_long_rows_have_no_path_with_a_mask_and_are_scored_right(monkeypatch):
    """A mask of all pairs of 32,000 tokens takes 8 GB; the path without one gives the same sums."""
    monkeypatch.setattr(masks, "MOST_MASK", masks.MASK_BYTES * 20 * 20)
    model_decoder = decoder("llama")
    rows = [TokenRow(tuple(range(1, 30 + i)), ((3, 4), (5,), (6, 7, 8))) for i in range(3)]
    assert not masks.fits_mask(29)
    climb = climb_down(
        ladder(model_decoder, letters=False, prefix=False, long=True), rows, prefix=None, dtype="float32"
    )
    assert climb.rung.name == "context cache"
    assert not any(rung.masked for rung in ladder(model_decoder, letters=False, prefix=False, long=True))


def test_the_check_shares_batches_only_as_far_as_memory_goes():
    """Rows are checked together, so that padding shows, but never in more memory than the run itself may take."""
    model_decoder = decoder("llama")
    rows = [TokenRow(tuple(range(1, 20 + i)), ((3, 4), (5,))) for i in range(4)]
    seen: list[int] = []

    def counted(rung):
        compute = rung.compute
        return replace(rung, compute=lambda batch, prefix: seen.append(len(batch)) or compute(batch, prefix))

    budget = Budget(model_decoder.device, geometry(model_decoder.model))
    for share, largest in ((10.0, 4), (2.5, 2), (0.0, 1)):
        seen.clear()
        tree = ladder(model_decoder, letters=False, prefix=False)[0]
        bytes_of_a_row = budget.shape.row(tree.cost(rows[-1]), 0) + masks.MASK_BYTES * tree.cost(rows[-1]) ** 2
        budget.bytes = int(share * bytes_of_a_row)
        rungs = [counted(tree), ladder(model_decoder, letters=False, prefix=False)[-1]]
        climb = climb_down(rungs, rows, prefix=None, dtype="float32", budget=budget)
        assert climb.rung.name == "tree (full mask)"
        assert max(seen) == largest


def test_the_reference_keeps_only_the_places_that_are_read():
    model_decoder = decoder("llama")
    row = list(range(1, 30))
    whole = model_decoder.whole(row)
    assert model_decoder.whole(row, last=3).shape == (3, whole.shape[1])
    torch.testing.assert_close(model_decoder.whole(row, last=3), whole[-3:])
