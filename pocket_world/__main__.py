"""``python -m pocket_world COMMAND``: the bank, the models, what they answer, and who judges it."""

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence

from core.conformal.probabilities import top_options
from core.models.perplexity import conversations
from core.questions.bank import bank_path
from core.reports import evaluation
from core.settings import ASSETS
from pocket_world import bank, jury, make, record, trivia
from pocket_world.contamination import OVERLAPS, Guard, audit
from pocket_world.curriculum import all_documents
from pocket_world.jury import JURORS, SPECS
from pocket_world.recipes import RECIPES
from pocket_world.ship import ship
from pocket_world.stream import Stream
from pocket_world.tokens import one_token_words, published_tokenizer

Options = argparse.Namespace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit status 0, or 1 for a check that finds something."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options = parser().parse_args(arguments)
    return options.run(options) or 0


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    whole = argparse.ArgumentParser(prog="python -m pocket_world")
    commands = whole.add_subparsers(required=True)

    def command(run: Callable[[Options], int | None], description: str) -> argparse.ArgumentParser:
        added = commands.add_parser(run.__name__.removeprefix("_"), help=description)
        added.set_defaults(run=run)
        return added

    command(_bank, "write assets/bank/*.jsonl")
    command(_make, "make models and those that they grow from, or continue where that stopped").add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="where to train (default: cpu)"
    )
    command(_publish, "copy finished models into assets/models")
    command(_check, "look for bank questions in the training text").add_argument(
        "--every", type=int, default=1, help="read only every N-th step (default: all)"
    )
    command(_record, "execute the recorded runs again into assets/runs, and print their accuracies")
    for name in ("make", "publish", "check", "record"):
        commands.choices[name].add_argument("--model", choices=RECIPES, dest="names", nargs=1, default=RECIPES)
    command(_trivia, "write assets/trivia/questions.jsonl, short-answer questions with aliases")
    command(_answer, "let pocket-8m answer the short-answer questions freely")
    command(_juror, "tune jurors to say True or False, into assets/adapters").add_argument(
        "--juror", choices=JURORS, dest="names", nargs=1, default=JURORS
    )
    command(_jury, "make the juries that ship, into assets/juries")
    command(_ship, "make everything that depends on the trained models, from publish to jury").add_argument(
        "--from", dest="first", metavar="NUMBER", type=int, default=1, help="the command to begin with (default: 1)"
    )
    return whole


def _bank(_: Options) -> None:
    for task in bank.BANK_TASKS:
        bank.write((question.line() for question in bank.make(task)), bank_path(task))


def _make(options: Options) -> None:
    for name in options.names:
        print(make.make(name, device=options.device))


def _publish(options: Options) -> None:
    for name in options.names:
        print(make.publish(name))


def _check(options: Options) -> int:
    questions, talks = bank.questions(), conversations.bundled()
    guard, overlaps = Guard.of(questions, talks), 0
    for name in options.names:
        stream = Stream(guard, chat=RECIPES[name].chat)
        folders = (make.work_folder(name) / "tokenizer", ASSETS / "models" / name)
        words = one_token_words(published_tokenizer(next(folder for folder in folders if folder.is_dir())))
        counts = audit(all_documents(stream, RECIPES[name], words, every=options.every), questions, talks)
        print(f"{name}:", ", ".join(f"{count:,} {counted}" for counted, count in counts.items()))
        overlaps += sum(counts[counted] for counted in OVERLAPS)
    return int(overlaps > 0)


def _record(options: Options) -> None:
    for name in options.names:
        record.record(name)
        for spec in record.recorded_specs(name):
            run = evaluation.load(spec.run_id)
            print(f"{spec.run_id}: {(top_options(run.probabilities) == run.labels).mean():.1%}")


def _trivia(_: Options) -> None:
    bank.write((json.dumps(question, ensure_ascii=False) for question in trivia.make()), trivia.PATH)


def _answer(_: Options) -> None:
    bank.write((json.dumps(answer, ensure_ascii=False) for answer in trivia.answer("pocket-8m")), trivia.ANSWERS)


def _juror(options: Options) -> None:
    for name in options.names:
        print(jury.make_juror(name, ASSETS / "adapters" / name))


def _jury(_: Options) -> None:
    for spec in SPECS.values():
        print(jury.make_jury(spec))


def _ship(options: Options) -> None:
    ship(options.first)


if __name__ == "__main__":
    sys.exit(main())
