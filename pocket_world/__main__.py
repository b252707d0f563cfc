"""``python -m pocket_world COMMAND``: the bank, the models, what they answer, and who judges it."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence

from core.errors import HedgeError
from core.questions.bank import bank_path
from core.settings import ASSETS
from pocket_world import bank


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit status 0, 1 for a failed check or run, 2 for unusable arguments."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except HedgeError as error:
        print(error, file=sys.stderr)
        return error.exit_status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pocket_world")
    commands = parser.add_subparsers(required=True)

    def command(run: Callable[[argparse.Namespace], int | None], what: str, **defaults: str) -> argparse.ArgumentParser:
        parser_of_command = commands.add_parser(run.__name__.removeprefix("_"), help=what)
        parser_of_command.set_defaults(run=run)
        for name, default in defaults.items():
            parser_of_command.add_argument(f"--{name}", default=default)
        return parser_of_command

    command(_bank, "write assets/bank/*.jsonl")
    make = command(_make, "make all pocket models, or continue where making them stopped")
    make.add_argument("--model", help="this one and those that it grows from (default: all)")
    make.add_argument("--minutes", type=float, help="stop after this many, with the state saved")
    make.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to train (default: cpu)")
    command(_publish, "put a whole model into assets/models, with its card", model="pocket-1m")
    check = command(_check, "look for bank questions in the training text", model="pocket-1m")
    check.add_argument("--every", type=_positive, default=1, help="read only every N-th step (default: all)")
    command(
        _record, "execute the recorded runs again into assets/runs, with their figures in the card", model="pocket-1m"
    )
    command(_trivia, "write assets/trivia/questions.jsonl, short-answer questions with aliases")
    command(_answer, "let a pocket model answer the short-answer questions freely", model="pocket-8m")
    command(_juror, "tune a juror to say True or False, into assets/adapters", juror="juror-3m")
    command(_jury, "make the juries that ship, into assets/juries")
    ship = command(_ship, "make everything that depends on the trained models, from publish to jury")
    ship.add_argument("--from", dest="first", metavar="STEP", default="models", help="the step to begin with")
    return parser


def _positive(text: str) -> int:
    """A whole number of at least 1, from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _bank(_: argparse.Namespace) -> None:
    for task in bank.BANK_TASKS:
        questions = bank.make(task)
        bank.write((question.line() for question in questions), bank_path(task))
        print(f"{len(questions)} questions in {bank_path(task)}")


def _make(options: argparse.Namespace) -> None:
    from pocket_world.make import make, with_sources
    from pocket_world.recipes import RECIPES

    names = with_sources(options.model) if options.model else list(RECIPES)
    whole = make(names, minutes=options.minutes, device=options.device)
    print("all is made" if whole else "stopped; the same command continues")


def _publish(options: argparse.Namespace) -> None:
    from pocket_world.make import publish

    print(publish(options.model))


def _check(options: argparse.Namespace) -> int:
    from core.models.perplexity import conversations
    from pocket_world.contamination import Guard, audit
    from pocket_world.curriculum import all_documents
    from pocket_world.make import work_folder
    from pocket_world.recipes import recipe
    from pocket_world.stream import Stream
    from pocket_world.tokens import one_token_words, published_tokenizer

    questions, talks, chosen = bank.questions(), conversations.bundled(), recipe(options.model)
    stream = Stream(Guard.of(questions, talks), tasks=chosen.tasks, chat=chosen.chat)
    work = work_folder(chosen.name) / "tokenizer"
    values = one_token_words(published_tokenizer(work if work.is_dir() else ASSETS / "models" / chosen.name))
    result = audit(all_documents(stream, chosen, values=values, every=options.every), questions, talks)
    print(
        f"{result.documents:,} documents of {result.words:,} words against {len(questions):,} bank questions: "
        f"{result.questions_found} question texts and {result.runs_found} runs of 13 words found, "
        f"and {result.echoes_found} runs of 8 words of the {len(talks)} conversations"
    )
    return 0 if result.clean else 1


def _record(options: argparse.Namespace) -> None:
    from pocket_world.card import add_results
    from pocket_world.record import record

    print("\n".join(record(options.model)))
    add_results(options.model, ASSETS / "models" / options.model)


def _trivia(_: argparse.Namespace) -> None:
    from pocket_world import trivia

    questions = trivia.make()
    bank.write((question.line() for question in questions), trivia.PATH)
    print(f"{len(questions)} questions in {trivia.PATH}")


def _answer(options: argparse.Namespace) -> None:
    from pocket_world import trivia

    answers, path = trivia.answer(options.model, trivia.make()), trivia.answers_path(options.model)
    bank.write((answer.line() for answer in answers), path)
    print(f"{sum(answer.correct for answer in answers)} of {len(answers)} answers are right; all are in {path}")


def _juror(options: argparse.Namespace) -> None:
    from pocket_world.jury import juror_recipe, publish_juror

    print(publish_juror(juror_recipe(options.juror), ASSETS / "adapters" / options.juror))


def _jury(_: argparse.Namespace) -> None:
    from pocket_world import jury

    for spec in jury.SPECS.values():
        print(jury.make(spec))


def _ship(options: argparse.Namespace) -> None:
    from pocket_world.ship import ship

    ship(options.first)


if __name__ == "__main__":
    sys.exit(main())
