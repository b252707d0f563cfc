"""The grammar of ``hedge jury``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hedge.commands.grammar.parsers import dtype_argument, group, inner, out_folder, queue_argument
from hedge.commands.grammar.servers import ON_SERVER, key_argument, terms_arguments, timeout_argument

QLORA_HELP = "the precision; int4 is QLoRA, on an NVIDIA GPU"


def jury(made: argparse.ArgumentParser) -> None:
    """``jury`` with its commands."""
    verbs = group(made, "of_jury")
    _judged_verbs(verbs)
    inner(verbs, "list", "jury:show", "list all juries", "jury list")
    _making_verbs(verbs)


def _judged_verbs(verbs: Any) -> None:
    from core.exchange.writing import ONE_TABLE
    from core.jury.adjudication import RULES
    from core.jury.confidence import CONFIDENCES
    from core.jury.experiment import PROTOCOLS

    made = inner(
        verbs,
        "evaluate",
        "jury:evaluate",
        "evaluate rules on splits of a jury's judgements",
        "jury evaluate --judgements judgements.csv --seeds 0-9",
    )
    _judged_arguments(made)
    made.add_argument(
        "--protocol", choices=tuple(PROTOCOLS), help="named settings; other options override them; none if not given"
    )
    made.add_argument("--seeds", default="0-9", help="one split for each seed: 0-9, or 1,5,7")
    made.add_argument(
        "--calibration-share",
        type=float,
        help="the share in (0, 1) of the answers that calibrates; that of the protocol if not given",
    )
    made.add_argument(
        "--confidence",
        choices=tuple(CONFIDENCES),
        help="how a juror's confidence in its verdict is computed; as in the protocol if not given",
    )
    made.add_argument(
        "--all-answers", action="store_true", help="use all answers, including those on which the jurors agree"
    )
    made.add_argument(
        "--rule", nargs="+", choices=tuple(RULES), help="rules to evaluate; those of the protocol if not given"
    )
    made = inner(
        verbs,
        "agreement",
        "jury:agree",
        "how much jurors agree, and how often unanimous verdicts are right",
        "jury agreement --judgements judgements.csv",
    )
    _judged_arguments(made)
    made = inner(
        verbs,
        "import",
        "jury:bring_in",
        "read judgements and keep them as a jury",
        "jury import --judgements a.txt b.txt --labels labels.csv --name 'Three jurors'",
    )
    _judged_arguments(made)
    made.add_argument("--name", default="", help="the jury's name; its jurors' names if not given")
    made = inner(
        verbs,
        "export",
        "jury:export",
        "export a jury as one table, with a row for each answer and juror",
        "jury export --judgements judgements.csv --format parquet --out tables",
    )
    _judged_arguments(made)
    made.add_argument("--format", choices=tuple(ONE_TABLE), default="csv", help="the kind of file")
    out_folder(made)


def _judged_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--judgements", nargs="+", required=True, metavar="FILE", help="files, or a jury from `list`")
    made.add_argument("--labels", type=Path, help="a table with question and label, if the judgements are text files")
    made.add_argument(
        "--pairwise",
        action="store_true",
        help="True means that the first of two answers is better, not that it is right",
    )


def _making_verbs(verbs: Any) -> None:
    made = inner(
        verbs,
        "answer",
        "making:answer",
        "let a base model answer short-answer questions",
        "jury answer --model pocket-3m --samples 200 --out answers.jsonl",
    )
    made.add_argument("--model", required=True, help=f"a bundled name, a folder, a hub id, or {ON_SERVER}")
    key_argument(made)
    timeout_argument(made)
    _asked_arguments(made)
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines: id, question, answer, label")
    made = inner(
        verbs,
        "finetune",
        "making:finetune",
        "tune a juror on answers, or continue its tuning",
        "jury finetune --model pocket-3m --answers answers.jsonl --out juror",
    )
    made.add_argument("--model", required=True, help="the model under the adapter")
    _answers_argument(made)
    out_folder(made, "the adapter's folder")
    _tuning_arguments(made)
    made = inner(
        verbs,
        "judge",
        "making:judge",
        "let jurors judge answers, and keep their judgements",
        "jury judge --juror juror-a juror-b --answers answers.jsonl",
    )
    made.add_argument(
        "--juror", nargs="+", required=True, metavar="MODEL", help=f"two or more adapters or models, or {ON_SERVER}"
    )
    key_argument(made)
    timeout_argument(made)
    _answers_argument(made)
    dtype_argument(made)
    made.add_argument("--name", default="", help="the jury's name; its jurors' names if not given")
    made = inner(
        verbs,
        "make",
        "making:make",
        "all stages in one: answer, tune jurors, judge, keep",
        "jury make --base pocket-3m --juror pocket-1m pocket-8m --samples 400",
    )
    made.add_argument("--base", required=True, help=f"the model that answers; or {ON_SERVER}")
    made.add_argument(
        "--juror",
        nargs="+",
        required=True,
        metavar="MODEL",
        help=f"models to tune, tuned adapters, or {ON_SERVER}, which judges as it is",
    )
    terms_arguments(made)
    _asked_arguments(made)
    _tuning_arguments(made, alone=False)
    made.add_argument("--tune-share", type=float, default=0.5, help="the share in (0, 1) of the answers that tunes")
    made.add_argument(
        "--calibration-share", type=float, default=0.5, help="the share of the other answers that calibrates"
    )
    queue_argument(made)


def _answers_argument(made: argparse.ArgumentParser) -> None:
    made.add_argument("--answers", type=Path, required=True, metavar="FILE", help="id, question, answer, label")


def _asked_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--questions", default="trivia", help="trivia, trivia_qa@hub, or a file in TriviaQA's shape")
    made.add_argument("--samples", type=int, help="the maximum number of questions; all questions if not given")
    made.add_argument("--seed", type=int, default=0, help="draws the questions")
    dtype_argument(made, QLORA_HELP)


def _tuning_arguments(made: argparse.ArgumentParser, *, alone: bool = True) -> None:
    made.add_argument("--steps", type=int, default=300, help="steps of the optimiser")
    made.add_argument("--rows", type=int, default=32, help="judgements per step")
    made.add_argument("--rank", type=int, default=8, help="the rank of the adapter's matrices")
    made.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    if alone:
        made.add_argument("--seed", type=int, default=0, help="draws the judgements of each step")
        dtype_argument(made, QLORA_HELP)
