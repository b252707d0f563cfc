"""Who sends a request, by the cookie that Streamlit signed when the person logged in.

A page knows its user by ``st.user``. A request for a file, an upload or a page comes without a session, so the cookie
is read here: ``itsdangerous`` with the ``cookie_secret`` of the server's file, and the cookie's name as salt. Claims
that do not fit into one cookie are spread over several, and the first then says how many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection

from app.serving import ended_logins, login
from core.access import Actor

COOKIE = "_streamlit_user"
PARTS = re.compile(r"chunks-(\d{1,3})")


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
        text = _signed(cookies, COOKIE, secret)
        if parts := PARTS.fullmatch(text):
            text = "".join(_signed(cookies, f"{COOKIE}_{i + 1}", secret) for i in range(int(parts[1])))
        content = json.loads(text)
    except (KeyError, ValueError, BadSignature):
        return {}
    return content if isinstance(content, dict) else {}


def _signed(cookies: Mapping[str, str], name: str, secret: str) -> str:
    return str(URLSafeTimedSerializer(secret, salt=name).loads(cookies[name], max_age=ended_logins.LASTS_S))
