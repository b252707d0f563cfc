"""Who uses a page, on a server where people log in with an OpenID provider (Streamlit's ``st.login``).

A session's claims come with its websocket: Streamlit reads them from a signed cookie, and a message of the session
can't change them. :func:`actor_of_thread` reads them from ``st.user`` in whatever thread runs a page's script, a
callback, a fragment or a component's message.
"""

import logging
import secrets
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app.formatting import plain
from app.navigation import PAGES
from app.serving import ended_logins
from core import access
from core.access import Actor, UserRole, quotas, server_file
from core.access.server_file import ServerFile
from core.errors import InputError

LOG = logging.getLogger(__name__)
CROWDED = "x-hedge-crowded"
"""A header that :mod:`app.serving.sessions` adds to a session beyond the limit of its address."""
ACCOUNT = "account"
SESSION_KEY = "session_name"
LEAVING = "logging_out"
"""Set in a session that was told to log out."""
MEANS = {
    UserRole.VIEWER: "You can look at everything, ask the models that ship with Hedge, and export.",
    UserRole.LAUNCHER: "You can also launch runs and juries, import results, and change what is yours.",
    UserRole.ADMINISTRATOR: "You can also change what others launched, and check this machine.",
}


class ServerSettings:
    """The server's file as it is now. If it can no longer be used, what it said before holds, and the log says why."""

    def __init__(self, path: Path, *, login: bool) -> None:
        self.path, self.login = path, login
        self._stamp = self._written()
        self._found = server_file.read(path, login=login)

    def _written(self) -> int:
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    def now(self) -> ServerFile:
        """The settings in the file."""
        if (stamp := self._written()) != self._stamp:
            self._stamp = stamp
            try:
                self._found = server_file.read(self.path, login=self.login)
                quotas.hold(self._found.quotas)
            except InputError as error:
                LOG.error("the server's file was changed and can't be used, so it holds as before: %s", error)
        return self._found


_settings: list[ServerSettings] = []


def install(settings: ServerSettings | None) -> None:
    """Let this process serve people who log in as the file says, or everyone."""
    _settings[:] = [settings] if settings else []


def is_by_https() -> bool:
    """Whether people reach the server by https."""
    auth = _settings[0].now().auth if _settings else None
    return auth is not None and auth.redirect_uri.startswith("https:")


def host_names() -> frozenset[str]:
    """The names under which people reach the server, if its file says any."""
    return _settings[0].now().host_names if _settings else frozenset()


def claims_actor(claims: dict[str, object], address: str) -> Actor:
    """Who has these claims of the provider."""
    if access.mode() == "public" or not _settings:
        return Actor(access.VISITOR.name, UserRole.VIEWER, address)
    who = _settings[0].now().actor_of(claims, address=address)
    return Actor(who.name, UserRole.OUTSIDER, address) if ended_logins.has_ended(claims) else who


def cookie_secret() -> str:
    """The secret with which Streamlit signs the cookies of people who log in; empty where nobody does."""
    auth = _settings[0].now().auth if _settings else None
    return auth.cookie_secret if auth else ""


_claims: ContextVar[dict[str, Any] | None] = ContextVar("claims", default=None)
"""The claims of the session for which a thread works. They are kept because a page may close while its script runs."""

_session: ContextVar[str] = ContextVar("session", default="")
"""A random name of that session, which tells apart visitors who share an address."""


def actor_of_thread() -> Actor | None:
    """The person whose session this thread works for; None if it works for none."""
    if st.context.headers:  # only a thread of an open page has any
        _claims.set(st.user.to_dict())
        _session.set(st.session_state.setdefault(SESSION_KEY, secrets.token_hex(8)))
    claims = _claims.get()
    if claims is None:
        return None
    return replace(claims_actor(claims, address()), session=_session.get())


def address() -> str:
    """The network address of the page's session, if it is known."""
    return st.context.ip_address or ""


def gate() -> bool:
    """Whether the page may be shown. If not, a page in its place says what to do."""
    if access.mode() == "local":
        return True
    if st.session_state.get(LEAVING):
        _in_place_of_all(_logging_out)
    elif st.context.headers.get(CROWDED):
        _in_place_of_all(_crowded)
    elif access.actor().role is UserRole.OUTSIDER:
        _in_place_of_all(_without_role if st.user.get("is_logged_in") else _log_in)
    else:
        return True
    return False


def _in_place_of_all(page: object) -> None:
    """Show a page under every address, so that the link stays in the browser's address bar."""
    first = st.Page(page, title="Hedge", default=True)  # type: ignore[arg-type]
    names = [*(entry.name for entry in PAGES), ACCOUNT]
    others = [st.Page(page, title="Hedge", url_path=name) for name in names]  # type: ignore[arg-type]
    st.navigation([first, *others], position="hidden").run()


def _log_in() -> None:
    st.title("Hedge", anchor=False)
    st.markdown("Hedge shows how sure a language model really is. This server is for people who log in.")
    st.button("Log in", on_click=st.login)


def _without_role() -> None:
    claims = st.user.to_dict()
    logged_out = ended_logins.has_ended(claims)
    if logged_out or not _settings or not _settings[0].now().is_fresh(claims):
        st.title("Log in again", anchor=False)
        reason = "you logged out" if logged_out else "it was too long ago"
        st.markdown(f"Your login has ended, because {reason}.")
        st.button("Log in", on_click=st.login)
        return
    st.title("You have no role on this server", anchor=False)
    st.markdown(
        "You are logged in, but the administrator of this server has not given you a role. Ask for one and tell this "
        "name. Then reload this page."
    )
    st.code(access.actor().name, language=None, width="content")
    st.button("Log out", on_click=_leave)


def _leave() -> None:
    """End the login: for the server now, and for the browser and the provider on the page that follows."""
    if st.user.get("is_logged_in"):
        ended_logins.end(st.user.to_dict())
    st.session_state[LEAVING] = True


def _logging_out() -> None:
    """The session's last page: "Log in" is shown by the next one, which has no cookie.

    Streamlit forgets the session's claims before it tells the browser to delete the cookie, and drops that message if
    the script is run again before it is sent. So each run sends it, and nothing says "logged out" until it is true.
    """
    st.title("Logging out", anchor=False)
    st.markdown("If this page stays, you are still logged in. Reload it then, and log out again.")
    st.logout()


def _crowded() -> None:
    st.title("Too many pages are open", anchor=False)
    st.markdown(
        f"This server shows {quotas.held().sessions_per_address} pages at once to one network address, and as many are "
        "open. Close one that you don't need, and reload this page."
    )


def account() -> None:
    """The page that says who is logged in and what that allows, and logs out."""
    who = access.actor()
    st.title("Your account", anchor=False)
    st.markdown(f"You are logged in as {plain(who.name)}. Your role is **{who.role.title}**.")
    st.markdown(" ".join(means for role, means in MEANS.items() if role <= who.role))
    st.button("Log out", on_click=_leave)
