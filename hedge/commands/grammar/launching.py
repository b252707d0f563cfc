"""The options of the commands that launch and manage runs."""

from hedge.commands.grammar.parsers import Option
from hedge.commands.grammar.shared import MODELS, QUEUE, alpha, servers

VERIFY = [
    Option(
        "--only", "checks, or single rows such as paths/cpu/float32; all of them if none is named", [], metavar="NAME"
    ),
    Option("--minutes", "the time after which no further check begins", 10.0),
]
BUDGET = Option(
    "--budget",
    "the most that a run on a server may cost, all its tries together; the run's own if not given",
    type=float,
)
IDLE = Option(
    "--idle-minutes",
    "end after M minutes without a run that fits here; stays until it is stopped if not given",
    type=float,
    metavar="M",
)
TASK = "a name (qa, rc, ci, drs, ds), NAME@hub, NAME@published, NAME@FILE, or a file of your own"
LABELS_FROM = "the number of the first option in files of questions; seen in all answers if not given"
DTYPES_HELP = (
    "the precisions; int8 and int4 need an NVIDIA GPU; bfloat16 if not given on GPUs that compute in it, else float32"
)
FORM = "letters; the options' texts after “Answer:” (cloze), or right after the question (continuation)"
FORMAT = "the model's chat template, or not; of a server, requests for decisions (systemone, decisions)"
ORDERS = "ask every test question in all orders of its options; a seeded sample for more than four options"
PICKS = (
    "for a server without log-probabilities: ask each question K times at temperature 1 (questions x K requests), and "
    "take the shares of its answers as probabilities"
)
DEVICE = (
    "cpu, mps, cuda or cuda:N, the only one to use, or a list whose devices share each run's questions "
    "(cuda:0,cuda:1; cpu,cpu for two processes); if not given, long runs here share all free GPUs of one kind"
)


def run() -> list[Option]:
    """``run``."""
    from core.models.model_sources import DTYPES
    from core.questions.prompting.decision import DECISION_FORMATS
    from core.questions.prompting.forms import FORMATS, FORMS
    from core.questions.prompting.strategies import STRATEGIES
    from core.runs.spec import MODES

    modes = "; ".join(f"{mode}: {count:,} questions" for mode, count in MODES.items())
    most = "the maximum number of questions; all questions if neither is given"
    return [
        MODELS,
        Option("--task", TASK, nargs="+", required=True),
        Option("--labels-from", LABELS_FROM, choices=(0, 1), type=int),
        Option("--strategy", "what the prompt says before the question", ["base"], STRATEGIES),
        Option("--dtype", DTYPES_HELP, choices=DTYPES, nargs="+"),
        Option("--shots", "demonstrations before each question", [0]),
        Option("--form", FORM, ["letters"], FORMS),
        Option("--format", FORMAT, ["plain"], (*FORMATS, *DECISION_FORMATS)),
        Option("--rotations", "ask every test question in all rotations of its options", False),
        Option("--orders", ORDERS, False),
        Option("--system", "your own system prompt; none if not given", "", metavar="TEXT"),
        Option("--repeats", "also let the model write N sampled answers to each question", 0, metavar="N"),
        Option("--picks", PICKS, 0, metavar="K"),
        *servers(),
        Option("--batch-size", "questions in a batch; free memory decides if this is not given", type=int),
        Option("--device", DEVICE, "", metavar="NAME"),
        Option("--mode", f"{modes}; all questions if not given", choices=MODES, exclusive=True),
        Option("--samples", most, type=int, exclusive=True),
        Option("--calibration-share", "the share in (0, 1) that calibrates", 0.5),
        Option("--seed", "draws the questions and their split", 0),
        alpha("of the report at the end"),
        Option("--dry-run", "only show the exact prompt and count its tokens; run nothing", False),
        QUEUE,
    ]
