"""A server whose list is not the model's gives the right letters in another way, or one sentence."""

import math
from contextlib import closing

import numpy as np
import pytest
import torch

from app.components.new_run.server_form import ServedModels, list_words
from core.errors import HedgeError, InputError
from core.models.engine import SelfCheck
from core.models.server.engine import ServerEngine
from core.models.server.known_servers import RememberedServers
from core.models.server.list_checks import fault_of, shared_letter
from core.models.server.replies import next_tokens
from core.questions import bank
from core.questions.prompting.strategies import prompt
from core.records import LETTERS, Prompt, joined
from core.runs.caveats import of_record
from core.runs.spec import RunSpec
from tests.core.models.server.conftest import MODEL, SOON
from tests.core.models.server.loopback import TEMPLATE
from tests.parameters import rest_nightly

QUESTIONS = 5


def at_temperature(value):
    return lambda log_p, tokens, body: torch.log_softmax(log_p / value, -1)


def only(keep):
    """The tokens for which ``keep`` (vocabulary) is true, with all the probability."""
    return lambda log_p, tokens, body: torch.log_softmax(log_p.masked_fill(~keep(log_p), -math.inf), -1)


def top_k(k):
    return only(lambda log_p: log_p >= log_p.topk(k).values[-1])


def top_p(p):
    def keep(log_p):
        ranked, places = log_p.exp().sort(descending=True)
        kept = torch.zeros(len(log_p), dtype=torch.bool)
        kept[places[ranked.cumsum(-1) - ranked < p]] = True
        return kept

    return only(keep)


def min_p(p):
    return only(lambda log_p: log_p >= log_p.max() + math.log(p))


def penalised(change):
    def sampler(log_p, tokens, body):
        held = torch.tensor(sorted(set(tokens)))
        changed = log_p.clone()
        changed[held] = change(log_p[held])
        return torch.log_softmax(changed, -1)

    return sampler


def as_requested(log_p, tokens, body):
    """Greedy at temperature 0, so that one token has it all."""
    return at_temperature(body["temperature"] or 1e-4)(log_p, tokens, body)


def zero_is_default(log_p, tokens, body):
    return at_temperature(body["temperature"] or 0.7)(log_p, tokens, body)


TEMPERATURES = {f"temperature {value}": at_temperature(value) for value in (0.5, 0.7, 1.3, 2.0)}
CUT = {
    "top-k 1": top_k(1),
    "top-k 3": top_k(3),
    "top-k 20": top_k(20),
    "top-p 0.9": top_p(0.9),
    "min-p 0.05": min_p(0.05),
    "temperature 0": at_temperature(1e-4),
}
SAMPLERS = {
    **TEMPERATURES,
    **CUT,
    "top-k 40": top_k(40),
    "top-p 0.95": top_p(0.95),
    "presence penalty": penalised(lambda log_p: log_p - 1.5),
    "repetition penalty": penalised(lambda log_p: log_p * 1.1),
}


def letter_prompts(*, chat=False):
    return [
        Prompt(lettered.question_id, lettered.text, lettered.k, chat=chat)
        for lettered in map(prompt, bank.load("qa")[:QUESTIONS])
    ]


def scored(server, *, chat=False):
    """The letters of some questions, the description of the engine and its self-check; the sentence if refused."""
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    prompts = letter_prompts(chat=chat)
    try:
        engine.prepare(prompts)
        check = engine.self_check(prompts)
        rows = joined(
            list(engine.score(prompts)),
            [prompt.question_id for prompt in prompts],
            k=max(prompt.k for prompt in prompts),
        )
        return rows, engine.description, check
    finally:
        engine.close()


def truth(server, *, chat=False, spelling=" {}"):
    """The letters' log-probabilities (questions, options) by the model itself."""
    rows = []
    for sent_prompt in letter_prompts(chat=chat):
        text = TEMPLATE.format(text=sent_prompt.text) if chat else sent_prompt.text
        log_p = server.log_p(tuple(server.tokenizer(text)["input_ids"]))[-1]
        rows.append([float(log_p[server.pieces.index(spelling.format(letter))]) for letter in LETTERS[: sent_prompt.k]])
    return np.array(rows)


