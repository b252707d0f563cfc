"""What servers were seen to reply, and what can't be right."""

import math
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.models.server.client import WrongReplyError
from core.models.server.replies import ROUNDING, echoed, echoed_rows, next_tokens, written


def listing(pairs, *, form="completions"):
    if form == "completions":
        return {"choices": [{"text": " A", "logprobs": {"top_logprobs": [dict(pairs)]}}]}
    top = [{"token": token, "logprob": log_p} for token, log_p in pairs]
    return {"choices": [{"logprobs": {"content": [{"token": "A", "top_logprobs": top}]}}]}


PAIRS = [(" A", math.log(0.5)), (" B", math.log(0.2)), ("C", math.log(0.1))]


@pytest.mark.parametrize(("form", "chat"), [("completions", False), ("chat", True), ("chat", False)])
def test_the_floor_is_the_last_one_listed(form, chat):
    reply_read = next_tokens(listing(PAIRS, form=form), chat=chat, requested=3)
    assert reply_read.floor == pytest.approx(math.log(0.1))
    assert reply_read.log_p(" B") == pytest.approx(math.log(0.2))
    assert reply_read.log_p(" C") is None


def test_the_floor_is_what_is_left_where_that_is_less():
    pairs = [*PAIRS[:2], ("C", math.log(0.295))]
    assert next_tokens(listing(pairs), chat=False, requested=3).floor == pytest.approx(math.log(0.005 + ROUNDING))


def test_a_chosen_token_besides_says_nothing_about_the_others():
    assert next_tokens(listing(PAIRS), chat=False, requested=2).floor == pytest.approx(math.log(0.2))


def test_tokens_that_are_spelled_alike_are_summed():
    reply_read = next_tokens(
        listing([("A", math.log(0.5)), ("A", math.log(0.1))], form="chat"), chat=True, requested=20
    )
    assert reply_read.log_p("A") == pytest.approx(math.log(0.6))


def test_a_sign_for_not_known_is_no_figure():
    floor = next_tokens(listing([*PAIRS, ("D", -9999.0)]), chat=False, requested=20).floor
    assert floor == pytest.approx(math.log(0.1))


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({}, "gives 0 answers"),
        ({"choices": [{}, {}]}, "gives 2 answers"),
        ({"choices": [{"text": " A", "logprobs": None}]}, "gives no log-probabilities"),
        ({"choices": [{"logprobs": {"top_logprobs": []}}]}, "lacks a token"),
        (listing([(" A", 0.5)]), "more than 1"),
        (listing([(" A", -0.1), (" B", -0.1)]), "more than 1"),
        (listing([(" A", "x")]), "lists no tokens"),
        (listing([(" A", math.nan)]), "lists no tokens"),
        ({"choices": 3}, "gives 0 answers"),
    ],
)
def test_what_can_not_be_right_is_refused(reply, says):
    with pytest.raises(WrongReplyError, match=says):
        next_tokens(reply, chat=False, requested=20)


def echo(tokens, values):
    return {"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": values}}]}


def test_an_echoed_text_is_divided_where_the_continuation_begins():
    reply_read = echoed(
        echo(["<s>", "Ans", "wer", ":", " Par", "is", "!"], [None, -1, -2, -3, -4, -5, -6]),
        text="Answer:",
        continuation=" Paris",
    )
    assert (reply_read.tokens, reply_read.context, reply_read.joined) == (
        ("<s>", "Ans", "wer", ":", " Par", "is"),
        4,
        False,
    )
    assert reply_read.log_p[4:] == (-4, -5)


def test_a_token_across_the_end_is_noticed():
    reply_read = echoed(echo(["Answer", ": ", "Paris", "x"], [None, -1, -2, -3]), text="Answer:", continuation=" Paris")
    assert (reply_read.context, reply_read.joined) == (2, True)


