"""Text that a model writes, always by :func:`continuations`: greedy answers to many prompts in batches, answers sampled
at temperature 1, and one sampled continuation of a text. Only prompts of the same length share a batch, so that nothing
is padded and an answer does not depend on its neighbours, however the architecture treats padding.

What a model's files say about generation (penalties, temperature, forced or suppressed tokens, beams) is ignored,
except for the end tokens: "greedy" means the most probable token, and "sampled" means the model's own distribution.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import GenerationConfig

from core.errors import InputError
from core.models.budget import Budget, work_through
from core.models.encoding import Encoder, context_of
from core.models.memory import geometry
from core.models.model_loading import load_model
from core.models.model_sources import resolve
from core.models.replaced_weights import other_base_of
from core.questions.prompting.written import CLOSES, OPENS, answer_line

SAMPLED = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
"""Sampling from the whole distribution."""
ENDINGS = {"do_sample": True, "temperature": 0.8, "top_k": 50, "top_p": 0.95}
"""Sampling of a continuation."""
LONGEST = 24
"""The most tokens of an answer."""
MARK = re.compile(r"[<\[|].*[>\]|]", re.DOTALL)
"""How a vocabulary spells a token that is no text, such as ``</s>`` or ``[SEP]``."""


class Generator:
    """A loaded model that answers greedily. It writes at most ``longest`` tokens, and
    :func:`~core.questions.prompting.written.answer_line` takes the answer from them."""

    def __init__(self, model: Any, tokenizer: Any, *, longest: int = LONGEST, rows: int | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.longest = longest
        self.encoder = Encoder(
            tokenizer, context=context_of(model.config), vocabulary=model.get_input_embeddings().weight.shape[0]
        )
        self.budget = Budget(next(model.parameters()).device, geometry(model), rows=rows)

    @classmethod
    def load(cls, model: str, *, dtype: str, longest: int = LONGEST) -> Generator:
        """Load a model by name. Raises :class:`~core.errors.InputError` if that is not possible, or if it is an adapter
        that was trained on other weights of its base model."""
        source = resolve(model)
        if clause := other_base_of(source):
            raise InputError(f"{clause}; put those weights back, or train the adapter again")
        return cls(*load_model(source, dtype=dtype), longest=longest)

    def answers(self, prompts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the index of each prompt with its answer, in any order.

        Raises :class:`~core.errors.InputError` for a prompt that leaves no room in the model's context.
        """
        encoded = self.encoder.ids(prompts)
        longest = max(map(len, encoded), default=0)
        if self.encoder.context and longest > self.encoder.context:
            raise InputError(
                f"a prompt has {longest:,} tokens, but the model reads at most {self.encoder.context:,}; choose a "
                "model with a longer context"
            )

        def plan(widths: Sequence[int]) -> list[list[int]]:
            return self.budget.batches(widths, equal=True)

        def compute(batch: list[int]) -> list[str]:
            rows = [encoded[i] for i in batch]
            most = room(self.encoder, rows[0], most=self.longest)
            return [answer_line(text) for text in continuations(self.model, self.tokenizer, rows, most=most)]

        widths = [len(row) + self.longest for row in encoded]
        for batch, texts in work_through(widths, compute, plan=plan, budget=self.budget):
            yield from zip(batch, texts, strict=True)


def sample(model: Any, encoder: Encoder, text: str, *, chat: bool, seed: int, most: int) -> str:
    """The first line of a continuation of ``text``, of at most ``most`` tokens. It is sampled with ``seed``; the global
    random generators keep their state."""
    (row,) = encoder.ids([text], chat=chat)
    if encoder.context:
        row = row[-encoder.context :]
    most = room(encoder, row, most=most)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        (continuation,) = continuations(model, encoder.tokenizer, [row], most=most, sampling=ENDINGS)
    return answer_line(continuation)


def room(encoder: Encoder, row: Sequence[int], *, most: int) -> int:
    """How many tokens of at most ``most`` can follow a row in the model's context."""
    return max(1, min(most, encoder.context - len(row))) if encoder.context else most


@torch.inference_mode()  # type: ignore[untyped-decorator]
def continuations(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Sequence[int]],
    *,
    most: int,
    repeats: int = 1,
    sampling: dict[str, Any] | None = None,
) -> list[str]:
    """What the model writes after each of the ``rows``, which have the same length, up to its first end token or
    ``most`` tokens: the most probable text, or ``repeats`` texts for each row with the given ``sampling``.

    transformers fills what a configuration leaves open from the model's own, so that is replaced meanwhile.
    """
    tokens = torch.tensor([list(row) for row in rows], device=model.get_input_embeddings().weight.device)
    ends = end_tokens(model, tokenizer)
    neutral = GenerationConfig(
        max_new_tokens=most,
        num_beams=1,
        num_return_sequences=repeats,
        use_cache=True,
        eos_token_id=list(ends) or None,
        pad_token_id=ends[0] if ends else 0,
        **(sampling or {"do_sample": False}),
    )
    own, model.generation_config = model.generation_config, GenerationConfig()
    try:
        sequences = model.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), generation_config=neutral)
    finally:
        model.generation_config = own
    return [_text(tokenizer, _up_to(row, ends)) for row in sequences[:, tokens.shape[1] :].tolist()]


def _up_to(row: list[int], ends: Sequence[int]) -> list[int]:
    return row[: next((i for i, token in enumerate(row) if token in ends), len(row))]


def _text(tokenizer: Any, row: list[int]) -> str:
    """A row as text, without special tokens. Marks around what a model thinks aloud stay, even where they are special
    tokens, so that this does not count as an answer."""
    names = ((place, str(tokenizer.convert_ids_to_tokens(token))) for place, token in enumerate(row))
    marks = [(place, name) for place, name in names if OPENS.fullmatch(name) or CLOSES.fullmatch(name)]
    begins = [0, *(place + 1 for place, _ in marks)]
    ends = [*(place for place, _ in marks), len(row)]
    parts = [
        tokenizer.decode(row[begin:end], skip_special_tokens=True) for begin, end in zip(begins, ends, strict=True)
    ]
    return "".join(part + name for part, (_, name) in zip(parts, [*marks, (0, "")], strict=True))


def end_tokens(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """The tokens that end a text: those of ``generation_config.json``, of ``config.json`` and of the tokenizer.

    ``config.json`` may leave its end token out, and its default (2 for Llama) is then an ordinary word of another
    tokenizer. So an id that only the configuration gives counts only if the tokenizer does not spell it as text.
    """
    written, config = getattr(model, "generation_config", None), model.config
    stated = _ids(getattr(written, "eos_token_id", None))
    parts = (config, config.get_text_config())
    derived = [token for part in parts for token in _ids(getattr(part, "eos_token_id", None))]
    if getattr(written, "_from_model_config", False):
        stated, derived = [], [*stated, *derived]
    stated += _ids(getattr(tokenizer, "eos_token_id", None))
    known = model.get_input_embeddings().weight.shape[0]
    ends = [*stated, *(token for token in derived if not _is_text(tokenizer, token))]
    return tuple(sorted({token for token in ends if 0 <= token < known}))


def _ids(value: Any) -> list[int]:
    """The ids in a field that holds one, several or none."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in values if isinstance(each, int) and not isinstance(each, bool)]


def _is_text(tokenizer: Any, token: int) -> bool:
    """Whether a token is an ordinary part of text."""
    if not 0 <= token < len(tokenizer) or token in tokenizer.all_special_ids or token in tokenizer.added_tokens_decoder:
        return False
    return not MARK.fullmatch(str(tokenizer.convert_ids_to_tokens(token)))
