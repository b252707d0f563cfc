"""The grammar of the commands about single tokens and words: ``perplexity``, ``tokens`` and ``train-adapter``."""

from __future__ import annotations

import argparse
from pathlib import Path

from hedge.commands.grammar.parsers import (
    alpha_argument,
    command,
    dtype_argument,
    group,
    inner,
    out_folder,
    queue_argument,
    runs_argument,
)
from hedge.commands.grammar.servers import ON_SERVER, key_argument, server_arguments, timeout_argument

TEXTS_HELP = (
    "trivia, bank, conversations; alpaca, alpaca_gpt4, code_alpaca, dolly, oasst1, gpteacher from the hub; or a file"
)


def perplexity(made: argparse.ArgumentParser) -> None:
    """``perplexity`` with its commands."""
    from core.models.perplexity.layout import MODES
    from core.models.perplexity.prompts import SHIPPED
    from core.models.perplexity.windows import EXCHANGES
    from core.reports.perplexity import RULES
    from hedge.commands.perplexity import BUNDLED, EVERY

    kinds = group(made, "kind")
    made = inner(
        kinds,
        "run",
        "perplexity:run",
        "score the counselor's words, here or (--queue) in a background worker",
        "perplexity run --model pocket-3m-instruct --prompt fitting neutral",
    )
    made.add_argument("--model", nargs="+", required=True, help="bundled names, folders or hub ids")
    made.add_argument("--prompt", nargs="+", default=list(SHIPPED), help="names of system prompts, or files with one")
    made.add_argument(
        "--conversation", nargs="*", default=[BUNDLED], help=f"{BUNDLED}, or files (text, or JSON lines with roles)"
    )
    made.add_argument(
        "--choices", help=f"{BUNDLED}, or a file of contexts and endings (CSV or JSON lines); no choices if not given"
    )
    made.add_argument("--mode", default="standard", choices=MODES, help="where the system prompt stands")
    made.add_argument(
        "--exchanges", default=str(EXCHANGES), help=f"how many exchanges stand before each message, or {EVERY}"
    )
    dtype_argument(made)
    server_arguments(made)
    queue_argument(made)
    made = inner(
        kinds,
        "report",
        "perplexity:report",
        "perplexities, differences between prompts, and choices, for finished runs",
        "perplexity report pocket-3m-instruct-perplexity",
    )
    runs_argument(made)
    alpha_argument(made, "for sets over the endings of choices")
    made.add_argument("--rule", default="mean", choices=tuple(RULES), help="by which an ending is chosen")
    made = inner(
        kinds,
        "endings",
        "perplexity:endings",
        "let models write endings beside the real ones, for the choice benchmark",
        "perplexity endings --model pocket-3m-instruct --out endings.jsonl",
    )
    made.add_argument("--model", nargs="+", required=True, help="one model writes three endings, three write one each")
    made.add_argument(
        "--conversation", nargs="+", default=[BUNDLED], help=f"{BUNDLED}, or files (text, or JSON lines with roles)"
    )
    made.add_argument("--prompt", default="fitting", help="the system prompt they write under")
    made.add_argument("--seed", type=int, default=0, help="draws the words")
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")


def tokens(made: argparse.ArgumentParser) -> None:
    """``tokens`` with its commands."""
    from core.calibration.bins import ECE_BINS

    verbs = group(made, "tokens_verb")
    made = inner(
        verbs,
        "evaluate",
        "tokens:tokens_evaluate",
        "accuracy, NLL and ECE of next tokens, or of letters",
        "tokens evaluate --model pocket-8m --data bank --num-samples 500",
    )
    _model_arguments(made)
    made.add_argument("--data", "--config", default="trivia", help=TEXTS_HELP)
    made.add_argument("--letters", action="store_true", help="--data is a task: classify over its option letters")
    made.add_argument(
        "--num-samples",
        "--num_samples",
        type=int,
        default=1000,
        help="the number of tokens (or questions) to draw, 0 for all",
    )
    made.add_argument("--n-bins", "--n_bins", type=int, default=ECE_BINS, help="the number of bins of the ECE")
    made.add_argument("--batch-size", "--batch_size", type=int, default=4, help="texts in a batch")
    made.add_argument(
        "--passes", type=int, default=0, help="the number of draws of an ARD-LoRA's latents; 0 uses their means"
    )
    made.add_argument(
        "--part", default="test", choices=("test", "all"), help="the test texts of the training, or all texts"
    )
    made.add_argument("--seed", type=int, default=0, help="the seed of the training whose test texts are used")
    made.add_argument(
        "--adapter-alpha", type=float, help="the scale times rank of a whole-model checkpoint, if --model is one"
    )
    made.add_argument(
        "--output", type=Path, help="the file for the results; evaluation_results.json beside the model if not given"
    )
    made = inner(
        verbs,
        "view",
        "tokens:tokens_view",
        "a text token by token: surprise, entropy, alternatives",
        "tokens view --model pocket-8m --text 'The capital of France is Paris.'",
    )
    _model_arguments(made)
    key_argument(made)
    timeout_argument(made)
    made.add_argument("--text", required=True, help="the text")
    made.add_argument("--output", type=Path, help="a file for the JSON; none is written if not given")


def _model_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--model",
        "--model-path",
        "--model_path",
        required=True,
        help=f"a model, an adapter's folder or a checkpoint; to view a text also {ON_SERVER}",
    )
    made.add_argument("--base-model", "--base_model", help="the model that an adapter belongs to, if that was moved")


def train_adapter(made: argparse.ArgumentParser) -> None:
    """``train-adapter``."""
    command(
        made,
        "tokens:train_adapter",
        "train-adapter --model pocket-3m --data trivia --out adapter",
        "train-adapter --model pocket-3m --kind lora --epochs 1 --out adapter",
    )
    made.add_argument("--model", required=True, help="a bundled name, a folder or a hub id")
    made.add_argument("--data", default="trivia", help=TEXTS_HELP)
    out_folder(made, "the adapter's folder")
    made.add_argument("--kind", default="ard-lora", choices=("ard-lora", "lora"), help="the kind of adapter")
    made.add_argument("--rank", type=int, default=8, help="the rank of the adapter's matrices")
    made.add_argument("--adapter-alpha", type=float, default=16.0, help="the adapter's scale is this over its rank")
    made.add_argument("--targets", nargs="+", default=["q_proj", "v_proj"], help="names of the layers that are adapted")
    made.add_argument("--epochs", type=int, default=3, help="how often the texts are gone through")
    made.add_argument("--batch-size", type=int, default=16, help="texts per step")
    made.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    made.add_argument("--kl", type=float, default=0.01, help="the weight of the KL divergence from the prior")
    made.add_argument("--warmup", type=int, default=0, help="the number of epochs over which that weight grows")
    made.add_argument(
        "--prior-share", type=float, default=0.2, help="the share in (0, 1) of the texts that fits the prior"
    )
    made.add_argument("--samples", type=int, help="the maximum number of training texts; all texts if not given")
    made.add_argument("--seed", type=int, default=0, help="draws the test texts, the order and the start")