def test_a_server_may_write_nothing_after_the_text():
    reply_read = echoed(echo(["Answer", ":", " Paris"], [None, -1, -2]), text="Answer:", continuation=" Paris")
    assert reply_read.tokens == ("Answer", ":", " Paris")


@pytest.mark.parametrize(
    ("tokens", "values", "says"),
    [
        (["x"], [-1.0], "1 log-probabilities for 1 tokens"),  # llama.cpp: only what it wrote itself
        (["Answer", ":", " Paris"], [None, -1], "2 log-probabilities for 3 tokens"),
        (["Answer", ":", " Par"], [None, -1, -2], "do not spell"),
        (["Answer", ":", " Paris"], [None, -1, 2], "above 0"),
    ],
)
def test_an_echo_that_can_not_be_right_is_refused(tokens, values, says):
    with pytest.raises(WrongReplyError, match=says):
        echoed(echo(tokens, values), text="Answer:", continuation=" Paris")


def test_a_written_text():
    assert written({"choices": [{"text": " hm"}]}, chat=False) == " hm"
    assert written({"choices": [{"message": {"content": None}}]}, chat=True) == ""
    with pytest.raises(WrongReplyError, match="no text"):
        written({"choices": [{"text": 3}]}, chat=False)


def slowly_spelled(tokens: list[str], continuation: str) -> tuple[int, bool] | None:
    """Where a continuation begins, token by token from the end: the first token, and whether it reaches into it."""
    spelled = ""
    for start in range(len(tokens) - 1, -1, -1):
        spelled = tokens[start] + spelled
        if spelled.endswith(continuation):
            return start, len(spelled) > len(continuation)
    return None


@given(st.lists(st.sampled_from(["a", "aa", " a", "b", " ", ""]), min_size=2, max_size=12), st.data())
def test_a_continuation_begins_where_a_slow_search_finds_it(tokens, data):
    spelled = "".join(tokens)
    continuation = spelled[data.draw(st.integers(0, max(len(spelled) - 1, 0))) :]
    assume(continuation)
    reply = echo(tokens, [-1.0] * len(tokens))
    start, joined = slowly_spelled(tokens, continuation)
    reply_read = echoed(reply, text=spelled[: -len(continuation)], continuation=continuation)
    last = len(tokens) - len(reply_read.tokens)  # an empty token at the end counts as written after the text
    assert last in (0, 1)
    if not last:
        assert (reply_read.context, reply_read.joined) == (start + joined, joined)


LONG = 200_000


@pytest.mark.parametrize(
    ("tokens", "continuation"),
    [
        (["a"] * LONG, "b" + "a" * LONG),
        (["a"] * LONG + ["é"] * LONG, "é" * 100 + "b"),
        (["\\x00"] * LONG, "é"),
        (["bytes:\\xe2"] * LONG, "aé"),
        ([" " * LONG] * 20, "b" + " " * LONG),
    ],
)
def test_tokens_that_never_spell_the_text_take_linear_time(tokens, continuation):
    """A search that grows with the square of 200,000 tokens takes longer than any test may."""
    with pytest.raises(WrongReplyError, match="do not spell"):
        echoed(echo(tokens, [-1.0] * len(tokens)), text="", continuation=continuation)


@pytest.mark.parametrize("value", [1000.0, 1e300, 10**400, math.inf])
def test_a_log_probability_of_any_size_gives_a_sentence(value):
    for reply in (listing([(" A", value)]), listing([(" A", value), (" B", -0.5)])):
        with suppress(WrongReplyError):
            assert next_tokens(reply, chat=False, requested=5).tokens == ((" B", -0.5),)
    with suppress(WrongReplyError):
        assert math.isnan(echoed(echo(["a", "b"], [None, value]), text="a", continuation="b").log_p[1])
    served = {"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": [value], "top_logprobs": [{"a": value}]}}]}
    with suppress(WrongReplyError):
        (row,) = echoed_rows(served, text="a", most=5)
        assert row["loss"] is None
