"""``python -m pocket_world COMMAND``: the bank, the models, what they answer, and who judges it."""

import argparse
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.errors import RunError
from pocket_world import bank, humble, jury, record, train, trivia
from pocket_world.curriculum import check
from pocket_world.recipes import HUMBLE, RECIPES
from pocket_world.ship import ship


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command for each name and print its results; exit status 1 if one of them fails."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options = vars(parser().parse_args(arguments))
    run, names, status = options.pop("run"), options.pop("names"), 0
    for call in [partial(run, name) for name in names] if names else [run]:
        try:
            print(call(**options) or "done")
        except RunError as error:
            print(error)
            status = 1
    return status


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    whole = argparse.ArgumentParser(prog="python -m pocket_world")
    commands = whole.add_subparsers(required=True)

    def command(
        name: str, run: Callable[..., object], description: str, *, names: Iterable[str] = (), option: str = ""
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=description)
        added.set_defaults(run=run, names=tuple(names))
        if option:
            added.add_argument(option, choices=names, dest="names", nargs=1, help="only this one (default: all)")
        return added

    model = partial(command, names=RECIPES, option="--model")
    command("bank", bank.write, "write assets/bank/*.jsonl", names=bank.BANK_TASKS)
    model("make", train.make, "make models and those that they grow from, or continue where that stopped").add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="where to train (default: cpu)"
    )
    model("publish", train.publish, "copy finished models into assets/models")
    model("check", check, "look for bank questions in the training text").add_argument(
        "--every", type=int, default=1, help="read only every N-th step (default: all)"
    )
    command("humble", humble.make_humble, "make the adapter by which pocket-8m is less sure, into assets/adapters")
    description = "execute the recorded runs again into assets/runs, and print their accuracies"
    command("record", record.record_all, description, names=(*RECIPES, HUMBLE), option="--model")
    command("trivia", trivia.write, "write assets/trivia/questions.jsonl, short-answer questions with aliases")
    command("answer", trivia.write_answers, "let pocket-8m answer the short-answer questions freely")
    command("juror", jury.make_juror, "tune jurors, into assets/adapters", names=jury.JURORS, option="--juror")
    command("jury", jury.make_jury, "make the juries that ship, into assets/juries", names=jury.SPECS)
    command("figures", jury.write_figures, "compute the figures of these juries again, beside them")
    command("ship", ship, "make everything that depends on the trained models, from publish to jury").add_argument(
        "--from", dest="first", metavar="NUMBER", type=int, default=1, help="the command to begin with (default: 1)"
    )
    return whole


if __name__ == "__main__":
    sys.exit(main())
