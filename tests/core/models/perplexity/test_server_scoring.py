"""A message's losses are the same here and on a server that shows parts of characters in its own way."""

import pytest

from core.models.perplexity.conversations import Conversation, Message
from core.models.perplexity.prompts import EMPTY, SystemPrompt
from core.models.perplexity.request import Request
from core.models.perplexity.scoring import Scorer
from core.models.perplexity.server_scoring import ServerScorer
from core.models.server.engine import ServerEngine
from core.models.server.token_view import view_served_tokens
from core.models.server_address import ServedModel
from tests.core.models.perplexity.test_scoring import measured
from tests.core.models.server.loopback import loopback_server

REPLIES = ("“Whose words?” – 日本語", "😟", "Été, naïve: 5 €", "日本", "👩\u200d👧 e\u0301.", "Plain words.", "a…😟")
NOTED = SystemPrompt("noted", "Sei freundlich – “Güte” 日.")


@pytest.fixture(scope="module")
def server():
    with loopback_server("pocket-1m") as server:
        yield server


def talk() -> Conversation:
    turns = [Message("assistant", "Hello.")]
    for i, reply in enumerate(REPLIES):
        turns += [Message("user", f"I am sad {i} – “so” 😟."), Message("assistant", reply)]
    return Conversation("talk", tuple(turns))


@pytest.mark.parametrize("mode", ["standard", "published"])
def test_a_server_gives_the_losses_of_every_part_of_a_character(server, mode):
    request = Request((EMPTY, NOTED), (talk(),), mode=mode)
    here = measured(Scorer.load("pocket-1m", dtype="float32"), request)
    engine = ServerEngine.load(server.name, servers=[server.url])
    try:
        there = measured(ServerScorer(engine), request)
    finally:
        engine.close()
    for key, messages in here.items():
        for message, other in zip(messages, there[key], strict=True):
            assert other.losses == pytest.approx(message.losses, abs=1e-4)
            assert other.pieces == message.pieces


def test_a_servers_tokens_are_shown_as_those_of_a_model_here(server):
    text = "A café costs 5 € 😟."
    view = view_served_tokens(ServedModel(server.name, server.url), text)
    texts = [row["text"] for row in view["tokens"]]
    assert "".join(texts) == text
    assert texts[4:6] == ["é", ""]
    assert not any("\ufffd" in shown for row in view["tokens"] for shown, _ in row["alternatives"])
