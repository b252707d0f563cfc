"""The arguments of a command that a model on a server can take."""

from __future__ import annotations

import argparse

ON_SERVER = "NAME@URL for a model on a server"


def server_arguments(made: argparse.ArgumentParser) -> None:
    """The address of the servers, their key, their prices and the budget."""
    made.add_argument(
        "--server",
        nargs="+",
        action="extend",
        default=[],
        metavar="URL",
        help="the models are on this server (or on several that share the work), which speaks the OpenAI protocol: "
        "http://host:8000/v1; Hedge loads the models if not given",
    )
    key_argument(made)
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
