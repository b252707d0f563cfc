"""A preview of what a model would read, before it is loaded: the exact text and its number of tokens.

It loads only the tokenizer and the configuration, and reads the names and shapes of a folder's weights, so that it
refuses every folder that a run would refuse. transformers imports torch even for this, so a page runs the preview in a
separate process: ``hedge run --dry-run --json``.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.models.configurations import load_configuration
from core.models.encoding import Encoder, context_of
from core.models.imports import language_models
from core.models.model_sources import FAKE_MODEL, resolve
from core.models.rows import common_prefix
from core.models.tokenizers import base_of, load_tokenizer
from core.records import Prompt

SAMPLE = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """``text`` is one prompt exactly as the model reads it, with ``tokens`` tokens, and ``continuations`` are the texts
    that may follow it. ``shortest``, ``median`` and ``longest`` are lengths of ``sampled`` (up to 200) of the run's
    prompts, and ``shared`` is the number of tokens with which all of these begin. ``context`` is the most tokens that
    the model reads (0: no limit), ``truncated`` the number of prompts that did not fit, and ``dropped`` the number of
    demonstrations that were left out for that reason. ``notes`` are sentences about the chat template.
    """

    text: str
    tokens: int
    continuations: tuple[str, ...]
    sampled: int
    shortest: int
    median: float
    longest: int
    shared: int
    context: int
    truncated: int
    dropped: int
    notes: Sequence[str] = ()


def preview(model: str, prompts: Sequence[Prompt]) -> Preview:
    """A preview of a run's prompts by the tokenizer of ``model``; the text is that of the first prompt. Raises
    :class:`InputError` if there is no such tokenizer, if it can't encode the requested format, or if the model is of a
    kind that Hedge can't score.
    """
    source = resolve(model)
    if source.location == FAKE_MODEL:
        raise InputError("the fake model has no tokenizer, so there is nothing to preview; choose another model")
    language_models()  # imports torch, faster than the next line would
    from core.models.model_loading import check_stored

    base = base_of(source)
    config = load_configuration(base)
    check_stored(source, base, config)
    vocabulary = int(config.get_text_config().vocab_size)
    encoder = Encoder(load_tokenizer(source, base), context=context_of(config), vocabulary=vocabulary)
    text, tokens = encoder.shown(prompts[0])
    encoder.count_again()
    step = -(-len(prompts) // SAMPLE)
    rows = encoder.rows(prompts[::step])
    lengths = [len(row.context) for row in rows]
    return Preview(
        text=text,
        tokens=tokens,
        continuations=encoder.answers_to(prompts[0]),
        sampled=len(rows),
        shortest=min(lengths),
        median=statistics.median(lengths),
        longest=max(lengths),
        shared=common_prefix([row.context for row in rows]) if len(rows) > 1 else 0,
        context=encoder.context,
        truncated=encoder.truncated,
        dropped=encoder.dropped,
        notes=encoder.template.notes,
    )
