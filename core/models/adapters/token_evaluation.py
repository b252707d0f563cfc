"""Evaluates a model's next-token predictions on texts, and writes the figures as JSON beside the model."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.calibration.bins import ECE_BINS, check_bins, top_label
from core.calibration.consistency import calibration_test
from core.calibration.estimate import CalibrationEstimate
from core.calibration.figures import estimates, top_estimates
from core.calibration.reliability import reliability
from core.conformal.probabilities import log_softmax, softmax
from core.errors import InputError
from core.models.adapters import stored
from core.models.adapters.judged import Judged, in_order, judge
from core.models.adapters.layer import active_ranks, variances
from core.models.adapters.texts import Tokenized, load_texts, split, tokenize
from core.models.configurations import load_configuration
from core.models.encoding import context_of
from core.models.loaded import check_numbers
from core.models.model_loading import load_model
from core.models.model_sources import ModelSource, resolve
from core.models.placement import best_device
from core.models.quiet import quiet
from core.models.replaced_weights import other_base, other_base_of, weights_of
from core.models.token_ids import token_ids
from core.models.tokenizers import load_tokenizer
from core.questions import catalogue
from core.questions.prompting.strategies import prompt
from core.records import FloatArray, IntArray
from core.settings import settings
from core.storage.names import cut_name, named
from core.storage.sealed import write_json

RESULTS = "evaluation_results.json"
NUM_SAMPLES = 1000
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready to be judged, its tokenizer, its kind (``base``, ``lora``, ``ard-lora``) and name, the
    fingerprint of its ``weights``, and ``notes`` on it in whole sentences."""

    model: Any
    tokenizer: Any
    kind: str
    name: str
    folder: Path | None
    ranks: dict[str, list[float]]
    weights: str = ""
    notes: tuple[str, ...] = ()

    @property
    def vocabulary(self) -> int:
        """Tokens there are."""
        return int(self.model.config.get_text_config().vocab_size)


def load(model: str, *, base: str | None = None, dtype: str = "float32", alpha: float | None = None) -> Loaded:
    """A model by name, folder or hub id; an adapter's folder with its base model; a whole-model checkpoint.

    ``base`` overrides the model that an adapter names. Raises :class:`InputError` if it can't be loaded.
    """
    folder, weights = named(model), weights_of(model, base=base)
    if folder.is_dir() and stored.is_adapter(folder):
        values = stored.configuration(folder)
        under = base or str(values["base"])
        network, tokenizer = load_model(resolve(under), dtype=dtype)
        network = stored.put_adapter(network, folder)
        check_numbers(network, where=f"adapter {folder}", dtype=dtype)
        notes = _noted(other_base(folder, under))
        return Loaded(network, tokenizer, values["kind"], folder.name, folder, variances(network), weights, notes)
    if folder.is_dir() and stored.holds_whole(folder):
        network, tokenizer = _architecture(folder, base, dtype)
        network = stored.put_whole(network, folder, alpha=alpha)
        check_numbers(network, where=f"checkpoint {folder}", dtype=dtype)
        return Loaded(network, tokenizer, "ard-lora", folder.name, folder, variances(network), weights)
    source: ModelSource = resolve(model)
    network, tokenizer = load_model(source, dtype=dtype)
    place = None if source.is_hub or source.name == model else Path(source.location)
    kind, notes = "lora" if source.is_adapter else "base", _noted(other_base_of(source))
    return Loaded(network, tokenizer, kind, source.name, place, {}, weights, notes)


def _noted(clause: str) -> tuple[str, ...]:
    return (f"{clause[:1].upper()}{clause[1:]}.",) if clause else ()


def _architecture(folder: Path, base: str | None, dtype: str) -> tuple[Any, Any]:
    """The model that a whole-model checkpoint's configuration describes, without weights, and a tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM

    own = ModelSource(folder.name, str(folder), is_hub=False)
    config = load_configuration(own)
    try:
        with quiet():
            model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    except Exception as error:  # a model's class may raise anything for a configuration that it can't use
        raise InputError(
            f"the config.json of {folder} has values that transformers can't use for a {config.model_type}; take the "
            "one that came with the checkpoint"
        ) from error
    return model.to(best_device()), load_tokenizer(resolve(base) if base else own)


def evaluate(
    loaded: Loaded,
    data: str,
    *,
    count: int | None = NUM_SAMPLES,
    bins: int = ECE_BINS,
    rows: int = 8,
    passes: int = 0,
    seed: int = 0,
    part: str = "test",
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Judge next tokens of a set of texts; the figures as JSON values.

    ``part`` is ``test`` (the share that training with this seed leaves out) or ``all``.
    """
    check_bins(bins)
    texts = load_texts(data)
    if part == "test":
        texts = split(texts, seed=seed)[1]
    elif part != "all":
        raise InputError(f"unknown part {part!r} of the texts; choose test or all")
    started = time.perf_counter()
    tokens = tokenize(texts, loaded.tokenizer, context=context_of(loaded.model.config))
    judged = judge(loaded.model, tokens, count=count, rows=rows, passes=passes, seed=seed, report=report)
    figures = top_estimates(judged.top, judged.loss, bins=bins, seed=seed)
    return {
        **_figures(loaded, data, figures, judged.top, bins=bins, seed=seed),
        "n_samples": len(judged),
        "passes": passes,
        "uncertainty": _uncertainty(judged),
        "texts": _by_text(judged, in_order(tokens, count, seed=seed)),
        "seconds": time.perf_counter() - started,
    }


