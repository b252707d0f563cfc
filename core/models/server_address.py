"""Where a server is, and which environment variable holds the key to it.

A key itself is never an argument, a field or a part of a text: the client reads it from the environment, or from
Streamlit's ``secrets.toml``, for each request, and :func:`without_secrets` takes it out of what a server says.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import ClassVar
from urllib.parse import SplitResult, quote, urlsplit

from core.errors import InputError
from core.settings import ROOT

KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,60}_(KEY|TOKEN|SECRET)")
"""The form of a variable's name. It is strict, so that a key that is entered by mistake is not stored as a name."""
HIDDEN = "(the key)"
HIDDEN_ALIKE = "(a key)"
SHORTEST = 8
"""Characters of a key in the environment that is looked for in texts."""
LIKE_A_KEY = re.compile(
    r"""(?:bearer|basic)\s+(?!\(the\ key\)|token|auth)[^\s,;"']+          # a header
    |eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?                                  # a JSON web token
    |\b(?:sk|pk|rk|gsk|hf|xai|nvapi|ghp|glpat|AIza|AKIA|r8|pplx|fw|csk|tgp)[-_A-Z0-9][\w*.-]{5,}  # what makers issue
    |(?:api[-_ ]?key|secret|password|passwd|access[-_ ]?token|authorization)["']?\s*[:=]\s*["']?(?!\()[^\s,;"']+
    |\b(?=\w*\d)(?=\w*[A-Za-z])\w{28,}                                # long, with letters and digits""",
    re.IGNORECASE | re.VERBOSE,
)
"""What looks like a key, also if it is not ours."""
TIMEOUT_S = 120.0
"""Seconds that a server may take for one answer, if nobody says otherwise."""
LONGEST_TIMEOUT_S = 24 * 3600.0
NO_SCHEME = re.compile(
    r"(?P<host>localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24})(?P<port>:\d{1,5})?(?:/\S*)?",
    re.IGNORECASE,
)
"""An address without its scheme: of this machine, of an IP address, or of a whole host name."""
ENDPOINTS = re.compile(r"/(?:chat/completions|completions|models|embeddings|responses)$|(?<=/v1)/models/[^/]+$")
"""What stands behind the address of an API where a whole endpoint was given."""
PAGES = re.compile(r"/(?:docs|redoc|swagger|openapi\.json|health|metrics)(?:/.*)?$")
"""The pages of a server about itself."""
VERSION = re.compile(r"/v\d\w*$")
"""The end of an API's address."""
DEEPEST_PATH = 4
"""The steps of an address's path above which an API is looked for."""
DEPLOYMENT = re.compile(r"/openai/deployments/[^/]+(?:/.*)?$")
ON_SERVERS = " on "
"""The separator between a model's name and the addresses of its servers."""
SECRETS = Path(".streamlit") / "secrets.toml"


