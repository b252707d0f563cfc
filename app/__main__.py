"""`python -m app`: start the server from the repository root and open the app.

The arguments are Streamlit's own: ``python -m app --server.port 8600 --server.headless true``. With ``--public`` before
them, the server may be reached by others, who can look at everything and change nothing (:mod:`core.access`). With
``--login FILE``, people log in and have roles, as the file says (:mod:`core.server_file`); ``--public FILE`` takes such
a file too, for its limits. Without either, the server answers this machine alone. ``--public --lecturer`` prints a link
at the start; who opens it may open classes (:mod:`app.classroom`) and nothing else that others may not.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from app import first_paint, monitoring
from core import access, quotas
from core.errors import HedgeError
from core.server_file import ServerFile
from core.settings import ROOT, settings

AGENT_AFTER_S = 5.0
"""Delay before the run agent starts: the first page is painted first and keeps both cores busy until then."""
PUBLIC, LOGIN = "--public", "--login"
LECTURER = "--lecturer"
"""With ``--public``: print a link that opens classes."""
KEPT_ON = ("--server.enableXsrfProtection", "true", "--server.enableCORS", "true", "--server.enableAgentApi", "false")
"""Streamlit's protections, which no other argument or setting switches off where others are served."""
LOOK_EVERY_S = 20.0
"""How often the server checks whether runs are waiting without an agent."""


def main(arguments: list[str]) -> NoReturn:
    """Run the server and exit with Streamlit's status, or with 1 if HEDGE_HOME can't be created. Never returns."""
    arguments = _served(arguments)
    home = settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(
            f"HEDGE_HOME is {home}, which can't be created ({error.strerror}); set it to a folder that you may write to"
        )
    # Relative paths in the environment refer to the folder in which the person ran the command, so they are resolved
    # before the change of folder. Streamlit finds its configuration only in the folder in which it starts.
    os.environ["HEDGE_HOME"] = str(home)
    os.chdir(ROOT)
    gc.disable()  # until the first page has been shown (app.first_paint)
    from streamlit.web import cli

    from app import guard
    from app.classroom import routes

    # Not before Streamlit has been imported: on a slow machine two threads would import NumPy at the same time, and
    # one of them would find half of it.
    threading.Thread(target=_keep_agent, daemon=True, name="hedge-keep-agent").start()
    monitoring.install()
    routes.install()
    guard.install()  # the last installed is the outermost
    first_paint.start()
    sys.exit(cli.main(["run", str(ROOT / "app" / "main.py"), *arguments], prog_name="python -m app"))


def _served(arguments: list[str]) -> list[str]:
    """Streamlit's arguments, after checking who may reach the server. Exits with a sentence if others could reach it
    and nothing says what they may do.
    """
    found = [option for option in (PUBLIC, LOGIN) if option in arguments]
    teaches = LECTURER in arguments
    if teaches and found != [PUBLIC]:
        sys.exit(f"{LECTURER} belongs to {PUBLIC}; with {LOGIN}, launchers open classes, and on this machine you do")
    arguments = [one for one in arguments if one != LECTURER]
    if len(found) == 2:
        sys.exit(f"give {PUBLIC} or {LOGIN}, not both: a public server has no logins")
    if found:
        place = arguments.index(found[0])
        given = [one for one in arguments[place + 1 : place + 2] if not one.startswith("-")]
        rest = [*arguments[:place], *arguments[place + 1 + len(given) :]]
        if teaches:
            _print_lecturer_link(rest)
        if found[0] == LOGIN and not given:
            sys.exit(f"{LOGIN} needs the server's TOML file; see docs/text/serving.md")
        return [*rest, *_served_as(found[0], Path(given[0]).resolve() if given else None), *KEPT_ON]
    if (address := _address(arguments)) not in access.LOOPBACK:
        sys.exit(
            f"the server would answer on {address}, where others can reach it and do everything that you can; add "
            f"{PUBLIC}, with which they can only look, or {LOGIN} FILE, or leave the address out"
        )
    return arguments


def _served_as(option: str, path: Path | None) -> list[str]:
    """Serve the public or people who log in, as the file says. Returns the arguments that Streamlit needs for that."""
    from app import login

    settings = login.ServerSettings(path, login=option == LOGIN) if path else None
    login.install(settings)
    said = settings.now() if settings else ServerFile()
    quotas.hold(said.quotas)
    if said.files.roots:
        os.environ["HEDGE_ROOTS"] = os.pathsep.join(map(str, said.files.roots))
    mode: access.Mode = "login" if option == LOGIN else "public"
    access.serve(mode, whose=login.actor_of_thread, servers=said.servers.addresses, keys=said.servers.keys)
    if mode == "public":
        return []
    import authlib.integrations.starlette_client  # noqa: F401  here, so that a missing package is said at the start

    return ["--secrets.files", str(path)]


def _address(arguments: list[str]) -> str:
    """The address that Streamlit will answer on, as its arguments or its environment say."""
    return _option(arguments, "--server.address", os.environ.get("STREAMLIT_SERVER_ADDRESS", access.LOOPBACK[0]))


def _option(arguments: list[str], option: str, default: str) -> str:
    """The value of one of Streamlit's options; the last one counts."""
    found = default
    for place, argument in enumerate(arguments):
        name, is_joined, value = argument.partition("=")
        if name == option:
            found = value if is_joined else "".join(arguments[place + 1 : place + 2])
    return found


def _print_lecturer_link(arguments: list[str]) -> None:
    from app.classroom import desks, invite

    port = _option(arguments, "--server.port", os.environ.get("STREAMLIT_SERVER_PORT", "8501"))
    base = _option(arguments, "--server.baseUrlPath", os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "")).strip("/")
    address = _address(arguments)
    host = invite.own_address() if address in ("0.0.0.0", "::", "") else address
    place = f"http://{host}:{port}/{base + '/' if base else ''}classroom?{desks.LECTURER}={desks.allow_lecturer()}"
    print(f"The lecturer's link. Whoever opens it may open classes until this server ends:\n{place}", flush=True)


def _keep_agent() -> None:
    """Start the agent, and start it again whenever it was killed together with its workers while runs wait."""
    time.sleep(AGENT_AFTER_S)
    wake_agent()
    while True:
        time.sleep(LOOK_EVERY_S)
        with suppress(Exception):  # a database that is gone may come back; until then the pages report it
            from core.runs import engine

            engine.ensure_agent_if_needed()


def wake_agent() -> None:
    """Start this host's run agent, so that runs that a reboot interrupted continue.

    If that fails, the server keeps running without it: the New run page tries again and says why.
    """
    try:
        from core.runs import engine

        engine.ensure_agent()
    except Exception as error:
        logging.getLogger(__name__).warning("the run agent did not start: %s", error)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except HedgeError as error:
        sys.exit(str(error))
