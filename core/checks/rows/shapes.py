"""A model of random weights in the shape of a Llama: its paths agree, and how fast it scores.

Its weights are made on the device, so that nothing is downloaded. A quantised one is stored first and loaded as runs
load models.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core.checks.outcome import CheckOutcome, Figure, Place
from core.models.imports import language_models
from core.models.model_sources import QUANTIZED, ModelSource, resolve

if TYPE_CHECKING:
    from core.models.transformers_engine import TransformersEngine

SHAPES = {
    "cuda": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32},
    "cpu": {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8, "num_attention_heads": 8},
}
"""About 1.1 billion parameters, and about 65 million."""
KEY_VALUE_SHARE = 4
WORDS = 32_000
CONTEXT = 4096
TOKENIZER = "pocket-3m"
ASKED = {"cuda": 4_000, "cpu": 64}
"""Questions whose scoring is timed, after a round that warms up."""
COMPARED = 24


def shape(place: Place) -> CheckOutcome:
    """Paths and throughput of the shape in one precision on one device; by letter, 5 shots."""
    language_models()
    from core.checks.rows.bank_prompts import prompts_for, repeated
    from core.checks.rows.path_differences import one_by_one, path_differences, picked

    engine = random_engine(place)
    prompts = prompts_for("letters", 5, questions=COMPARED)
    rows = picked(engine, prompts)
    paths = list(path_differences(engine, rows, truth=one_by_one(engine, rows)))
    figures: dict[str, Figure] = {f"{path.path}, largest difference": path.difference for path in paths}
    if wrong := [path.in_words for path in paths if path.wrong]:
        return CheckOutcome(False, f"Wrong on {engine.device}: {'; '.join(wrong)}.", figures)
    speed = throughput(engine, repeated(prompts, ASKED[place.device]))
    return CheckOutcome(True, _speed_in_words(engine, speed), figures | speed)


def random_engine(place: Place) -> TransformersEngine:
    """The engine of the shape of a device, with random weights from a fixed seed."""
    import torch

    from core.models.model_loading import load_model
    from core.models.tokenizers import load_tokenizer
    from core.models.transformers_engine import TransformersEngine

    source = resolve(TOKENIZER)
    tokenizer = load_tokenizer(source, source)
    quantised = place.dtype in QUANTIZED
    model = _random_model(place.device, torch.bfloat16 if quantised else getattr(torch, place.dtype))
    if quantised:
        with TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            del model
            torch.cuda.empty_cache()
            model, tokenizer = load_model(ModelSource("random", str(Path(folder)), is_hub=False), dtype=place.dtype)
    return TransformersEngine(model, tokenizer, name="random weights", dtype=place.dtype)


def _random_model(device: str, dtype: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = SHAPES[device]
    config = LlamaConfig(
        vocab_size=WORDS,
        num_key_value_heads=sizes["num_attention_heads"] // KEY_VALUE_SHARE,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
        dtype=dtype,
        **sizes,
    )
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            return LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)


def throughput(engine: TransformersEngine, prompts: list[Any]) -> dict[str, Figure]:
    """Questions and tokens per second of a scoring after one that warms up, and the operations that they take.

    A token takes two operations for each weight that it passes, all but the embeddings and the output matrix, which
    only the last token of a question passes (2 · words · size).
    """
    import torch

    engine.prepare(prompts)
    engine.self_check(prompts)
    for _ in engine.score(prompts[: max(1, len(prompts) // 8)]):
        pass
    shared = len(engine.prefix or ()) if engine.climb and engine.climb.rung.shares else 0
    rows = engine.encoder.rows(prompts)
    _synchronise(engine.device)
    begun = time.perf_counter()
    scored = sum(len(batch.ids) for batch in engine.score(prompts))
    _synchronise(engine.device)
    seconds = time.perf_counter() - begun
    tokens = sum(len(row.context) - shared for row in rows)
    head = WORDS * int(engine.model.config.hidden_size)
    inner = sum(p.numel() for name, p in engine.model.named_parameters() if ".layers." in name)
    if engine.dtype == "int4":  # two numbers in a byte
        inner *= 2
    tflops = (2 * inner * tokens + 2 * head * scored) / seconds / 1e12
    figures: dict[str, Figure] = {
        "parameters in layers, million": inner / 1e6,
        "questions per second": scored / seconds,
        "tokens per second": tokens / seconds,
        "tokens read without the shared beginning, per question": tokens / scored,
        "10^12 operations per second": tflops,
    }
    if engine.device == "cuda":
        from core.checks.rows.peaks import peak_tflops

        if peak := peak_tflops(torch.cuda.get_device_name(), engine.dtype):
            figures |= {"peak, 10^12 operations per second": peak, "share of the peak": tflops / peak}
    return figures


def _synchronise(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def _speed_in_words(engine: TransformersEngine, speed: dict[str, Figure]) -> str:
    rung = engine.climb.rung.name if engine.climb else "one by one"
    share = f", {float(speed['share of the peak']):.0%} of the peak" if "share of the peak" in speed else ""
    return (
        f"{float(speed['parameters in layers, million']):,.0f} million parameters in the layers: "
        f"{float(speed['questions per second']):,.1f} questions and {float(speed['tokens per second']):,.0f} tokens "
        f"per second by {rung}, {_operations(float(speed['10^12 operations per second']))}{share}."
    )


def _operations(tflops: float) -> str:
    return f"{tflops:,.0f} TFLOP/s" if tflops >= 10 else f"{tflops * 1000:,.0f} GFLOP/s"
