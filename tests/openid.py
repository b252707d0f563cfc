"""A small OpenID provider on loopback, for tests: the code flow with PKCE, as RFC 6749, RFC 7636 and OpenID Core say.

It asks for no password: a person is chosen on its page, or by ``person=NAME`` in the address. Its tokens are signed
with a key of its own (RS256), and it refuses a wrong client, secret, address, code or verifier, as real ones do.
"""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "hedge-test", "planted-client-secret-5b1f"
MARK = "planted-access-token-"
"""The access tokens begin so, and the tests look for it where it must not be."""

PEOPLE: dict[str, dict[str, Any]] = {
    "vera": {"email": "vera@example.org", "email_verified": True},
    "lars": {"email": "lars@example.org", "email_verified": True, "groups": ["lab"]},
    "lena": {"email": "lena@example.org", "email_verified": True, "groups": ["lab"]},
    "anna": {"email": "anna@example.org", "email_verified": True},
    "otto": {"email": "otto@elsewhere.example", "email_verified": True},
    "mara": {"email": "anna@example.org", "email_verified": False},
}
"""A viewer, two launchers by their group, an administrator, a stranger, and one who only claims to be the third."""


@dataclass
class Grant:
    """A code that waits to be exchanged."""

    person: str
    redirect_uri: str
    nonce: str
    challenge: str


@dataclass
class Provider:
    """The provider: its address, its key, and the codes and tokens that it has given out."""

    address: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "test"}, private=True))
    grants: dict[str, Grant] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    age_s: float = 0.0
    """Logins claim to be this old."""

    def authorize(self, query: dict[str, str], person: str) -> str:
        """The address to which a person is sent back with a code."""
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(
            person, query["redirect_uri"], query.get("nonce", ""), query.get("code_challenge", "")
        )
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, query: dict[str, str]) -> dict[str, Any] | None:
        """The tokens for a code; None if anything is not as it was."""
        grant = self.grants.pop(query.get("code", ""), None)
        if grant is None or query.get("redirect_uri") != grant.redirect_uri:
            return None
        verifier = hashlib.sha256(query.get("code_verifier", "").encode()).digest()
        if grant.challenge and base64.urlsafe_b64encode(verifier).rstrip(b"=").decode() != grant.challenge:
            return None
        now = int(time.time() - self.age_s)
        claims = {
            "iss": self.address,
            "sub": f"id-{grant.person}",
            "aud": CLIENT,
            "iat": now,
            "exp": int(time.time()) + 600,
            "nonce": grant.nonce,
            **PEOPLE[grant.person],
        }
        access = MARK + secrets.token_hex(8)
        identity = jwt.encode({"alg": "RS256", "kid": "test"}, claims, self.key)
        self.tokens += [access, identity]
        return {"access_token": access, "id_token": identity, "token_type": "Bearer", "expires_in": 600}

    def metadata(self) -> dict[str, Any]:
        """The provider's own metadata."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/jwks",
            "end_session_endpoint": f"{self.address}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            query = dict(parse_qsl(where.query))
            if where.path == "/.well-known/openid-configuration":
                self._json(provider.metadata())
            elif where.path == "/jwks":
                self._json({"keys": [provider.key.as_dict(private=False) | {"use": "sig", "alg": "RS256"}]})
            elif where.path == "/authorize" and query.get("client_id") == CLIENT:
                self._choose(query)
            elif where.path == "/logout":
                self._to(query["post_logout_redirect_uri"])
            else:
                self._json({"error": "not_found"}, status=404)

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            query = {name: values[0] for name, values in parse_qs(content).items()}
            expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
            tokens = provider.exchange(query) if self.headers.get("Authorization") == f"Basic {expected}" else None
            self._json(tokens or {"error": "invalid_grant"}, status=200 if tokens else 400)

        def _choose(self, query: dict[str, str]) -> None:
            if person := query.pop("person", ""):
                self._to(provider.authorize(query, person))
                return
            links = "".join(
                f'<li><a href="{html.escape("/authorize?" + urlencode(query | {"person": name}))}">{name}</a></li>'
                for name in PEOPLE
            )
            self._send(f"<link rel=icon href=data:,><title>Log in</title><ul>{links}</ul>".encode(), "text/html")

        def _to(self, place: str) -> None:
            self.send_response(302)
            self.send_header("Location", place)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _json(self, value: object, *, status: int = 200) -> None:
            self._send(json.dumps(value).encode(), "application/json", status=status)

        def _send(self, body: bytes, kind: str, *, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: tests print enough."""

    return Handler


@contextmanager
def running() -> Iterator[Provider]:
    """The provider, until the block ends."""
    provider = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


COOKIE_SECRET = "planted-cookie-secret-0123456789abcdef"


def server_file(provider: Provider, *, limits: str = "", roots: str = "") -> str:
    """A server's file (TOML) for this provider; the address has Streamlit's own place for the port."""
    return f"""
[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "{COOKIE_SECRET}"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{provider.address}/.well-known/openid-configuration"

[roles]
administrators = ["anna@example.org"]
launchers = ["group:lab"]
viewers = ["*@example.org"]

[limits]
{limits}

[files]
roots = [{roots}]
"""
