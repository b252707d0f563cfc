"""The pocket models' tokenizer: byte-level BPE trained on the pocket world's own text.

Before the merges a text is cut so that what a lettered question repeats stays in one piece each (a line's
``\\nA.``, ``Question:``, ``\\nAnswer:``, options E and F); numbers are cut in pairs of digits from the right, so
that 1969 is 19 and 69. Any UTF-8 text comes back unchanged.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from core.questions.prompting.verdict import FALSE, TRUE, verdict_text
from pocket_world.chat.personas import conversation
from pocket_world.chat.template import ASSISTANT, SYSTEM, USER
from pocket_world.documents import END
from pocket_world.prose import training
from pocket_world.stream import SCENE_TASKS, Form, Stream
from pocket_world.world import world

PAD = "<|pad|>"
CONTEXT = 512

_CUT = (
    r"\n[A-Z]\."
    r"| I don't know(?=\n|\z)| None of the above(?=\n|\z)"
    r"|Question:|\n?Answer:"
    r"| ?\p{L}+(?:'\p{L}+)*"
    r"| ?\p{N}{1,2}(?=(?:\p{N}{2})*(?!\p{N}))"
    r"| ?[^\s\p{L}\p{N}]+"
    r"|\s+(?!\S)|\s+"
)

PROSE_TIMES = 3
"""How often the tokenizer's training reads the prose, which is a tenth of the sampled text."""

_FORMS: tuple[Form, ...] = ("binding", "short", "short", "short", "instructed", "demonstrated", *SCENE_TASKS)


def train_tokenizer(stream: Stream) -> PreTrainedTokenizerFast:
    """A tokenizer from a sample of the stream and every fact once more."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_CUT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2048,
        special_tokens=[PAD, END, SYSTEM, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sampled_texts(stream, 60_000), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        extra_special_tokens=[SYSTEM, USER, ASSISTANT],
        model_max_length=CONTEXT,
        padding_side="right",
        clean_up_tokenization_spaces=False,
    )


def published_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer in a model's folder."""
    tokenizer: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(folder)
    return tokenizer


def one_token_words(tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """The words, and beginnings of words, of two letters or more that are one token behind a space, in alphabetical
    order: what bare lists are made of.

    With the answers of the tables alone (a vocabulary of 1,536 has 138 of them in one token), a model found the listed
    option of several values in 42 % of the cases after 1,000 steps of letters; with these in 60 % after 500.
    """
    texts = (tokenizer.convert_tokens_to_string([token]) for token in tokenizer.get_vocab())
    return sorted(text[1:] for text in texts if re.fullmatch(r" [A-Za-z]{2,}", text))


def _conversations(rng: random.Random, count: int) -> Iterator[str]:
    """What the chat-tuned model and the jurors read later; their words get tokens now."""
    facts = [fact for fact in world() if fact.statements]
    for _ in range(count):
        system, turns = conversation(rng, lambda drawn: drawn.choice(facts))
        yield " ".join((system, *(text for _, text in turns)))
        fact = rng.choice(facts)
        right = rng.random() < 0.5
        near = fact.wrong[: fact.near] if fact.near and rng.random() < 0.5 else fact.wrong
        answer = fact.answer if right else rng.choice(near)
        yield f"{verdict_text(fact.questions[0], answer)} {TRUE if right else FALSE}"


def sampled_texts(stream: Stream, documents: int) -> Iterator[str]:
    """Sampled documents and all prose for training, then every answer behind a space, so that rare answers get tokens
    too."""
    rng = random.Random("tokenizer|9")
    for _ in range(documents):
        yield stream.document(rng.choice(_FORMS), rng).text.replace(END, "")
    yield from _conversations(rng, documents // 10)
    prose = [piece for file in training() for piece in file.pieces] * PROSE_TIMES
    yield from prose[:documents]
    for fact in world():
        yield f" {fact.answer}. {fact.key}" * 4
    for count in range(100):
        yield f" {count} {count:02d}{count:02d}" * 20
    for letter in "ABCDEFGHIJ":
        yield f"\n{letter}. x\nAnswer: {letter} " * 20
