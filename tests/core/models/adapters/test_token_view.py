"""Texts token by token: one that is longer than the model reads at once, and ones that can't be shown."""

from itertools import pairwise

import pytest
import torch

from app.components.tokens import text_by_token
from core.errors import InputError
from core.models.adapters.token_evaluation import Loaded, load
from core.models.adapters.token_view import view_tokens, windows
from core.models.spelling import LONGEST_TEXT as LONGEST
from core.settings import ASSETS

SENTENCE = "Rome is in Italy, and Maria has seen it. "


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return load(str(ASSETS / "models" / "pocket-1m"))


def test_the_longest_text_is_read_in_windows_to_its_last_letter(loaded: Loaded):
    text = (SENTENCE * (LONGEST // len(SENTENCE) + 1))[:LONGEST]
    view = view_tokens(loaded, text)
    assert "".join(row["text"] for row in view["tokens"]) == text
    assert view["window"] == 512
    ids = loaded.tokenizer(text, verbose=False)["input_ids"]
    assert len(ids) == len(view["tokens"]) > 3 * 512
    cut = windows(len(ids), 512)
    # The last of the first window, the first of the second, and the last of the text, as the model itself says.
    for at, (first, _) in ((511, cut[0]), (512, cut[1]), (len(ids) - 1, cut[-1])):
        with torch.inference_mode():
            logits = loaded.model(input_ids=torch.tensor([ids[first:at]])).logits[0, -1]
        loss = -float(torch.log_softmax(logits.float(), dim=-1)[ids[at]])
        assert view["tokens"][at]["loss"] == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("prefix", [0, 1])
@pytest.mark.parametrize("n", [2, 511, 512, 513, 767, 768, 769, 5000])
def test_windows_fit_the_model_and_each_token_has_half_a_window_before_it(n: int, prefix: int):
    windows_made = windows(n, 512, prefix=prefix)
    assert windows_made[0][0] == 0
    assert windows_made[-1][1] == n
    for (_, before), (first, end) in pairwise(windows_made):
        assert end > before
        assert prefix + end - first <= 512
        assert before - first >= (512 - prefix) // 2


def test_what_can_not_be_shown_is_one_sentence(loaded: Loaded):
    assert text_by_token.LONGEST == LONGEST  # the page refuses what is refused here
    with pytest.raises(InputError, match="at most 20,000 characters, got 20,001; remove 1"):
        view_tokens(loaded, "a" * (LONGEST + 1))
    with pytest.raises(InputError, match="the text is empty"):
        view_tokens(loaded, "  ")
    with pytest.raises(InputError, match="a single token"):
        view_tokens(loaded, "a")


@pytest.mark.parametrize("text", ["A café costs 5 € – “fine” 😟.", "日本語 \ufffd naïve", "e\u0301 👩\u200d👧 Rome"])
def test_a_character_of_several_tokens_is_shown_with_the_first_and_the_text_stays_whole(loaded: Loaded, text):
    view = view_tokens(loaded, text)
    assert "".join(row["text"] for row in view["tokens"]) == text
    assert len(view["tokens"]) == len(loaded.tokenizer(text)["input_ids"])
    assert any(not row["text"] for row in view["tokens"])


def test_a_part_of_a_character_is_named_where_it_was_expected(loaded: Loaded):
    view = view_tokens(loaded, "A café", alternatives=2048)
    expected = [text for text, _ in view["tokens"][-1]["alternatives"]]
    assert len(expected) == 2048
    assert "▯" in expected
    assert not any("\ufffd" in text for text in expected)
