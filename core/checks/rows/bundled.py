"""Every scoring path of a bundled model against one option at a time, and this against float32 on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.checks.outcome import CheckOutcome, Figure, Place
from core.models.imports import language_models

if TYPE_CHECKING:
    from core.models.transformers_engine import TransformersEngine

MODEL = "pocket-3m"
ASKED = 24
SAME = 1e-3
"""The largest difference of a log-probability in float32 between a device and the CPU."""
MEAN_OFF = 0.5
"""The largest mean difference from float32 of a precision with fewer bits. Of pocket-3m, bfloat16 is off by up to .15
and float16 by .02 on average (CPU, 2026-11-27)."""


def paths(place: Place) -> CheckOutcome:
    """All paths of all ways of asking in one precision on one device."""
    language_models()
    from core.checks.rows.bank_prompts import WAYS, prompts_for, way_title
    from core.checks.rows.path_differences import differences, mean, one_by_one, path_differences, picked
    from core.models.engine_factory import load_engine
    from core.models.transformers_engine import TransformersEngine

    engine = load_engine(MODEL, dtype=place.dtype)
    assert isinstance(engine, TransformersEngine)
    exact = place.dtype == "float32"
    reference = None if exact and engine.device == "cpu" else _on_cpu()
    figures: dict[str, Figure] = {}
    wrong, refused, largest, count = [], [], 0.0, 0
    for form, shots in WAYS:
        prompts, way = prompts_for(form, shots, questions=ASKED), way_title(form, shots)
        rows = picked(engine, prompts)
        truth = one_by_one(engine, rows)
        exactly = truth
        if reference is not None:
            reference.prepare(prompts)
            exactly = one_by_one(reference, rows)
            off = differences(truth, exactly)
            figures |= {f"{way}: off float32, mean": mean(off), f"{way}: off float32, largest": max(off)}
            if not (max(off) <= SAME if exact else mean(off) <= MEAN_OFF):
                wrong.append(f"one by one, {way}, is off float32 on the CPU by {mean(off):.3g} on average")
        for path in path_differences(engine, rows, truth=truth, reference=exactly):
            count += 1
            figures[f"{way}: {path.path}, largest difference"] = path.difference
            largest = max(largest, path.difference)
            wrong += [f"{path.in_words} ({way})"] if path.wrong else []
            refused += [path.path] if not (path.wrong or path.taken) else []
    if wrong:
        return CheckOutcome(False, f"Wrong on {engine.device}: {'; '.join(wrong)}.", figures)
    sentence = f"{count} paths of {MODEL} agree with one by one; the largest difference is {largest:.2g}"
    if refused:
        sentence = (
            f"{count - len(refused)} of {count} paths of {MODEL} agree with one by one; the others are off by rounding "
            f"(at most {largest:.2g}), and runs do not use them"
        )
    return CheckOutcome(True, f"{sentence}.", figures)


def _on_cpu() -> TransformersEngine:
    """The same model in float32 on the CPU."""
    from core.models.model_loading import load_model
    from core.models.model_sources import resolve
    from core.models.transformers_engine import TransformersEngine

    model, tokenizer = load_model(resolve(MODEL), dtype="float32")
    return TransformersEngine(model.to("cpu"), tokenizer, name=MODEL, dtype="float32")
