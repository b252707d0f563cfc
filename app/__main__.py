"""`hedge` without a command, or `python -m app`: say whom the server serves, then serve `app/server.py`.

The arguments are Streamlit's own: ``hedge --server.port 8600 --server.headless true``. With ``--public`` before
them, the server may be reached by others, who can look at everything and change nothing (:mod:`core.access`). With
``--login FILE``, people log in and have roles, as the file says (:mod:`core.access.server_file`); ``--public FILE``
takes such a file too, for its limits. Without either, the server answers this machine alone. ``--public --lecturer``
prints a link at the start; who opens it may open classes (:mod:`app.classroom`) and nothing else that others may not.
"""

import os
import runpy
import signal
import sys
from pathlib import Path
from typing import NoReturn

from core import access, extras
from core.access import quotas
from core.access.server_file import ServerFile
from core.errors import HedgeError
from core.processes import program
from core.settings import ROOT

PUBLIC, LOGIN = "--public", "--login"
LECTURER = "--lecturer"
"""With ``--public``: print a link that opens classes."""
KEPT_ON = (
    *("--server.enableXsrfProtection", "true", "--server.enableCORS", "true", "--server.enableAgentApi", "false"),
    *("--server.enableWebsocketCompression", "false", "--server.maxWidgetStateSize", "2"),
)
"""Streamlit's protections, which no other argument or setting switches off where others are served."""


def main(arguments: list[str]) -> NoReturn:
    """Run the server and exit with Streamlit's status, or with 1 if HEDGE_HOME can't be created. Never returns."""
    from app import first_paint, lifespan
    from app.serving import connections, start

    arguments = _served(arguments)
    connections.install()
    start.never_ask_the_internet()
    start.make_home()
    os.chdir(ROOT)
    lifespan.opens_browser.set()
    first_paint.collect_nothing()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit)
    sys.argv = ["streamlit", "run", str(ROOT / "app" / "server.py"), *arguments]
    runpy.run_module("streamlit", run_name="__main__")
    sys.exit()


def _exit(number: int, frame: object) -> NoReturn:
    """End with status 0: the server has closed everything before it passes the signal on."""
    sys.exit()


def _served(arguments: list[str]) -> list[str]:
    """Streamlit's arguments, after checking who may reach the server. Exits with a sentence if others could reach it
    and nothing says what they may do.
    """
    from app import lifespan
    from app.serving import start

    options = [option for option in (PUBLIC, LOGIN) if option in arguments]
    teaches = LECTURER in arguments
    if teaches and options != [PUBLIC]:
        sys.exit(f"{LECTURER} belongs to {PUBLIC}; with {LOGIN}, launchers open classes, and on this machine you do")
    arguments = [argument for argument in arguments if argument != LECTURER]
    if len(options) == 2:
        sys.exit(f"give {PUBLIC} or {LOGIN}, not both: a public server has no logins")
    if not options:
        start.check_address(_address(arguments))
        return arguments
    (option,) = options
    place = arguments.index(option)
    files = [argument for argument in arguments[place + 1 : place + 2] if not argument.startswith("-")]
    rest = [*arguments[:place], *arguments[place + 1 + len(files) :]]
    if teaches:
        lifespan.prints_lecturer_link.set()
    if option == LOGIN and not files:
        sys.exit(f"{LOGIN} needs the server's TOML file; see docs/text/serving.md")
    return [*rest, *_served_as(option, Path(files[0]).resolve() if files else None), *KEPT_ON]


def _served_as(option: str, path: Path | None) -> list[str]:
    """Serve the public or people who log in, as the file says. Returns the arguments that Streamlit needs for that."""
    from app.serving import login

    if option == LOGIN:
        extras.need("server")
    settings = login.ServerSettings(path, login=option == LOGIN) if path else None
    login.install(settings)
    server_file = settings.now() if settings else ServerFile()
    quotas.hold(server_file.quotas)
    if server_file.files.roots:
        os.environ["HEDGE_ROOTS"] = os.pathsep.join(map(str, server_file.files.roots))
    if server_file.hosts.frame_ancestors:
        os.environ["HEDGE_FRAME_ANCESTORS"] = ",".join(server_file.hosts.frame_ancestors)
    mode: access.Mode = "login" if option == LOGIN else "public"
    access.serve(
        mode, whose=login.actor_of_thread, servers=server_file.servers.addresses, keys=server_file.servers.keys
    )
    return [] if mode == "public" else ["--secrets.files", str(path)]


def _address(arguments: list[str]) -> str:
    """The address that Streamlit will answer on, as its arguments or its environment say; the last one counts."""
    address = os.environ.get("STREAMLIT_SERVER_ADDRESS", access.LOOPBACK[0])
    for place, argument in enumerate(arguments):
        name, is_joined, value = argument.partition("=")
        if name == "--server.address":
            address = value if is_joined else "".join(arguments[place + 1 : place + 2])
    return address


if __name__ == "__main__":
    program.prepare()
    try:
        main(sys.argv[1:])
    except HedgeError as error:
        sys.exit(str(error))