def wrong_by(rows, right):
    """The largest error of a log-probability that is given as exact, and by how much a bound lies below the truth."""
    bounded = np.zeros(right.shape, bool) if rows.bounded is None else rows.bounded
    return np.abs(rows.logits - right)[~bounded].max(initial=0), (right - rows.logits)[bounded].max(initial=-1)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("most", rest_nightly([20, -1], now=[20]))
def test_an_echo_replaces_a_list_that_a_sampler_changed(server, name, most):
    server.reset(sampler=SAMPLERS[name], all_tokens=most < 0)
    rows, description, check = scored(server)
    assert wrong_by(rows, truth(server)) == (pytest.approx(0, abs=1e-4), -1)
    assert check.rung == "the echo of the server"
    assert description["lists"].startswith("the server ")
    assert check.refused == (f"the list of next tokens: {description['lists']}",)
    assert description["lists_unchecked"] is False


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("spelled", rest_nightly(["", "without", "-9999"], now=["without"]))
def test_a_list_that_was_cut_is_refused_without_an_echo(server, name, chat, spelled):
    """The tokens that were cut have no probability, are left out, or have a sign for it."""
    spellings = {
        "": lambda pairs: pairs,
        "without": lambda pairs: [(token, log_p) for token, log_p in pairs if log_p > -1e6],
        "-9999": lambda pairs: [(token, max(log_p, -9999.0)) for token, log_p in pairs],
    }
    server.reset(sampler=CUT[name], spelled=spellings[spelled], echo=False)
    with pytest.raises(
        HedgeError,
        match=r"lists \d+ tokens? .*, so its list is not the model's at temperature 1 over the whole vocabulary; start "
        r"it without a temperature, top-k, .*raw_logprobs",
    ):
        scored(server, chat=chat)


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("most", [20, 5])
def test_a_list_that_is_scaled_to_sum_to_one_is_refused(server, chat, most):
    def scaled(pairs):
        total = math.log(sum(math.exp(log_p) for _, log_p in pairs))
        return [(token, log_p - total) for token, log_p in pairs]

    server.reset(spelled=scaled, echo=False, most=most)
    with pytest.raises(HedgeError, match=r"lists \d+ tokens with all the prob|that it wrote .*, and lists it with"):
        scored(server, chat=chat)


@pytest.mark.parametrize("chat", [False, True])
def test_a_list_that_changes_with_its_length_is_refused(server, chat):
    def partly_scaled(pairs):
        return [(token, log_p + 0.03 * (20 - len(pairs))) for token, log_p in pairs]

    server.reset(spelled=partly_scaled, echo=False)
    with pytest.raises(HedgeError, match=r"in a list of 20 tokens, and -\d\.\d+ in one of 5"):
        scored(server, chat=chat)


@pytest.mark.parametrize("sampler", [as_requested, zero_is_default])
@pytest.mark.parametrize(("echo", "chat"), [(True, False), (False, False), (False, True)])
def test_a_server_that_applies_the_requested_temperature_is_asked_at_one(server, sampler, echo, chat):
    server.reset(sampler=sampler, echo=echo)
    rows, description, _ = scored(server, chat=chat)
    error, below = wrong_by(rows, truth(server, chat=chat, spelling=description["letter_spelling"]))
    assert error < 1e-4
    assert below < 1e-4
    assert description["lists"].endswith("at temperature 1 alone")


