"""Who sends a request, by the cookie that Streamlit signed when the person logged in.

A page knows its user by ``st.user``. A request for a file, an upload or a page comes without a session, so the cookie
is read here: ``itsdangerous`` with the ``cookie_secret`` of the server's file, and the cookie's name as salt. Claims
that do not fit into one cookie are spread over several, and the first then says how many.
"""

import json
import re
from collections.abc import Mapping

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.types import Scope

from app.serving import ended_logins, login
from core.access import Actor

COOKIE = "_streamlit_user"
PARTS = re.compile(r"chunks-(\d{1,3})")
SIGNED_WITHIN_S = 2
"""Parts of one login are signed within this time. Parts of two logins together would be a third that never was."""


def actor_of(connection: HTTPConnection) -> Actor:
    """Return who sends the request: an outsider if there is no cookie, or one that this server has not signed."""
    return login.claims_actor(claims(connection.cookies, login.cookie_secret()), client(connection))


def client(connection: HTTPConnection) -> str:
    """Return the network address of the sender; empty if the server does not know it."""
    return connection.client.host if connection.client else ""


def claims(cookies: Mapping[str, str], secret: str) -> dict[str, object]:
    """Return what the provider says about the person; empty unless every part is signed with ``secret``.

    Without a secret nobody logs in, and everyone could sign.
    """
    if not secret:
        return {}
    try:
        text, first = _signed(cookies, COOKIE, secret)
        if parts := PARTS.fullmatch(text):
            signed = [_signed(cookies, f"{COOKIE}_{i + 1}", secret) for i in range(int(parts[1]))]
            if any(abs(when - first) > SIGNED_WITHIN_S for _, when in signed):
                return {}
            text = "".join(part for part, _ in signed)
        content = json.loads(text)
    except (KeyError, ValueError, BadSignature):
        return {}
    return content if isinstance(content, dict) else {}


def without_broken_login(scope: Scope) -> Scope:
    """The request without the cookies of a login that :func:`claims` does not take, because Streamlit might."""
    connection = HTTPConnection(scope)
    if COOKIE not in connection.cookies or claims(connection.cookies, login.cookie_secret()):
        return scope
    headers = [pair for pair in scope["headers"] if pair[0].lower() != b"cookie"]
    others = [f"{name}={value}" for name, value in connection.cookies.items() if not name.startswith(COOKIE)]
    return {**scope, "headers": [*headers, (b"cookie", "; ".join(others).encode("latin-1", "ignore"))]}


def _signed(cookies: Mapping[str, str], name: str, secret: str) -> tuple[str, float]:
    """What a cookie says, and when it was signed (seconds since the epoch)."""
    signer = URLSafeTimedSerializer(secret, salt=name)
    text, when = signer.loads(cookies[name], max_age=ended_logins.LASTS_S, return_timestamp=True)
    return str(text), when.timestamp()