def server_url(text: str) -> str:
    """A server's address in its one form: without a slash at the end, and with ``/v1`` where it has no path.

    The address of an endpoint or of a page of documentation becomes that of its API, always on the same host and port;
    a missing scheme is ``http`` where a port or this machine is named, else ``https``.

    Raises :class:`InputError` if it is no http address, or holds a name, a password or a query: these are secrets, and
    an address stands in records and links.

    >>> server_url("http://gpu-3:8000/"), server_url("https://api.example.com/openai/v1/")
    ('http://gpu-3:8000/v1', 'https://api.example.com/openai/v1')
    >>> server_url("localhost:8000/v1/chat/completions"), server_url("http://gpu-3:8000/docs#/default")
    ('http://localhost:8000/v1', 'http://gpu-3:8000/v1')
    """
    try:
        parts = urlsplit(_with_scheme(text.strip()))
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    parts = _of_api(parts)
    if parts.username or parts.password or parts.query or parts.fragment or "@" in text:
        raise InputError(
            "a server's address may hold no user name, password, query or fragment, because it is stored with the "
            "results; give the bare address, and name the environment variable of the key"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", text.strip()):
        raise InputError(f"{without_secrets(text)!r} is no server's address; give one such as http://localhost:8000/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    where = f"{parts.scheme}://{host}{f':{port}' if port else ''}"
    return where + (parts.path.rstrip("/") or "/v1")


def corrected(text: str) -> str:
    """A sentence on the address that is used, if it is not the one that a person gave; empty if it is.

    >>> corrected("http://gpu-3:8000/v1/models"), corrected("http://gpu-3:8000/")
    ('the address http://gpu-3:8000/v1/models is used as http://gpu-3:8000/v1', '')
    """
    used = server_url(text)
    shown = without_secrets(text.strip())
    same = used.removesuffix("/v1") == shown.rstrip("/").removesuffix("/v1").rstrip("/")
    return "" if same else f"the address {shown} is used as {used}"


def addresses_near(url: str) -> list[str]:
    """Where the API of a server may be if it is not at this address, on the same host and port: below it, or above.

    >>> addresses_near("http://h:1/team/docs")
    ['http://h:1/team/docs/v1', 'http://h:1/team/v1', 'http://h:1/v1', 'http://h:1/api/v1', 'http://h:1/openai/v1']
    """
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    steps = [step for step in parts.path.split("/") if step][:DEEPEST_PATH]
    above = [root + "".join(f"/{step}" for step in steps[:n]) for n in range(len(steps), -1, -1)]
    candidates = [f"{base.removesuffix('/v1')}/v1" for base in above]
    return [near for near in dict.fromkeys([*candidates, f"{root}/api/v1", f"{root}/openai/v1"]) if near != url]


def _with_scheme(text: str) -> str:
    """
    >>> _with_scheme("localhost:8000"), _with_scheme("api.example.com/v1"), _with_scheme("sk-planted")
    ('http://localhost:8000', 'https://api.example.com/v1', 'sk-planted')
    """
    if "://" in text:
        return text
    parts = NO_SCHEME.fullmatch(text)
    if not parts or LIKE_A_KEY.match(text):
        return text
    is_own = parts["port"] or parts["host"] == "localhost" or parts["host"][-1].isdigit()
    return f"{'http' if is_own and parts['port'] != ':443' else 'https'}://{text}"


def _of_api(parts: SplitResult) -> SplitResult:
    """The parts of an address without the endpoint, the page of documentation or the deployment that they name."""
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    query, fragment = parts.query, parts.fragment
    if not VERSION.search(path) and (page := PAGES.search(path)):
        path, fragment = path[: page.start()], ""
    path = ENDPOINTS.sub("", path)
    if deployment := DEPLOYMENT.search(path):  # of Azure: its newer API takes the deployment as the model's name
        path = f"{path[: deployment.start()]}/openai/v1"
        query = "" if re.fullmatch(r"api-version=[\w.-]*", query) else query
    path = re.sub(r"(/v1)(?:/v1)+$", r"\1", path)
    return SplitResult(parts.scheme, parts.netloc, path, query, fragment)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model on a server, as jurors and base models are written: ``NAME@URL``."""

    name: str
    url: str

    def __str__(self) -> str:
        return f"{self.name}@{self.url}"


@dataclass(frozen=True, slots=True)
class ServedWeights:
    """What distinguishes the weights behind a model's name, because a server may be restarted with other weights.
    ``told`` is what the server says about them, ``log_p`` the log-probability of the most probable token after a short
    text that is always the same, and ``text_log_p`` the mean log-probability of that text's tokens (0: not known).
    """

    ALIKE: ClassVar[float] = 0.1
    """Two log-probabilities from the same weights may differ by this much, because servers compute in half
    precision."""
    TEXT_ALIKE: ClassVar[float] = 0.03
    """The means over a text's tokens may differ by this much."""

    told: str = ""
    log_p: float = 0.0
    text_log_p: float = 0.0

    @classmethod
    def from_json(cls, values: object) -> ServedWeights | None:
        """What a record says of the weights; None if that can't be read."""
        try:
            weights = cls(**values) if values and isinstance(values, dict) else None
        except TypeError:
            return None
        kinds = (
            ((weights.told, str), (weights.log_p, int | float), (weights.text_log_p, int | float)) if weights else ()
        )
        return weights if all(isinstance(value, kind) for value, kind in kinds) else None

    def alike(self, other: ServedWeights) -> bool:
        """Whether the other fingerprint may belong to the same weights."""
        both_known = self.text_log_p and other.text_log_p
        return (
            self.told == other.told
            and abs(self.log_p - other.log_p) <= self.ALIKE
            and (not both_known or abs(self.text_log_p - other.text_log_p) <= self.TEXT_ALIKE)
        )

    def moved(self, towards: ServedWeights, varied: float) -> ServedWeights:
        """These, with the ``log_p`` of others as far as answers to identical requests have ``varied``."""
        return replace(self, log_p=min(max(towards.log_p, self.log_p - varied), self.log_p + varied))

    def check_still(self, now: ServedWeights, *, model: str, url: str, since: str, way_out: str) -> None:
        """Raise :class:`~core.errors.InputError` if the server holds other weights ``now`` than these, which it held
        ``since`` something was done."""
        if not self.alike(now):
            raise InputError(
                f"the server {url} now holds other weights by the name of {model} than when {since}; {way_out}"
            )


def served_model(text: str) -> ServedModel | None:
    """The model and the server that a text names; None if it names no server.

    >>> served_model("llama-70b@http://gpu-3:8000")
    ServedModel(name='llama-70b', url='http://gpu-3:8000/v1')
    >>> served_model("pocket-3m") is None
    True
    """
    match = re.fullmatch(r"(.+?)@(https?://.*)", text.strip())
    return ServedModel(match[1], server_url(match[2])) if match else None


def short_name(model: str) -> str:
    """A model's name without its folder, its maker or its server."""
    there = served_model(model)
    return Path(there.name if there else model).name


def model_on_servers(name: str, servers: Sequence[str]) -> str:
    """A model as a person chooses it: its name, with the servers that hold it, because on two servers it is two models.

    >>> model_on_servers("llama-70b", ("http://a:1/v1", "http://b:1/v1")), model_on_servers("pocket-3m", ())
    ('llama-70b on http://a:1/v1, http://b:1/v1', 'pocket-3m')
    """
    return f"{name}{ON_SERVERS}{', '.join(servers)}" if servers else name


def asked_parts(text: str) -> tuple[str, tuple[str, ...]]:
    """The name and the servers of a model as a person chooses it (:func:`model_on_servers`); no servers if Hedge
    loads it.

    >>> asked_parts("llama-70b on http://a:1/v1, http://b:1/v1")
    ('llama-70b', ('http://a:1/v1', 'http://b:1/v1'))
    >>> asked_parts("pocket-3m")
    ('pocket-3m', ())
    """
    match = re.fullmatch(rf"(.+?){ON_SERVERS}(https?://.+)", text)
    return (match[1], tuple(match[2].split(", "))) if match else (text, ())


def key_variable(name: str) -> str:
    """The name of the variable that holds a key; empty if there is none.

    Raises :class:`InputError`, without repeating what was given, if it does not look like a variable's name: it may
    then be a key.
    """
    if name and not KEY_NAME.fullmatch(name):
        raise InputError(
            "a key is given by the name of its environment variable, such as OPENAI_API_KEY: capitals, digits and "
            "underscores, with _KEY, _TOKEN or _SECRET at the end"
        )
    return name


def check_timeout(seconds: float) -> None:
    """Raise :class:`InputError` if a server can't be given this many seconds for an answer."""
    if not 1 <= seconds <= LONGEST_TIMEOUT_S:
        raise InputError(f"a timeout must lie from 1 to {LONGEST_TIMEOUT_S:,.0f} seconds, got {seconds:g}")


def key_of(name: str) -> str:
    """The key that a variable holds in this process's environment, or else in Streamlit's secrets; empty if none."""
    if not name:
        return ""
    return os.environ.get(name) or next(filter(None, (_secret(str(path), name) for path in secret_files())), "")


def secret_files() -> tuple[Path, ...]:
    """The places of Streamlit's secrets: first next to the app, then in the person's home."""
    return ROOT / SECRETS, Path.home() / SECRETS


def check_key(name: str) -> None:
    """Raise :class:`InputError` if the variable of a key is set nowhere, or is no variable's name."""
    if key_variable(name) and not key_of(name):
        raise InputError(
            f"the environment variable {name}, which names the server's key, is not set; export it first, or put it "
            "into .streamlit/secrets.toml"
        )


def without_secrets(text: str, name: str = "") -> str:
    """A text from a server without the key in the variable ``name``, the other keys of the environment, and whatever
    looks like a key: an error may repeat the key that it refuses, or hold someone else's.

    >>> without_secrets("Incorrect key sk-planted-11aa, Bearer abc; see https://me:pw@host/x?sig=1")
    'Incorrect key (a key), (a key); see https://host/x'
    """
    text = re.sub(r"(https?://)[^/\s@]*@", r"\1", text)
    text = re.sub(r"(https?://[^\s?#\"'<>]*)[?#][^\s\"'<>)]*", r"\1", text)
    held = {value for variable, value in os.environ.items() if KEY_NAME.fullmatch(variable) and len(value) >= SHORTEST}
    for key in sorted(filter(None, {key_of(name), *held}), key=len, reverse=True):
        for form in (key, quote(key, safe="")):
            text = text.replace(form, HIDDEN)
    return LIKE_A_KEY.sub(HIDDEN_ALIKE, _without_parts(text, key_of(name)))


def _without_parts(text: str, key: str) -> str:
    """A text without each part of the key from :data:`SHORTEST` characters on, in small and capital letters, as base64
    or as hexadecimal digits.

    >>> _without_parts("Abc9secr...vd and ABC9SECRETVALUE1", "Abc9secretvalue1")
    '(the key)...vd and (the key)'
    """
    data = key.encode()
    forms = [key, data.hex(), *(b64encode(b" " * shift + data).decode() for shift in range(3))]
    low = [form.lower() for form in forms]
    windows = range(len(text) - SHORTEST + 1)
    hits = {i for i in windows if any(text[i : i + SHORTEST].lower() in form for form in low)} if data else set()
    hidden = {i + j for i in hits for j in range(SHORTEST)}
    pieces = groupby(range(len(text)), key=lambda i: i in hidden)
    return "".join(HIDDEN if is_hidden else "".join(text[i] for i in places) for is_hidden, places in pieces)


def _secret(path: str, name: str) -> str:
    try:
        return _secrets(path, os.stat(path).st_mtime_ns).get(name, "")
    except OSError:
        return ""


@functools.lru_cache(maxsize=8)
def _secrets(path: str, changed: int) -> dict[str, str]:
    """The top-level texts of a file of secrets that last ``changed`` at this time; empty if the file can't be read."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in values.items() if isinstance(value, str)}
