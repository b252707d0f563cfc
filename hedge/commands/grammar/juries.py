"""The commands of ``hedge jury``."""

from pathlib import Path

from hedge.commands.grammar.parsers import Command, Option
from hedge.commands.grammar.shared import (
    KEY,
    ON_SERVER,
    QUEUE,
    alpha,
    delta,
    dtype,
    out_file,
    out_folder,
    terms,
    timeout,
)

QLORA = "the precision; int4 is QLoRA, on an NVIDIA GPU"
PAIRWISE = "True means that the first of two answers is better, not that it is right"
JUDGED = [
    Option("--judgements", "files, or a jury from `list`", nargs="+", required=True, metavar="FILE"),
    Option("--labels", "a table with question and label, if the judgements are text files", type=Path),
    Option("--pairwise", PAIRWISE, False),
]
ANSWERS = Option("--answers", "id, question, answer, label", type=Path, required=True, metavar="FILE")
JURY_NAME = Option("--name", "the jury's name; its jurors' names if not given", "")
TUNING = [
    Option("--steps", "steps of the optimiser", 300),
    Option("--rows", "judgements per step", 32),
    Option("--rank", "the rank of the adapter's matrices", 8),
    Option("--rate", "the highest learning rate", 2e-3),
]


def _questions() -> list[Option]:
    return [
        Option("--questions", "trivia, trivia_qa@hub, or a file in TriviaQA's shape", "trivia"),
        Option("--samples", "the maximum number of questions; all questions if not given", type=int),
        Option("--seed", "draws the questions", 0),
        dtype(QLORA),
    ]


def evaluate() -> list[Option]:
    """``jury evaluate``."""
    from core.jury.adjudication import RULES
    from core.jury.confidence import CONFIDENCES
    from core.jury.experiment import PROTOCOLS

    protocol = "named settings; other options override them; none if not given"
    share = "the share in (0, 1) of the answers that calibrates; that of the protocol if not given"
    confidence = "how a juror's confidence in its verdict is computed; as in the protocol if not given"
    return [
        *JUDGED,
        Option("--protocol", protocol, choices=PROTOCOLS),
        Option("--seeds", "one split for each seed: 0-9, or 1,5,7", "0-9"),
        Option("--calibration-share", share, type=float),
        Option("--confidence", confidence, choices=CONFIDENCES),
        Option("--all-answers", "use all answers, including those on which the jurors agree", False),
        Option("--rule", "rules to evaluate; those of the protocol if not given", choices=RULES, nargs="+"),
    ]


def select() -> list[Option]:
    """``jury select``."""
    share = (
        "the share in (0, 1] that calibrates: with 1 all labels; that of the source's parts, or a half, if not given"
    )
    judges = "the judges in the order in which they are asked, the cheapest first; all if none is named"
    return [
        Option("judgements", "files of judgements, or a jury from `list`", nargs="+", metavar="FILE"),
        *JUDGED[1:],
        Option("--juror", judges, nargs="+", metavar="NAME"),
        alpha("how often a verdict may be against people's, in (0, 1)"),
        delta(),
        Option("--calibration-share", share, type=float),
        Option("--seed", "draws the answers that calibrate", 0),
    ]


def export() -> list[Option]:
    """``jury export``."""
    from core.exchange.writing import ONE_TABLE

    kinds = "the kind of file; html is a report that needs no network"
    return [
        *JUDGED,
        Option("--format", kinds, "csv", (*ONE_TABLE, "html")),
        alpha("of the report: how often a verdict may be against people's, in (0, 1)"),
        delta(),
        out_folder(),
    ]


def answer() -> list[Option]:
    """``jury answer``."""
    return [
        Option("--model", f"a bundled name, a folder, a hub id, or {ON_SERVER}", required=True),
        KEY,
        timeout(),
        *_questions(),
        out_file("JSON lines: id, question, answer, label"),
    ]


def finetune() -> list[Option]:
    """``jury finetune``."""
    return [
        Option("--model", "the model under the adapter", required=True),
        ANSWERS,
        out_folder("the adapter's folder"),
        *TUNING,
        Option("--seed", "draws the judgements of each step", 0),
        dtype(QLORA),
    ]


