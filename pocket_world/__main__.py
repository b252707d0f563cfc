"""``python -m pocket_world COMMAND``: the bank, the models, what they answer, and who judges it."""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import HedgeError
from core.settings import ASSETS
from pocket_world import bank

if TYPE_CHECKING:
    from pocket_world.recipes import Recipe


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit status 0, 1 for a failed check or run, 2 for unusable arguments."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options = _parser().parse_args(arguments)
    try:
        return {
            "bank": _bank,
            "make": _make,
            "status": _status,
            "known": _known,
            "publish": _publish,
            "check": _check,
            "record": _record,
            "trivia": _trivia,
            "answer": _answer,
            "juror": _juror,
            "jury": _jury,
            "ship": _ship,
            "report": _report,
            "compare": _compare,
        }[options.command](options)
    except HedgeError as error:
        print(error, file=sys.stderr)
        return error.exit_status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pocket_world")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("bank", help="write assets/bank/*.jsonl")
    made = commands.add_parser("make", help="make all pocket models, or go on where making them stopped")
    made.add_argument("--model", help="this one and those that it grows from (default: all)")
    made.add_argument("--minutes", type=float, help="stop after so many, with the state saved")
    made.add_argument(
        "--eager", action="store_true", help="compile nothing: slower steps, and no wait before the first ones"
    )
    made.add_argument(
        "--threads",
        type=_positive,
        default=1,
        help="processor cores (default: 1; more are faster only with nothing beside)",
    )
    made.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to train (default: cpu)")
    made.add_argument(
        "--workers", type=_positive, default=0, help="processes that make the text ahead; a GPU needs about 4"
    )
    commands.add_parser("status", help="say how far each model is")
    known = commands.add_parser(
        "known", help="say what a model in training, or a shipped one, knows of questions before it says a letter"
    )
    known.add_argument("--model", default="pocket-8m")
    publish = commands.add_parser("publish", help="put a whole model into assets/models, with its card")
    publish.add_argument("--model", default="pocket-1m")
    check = commands.add_parser("check", help="look for bank questions in the training text")
    check.add_argument("--model", default="pocket-1m")
    check.add_argument("--every", type=_positive, default=1, help="read only every N-th step (default: all)")
    recorded = commands.add_parser(
        "record", help="execute the recorded runs anew into assets/runs, with their figures in the card"
    )
    recorded.add_argument("--model", default="pocket-1m")
    recorded.add_argument("--task", nargs="+", default=list(bank.BANK_TASKS))
    commands.add_parser("trivia", help="write assets/trivia/questions.jsonl, short-answer questions with aliases")
    answer = commands.add_parser("answer", help="let a pocket model answer the short-answer questions freely")
    answer.add_argument("--model", default="pocket-8m")
    juror = commands.add_parser("juror", help="tune a juror to say True or False, into assets/adapters")
    juror.add_argument("--juror", default="juror-3m")
    jury = commands.add_parser("jury", help="make the juries that ship, into assets/juries")
    jury.add_argument(
        "--base", choices=("pocket-3m-instruct", "pocket-8m"), help="only the one on this model's answers"
    )
    ship = commands.add_parser("ship", help="make everything that depends on the trained models, from publish to jury")
    ship.add_argument("--from", dest="first", metavar="STEP", default="models", help="the step to begin with")
    commands.add_parser("report", help="print all figures that pages and RESULTS quote, computed anew from what ships")
    compare = commands.add_parser("compare", help="set a model that was trained again beside the one that ships")
    compare.add_argument("--model", default="pocket-1m", help="the one that ships")
    compare.add_argument("folder", type=Path, help="the one that was trained again, as HEDGE_HOME/pocket/NAME/model")
    return parser


def _positive(text: str) -> int:
    """A whole number of at least 1, from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _bank(_: argparse.Namespace) -> int:
    for task in bank.BANK_TASKS:
        made = bank.make(task)
        bank.write(made, bank.path_of(task))
        print(f"{len(made)} questions in {bank.path_of(task)}")
    return 0


def _make(options: argparse.Namespace) -> int:
    from pocket_world.make import make, with_sources
    from pocket_world.recipes import RECIPES

    names = with_sources(options.model) if options.model else list(RECIPES)
    compiled = not options.eager and shutil.which("g++") is not None
    whole = make(
        names,
        minutes=options.minutes,
        compiled=compiled,
        threads=options.threads,
        device=options.device,
        workers=options.workers,
    )
    print("all is made" if whole else "stopped; the same command goes on")
    return 0


def _status(_: argparse.Namespace) -> int:
    from pocket_world.make import standing
    from pocket_world.recipes import RECIPES

    for name in RECIPES:
        print(standing(name).line())
    return 0


def _known(options: argparse.Namespace) -> int:
    from pocket_world.known import table
    from pocket_world.make import work_folder
    from pocket_world.recipes import recipe

    chosen = recipe(options.model)
    print(table(chosen, work=work_folder(chosen.name), published=_published(chosen)))
    return 0


def _publish(options: argparse.Namespace) -> int:
    from pocket_world.make import publish_made
    from pocket_world.recipes import recipe

    print(publish_made(recipe(options.model).name))
    return 0


def _published(recipe: Recipe) -> Path:
    """Where a model is put."""
    return ASSETS / "models" / recipe.name


def _check(options: argparse.Namespace) -> int:
    from core.models.perplexity import conversations
    from pocket_world.audit import audit
    from pocket_world.contamination import Guard
    from pocket_world.curriculum import all_documents
    from pocket_world.make import work_folder
    from pocket_world.recipes import recipe
    from pocket_world.stream import Stream
    from pocket_world.tokens import one_token_words, published_tokenizer

    questions, talks = bank.questions(), conversations.bundled()
    chosen = recipe(options.model)
    stream = Stream(Guard.of(questions, talks), tasks=chosen.tasks, chat=chosen.chat)
    work = work_folder(chosen.name) / "tokenizer"
    values = one_token_words(published_tokenizer(work if work.is_dir() else _published(chosen)))
    documents = all_documents(stream, chosen, values=values, every=options.every)
    found = audit(documents, questions, talks)
    print(
        f"{found.documents:,} documents of {found.words:,} words against {len(questions):,} bank questions: "
        f"{found.questions_found} question texts and {found.runs_found} runs of 13 words found, "
        f"and {found.echoes_found} runs of 8 words of the {len(talks)} conversations"
    )
    return 0 if found.clean else 1


def _trivia(_: argparse.Namespace) -> int:
    from pocket_world import trivia

    made = trivia.make()
    trivia.write(made)
    print(f"{len(made)} questions in {trivia.PATH}")
    return 0


def _answer(options: argparse.Namespace) -> int:
    from pocket_world import answers

    path = answers.path_of(options.model)
    made = answers.answer(options.model)
    answers.write(made, path)
    print(f"{sum(one.correct for one in made)} of {len(made)} answers are right; all are in {path}")
    return 0


def _juror(options: argparse.Namespace) -> int:
    from pocket_world.jurors import juror_recipe, publish_juror

    print(publish_juror(juror_recipe(options.juror), ASSETS / "adapters" / options.juror))
    return 0


def _jury(options: argparse.Namespace) -> int:
    from pocket_world import jury

    for base in [options.base] if options.base else jury.SPECS:
        print(jury.make(jury.SPECS[base]))
    return 0


def _ship(options: argparse.Namespace) -> int:
    from pocket_world.ship import ship

    ship(options.first)
    return 0


def _report(_: argparse.Namespace) -> int:
    from pocket_world.figures import figures

    print(figures(), end="")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from pocket_world.compare import compared, figures_of
    from pocket_world.recipes import recipe

    chosen, questions = recipe(options.model), bank.questions()
    both = [figures_of(folder, questions, chat=chosen.chat) for folder in (_published(chosen), options.folder)]
    print(compared(*both))
    return 0


def _record(options: argparse.Namespace) -> int:
    from pocket_world.recipes import recipe
    from pocket_world.record import leave_out, record
    from pocket_world.results import add_results

    print("\n".join(record(options.model, tasks=options.task)))
    for name in leave_out(options.model):
        print(f"{name} is left out")
    add_results(options.model, _published(recipe(options.model)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