def evaluate_letters(
    loaded: Loaded, task: str, *, count: int | None = NUM_SAMPLES, bins: int = ECE_BINS, rows: int = 8, seed: int = 0
) -> dict[str, Any]:
    """Classification over the option letters of a task's questions, the same figures.

    Raises :class:`InputError` if the tokenizer has no token a letter.
    """
    questions = list(catalogue.load(task).questions)
    order = np.random.default_rng([seed, 4]).permutation(len(questions))[: count or len(questions)]
    logits, labels, seconds = letter_logits(loaded, [questions[i] for i in order], rows=rows)
    probabilities = softmax(logits)
    top = top_label(probabilities, labels)
    figures = estimates(probabilities, labels, log_probabilities=log_softmax(logits), bins=bins, seed=seed)
    values = _figures(loaded, task, figures, top, bins=bins, seed=seed)
    return {**values, "n_samples": len(labels), "classes": probabilities.shape[1], "seconds": seconds}


def letter_logits(loaded: Loaded, questions: Sequence[Any], *, rows: int) -> tuple[FloatArray, IntArray, float]:
    """The option letters' logits (n, k), the labels (n,), and the seconds it took."""
    import torch

    from core.models.adapters.texts import batch_of
    from core.models.decoder import Decoder
    from core.models.letters import letter_tokens

    started = time.perf_counter()
    k = len(questions[0].options)
    if any(len(question.options) != k for question in questions):
        raise InputError("the questions have different numbers of options; letters need the same number everywhere")
    prompt_texts = [prompt(question).text for question in questions]

    def encode(texts: Sequence[str], /) -> list[tuple[int, ...]]:
        return token_ids(loaded.tokenizer, texts)

    letters = letter_tokens(encode, k=k, context=prompt_texts[0])
    if letters is None:
        raise InputError("the tokenizer writes a letter with several tokens; choose another model for letters")
    decoder, context = Decoder(loaded.model), context_of(loaded.model.config)
    tokens = [Tokenized(ids[-context:], 1) for ids in encode(prompt_texts)]
    logits = np.empty((len(tokens), k), dtype=np.float64)
    order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i].tokens))
    for start in range(0, len(order), rows):
        part = order[start : start + rows]
        batch = batch_of([tokens[i] for i in part], decoder.device)
        lengths = [len(tokens[i].tokens) for i in part]
        last = torch.tensor(lengths, device=decoder.device) - 1
        states = decoder.hidden(batch.tokens, lengths=lengths)[torch.arange(len(part), device=decoder.device), last]
        wanted = torch.tensor([letters] * len(part))
        logits[part] = decoder.log_probabilities(states, wanted).cpu().numpy()
    labels = np.array([question.label for question in questions], dtype=np.int64)
    return logits, labels, time.perf_counter() - started


def _figures(
    loaded: Loaded, data: str, figures: dict[str, CalibrationEstimate], top: Any, *, bins: int, seed: int
) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 7])
    drawn_bins = reliability(top, rng=rng, bins=bins)
    return {
        "model": loaded.name,
        "kind": loaded.kind,
        "weights": loaded.weights,
        "notes": list(loaded.notes),
        "data": data,
        "vocabulary": loaded.vocabulary,
        "bins": bins,
        "seed": seed,
        **{name: figure.value for name, figure in figures.items()},
        "nll_infinite": figures["nll"].infinite,
        "figures": {name: asdict(figure) for name, figure in figures.items()},
        "test": asdict(calibration_test(top, rng=rng, bins=bins)),
        "reliability": [asdict(figure) for figure in drawn_bins],
        "variances": loaded.ranks,
        "active_ranks": sum(active_ranks(loaded.ranks).values()),
        "ranks": sum(map(len, loaded.ranks.values())),
    }


def _by_text(judged: Judged, drawn: Sequence[tuple[Tokenized, tuple[int, ...]]]) -> dict[str, Any] | None:
    """The number of judged tokens of each text and the sum of their losses, and a hash of the tokens and their places,
    so that two models are compared on the same ones. None if a loss is infinite."""
    if not np.isfinite(judged.loss).all():
        return None
    counts = [len(places) for _, places in drawn]
    which = repr([(tuple(text.tokens), places) for text, places in drawn])
    return {
        "digest": hashlib.sha256(which.encode()).hexdigest()[:10],
        "tokens": counts,
        "loss": np.add.reduceat(judged.loss, np.cumsum([0, *counts[:-1]])).round(6).tolist(),
    }


def _uncertainty(judged: Judged) -> dict[str, float]:
    """Means in nats."""
    return {name: float(getattr(judged, name).mean()) for name in ("entropy", "aleatoric", "epistemic")}


def write(values: dict[str, Any], loaded: Loaded, output: Path | None) -> list[Path]:
    """Write results as JSON beside the model (or to ``output``), and to the folder that the page reads."""
    text = json.dumps(values, indent=1, allow_nan=False)
    identity = (values["model"], values["data"], values["seed"], values.get("passes"), values["weights"])
    stamp = hashlib.sha256("|".join(map(str, identity)).encode()).hexdigest()
    name = cut_name(re.sub(r"[/\0]", "-", str(values["model"])), most=200)
    page_file = settings().home / "tokens" / f"{name}-{stamp[:10]}.json"
    page_file.parent.mkdir(parents=True, exist_ok=True)
    write_json(page_file, {**values, "file": page_file.name}, indent=1)
    beside = output or (loaded.folder / RESULTS if loaded.folder else None)
    if beside is None:
        return [page_file]
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text(text, encoding="utf-8")
    return [beside, page_file]
