"""The options that several commands have."""

from pathlib import Path

from hedge.commands.grammar.parsers import Option

ON_SERVER = "NAME@URL for a model on a server"
RUNS = Option("run", "run ids, or their beginnings", nargs="+", metavar="RUN")
QUEUE = Option("--queue", "leave the run to this host's workers", False)
MODELS = Option("--model", "bundled names, folders or hub ids", nargs="+", required=True)
KEY = Option(
    "--key-variable", "the environment variable that holds the servers' key; none if not given", "", metavar="NAME"
)


def alpha(help: str = "how often a set may miss the truth, in (0, 1)") -> Option:
    """``--alpha``."""
    return Option("--alpha", help, 0.1)


def delta() -> Option:
    """``--delta``."""
    return Option("--delta", "how often, over draws of calibration questions, the promise may fail, at most 0.5", 0.1)


def out_folder(help: str = "a folder; it is created if it is missing") -> Option:
    """``--out`` of a folder."""
    return Option("--out", help, type=Path, required=True, metavar="DIR")


def out_file(help: str) -> Option:
    """``--out`` of a file."""
    return Option("--out", help, type=Path, required=True, metavar="FILE")


def dtype(help: str = "the precision; int8 and int4 need an NVIDIA GPU") -> Option:
    """``--dtype`` of one model."""
    from core.models.model_sources import DTYPES

    return Option("--dtype", help, "float32", DTYPES)


def sets() -> list[Option]:
    """Runs, and the rule by which their sets are formed."""
    from core.conformal.scores import SCORES
    from core.conformal.sets import EMPTY_POLICIES
    from core.conformal.threshold import THRESHOLDS
    from core.reports.report import DEFAULT_SCORES

    exact = "exact keeps the guarantee; the others are those of published code"
    return [
        RUNS,
        alpha(),
        Option("--score", "the conformal scores", list(DEFAULT_SCORES), tuple(SCORES)),
        Option("--threshold", exact, "exact", THRESHOLDS),
        Option("--empty", "allow empty sets, or give them the top option", "allow", EMPTY_POLICIES),
    ]


def timeout() -> Option:
    """``--timeout``: the seconds that a server may take for one answer."""
    from core.models.server_address import TIMEOUT_S

    says = "how long a server may take for one answer; then it is asked again"
    return Option("--timeout", says, TIMEOUT_S, metavar="SECONDS")


def terms() -> list[Option]:
    """On what terms servers are asked: their key, their time, their prices and the budget."""
    budget = "stop a run before it costs more; in millions of tokens where no price is given; no limit if not given"
    return [
        KEY,
        timeout(),
        Option("--price-read", "the server's price of a million tokens read", 0.0),
        Option("--price-written", "the price of a million tokens written", 0.0),
        Option("--budget", budget, type=float),
    ]


def servers() -> list[Option]:
    """The addresses of the servers, and on what terms they are asked."""
    says = (
        "the models are on this server (or on several that share the work), which speaks the OpenAI protocol: "
        "http://host:8000/v1; Hedge loads the models if not given"
    )
    return [Option("--server", says, [], action="extend", metavar="URL"), *terms()]
