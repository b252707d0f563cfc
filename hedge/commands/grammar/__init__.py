"""The grammar of the command line: every command with its summary and its options.

A command's options, and the modules that know what they may be, are only made when the command is asked for, or when
the whole grammar is. ``hedge --help`` imports none of them.
"""

from pathlib import Path

from core import __version__
from hedge.commands.grammar import juries, launching, reporting, shared, shelf, token_level
from hedge.commands.grammar.parsers import PROG, Command, Help, Option, Parser, add_commands

JSON_FILE = Option(
    "--json",
    "write one JSON document to a file, or print it on standard output if no file is named",
    nargs="?",
    const=True,
    metavar="FILE",
)
COMMANDS = {
    "doctor": Command("what this machine can run", "runs:doctor", ["doctor", "doctor --json"]),
    "verify": Command(
        "try on this machine what runs need of it: devices, precisions, memory, workers, training",
        "verify:verify",
        ["verify", "verify --json verified.json", "verify --only paths/cpu/float32 nvml --minutes 2"],
        lambda: launching.VERIFY,
        JSON_FILE,
    ),
    "run": Command(
        "score models on tasks, here or (--queue) in a background worker",
        "runs:run",
        [
            "run --model pocket-3m --task qa --mode short",
            "run --model pocket-3m --task qa rc --shots 0 5 --queue",
            "run --model ./my-model --task questions.csv",
            "run --model Qwen/Qwen2.5-7B --task qa --mode long --device cuda:0,cuda:1",
            "run --model llama-70b --task qa --server http://gpu-3:8000/v1",
        ],
        launching.run,
    ),
    "runs": Command("all runs and their states", "runs:runs", ["runs", "runs --json"]),
    "cancel": Command(
        "stop runs; what has finished is kept", "runs:cancel", ["cancel pocket-3m-qa-base-5shot"], lambda: [shared.RUNS]
    ),
    "resume": Command(
        "continue runs that were cancelled or failed",
        "runs:resume",
        ["resume pocket-3m-qa-base-5shot", "resume llama-70b-qa --budget 20"],
        lambda: [shared.RUNS, launching.BUDGET],
    ),
    "first": Command(
        "move waiting runs to the front, in the order given",
        "runs:first",
        ["first pocket-3m-rc-base-5shot pocket-3m-qa-base-5shot"],
        lambda: [shared.RUNS],
    ),
    "delete": Command(
        "move runs to the bin, which keeps them for a week",
        "runs:delete",
        ["delete pocket-3m-rc-base-5shot"],
        lambda: [shared.RUNS],
    ),
    "restore": Command(
        "restore deleted runs from the bin",
        "runs:restore",
        ["restore pocket-3m-rc-base-5shot"],
        lambda: [Option("run", "run ids, as `bin` lists them, or their beginnings", nargs="+", metavar="RUN")],
    ),
    "bin": Command(
        "list the bin, and the disk space that it takes",
        "runs:show_bin",
        ["bin", "bin --empty"],
        lambda: [Option("--empty", "delete everything in it for good", False)],
    ),
    "report": Command(
        "accuracy, coverage and set size at alpha",
        "reports:report",
        ["report pocket-8m-qa", "report pocket-8m-qa --alpha 0.2 --by group --json"],
        reporting.report,
    ),
    "compare": Command(
        "compare runs: figures, paired tests and published claims; sets by the first score",
        "reports:compare",
        ["compare pocket-1m-qa pocket-8m-qa --score aps"],
        shared.sets,
    ),
    "pass": Command(
        "answer or pass: the confidence from which at most a share alpha of a run's answers is wrong",
        "reports:answer_or_pass",
        ["pass pocket-8m-qa --alpha 0.1", "pass pocket-8m-qa --by set-size --json"],
        reporting.answer_or_pass,
    ),
    "plan": Command(
        "how many questions a band, a threshold or a comparison of two models needs",
        "plan:plan",
        [
            "plan --alpha 0.001",
            "plan --width 0.05 --alpha 0.1",
            "plan --accuracy 0.7 0.75 --agreement 0.85",
            "plan --difference 0.03 --size-difference 0.2 --runs pocket-3m-qa pocket-8m-qa",
            "plan --questions 500 --json",
        ],
        reporting.plan,
    ),
    "prompting": Command(
        "compare ways of asking: by letter and by text, by shots",
        "prompting:compare_ways",
        ["prompting", "prompting pocket-3m-qa pocket-3m-qa-base-0shot-float32-cloze --out ways.xlsx"],
        reporting.prompting,
    ),
    "import": Command(
        "import results of other tools, juries and Hedge's own runs",
        "exchange:import_results",
        ["import results.csv scores.npz", "import results.csv --label right --options red green blue"],
        reporting.import_results,
    ),
    "export": Command(
        "export runs: tables, charts, or a report that needs no network",
        "exchange:export",
        ["export pocket-8m-qa --format csv --out tables"],
        reporting.export,
    ),
    "figure": Command(
        "draw one figure for a paper or a slide, with its caption and provenance",
        "exchange:figure",
        ["figure forest pocket-1m-qa pocket-8m-qa --format pdf --out figures"],
        reporting.figure,
    ),
    "site": Command(
        "write a website that shows Hedge without an install: live figures, the course, the manual",
        "site:site",
        ["site my-site", "site my-site --repository https://example.org/ann/hedge"],
        lambda: [
            Option("folder", "the new folder, or one that this command has written", type=Path),
            Option(
                "--repository",
                "the address of Hedge's source; the first page has no link to it if none is given",
                "",
                metavar="URL",
            ),
        ],
    ),
    "shelf": Command(
        "published results of large models: download, check, import, and recompute what their authors published",
        commands=lambda: shelf.COMMANDS,
        dest="of_shelf",
    ),
    "jury": Command(
        "juries: several judges of the same answers, rules that combine their verdicts, agreement, import and export",
        commands=lambda: juries.COMMANDS,
        dest="of_jury",
    ),
    "perplexity": Command(
        "how a system prompt changes how likely each word of a counselor is",
        commands=lambda: token_level.PERPLEXITY,
        dest="kind",
    ),
    "calibration": Command(
        "how far a run's confidence can be trusted: errors with intervals, reliability, recalibration",
        "tokens:calibration",
        ["calibration pocket-8m-qa", "calibration pocket-8m-qa --recalibrate --json"],
        reporting.calibration,
    ),
    "train-adapter": Command(
        "train an ARD-LoRA or LoRA adapter of a model; the same --out continues where it stopped",
        "tokens:train_adapter",
        [
            "train-adapter --model pocket-3m --data trivia --out adapter",
            "train-adapter --model pocket-3m --kind lora --epochs 1 --out adapter",
        ],
        lambda: token_level.TRAIN_ADAPTER,
    ),
    "tokens": Command("the uncertainty of single tokens", commands=lambda: token_level.TOKENS, dest="tokens_verb"),
    "backup": Command(
        "write runs, juries, classes and settings into one file",
        "keeping:backup",
        ["backup hedge.tar.gz"],
        lambda: [Option("file", "the new file; it must not exist")],
    ),
    "restore-backup": Command(
        "restore what `backup` wrote",
        "keeping:restore_backup",
        ["restore-backup hedge.tar.gz --replace"],
        lambda: [
            Option("file", "a file that `backup` wrote"),
            Option("--replace", "move what HEDGE_HOME holds aside, and cancel what waits", False),
        ],
    ),
    "agent": Command(
        "run the workers of this host until stopped",
        "runs:agent",
        ["agent", "agent --idle-minutes 5"],
        lambda: [launching.IDLE],
    ),
    "completion": Command(
        "print a script that completes commands and options in a shell",
        "completion:completion",
        [
            "completion bash > ~/.hedge-completion && echo 'source ~/.hedge-completion' >> ~/.bashrc",
            "completion zsh",
        ],
        lambda: [Option("shell", "the shell that reads the script", choices=("bash", "zsh"))],
    ),
}
"""Every command by its name, in the order of the help."""

DESCRIPTION = (
    "Hedge: how sure a language model really is. Without a command, hedge opens the app in a browser; the options are "
    "then --public, --login FILE, and those of Streamlit, such as --server.port 8600."
)
EXAMPLES = """examples:
  hedge doctor
  hedge run --model pocket-3m --task qa --mode short
  hedge report pocket-8m-qa --alpha 0.2
  hedge report --help"""


def parser(only: str | None = None) -> Parser:
    """The whole grammar, or of one command ``only`` with the names and summaries of all others."""
    top = Parser(prog=PROG, description=DESCRIPTION, epilog=EXAMPLES, formatter_class=Help)
    top.add_argument("--version", action="version", version=f"Hedge {__version__}", help="print the version and exit")
    add_commands(top, COMMANDS, dest="verb", only=only)
    return top
