"""The command line: its grammar, and how commands are run.

``--json`` prints one JSON document on standard output and nothing else there; progress and errors go to standard
error. Exit status: 0, 1 for a failed run, 2 for unusable arguments.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from core import __version__
from core.calibration.bins import ECE_BINS, EDGES
from core.calibration.recalibration import METHODS
from core.commands import exchange, perplexity, prompting, reports, runs, tokens
from core.commands.answer import CommandResult
from core.commands.server_arguments import ON_SERVER, key_argument, server_arguments
from core.conformal.mondrian import BY
from core.conformal.scores import SCORE_NAMES
from core.conformal.sets import EMPTY_POLICIES
from core.conformal.threshold import THRESHOLDS
from core.errors import HedgeError, InputError
from core.exchange.table import VALUES
from core.exchange.writing import ONE_TABLE
from core.inference.models import DTYPES
from core.jury.adjudication import RULES
from core.jury.confidence import CONFIDENCES
from core.jury.experiment import PROTOCOLS
from core.prompting.strategies import STRATEGIES
from core.reports.calibration.calibrated import WITHIN
from core.reports.figure_names import FILE_KINDS, JURY_FIGURES, RUN_FIGURES
from core.reports.report import DEFAULT_SCORES
from core.runs.spec import FORMATS, FORMS, MODES

TEXTS_HELP = (
    "trivia, bank, conversations; alpaca, alpaca_gpt4, code_alpaca, dolly, oasst1, gpteacher from the hub; or a file"
)


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence and leaves the exit to :func:`main`."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; `{self.prog} --help` shows the options")


def parser() -> argparse.ArgumentParser:
    """The whole grammar."""
    top = _Parser(prog="python -m core", description="Hedge: how sure a language model really is.")
    top.add_argument("--version", action="version", version=f"Hedge {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=_Parser)
    _verb(verbs, "doctor", runs.doctor, "what this machine can run")
    _run_verb(verbs)
    _verb(verbs, "runs", runs.runs, "all runs and their states")
    for name, action, says in (
        ("cancel", runs.cancel, "stop runs; what has finished is kept"),
        ("resume", runs.resume, "continue runs that were cancelled or failed"),
    ):
        _verb(verbs, name, action, says).add_argument("run", nargs="+", metavar="RUN")
    _house_verbs(verbs)
    _report_verb(verbs)
    _compare_verb(verbs)
    _prompting_verb(verbs)
    _import_verb(verbs)
    _export_verb(verbs)
    _figure_verb(verbs)
    _jury_verbs(verbs)
    perplexity.add(verbs, _verb)
    _calibration_verb(verbs)
    _train_adapter_verb(verbs)
    _tokens_verb(verbs)
    _verb(verbs, "agent", runs.agent, "run the workers of this host until stopped")
    return top


def _verb(verbs: Any, name: str, action: Any, says: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(name, help=says, description=says)
    made.set_defaults(action=action)
    made.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    return made


def _run_verb(verbs: Any) -> None:
    made = _verb(verbs, "run", runs.run, "score models on tasks, here or (--queue) in a background worker")
    made.add_argument("--model", nargs="+", required=True, help="bundled names, folders or hub ids")
    made.add_argument(
        "--task", nargs="+", required=True, help="a name, NAME@hub, NAME@published, NAME@FILE, or a file of your own"
    )
    made.add_argument("--strategy", nargs="+", default=["base"], choices=STRATEGIES)
    made.add_argument("--dtype", nargs="+", default=["float32"], choices=DTYPES)
    made.add_argument("--shots", nargs="+", type=int, default=[0], help="demonstrations before each question")
    made.add_argument(
        "--form",
        nargs="+",
        default=["letters"],
        choices=FORMS,
        help="letters; the options' texts after “Answer:” (cloze), or right after the question (continuation)",
    )
    made.add_argument(
        "--format", nargs="+", default=["plain"], choices=FORMATS, help="the model's chat template, or not"
    )
    made.add_argument(
        "--rotations", action="store_true", help="ask every test question in all rotations of its options"
    )
    made.add_argument(
        "--orders",
        action="store_true",
        help="ask every test question in all orders of its options; a seeded sample for more than four options",
    )
    made.add_argument("--system", default="", metavar="TEXT", help="your own system prompt")
    made.add_argument(
        "--repeats",
        type=int,
        default=0,
        metavar="N",
        help="also let the model write N sampled answers to each question",
    )
    server_arguments(made)
    made.add_argument("--batch-size", type=int, help="questions in a batch; free memory decides if this is not given")
    amount = made.add_mutually_exclusive_group()
    amount.add_argument("--mode", choices=tuple(MODES), help="; ".join(f"{k}: {v} questions" for k, v in MODES.items()))
    amount.add_argument(
        "--samples", type=int, help="the maximum number of questions; all questions if neither is given"
    )
    made.add_argument("--calibration-share", type=float, default=0.5, help="the share in (0, 1) that calibrates")
    made.add_argument("--seed", type=int, default=0, help="draws the questions and their split")
    made.add_argument("--alpha", type=float, default=0.1, help="for the report at the end")
    made.add_argument(
        "--dry-run", action="store_true", help="only show the exact prompt and count its tokens; run nothing"
    )
    made.add_argument("--queue", action="store_true", help="leave the run to this host's workers")


def _house_verbs(verbs: Any) -> None:
    for name, action, says in (
        ("first", runs.first, "move queued runs to the front, in the order given"),
        ("delete", runs.delete, "move runs to the bin, which keeps them for a week"),
        ("restore", runs.restore, "restore deleted runs from the bin"),
    ):
        _verb(verbs, name, action, says).add_argument("run", nargs="+", metavar="RUN")
    made = _verb(verbs, "bin", runs.show_bin, "list the bin, and the disk space that it takes")
    made.add_argument("--empty", action="store_true", help="delete everything in it for good")


def _report_verb(verbs: Any) -> None:
    made = _verb(verbs, "report", reports.report, "accuracy, coverage and set size at alpha")
    made.add_argument("run", nargs="+", metavar="RUN", help="run ids, or their beginnings")
    made.add_argument("--alpha", type=float, default=0.1)
    made.add_argument("--score", nargs="+", default=list(DEFAULT_SCORES), choices=SCORE_NAMES)
    made.add_argument("--threshold", default="exact", choices=tuple(THRESHOLDS))
    made.add_argument("--empty", default="allow", choices=EMPTY_POLICIES)
    made.add_argument("--by", default="all", choices=BY, help="one threshold for all, for each subject, or each letter")
    made.add_argument(
        "--n-calibration", type=int, metavar="N", help="calibrate on this many questions (at least 5), chosen by seed"
    )
    made.add_argument("--split-seed", type=int, metavar="S", help="draw another split into calibration and test")
    made.add_argument(
        "--drop-extra", action="store_true", help="leave out E and F, and rescale the other probabilities to sum to 1"
    )


def _prompting_verb(verbs: Any) -> None:
    says = "compare ways of asking: by letter and by text, by shots"
    made = _verb(verbs, "prompting", prompting.compare_ways, says)
    made.add_argument(
        "run", nargs="*", metavar="RUN", help="run ids, or their beginnings; all finished runs if none is given"
    )
    made.add_argument("--alpha", type=float, default=0.1)
    made.add_argument("--score", default="lac", choices=SCORE_NAMES)
    made.add_argument("--out", type=Path, metavar="FILE.xlsx", help="write the table as a workbook")


def _sets_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", nargs="+", metavar="RUN", help="run ids, or their beginnings")
    made.add_argument("--alpha", type=float, default=0.1)
    made.add_argument("--score", nargs="+", default=list(DEFAULT_SCORES), choices=SCORE_NAMES)
    made.add_argument("--threshold", default="exact", choices=tuple(THRESHOLDS))
    made.add_argument("--empty", default="allow", choices=EMPTY_POLICIES)


def _compare_verb(verbs: Any) -> None:
    says = "compare runs: figures, paired tests and published claims; sets by the first score"
    _sets_arguments(_verb(verbs, "compare", reports.compare, says))


def _export_verb(verbs: Any) -> None:
    made = _verb(verbs, "export", exchange.export, "export runs: tables, charts, or a report that needs no network")
    _sets_arguments(made)
    made.add_argument("--format", required=True, choices=tuple(exchange.EXPORTS))
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder; it is created if it is missing")


def _figure_verb(verbs: Any) -> None:
    says = "draw one figure for a paper or a slide, with its caption and provenance"
    made = _verb(verbs, "figure", exchange.figure, says)
    names = (*RUN_FIGURES, *JURY_FIGURES)
    made.add_argument("figure", metavar="FIGURE", choices=names, help=", ".join(names))
    _sets_arguments(made)
    made.add_argument("--format", nargs="+", default=list(FILE_KINDS), choices=(*FILE_KINDS, "html"))
    made.add_argument(
        "--width", default="single", metavar="WIDTH", help="single (3.25 in), double (6.75 in), slide (16:9), or inches"
    )
    made.add_argument("--font", default="sans", metavar="FONT", help="sans, serif, or the name of the paper's font")
    made.add_argument("--theme", default="light", choices=("light", "dark"))
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder; it is created if it is missing")


def _import_verb(verbs: Any) -> None:
    made = _verb(verbs, "import", exchange.import_results, "import results of other tools, juries and Hedge's own runs")
    made.add_argument(
        "path", nargs="+", type=Path, help="files, folders and archives; what each is is found from its content"
    )
    made.add_argument("--labels", type=Path, help="a folder with the answers, if they are not among the paths")
    made.add_argument("--model", default="", help="the model of files that do not say it")
    made.add_argument("--task", default="", help="the task of files that do not say it")
    of_table = made.add_argument_group("for tables whose column names do not say this")
    of_table.add_argument("--options", nargs="+", metavar="COLUMN", help="the options' columns, in their order")
    of_table.add_argument("--label", metavar="COLUMN", help="the column with the right option")
    of_table.add_argument("--values", choices=VALUES, help="what the options' values are; recognised if not given")
    of_table.add_argument("--mapping", type=Path, help="all of this as a JSON file, as the Data page saves it")


def _jury_verbs(verbs: Any) -> None:
    says = "juries: several judges of the same answers, rules that combine their verdicts, agreement, import and export"
    top = verbs.add_parser("jury", help=says, description=says)
    asked = top.add_subparsers(dest="of_jury", required=True, metavar="COMMAND", parser_class=_Parser)
    made = _judged_verb(asked, "evaluate", _of_jury("evaluate"), "evaluate rules on splits of a jury's judgements")
    made.add_argument("--protocol", choices=tuple(PROTOCOLS), help="named settings; other options override them")
    made.add_argument("--seeds", default="0-9", help="one split for each seed: 0-9, or 1,5,7")
    made.add_argument("--calibration-share", type=float, help="the share in (0, 1) of the answers that calibrates")
    made.add_argument(
        "--confidence", choices=tuple(CONFIDENCES), help="how a juror's confidence in its verdict is computed"
    )
    made.add_argument(
        "--all-answers", action="store_true", help="use all answers, including those on which the jurors agree"
    )
    made.add_argument(
        "--rule", nargs="+", choices=tuple(RULES), help="rules to evaluate; those of the protocol if not given"
    )
    _judged_verb(
        asked, "agreement", _of_jury("agree"), "how much jurors agree, and how often unanimous verdicts are right"
    )
    made = _judged_verb(asked, "import", _of_jury("bring_in"), "read judgements and keep them as a jury")
    made.add_argument("--name", default="", help="the jury's name; its jurors' names if not given")
    made = _judged_verb(
        asked, "export", _of_jury("export"), "export a jury as one table, with a row for each answer and juror"
    )
    made.add_argument("--format", choices=tuple(ONE_TABLE), default="csv")
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder; it is created if it is missing")
    _verb(asked, "list", _of_jury("show"), "list all juries")
    _making_verbs(asked)


def _making_verbs(verbs: Any) -> None:
    made = _verb(verbs, "answer", _of_jury("answer", "making"), "let a base model answer short-answer questions")
    made.add_argument("--model", required=True, help=f"a bundled name, a folder, a hub id, or {ON_SERVER}")
    key_argument(made)
    _asked_arguments(made)
    made.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines: id, question, answer, label")
    made = _verb(verbs, "finetune", _of_jury("finetune", "making"), "tune a juror on answers, or continue its tuning")
    made.add_argument("--model", required=True, help="the model under the adapter")
    made.add_argument("--answers", type=Path, required=True, metavar="FILE", help="id, question, answer, label")
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="the adapter's folder")
    _tuning_arguments(made)
    made = _verb(verbs, "judge", _of_jury("judge", "making"), "let jurors judge answers, and keep their judgements")
    made.add_argument(
        "--juror", nargs="+", required=True, metavar="MODEL", help=f"adapters or models, two or more; or {ON_SERVER}"
    )
    key_argument(made)
    made.add_argument("--answers", type=Path, required=True, metavar="FILE", help="id, question, answer, label")
    made.add_argument("--dtype", default="float32", choices=DTYPES)
    made.add_argument("--name", default="", help="the jury's name; its jurors' names if not given")
    made = _verb(verbs, "make", _of_jury("make", "making"), "all stages in one: answer, tune jurors, judge, keep")
    made.add_argument("--base", required=True, help=f"the model that answers; or {ON_SERVER}")
    made.add_argument(
        "--juror",
        nargs="+",
        required=True,
        metavar="MODEL",
        help=f"models to tune, tuned adapters, or {ON_SERVER}, which judges as it is",
    )
    key_argument(made)
    _asked_arguments(made)
    _tuning_arguments(made, alone=False)
    made.add_argument("--tune-share", type=float, default=0.5, help="the share in (0, 1) of the answers that tunes")
    made.add_argument(
        "--calibration-share", type=float, default=0.5, help="the share of the other answers that calibrates"
    )
    made.add_argument("--queue", action="store_true", help="leave the run to this host's workers")


def _asked_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--questions", default="trivia", help="trivia, trivia_qa@hub, or a file in TriviaQA's shape")
    made.add_argument("--samples", type=int, help="the maximum number of questions; all questions if not given")
    made.add_argument("--seed", type=int, default=0, help="draws the questions")
    made.add_argument("--dtype", default="float32", choices=DTYPES, help="int4: QLoRA, on an NVIDIA GPU")


def _tuning_arguments(made: argparse.ArgumentParser, *, alone: bool = True) -> None:
    made.add_argument("--steps", type=int, default=300)
    made.add_argument("--rows", type=int, default=32, help="judgements per step")
    made.add_argument("--rank", type=int, default=8, help="the rank of the adapter's matrices")
    made.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    if alone:
        made.add_argument("--seed", type=int, default=0, help="draws the judgements of each step")
        made.add_argument("--dtype", default="float32", choices=DTYPES, help="int4: QLoRA, on an NVIDIA GPU")


def _of_jury(name: str, room: str = "jury") -> Any:
    """A command of a module of core, which is only loaded when it is wanted."""

    def act(arguments: argparse.Namespace) -> CommandResult:
        answer: CommandResult = getattr(importlib.import_module(f"core.commands.{room}"), name)(arguments)
        return answer

    return act


def _judged_verb(verbs: Any, name: str, action: Any, says: str) -> argparse.ArgumentParser:
    made = _verb(verbs, name, action, says)
    made.add_argument("--judgements", nargs="+", required=True, metavar="FILE", help="files, or a jury from `list`")
    made.add_argument("--labels", type=Path, help="a table with question and label, for text files")
    made.add_argument(
        "--pairwise",
        action="store_true",
        help="True means that the first of two answers is better, not that it is right",
    )
    return made


def _calibration_verb(verbs: Any) -> None:
    says = "how far a run's confidence can be trusted: errors with intervals, reliability, recalibration"
    made = _verb(verbs, "calibration", tokens.calibration, says)
    made.add_argument("run", nargs="+", metavar="RUN", help="run ids, or their beginnings")
    made.add_argument("--bins", type=int, default=ECE_BINS)
    made.add_argument("--edges", default="width", choices=EDGES, help="bins of equal width, or of equal mass")
    made.add_argument(
        "--within", default="all", choices=WITHIN, help="all together, each subject, or each chosen letter"
    )
    made.add_argument(
        "--recalibrate",
        nargs="*",
        choices=tuple(METHODS),
        help="before and after these recalibrations; all of them if none is named",
    )
    made.add_argument("--alpha", type=float, default=0.1, help="alpha for the sets before and after")


def _train_adapter_verb(verbs: Any) -> None:
    says = "train an ARD-LoRA or LoRA adapter of a model; the same --out continues where it stopped"
    made = _verb(verbs, "train-adapter", tokens.train_adapter, says)
    made.add_argument("--model", required=True, help="a bundled name, a folder or a hub id")
    made.add_argument("--data", default="trivia", help=TEXTS_HELP)
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="the adapter's folder")
    made.add_argument("--kind", default="ard-lora", choices=("ard-lora", "lora"))
    made.add_argument("--rank", type=int, default=8)
    made.add_argument("--adapter-alpha", type=float, default=16.0, help="the adapter's scale is this over its rank")
    made.add_argument("--targets", nargs="+", default=["q_proj", "v_proj"], help="names of the layers that are adapted")
    made.add_argument("--epochs", type=int, default=3)
    made.add_argument("--batch-size", type=int, default=16, help="texts per step")
    made.add_argument("--rate", type=float, default=2e-3)
    made.add_argument("--kl", type=float, default=0.01, help="the weight of the KL divergence from the prior")
    made.add_argument("--warmup", type=int, default=0, help="the number of epochs over which that weight grows")
    made.add_argument(
        "--prior-share", type=float, default=0.2, help="the share in (0, 1) of the texts that fits the prior"
    )
    made.add_argument("--samples", type=int, help="the maximum number of training texts")
    made.add_argument("--seed", type=int, default=0, help="draws the test texts, the order and the start")


def _tokens_verb(verbs: Any) -> None:
    group = verbs.add_parser(
        "tokens", help="the uncertainty of single tokens", description="The uncertainty of single tokens."
    )
    inner = group.add_subparsers(dest="tokens_verb", required=True, metavar="COMMAND", parser_class=_Parser)
    made = _verb(inner, "evaluate", tokens.tokens_evaluate, "accuracy, NLL and ECE of next tokens, or of letters")
    _tokens_model(made)
    made.add_argument("--data", "--config", default="trivia", help=TEXTS_HELP)
    made.add_argument("--letters", action="store_true", help="--data is a task: classify over its option letters")
    made.add_argument(
        "--num-samples",
        "--num_samples",
        type=int,
        default=1000,
        help="the number of tokens (or questions) to draw, 0 for all",
    )
    made.add_argument("--n-bins", "--n_bins", type=int, default=ECE_BINS)
    made.add_argument("--batch-size", "--batch_size", type=int, default=4)
    made.add_argument(
        "--passes", type=int, default=0, help="the number of draws of an ARD-LoRA's latents; 0 uses their means"
    )
    made.add_argument(
        "--part", default="test", choices=("test", "all"), help="the seed of the training whose test texts are used"
    )
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--adapter-alpha", type=float, help="the scale times rank of a whole-model checkpoint")
    made.add_argument(
        "--output", type=Path, help="the file for the results; evaluation_results.json beside the model if not given"
    )
    made = _verb(inner, "view", tokens.tokens_view, "a text token by token: surprise, entropy, alternatives")
    _tokens_model(made)
    made.add_argument("--text", required=True)
    key_argument(made)
    made.add_argument("--output", type=Path, help="a file for the JSON")


def _tokens_model(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--model",
        "--model-path",
        "--model_path",
        required=True,
        help=f"a model, an adapter's folder or a checkpoint; to view, also {ON_SERVER}",
    )
    made.add_argument("--base-model", "--base_model", help="the model that an adapter belongs to, if that was moved")


def main(argv: Sequence[str] | None = None) -> int:
    """Do what ``argv`` says; returns the exit status."""
    try:
        arguments = parser().parse_args(argv)
        answer = arguments.action(arguments)
    except HedgeError as error:
        print(f"hedge: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("hedge: stopped", file=sys.stderr)
        return 1
    said = json.dumps(answer.values, indent=1, allow_nan=False) if arguments.json else answer.text
    try:
        print(said, end="\n" if said else "", flush=True)
    except BrokenPipeError:
        # Whoever reads has enough, as `head` has; what is left must not fail when Python ends either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(answer.status)