@pytest.mark.parametrize("echo", [True, False])
def test_the_letter_mass_is_that_of_the_list_that_is_believed(server, echo):
    def masses(**behaviour):
        server.reset(all_tokens=True, **behaviour)
        with closing(ServerEngine.load(MODEL, servers=[server.url], patience=SOON)) as engine:
            return engine.able.letters, engine.able.chat_letters

    exact = masses(echo=echo)
    for mass, right in zip(masses(sampler=as_requested, echo=echo), exact, strict=True):
        assert mass.mean == pytest.approx(right.mean, abs=1e-4)
    assert masses(sampler=top_k(3), echo=echo) == (None, None)


def test_what_no_request_can_show_is_a_caveat(server):
    server.reset(sampler=at_temperature(0.7), echo=False)
    _, description, _ = scored(server)
    assert description["lists"] == "its list of next tokens could not be checked against an echo"
    (caveat,) = [
        caveat
        for caveat in of_record(RunSpec(model="m", task="qa"), {"engine": description})
        if caveat.kind == "unchecked"
    ]
    assert "always has a temperature" in caveat.text
    server.reset()
    _, description, _ = scored(server)
    assert description["lists"] == "its list of next tokens agrees with the echo"
    assert not [
        caveat
        for caveat in of_record(RunSpec(model="m", task="qa"), {"engine": description})
        if caveat.kind == "unchecked"
    ]


# ---------------------------------------------------------------- spellings


def last_wins(pairs):
    """Each letter is two tokens that are spelled alike, the second less probable by 3; a dict holds that alone."""
    pairs_twice = [(token.strip() or token, log_p) for token, log_p in pairs]
    pairs_twice += [(token, log_p - 3) for token, log_p in pairs_twice if token in LETTERS]
    share = math.log1p(math.exp(-3))
    return sorted(
        ((token, log_p - share * (token in LETTERS)) for token, log_p in pairs_twice), key=lambda pair: -pair[1]
    )


@pytest.mark.parametrize("most", [20, 5])
@pytest.mark.parametrize("all_tokens", [False, True])
def test_spellings_that_are_lost_are_noticed(server, most, all_tokens):
    server.reset(spelled=last_wins, most=most, all_tokens=all_tokens)
    rows, _, check = scored(server)
    assert wrong_by(rows, truth(server)) == (pytest.approx(0, abs=1e-4), -1)
    assert check.rung == "the echo of the server"
    server.reset(spelled=last_wins, most=most, all_tokens=all_tokens, echo=False)
    with pytest.raises(HedgeError, match=r"so tokens with one spelling have lost their own probabilities"):
        scored(server)


def test_letters_by_their_ids_need_no_spelling(server):
    server.reset(spelled=last_wins, echo=False, by_id=True)
    rows, description, _ = scored(server)
    assert wrong_by(rows, truth(server)) == (pytest.approx(0, abs=1e-4), -1)
    assert description["letters_by_id"] is True


def test_two_tokens_of_a_chat_that_are_spelled_like_a_letter_are_refused(server):
    server.reset(spelled=last_wins, echo=False)
    with pytest.raises(HedgeError, match=r"lists 2 tokens that are spelled 'A'"):
        scored(server, chat=True)


def test_a_server_may_list_fewer_tokens_than_requested_if_it_always_does(server):
    server.reset(spelled=lambda pairs: pairs[:7], echo=False)
    rows, description, _ = scored(server)
    error, below = wrong_by(rows, truth(server))
    assert error < 1e-4
    assert below < 1e-4
    assert description["listed_tokens"] == 7


# ---------------------------------------------------------------- rounding

ROUNDED = {
    "2 decimals": lambda log_p: round(log_p, 2),
    "3 decimals": lambda log_p: round(log_p, 3),
    "float16": lambda log_p: float(np.float16(log_p)),
    "bfloat16": lambda log_p: float(torch.tensor(log_p).bfloat16()),
    "-9999": lambda log_p: log_p if log_p > -9 else -9999.0,
    "no number": lambda log_p: log_p if log_p > -9 else -math.inf,
}


