"""The grammar of the commands that launch and manage runs."""

from __future__ import annotations

import argparse

from hedge.commands.grammar.parsers import alpha_argument, command, queue_argument, runs_argument
from hedge.commands.grammar.servers import server_arguments

TASK_HELP = "a name (qa, rc, ci, drs, ds), NAME@hub, NAME@published, NAME@FILE, or a file of your own"


def run(made: argparse.ArgumentParser) -> None:
    """``run``."""
    from core.models.models import DTYPES
    from core.questions.prompting.forms import FORMATS, FORMS
    from core.questions.prompting.strategies import STRATEGIES
    from core.runs.spec import MODES

    command(
        made,
        "runs:run",
        "run --model pocket-8m --task qa --mode short",
        "run --model pocket-3m pocket-8m --task qa rc --shots 0 5 --queue",
        "run --model ~/models/qwen --task questions.csv --dtype bfloat16",
        "run --model ~/models/qwen --task qa --mode long --device cuda:0,cuda:1",
        "run --model llama-70b --task qa --server http://gpu-3:8000/v1",
    )
    made.add_argument("--model", nargs="+", required=True, help="bundled names, folders or hub ids")
    made.add_argument("--task", nargs="+", required=True, help=TASK_HELP)
    made.add_argument(
        "--labels-from",
        type=int,
        choices=(0, 1),
        help="the number of the first option in files of questions; seen in all answers if not given",
    )
    made.add_argument(
        "--strategy", nargs="+", default=["base"], choices=STRATEGIES, help="what the prompt says before the question"
    )
    made.add_argument(
        "--dtype",
        nargs="+",
        choices=DTYPES,
        help="the precisions; int8 and int4 need an NVIDIA GPU; bfloat16 if not given on GPUs that compute in it, "
        "else float32",
    )
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
    made.add_argument("--system", default="", metavar="TEXT", help="your own system prompt; none if not given")
    made.add_argument(
        "--repeats",
        type=int,
        default=0,
        metavar="N",
        help="also let the model write N sampled answers to each question",
    )
    made.add_argument(
        "--picks",
        type=int,
        default=0,
        metavar="K",
        help="for a server without log-probabilities: ask each question K times at temperature 1 (questions x K "
        "requests), and take the shares of its answers as probabilities",
    )
    server_arguments(made)
    made.add_argument("--batch-size", type=int, help="questions in a batch; free memory decides if this is not given")
    made.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="cpu, mps, cuda or cuda:N, the only one to use, or a list whose devices share each run's questions "
        "(cuda:0,cuda:1; cpu,cpu for two processes); if not given, long runs here share all free GPUs of one kind",
    )
    amount = made.add_mutually_exclusive_group()
    amount.add_argument(
        "--mode",
        choices=tuple(MODES),
        help="; ".join(f"{k}: {v:,} questions" for k, v in MODES.items()) + "; all questions if not given",
    )
    amount.add_argument(
        "--samples", type=int, help="the maximum number of questions; all questions if neither is given"
    )
    made.add_argument("--calibration-share", type=float, default=0.5, help="the share in (0, 1) that calibrates")
    made.add_argument("--seed", type=int, default=0, help="draws the questions and their split")
    alpha_argument(made, "of the report at the end")
    made.add_argument(
        "--dry-run", action="store_true", help="only show the exact prompt and count its tokens; run nothing"
    )
    queue_argument(made)


def doctor(made: argparse.ArgumentParser) -> None:
    """``doctor``."""
    command(made, "runs:doctor", "doctor", "doctor --json")


def verify(made: argparse.ArgumentParser) -> None:
    """``verify``."""
    command(
        made,
        "verify:verify",
        "verify",
        "verify --json verified.json",
        "verify --only paths/cpu/float32 nvml --minutes 2",
        json_file=True,
    )
    made.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="checks, or single rows such as paths/cpu/float32; all of them if none is named",
    )
    made.add_argument("--minutes", type=float, default=10.0, help="the time after which no further check begins")


def runs(made: argparse.ArgumentParser) -> None:
    """``runs``."""
    command(made, "runs:runs", "runs", "runs --json")


def cancel(made: argparse.ArgumentParser) -> None:
    """``cancel``."""
    runs_argument(command(made, "runs:cancel", "cancel pocket-8m-qa-base-0shot"))


def resume(made: argparse.ArgumentParser) -> None:
    """``resume``."""
    command(made, "runs:resume", "resume pocket-8m-qa-base-0shot", "resume llama-70b-qa --budget 20")
    runs_argument(made)
    made.add_argument(
        "--budget",
        type=float,
        help="the most that a run on a server may cost, all its tries together; the run's own if not given",
    )


def first(made: argparse.ArgumentParser) -> None:
    """``first``."""
    runs_argument(command(made, "runs:first", "first pocket-8m-qa pocket-8m-rc"))


def delete(made: argparse.ArgumentParser) -> None:
    """``delete``."""
    runs_argument(command(made, "runs:delete", "delete pocket-8m-qa-base-0shot"))


def restore(made: argparse.ArgumentParser) -> None:
    """``restore``."""
    runs_argument(
        command(made, "runs:restore", "restore pocket-8m-qa-base-0shot-float32-95c4c1ea10"),
        help="run ids, as `bin` lists them",
    )


def show_bin(made: argparse.ArgumentParser) -> None:
    """``bin``."""
    command(made, "runs:show_bin", "bin", "bin --empty")
    made.add_argument("--empty", action="store_true", help="delete everything in it for good")


def agent(made: argparse.ArgumentParser) -> None:
    """``agent``."""
    command(made, "runs:agent", "agent", "agent --idle-minutes 5")
    made.add_argument(
        "--idle-minutes",
        type=float,
        metavar="M",
        help="end after M minutes without a run that fits here; stays until it is stopped if not given",
    )


def completion(made: argparse.ArgumentParser) -> None:
    """``completion``."""
    command(
        made,
        "completion:completion",
        "completion bash > ~/.hedge-completion && echo 'source ~/.hedge-completion' >> ~/.bashrc",
        "completion zsh",
    )
    made.add_argument("shell", choices=("bash", "zsh"), help="the shell that reads the script")


def backup(made: argparse.ArgumentParser) -> None:
    """``backup``."""
    command(made, "keeping:backup", "backup hedge-2026-11-23.tar.gz")
    made.add_argument("file", help="the new file; it must not exist")


def restore_backup(made: argparse.ArgumentParser) -> None:
    """``restore-backup``."""
    command(
        made,
        "keeping:restore_backup",
        "restore-backup hedge-2026-11-23.tar.gz",
        "restore-backup hedge-2026-11-23.tar.gz --replace",
    )
    made.add_argument("file", help="a file that `backup` wrote")
    made.add_argument("--replace", action="store_true", help="move what HEDGE_HOME holds aside, and cancel what waits")