def judge() -> list[Option]:
    """``jury judge``."""
    jurors = f"two or more adapters or models, or {ON_SERVER}"
    return [
        Option("--juror", jurors, nargs="+", required=True, metavar="MODEL"),
        KEY,
        timeout(),
        ANSWERS,
        dtype(),
        JURY_NAME,
    ]


def make() -> list[Option]:
    """``jury make``."""
    jurors = f"models to tune, tuned adapters, or {ON_SERVER}, which judges as it is"
    return [
        Option("--base", f"the model that answers; or {ON_SERVER}", required=True),
        Option("--juror", jurors, nargs="+", required=True, metavar="MODEL"),
        *terms(),
        *_questions(),
        *TUNING,
        Option("--tune-share", "the share in (0, 1) of the answers that tunes", 0.5),
        Option("--calibration-share", "the share of the other answers that calibrates", 0.5),
        QUEUE,
    ]


JUDGED_LABELS = [
    Option(
        "judgements", "a table of judgements with labels for some or all answers, or a jury from `list`", metavar="FILE"
    ),
    Option("--seed", "draws the labels", 0),
    Option("--pairwise", PAIRWISE, False),
]


def estimate() -> list[Option]:
    """``jury estimate``."""
    return [
        *JUDGED_LABELS,
        Option("--judge", "the judges to use; all judges if not given", nargs="+", metavar="NAME"),
        Option(
            "--labels",
            "how many labels to use; 50 if all answers are labelled and all labels otherwise, unless given",
            type=int,
        ),
        Option(
            "--labelled",
            "the table of `draw` with its labels; those of the judgements if not given",
            type=Path,
            metavar="FILE",
        ),
        Option("--random", "the labelled answers are a random sample of all answers", False),
    ]


def draw() -> list[Option]:
    """``jury draw``."""
    return [
        *JUDGED_LABELS,
        Option("--labels", "how many answers to draw", 50),
        out_file("a CSV table for people to fill in"),
    ]


COMMANDS = {
    "list": Command("list all juries", "jury:show", ["jury list"]),
    "evaluate": Command(
        "evaluate rules on splits of a jury's judgements",
        "jury:evaluate",
        ["jury evaluate --judgements answers-of-pocket-8m --seeds 0-9"],
        evaluate,
    ),
    "select": Command(
        "the confidence from which a judge's verdicts may stand for people's, and whom to ask below it",
        "jury:select",
        ["jury select answers-of-pocket-8m --alpha 0.2 --delta 0.1"],
        select,
    ),
    "agreement": Command(
        "how much jurors agree, and how often unanimous verdicts are right",
        "jury:agree",
        ["jury agreement --judgements answers-of-pocket-8m"],
        lambda: JUDGED,
    ),
    "estimate": Command(
        "estimate the share of right answers from a few labels and a judge",
        "label_budget:estimate",
        ["jury estimate answers-of-pocket-8m --labels 50"],
        estimate,
    ),
    "draw": Command(
        "draw answers at random for people to label",
        "label_budget:draw",
        ["jury draw answers-of-pocket-8m --labels 50 --out to-label.csv"],
        draw,
    ),
    "export": Command(
        "export a jury as one table, with a row for each answer and juror, or as a report that needs no network",
        "jury:export",
        [
            "jury export --judgements answers-of-pocket-8m --format csv --out judgements",
            "jury export --judgements answers-of-pocket-8m --format html --alpha 0.2 --out exported",
        ],
        export,
    ),
    "import": Command(
        "read judgements and keep them as a jury",
        "jury:bring_in",
        ["jury import --judgements judgements/judgements.csv --name 'Three jurors'"],
        lambda: [*JUDGED, JURY_NAME],
    ),
    "answer": Command(
        "let a base model answer short-answer questions",
        "making:answer",
        ["jury answer --model pocket-3m --samples 50 --out answers.jsonl"],
        answer,
    ),
    "finetune": Command(
        "tune a juror on answers, or continue its tuning",
        "making:finetune",
        ["jury finetune --model pocket-3m --answers answers.jsonl --out juror"],
        finetune,
    ),
    "judge": Command(
        "let jurors judge answers, and keep their judgements",
        "making:judge",
        ["jury judge --juror juror pocket-8m --answers answers.jsonl"],
        judge,
    ),
    "make": Command(
        "all stages in one: answer, tune jurors, judge, keep",
        "making:make",
        ["jury make --base pocket-3m --juror pocket-1m pocket-8m --samples 200"],
        make,
    ),
}
