"""``python -m pocket_world bank | train | publish | check | record | trivia | answer | juror | jury``.

The bank, the models, what they answer, and who judges it.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import HedgeError, InputError
from core.settings import ASSETS, settings
from pocket_world import bank

if TYPE_CHECKING:
    from pocket_world.recipes import Recipe
    from pocket_world.train import Trainer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit status 0, 1 for a failed check or run, 2 for unusable arguments."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options = _parser().parse_args(arguments)
    try:
        return {
            "bank": _bank,
            "train": _train,
            "publish": _publish,
            "check": _check,
            "record": _record,
            "trivia": _trivia,
            "answer": _answer,
            "juror": _juror,
            "jury": _jury,
        }[options.command](options)
    except HedgeError as error:
        print(error, file=sys.stderr)
        return error.exit_status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pocket_world")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("bank", help="write assets/bank/*.jsonl")
    train = commands.add_parser("train", help="train a pocket model, or go on where it stopped")
    train.add_argument("--model", default="pocket-1m")
    train.add_argument(
        "--threads", type=_positive, default=1, help="processor cores (default: 1; two are rarely faster)"
    )
    publish = commands.add_parser("publish", help="put a training's last checkpoint into assets/models, with its card")
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
    jury.add_argument("--base", choices=("pocket-1m", "pocket-8m"), help="only the one on this model's answers")
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


def _train(options: argparse.Namespace) -> int:
    import torch

    torch.set_num_threads(options.threads)
    _trainer(options.model, compiled=shutil.which("g++") is not None).run()
    return 0


def _publish(options: argparse.Namespace) -> int:
    trainer = _trainer(options.model)
    if not trainer.progress.curve:
        raise InputError(f"{options.model} has no checkpoint in {trainer.folder}; train it first")
    trainer.publish()
    print(trainer.target)
    return 0


def _trainer(model: str, *, compiled: bool = False) -> Trainer:
    from pocket_world.recipes import recipe
    from pocket_world.train import Trainer

    chosen = recipe(model)
    return Trainer(
        chosen,
        folder=settings().home / "pocket" / chosen.name,
        target=_published(chosen),
        source=_source(chosen),
        compiled=compiled,
    )


def _source(recipe: Recipe) -> Path | None:
    """Where the model lies that this one begins as."""
    from pocket_world.recipes import RECIPES
    from pocket_world.train import BEFORE_RECALL

    if not recipe.grown_from:
        return None
    if recipe.chat:
        return _published(RECIPES[recipe.grown_from])
    return settings().home / "pocket" / recipe.grown_from / BEFORE_RECALL


def _published(recipe: Recipe) -> Path:
    """Where a model is put."""
    return ASSETS / "models" / recipe.name


def _check(options: argparse.Namespace) -> int:
    from pocket_world.audit import audit
    from pocket_world.contamination import Guard
    from pocket_world.curriculum import Stage, all_documents
    from pocket_world.recipes import recipe
    from pocket_world.stream import Stream
    from pocket_world.tokens import one_token_answers, published_tokenizer

    questions = bank.questions()
    chosen = recipe(options.model)
    steps: dict[Stage, int] = {
        "matching": 0 if chosen.grown_from else chosen.matching_steps,
        "letters": 0 if chosen.grown_from else chosen.letters_steps,
        "everything": chosen.steps,
        "recall": chosen.recall,
    }
    stream = Stream(Guard.of(questions), tasks=chosen.tasks, chat=chosen.chat)
    values = one_token_answers(published_tokenizer(_published(chosen)))
    documents = all_documents(stream, seed=chosen.seed, steps=steps, values=values, every=options.every)
    found = audit(documents, questions)
    print(
        f"{found.documents:,} documents of {found.words:,} words against {len(questions):,} bank questions: "
        f"{found.questions_found} question texts and {found.runs_found} runs of 13 words found"
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


def _record(options: argparse.Namespace) -> int:
    from pocket_world.recipes import recipe
    from pocket_world.record import record
    from pocket_world.results import add_results

    print("\n".join(record(options.model, tasks=options.task)))
    add_results(options.model, _published(recipe(options.model)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
