"""Both corpora are read, what is held out is not, and nothing that models are tested on is in the training text."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
import torch

from core.models.perplexity import conversations
from pocket_world import bank, curriculum
from pocket_world.audit import audit
from pocket_world.contamination import Guard
from pocket_world.curriculum import step_documents
from pocket_world.documents import Document, Piece
from pocket_world.prose import CORPORA, KINDS, Prose, files, held_out, training, turns_of
from pocket_world.recipes import RECIPES, Stage
from pocket_world.stream import PASSAGES, Form, Stream
from pocket_world.text_loss import held_out_loss, held_out_replies, text_loss
from pocket_world.tokens import one_token_words

pytestmark = pytest.mark.nightly

FORMS: tuple[Form, ...] = (*PASSAGES, "prose chat", "answered by another", "conversation")


def test_every_file_of_both_corpora_is_read() -> None:
    assert len(files()) == sum(len(list(corpus.glob("*/*.txt"))) for corpus in CORPORA)
    assert sum(file.words for file in files()) > 300_000


def test_a_file_of_each_kind_of_each_corpus_is_held_out() -> None:
    assert sorted(file.kind for file in held_out()) == sorted(KINDS * 2)
    assert set(training()) | set(held_out()) == set(files())
    assert not set(training()) & set(held_out())
    assert 0.04 < sum(file.words for file in held_out()) / sum(file.words for file in files()) < 0.1


def test_passages_are_of_training_files_and_of_about_the_length() -> None:
    prose, rng = Prose(), random.Random(5)
    lines = {line for file in held_out() for piece in file.pieces for line in piece.splitlines() if len(line) > 60}
    seen = set()
    for _ in range(1500):
        document = prose.passage(rng, words=110)
        assert len(document.pieces[0].text.split()) <= 110
        assert not lines & set(document.text.splitlines())
        seen |= {file.name for file in training() if any(document.pieces[0].text in piece for piece in file.pieces)}
    assert len(seen) > 0.95 * len(training())


def test_talks_are_read_as_turns_in_which_the_assistant_speaks_last() -> None:
    assert turns_of("assistant: Hello.\nuser: Hi.") == [("assistant", "Hello."), ("user", "Hi.")]
    assert turns_of("Rosa: Hello.\nBaker: Hi.") is None
    assert turns_of("assistant: Hello.\nIt rained.\nuser: Hi.") is None
    prose, rng = Prose(), random.Random(6)
    for counselling in (True, False):
        for _ in range(300):
            turns = prose.talk(rng, counselling=counselling)
            assert turns[-1][0] == "assistant"
            assert len(turns) <= 10
    counselors = [file for file in files() if file.kind == "counselling"]
    talks = [turns_of(piece) for file in counselors for piece in file.pieces]
    assert sum(talk is not None for talk in talks) > 0.9 * len(talks)


def test_the_guard_and_the_audit_find_eight_words_of_a_conversation() -> None:
    talks = conversations.bundled()
    guard, plain = Guard.of([], talks), Guard.of([])
    message = max((message.text for message in talks[0].messages), key=len)
    echo = " ".join(message.split()[2:12])
    assert guard.find(f"She said: {echo}, and left.") is not None
    assert plain.find(f"She said: {echo}, and left.") is None
    found = audit([Document((Piece(f"She said: {echo}", 1.0),))], [], talks)
    assert found.echoes_found >= 1
    assert not found.clean


def test_prose_and_chats_as_training_reads_them_are_clean() -> None:
    questions, talks = bank.questions(), conversations.bundled()
    stream, rng = Stream(Guard.of(questions, talks)), random.Random(7)
    documents = [stream.document(form, rng) for form in FORMS for _ in range(150)]
    documents += [Document((Piece(piece, 1.0),)) for file in training() for piece in file.pieces]
    found = audit(documents, questions, talks)
    assert found.clean, found


@pytest.mark.parametrize("stage", ["letters", "everything"])
def test_a_share_of_each_step_is_prose(stream: Stream, tokenizer, stage: Stage) -> None:
    values = one_token_words(tokenizer)
    whole = {piece for file in training() for piece in file.pieces}
    recipe, read = replace(RECIPES["pocket-1m"], prose=0.5, replay=10), 0
    for step in range(60):
        parts = step_documents(stream, recipe, stage=stage, step=step, values=values)
        of_prose = [any(part.documents[0].pieces[0].text in piece for piece in whole) for part in parts]
        heavy = 4.0 if stage == "everything" else 1.0
        assert [part.weight for part in parts] == [heavy if prose else 1.0 for prose in of_prose]
        read += sum(of_prose)
    assert read == 2 * 60  # of four parts, drawn at even distances


def test_letters_are_repeated_fewer_and_fewer_and_then_in_a_fixed_share(
    stream: Stream, tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else is passages here, whose first piece is learned; that of letters is only read."""
    monkeypatch.setattr(curriculum, "EVERYTHING", {"passage": (8, 1.0)})
    recipe = replace(RECIPES["pocket-1m"], prose=0.0, replay=10**6, letters=0.25)
    values = one_token_words(tokenizer)

    def repeated(first: int) -> int:
        steps = (
            step_documents(stream, recipe, stage="everything", step=step, values=values)
            for step in range(first, first + 40)
        )
        return sum(part.documents[0].pieces[0].weight == 0 for parts in steps for part in parts)

    assert 120 <= repeated(0) <= 136  # 128 of 160 parts: three or four of each four
    assert repeated(10**6) == 40


def test_text_loss_is_that_of_the_model(model, tokenizer) -> None:
    """By hand over a piece of one window; longer ones count each token but the first once."""
    text = "It rained all day, and nobody came to the shop."
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.inference_mode():
        nats = float(model(ids, labels=ids).loss) * (ids.shape[1] - 1)
    found = text_loss(model, tokenizer, [text])
    assert math.isclose(found.nats, nats, rel_tol=1e-4)
    assert found.tokens == ids.shape[1] - 1
    assert math.isclose(found.perplexity, math.exp(nats / found.tokens), rel_tol=1e-4)
    assert math.isclose(found.bits_per_byte, nats / math.log(2) / found.size, rel_tol=1e-4)
    long = " ".join([text] * 60)
    assert text_loss(model, tokenizer, [long]).tokens == len(tokenizer.encode(long)) - 1


def test_the_loss_of_replies_counts_replies_alone(model, tokenizer) -> None:
    replies = held_out_replies()
    assert len(replies) > 50
    assert all(len([piece for piece in document.pieces if piece.weight]) == 1 for document in replies)
    found = held_out_loss(model, tokenizer, chat=True, every=40)
    chosen = [piece.text for document in replies[::40] for piece in document.pieces if piece.weight]
    assert found.tokens == sum(len(tokenizer.encode(text)) for text in chosen)
    assert found.size == sum(len(text.encode()) for text in chosen)