@pytest.mark.parametrize("name", ROUNDED)
@pytest.mark.parametrize(("most", "echo"), [(20, True), (20, False), (5, False)])
def test_rounded_lists_are_believed_and_their_bounds_hold_the_truth(server, name, most, echo):
    change = ROUNDED[name]
    server.reset(spelled=lambda pairs: [(token, change(log_p)) for token, log_p in pairs], most=most, echo=echo)
    rows, _, check = scored(server)
    error, below = wrong_by(rows, truth(server))
    assert error < (0.04 if name == "bfloat16" else 0.006)
    assert below < 1e-4
    assert check.rung == "completions of the server"


@pytest.mark.parametrize(
    ("values", "rest"),
    [
        ([-0.7, -0.7], 0.02),  # rounded to one decimal: the two may have 2 · exp(−0.75) = 0.945, or 2 · exp(−0.65) > 1
        ([math.log(0.5), math.log(0.4999)], 1e-4),
    ],
)
def test_what_is_left_allows_for_rounding(values, rest):
    reply = {"choices": [{"logprobs": {"top_logprobs": [{str(i): value for i, value in enumerate(values)}]}}]}
    assert math.exp(next_tokens(reply, chat=False, requested=2).floor) >= rest


# ---------------------------------------------------------------- which of the two is wrong


@pytest.mark.parametrize("lists", [True, False])
def test_an_echo_of_another_place_is_not_believed(server, lists):
    server.reset(shifted=True, echo_lists=lists)
    if lists:
        rows, description, _ = scored(server)
        assert description["echo_wrong"] is True
        assert description["lists_unchecked"] is True
        assert wrong_by(rows, truth(server))[0] < 1e-4
    else:  # nothing shows that the echo is the wrong one
        with pytest.raises(
            HedgeError, match=r"lists ' ?\S+' with the log-probability \S+ and echoes it with \S+ after"
        ):
            scored(server)


@pytest.mark.parametrize("name", ["temperature 0.7", "temperature 2.0", "top-k 40"])
def test_without_its_lists_an_echo_is_right_if_it_is_the_list_before_a_temperature(server, name):
    server.reset(sampler=SAMPLERS[name], echo_lists=False)
    rows, _, check = scored(server)
    assert wrong_by(rows, truth(server)) == (pytest.approx(0, abs=1e-4), -1)
    assert check.rung == "the echo of the server"


def test_a_sampler_that_the_echo_shows_refuses_the_chat_too(server):
    server.reset(sampler=at_temperature(0.7))
    with pytest.raises(HedgeError, match="over the whole vocabulary"):
        scored(server, chat=True)


# ---------------------------------------------------------------- one reply


def listing(pairs, *, chosen=None, form=dict):
    if form is dict:
        token, log_p = chosen or (None, None)
        return {
            "choices": [{"logprobs": {"tokens": [token], "token_logprobs": [log_p], "top_logprobs": [dict(pairs)]}}]
        }
    entries = [{"token": pair[0], "logprob": pair[1], "bytes": pair[2] if len(pair) > 2 else None} for pair in pairs]
    return {"choices": [{"logprobs": {"content": [{"top_logprobs": entries}]}}]}


FIVE = [(" A", -0.7), (" B", -1.5), (" C", -3.0), (" D", -3.5), ("\n", -4.0)]


@pytest.mark.parametrize(
    ("pairs", "chosen", "asked", "says"),
    [
        (FIVE, None, 5, ""),
        (FIVE, (" A", -0.72), 5, ""),
        (FIVE, ("▁A", -0.7), 5, ""),  # the list spells it in another way
        (FIVE, (" E", -4.5), 5, ""),  # sampled, and less probable than those listed
        (FIVE, None, 6, "lists 5 tokens for 6 requested"),
        ([*FIVE, ("\ufffd", -4.1)], None, 8, ""),  # single bytes have one spelling, which no letter has
        ([(" A", -0.105361), (" B", -2.302585)], None, 20, "lists 2 tokens for 20 requested, with a sum of 1"),
        (FIVE, (" A", 0.0), 5, "gives the token ' A' that it wrote 0.00, and lists it with -0.70"),
        (FIVE, (" E", -0.9), 5, "gives the token ' E' that it wrote -0.90, and does not list it"),
        (FIVE, None, -1, "lists its whole vocabulary with a sum of 0.81"),
        ([("A", -0.7), ("B", -0.7)], None, -1, "lists its whole vocabulary without the spaces in it"),
    ],
)  # fmt: skip
def test_a_reply_shows_its_own_fault(pairs, chosen, asked, says):
    fault = fault_of(next_tokens(listing(pairs, chosen=chosen), chat=False, requested=asked), requested=asked)
    assert (fault.clause if fault else "")[: len(says) or 1] == says


