"""The options of the commands about single tokens and words: ``perplexity``, ``tokens`` and ``train-adapter``."""

from pathlib import Path

from hedge.commands.grammar.parsers import Command, Option
from hedge.commands.grammar.shared import (
    KEY,
    MODELS,
    ON_SERVER,
    QUEUE,
    RUNS,
    alpha,
    dtype,
    out_file,
    out_folder,
    servers,
    timeout,
)

TEXTS = (
    "trivia, bank, conversations; alpaca, alpaca_gpt4, code_alpaca, dolly, oasst1, gpteacher from the hub; or a file"
)
MODEL = Option(
    "--model --model-path --model_path",
    f"a model, an adapter's folder or a checkpoint; to view a text also {ON_SERVER}",
    required=True,
)
BASE_MODEL = Option("--base-model --base_model", "the model that an adapter belongs to, if that was moved")


def _perplexity_run() -> list[Option]:
    from core.models.perplexity.layout import MODES
    from core.models.perplexity.prompts import SHIPPED
    from core.models.perplexity.windows import EXCHANGES
    from hedge.commands.perplexity import BUNDLED, EVERY

    choices = f"{BUNDLED}, or a file of contexts and endings (CSV or JSON lines); no choices if not given"
    files = f"{BUNDLED}, or files (text, or JSON lines with roles)"
    return [
        MODELS,
        Option("--prompt", "names of system prompts, or files with one", list(SHIPPED)),
        Option("--conversation", files, [BUNDLED], nargs="*"),
        Option("--choices", choices),
        Option("--mode", "where the system prompt stands", "standard", MODES),
        Option("--exchanges", f"how many exchanges stand before each message, or {EVERY}", str(EXCHANGES)),
        dtype(),
        *servers(),
        QUEUE,
    ]


def _perplexity_report() -> list[Option]:
    from core.reports.perplexity import RULES

    rule = Option("--rule", "by which an ending is chosen", "mean", RULES)
    return [RUNS, alpha("for sets over the endings of choices"), rule]


def _endings() -> list[Option]:
    from hedge.commands.perplexity import BUNDLED

    files = f"{BUNDLED}, or files (text, or JSON lines with roles)"
    return [
        Option("--model", "one model writes three endings, three write one each", nargs="+", required=True),
        Option("--conversation", files, [BUNDLED]),
        Option("--prompt", "the system prompt they write under", "fitting"),
        Option("--seed", "draws the words", 0),
        out_file("JSON lines"),
    ]


PERPLEXITY = {
    "run": Command(
        "score the counselor's words, here or (--queue) in a background worker",
        "perplexity:run",
        ["perplexity run --model pocket-3m-instruct --prompt fitting empty"],
        _perplexity_run,
    ),
    "report": Command(
        "perplexities, differences between prompts, and choices, for finished runs",
        "perplexity:report",
        ["perplexity report pocket-8m-perplexity"],
        _perplexity_report,
    ),
    "endings": Command(
        "let models write endings beside the real ones, for the choice benchmark",
        "perplexity:endings",
        ["perplexity endings --model pocket-3m-instruct --out endings.jsonl"],
        _endings,
    ),
}


def _evaluate() -> list[Option]:
    from core.calibration.bins import ECE_BINS

    samples = "the number of tokens (or questions) to draw, 0 for all"
    scale = "the scale times rank of a whole-model checkpoint, if --model is one"
    output = "the file for the results; evaluation_results.json beside the model if not given"
    return [
        MODEL,
        BASE_MODEL,
        Option("--data --config", TEXTS, "trivia"),
        Option("--letters", "--data is a task: classify over its option letters", False),
        Option("--num-samples --num_samples", samples, 1000),
        Option("--n-bins --n_bins", "the number of bins of the ECE", ECE_BINS),
        Option("--batch-size --batch_size", "texts in a batch", 4),
        Option("--passes", "the number of draws of an ARD-LoRA's latents; 0 uses their means", 0),
        Option("--part", "the test texts of the training, or all texts", "test", ("test", "all")),
        Option("--seed", "the seed of the training whose test texts are used", 0),
        Option("--adapter-alpha", scale, type=float),
        Option("--output", output, type=Path),
    ]


TOKENS = {
    "evaluate": Command(
        "accuracy, NLL and ECE of next tokens, or of letters",
        "tokens:tokens_evaluate",
        ["tokens evaluate --model pocket-8m --data bank --num-samples 100"],
        _evaluate,
    ),
    "view": Command(
        "a text token by token: surprise, entropy, alternatives",
        "tokens:tokens_view",
        ["tokens view --model pocket-8m --text 'The capital of France is Paris.'"],
        lambda: [
            MODEL,
            BASE_MODEL,
            KEY,
            timeout(),
            Option("--text", "the text", required=True),
            Option("--output", "a file for the JSON; none is written if not given", type=Path),
        ],
    ),
}

TRAIN_ADAPTER = [
    Option("--model", "a bundled name, a folder or a hub id", required=True),
    Option("--data", TEXTS, "trivia"),
    out_folder("the adapter's folder"),
    Option("--kind", "the kind of adapter", "ard-lora", ("ard-lora", "lora")),
    Option("--rank", "the rank of the adapter's matrices", 8),
    Option("--adapter-alpha", "the adapter's scale is this over its rank", 16.0),
    Option("--targets", "names of the layers that are adapted", ["q_proj", "v_proj"]),
    Option("--epochs", "how often the texts are gone through", 3),
    Option("--batch-size", "texts per step", 16),
    Option("--rate", "the highest learning rate", 2e-3),
    Option("--kl", "the weight of the KL divergence from the prior", 0.01),
    Option("--warmup", "the number of epochs over which that weight grows", 0),
    Option("--prior-share", "the share in (0, 1) of the texts that fits the prior", 0.2),
    Option("--samples", "the maximum number of training texts; all texts if not given", type=int),
    Option("--seed", "draws the test texts, the order and the start", 0),
]
