"""The arguments of a command that a model on a server can take."""

from __future__ import annotations

import argparse

ON_SERVER = "NAME@URL for a model on a server"


def server_arguments(made: argparse.ArgumentParser) -> None:
    """The addresses of the servers, and on what terms they are asked."""
    made.add_argument(
        "--server",
        nargs="+",
        action="extend",
        default=[],
        metavar="URL",
        help="the models are on this server (or on several that share the work), which speaks the OpenAI protocol: "
        "http://host:8000/v1; Hedge loads the models if not given",
    )
    terms_arguments(made)


def terms_arguments(made: argparse.ArgumentParser) -> None:
    """On what terms servers are asked: their key, their time, their prices and the budget."""
    key_argument(made)
    timeout_argument(made)
    made.add_argument("--price-read", type=float, default=0.0, help="the server's price of a million tokens read")
    made.add_argument("--price-written", type=float, default=0.0, help="the price of a million tokens written")
    made.add_argument(
        "--budget",
        type=float,
        help="stop a run before it costs more; in millions of tokens where no price is given; no limit if not given",
    )


def key_argument(made: argparse.ArgumentParser) -> None:
    """The name of the variable that holds the key."""
    made.add_argument(
        "--key-variable",
        default="",
        metavar="NAME",
        help="the environment variable that holds the servers' key; none if not given",
    )


def timeout_argument(made: argparse.ArgumentParser) -> None:
    """The seconds that a server may take for one answer."""
    from core.models.server.address import TIMEOUT_S

    made.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_S,
        metavar="SECONDS",
        help="how long a server may take for one answer; then it is asked again",
    )