def test_bytes_tell_tokens_apart_that_are_written_alike():
    pairs = [("A", -0.5, [32, 65]), ("A", -1.5, [65]), ("é", -3.0, [0xC3]), ("é", -4.0, "odd")]
    reply_read = next_tokens(listing(pairs, form=list), chat=True, requested=4)
    assert (reply_read.log_p(" A"), reply_read.log_p("A")) == (-0.5, -1.5)
    assert shared_letter(reply_read, [" A", "A"]) is None
    alike = next_tokens(listing([pair[:2] for pair in pairs], form=list), chat=True, requested=4)
    assert shared_letter(alike, ["A"]).by_spelling
    assert shared_letter(alike, ["B"]) is None


# ---------------------------------------------------------------- texts that are not continued


@pytest.mark.parametrize(
    "behaviour", [{"ends": "</s>"}, {"ends": ""}, {"ends": "", "echo": False}, {"ends": "", "most": 5}]
)
def test_a_server_that_appends_an_end_token_is_refused_for_letters_texts_and_answers(server, behaviour):
    says = r"behind .* that it wrote, and .* where it is sent.*appends an end token .*add_eos_token off"
    server.reset(**behaviour)
    with pytest.raises(InputError, match=says):
        scored(server)
    server.reset(**behaviour)
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    with closing(engine):
        assert engine.able.chat_lists.fault is None
        for ask in (lambda: engine.echo([("a", " b")]), lambda: list(engine.answers(["Question: Who?\nAnswer:"]))):
            with pytest.raises(InputError, match=says):
                ask()


# ---------------------------------------------------------------- cost, and words


def extra(server, **behaviour):
    """Requests beside the four that find the number listed and the first echo, or two tries of one."""
    server.reset(**behaviour)
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    engine.close()
    echoes = 1 if behaviour.get("echo", True) else 2
    endpoints = behaviour.get("completions", True) + behaviour.get("chat", True)
    refused = 2 - endpoints
    switch = behaviour.get("chat", True)  # this model's letters are no answer in a chat, so the switch is tried
    return server.number - 2 * endpoints - echoes * behaviour.get("completions", True) - 4 * refused - switch


@pytest.mark.parametrize(
    ("behaviour", "most"), [({}, 7), ({"echo": False}, 9), ({"chat": False}, 4), ({"completions": False}, 4)]
)
def test_few_requests_check_an_ordinary_server(server, behaviour, most):
    """Beside those that find out what it can do."""
    assert 0 < extra(server, **behaviour) <= most


def test_the_form_names_a_list_that_is_not_used(server):
    server.reset(sampler=top_k(3))
    engine = ServerEngine.load(MODEL, servers=[server.url], patience=SOON)
    engine.close()
    clause = "the server lists 3 tokens with all the probability, and nothing for the others"
    assert list_words(engine.able) == (
        f"In the plain format, {clause}, so its list is not used for letters.",
        f"In the chat format, {clause}, so letters can't be scored.",
    )
    models = ServedModels((MODEL,), RememberedServers((server.url,), ""), (engine.able,))
    assert models.formats == ("plain",)
    assert SelfCheck(4, 0.0, 0.1, rung="x", refused=("the list: y",)).lines()[0] == "self-check refused the list: y"
