"""The one file (TOML) in which an administrator says how a server lets people log in, who they are, and their limits.

::

    [auth]                                   # the provider, as Streamlit's st.login reads it
    redirect_uri = "https://hedge.example.org/oauth2callback"
    cookie_secret = "…"
    client_id = "hedge"
    client_secret = "…"
    server_metadata_url = "https://login.example.org/.well-known/openid-configuration"

    [roles]                                  # by e-mail, by "*@domain", by "group:NAME"; the highest one holds
    administrators = ["chief@example.org"]
    launchers = ["group:lab"]
    viewers = ["*@example.org"]

    [limits]                                 # see core.access.quotas.Quotas
    waiting_runs = 20

    [files]
    roots = ["/srv/models"]                  # folders of models and questions that people may choose from

    [servers]
    addresses = ["http://gpu-1:8000/v1"]     # model servers that launchers may connect to
    keys = ["OPENAI_API_KEY"]                # and the variables with their keys

    [hosts]
    names = ["hedge.example.org"]            # the names in people's addresses, besides that of redirect_uri
    frame_ancestors = ["https://example.org"]  # the sites that may show Hedge in a frame; none by default

A public server takes a file with ``[limits]``, ``[files]`` and ``[hosts]`` alone. The file is read again when it has
changed, so a role that is taken away ends with the person's next click.
"""

import re
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from core.access import OUTSIDER, Actor, UserRole
from core.access.quotas import Quotas
from core.errors import InputError
from core.settings import FrameAncestor

EVERYONE = "*"
GROUP = "group:"
SHORTEST_SECRET = 32
CALLBACK = "/oauth2callback"
LONGEST_NAME = 200
HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)
"""A host's name in lower case, without a port."""


class StrictModel(BaseModel):
    """A section that rejects unknown names and repeats no value in an error."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class AuthSection(StrictModel):
    """``[auth]``: the OpenID provider, as Streamlit reads it."""

    redirect_uri: str
    cookie_secret: str
    client_id: str
    client_secret: str
    server_metadata_url: str
    client_kwargs: dict[str, Any] = {}


class RolesSection(StrictModel):
    """``[roles]``: who has which role, by verified e-mail address or by group."""

    administrators: tuple[str, ...] = ()
    launchers: tuple[str, ...] = ()
    viewers: tuple[str, ...] = ()
    group_claim: str = "groups"
    """The claim of the provider that lists a person's groups."""
    unverified_emails: bool = False
    """Whether an address counts that the provider does not say it has verified."""
    hours: float = Field(default=12.0, gt=0)
    """A login is valid for this long."""


class LimitsSection(StrictModel):
    """``[limits]``: see :class:`~core.access.quotas.Quotas`; a limit that is not given is as there."""

    waiting_runs: int = Field(default=Quotas().waiting_runs, ge=1)
    disk_gb: float = Field(default=Quotas().disk_gb, gt=0)
    free_disk_gb: float = Field(default=Quotas().free_disk_gb, ge=0)
    questions_a_minute: int = Field(default=Quotas().questions_a_minute, ge=1)
    waiting_questions: int = Field(default=Quotas().waiting_questions, ge=1)
    uploads_mb: float = Field(default=Quotas().uploads_mb, gt=0)
    sessions_per_address: int = Field(default=Quotas().sessions_per_address, ge=1)
    seats_per_address: int = Field(default=Quotas().seats_per_address, ge=1)


class FilesSection(StrictModel):
    """``[files]``: folders of this machine that people may choose models and questions from."""

    roots: tuple[Path, ...] = ()


class ServersSection(StrictModel):
    """``[servers]``: the model servers that launchers may connect to, and the variables that hold their keys."""

    addresses: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def _host_name(value: str) -> str:
    name = value.lower()
    if not HOST_NAME.fullmatch(name):
        raise ValueError(f"a host is a name such as hedge.example.org, without scheme and port, got {value!r}")
    return name


class HostsSection(StrictModel):
    """``[hosts]``: the names under which people reach the server, and the sites that may show it in a frame."""

    names: tuple[Annotated[str, AfterValidator(_host_name)], ...] = ()
    frame_ancestors: tuple[FrameAncestor, ...] = ()


class ServerFile(StrictModel):
    """The whole file."""

    auth: AuthSection | None = None
    roles: RolesSection = RolesSection()
    limits: LimitsSection = LimitsSection()
    files: FilesSection = FilesSection()
    servers: ServersSection = ServersSection()
    hosts: HostsSection = HostsSection()

    @property
    def host_names(self) -> frozenset[str]:
        """The names under which people reach the server, if the file says any."""
        own = urlsplit(self.auth.redirect_uri).hostname if self.auth else None
        return frozenset({*self.hosts.names, *([own] if own else [])})

    @property
    def quotas(self) -> Quotas:
        """The limits as quotas."""
        return Quotas(**self.limits.model_dump())

    def role_of(self, claims: Mapping[str, Any]) -> UserRole:
        """The highest role that a logged-in person has by these claims of the provider."""
        email = str(claims.get("email", "")).lower() if self._is_verified(claims) else ""
        claimed = claims.get(self.roles.group_claim, ())
        claimed = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, (list, tuple)) else ()
        groups = set(map(str, claimed))

        def fits(entry: str) -> bool:
            if entry.startswith(GROUP):
                return entry.removeprefix(GROUP) in groups
            if entry == EVERYONE:
                return True
            entry = entry.lower()
            return bool(email) and (email.endswith(entry[1:]) if entry.startswith("*@") else email == entry)

        by_role = {
            UserRole.ADMINISTRATOR: self.roles.administrators,
            UserRole.LAUNCHER: self.roles.launchers,
            UserRole.VIEWER: self.roles.viewers,
        }
        return next((role for role, entries in by_role.items() if any(map(fits, entries))), UserRole.OUTSIDER)

    def _is_verified(self, claims: Mapping[str, Any]) -> bool:
        return self.roles.unverified_emails or claims.get("email_verified") in (True, "true")

    def actor_of(self, claims: Mapping[str, Any], *, address: str = "") -> Actor:
        """The person who has logged in with these claims; an outsider without a valid login and a role."""
        if not claims.get("is_logged_in"):
            return Actor(OUTSIDER.name, UserRole.OUTSIDER, address)
        role = self.role_of(claims) if self.is_fresh(claims) else UserRole.OUTSIDER
        return Actor(self.name_of(claims), role, address)

    def is_fresh(self, claims: Mapping[str, Any]) -> bool:
        """Whether the login is not older than it may be."""
        issued = claims.get("iat")
        known = isinstance(issued, (int, float)) and not isinstance(issued, bool)
        return known and time.time() - float(issued or 0) < 3600 * self.roles.hours

    def name_of(self, claims: Mapping[str, Any]) -> str:
        """What a person is called in records: the verified e-mail address, or else the provider's own name (sub)."""
        email = str(claims.get("email", "")).lower() if self._is_verified(claims) else ""
        name = email or f"sub:{claims.get('sub', '')}"
        return "".join(letter for letter in name if letter.isprintable())[:LONGEST_NAME]


def read(path: Path, *, login: bool) -> ServerFile:
    """The file. Raises :class:`~core.errors.InputError`, which repeats no value of it, if it can't be used.

    With ``login`` it must say how people log in; without, it must not.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        parsed = TypeAdapter(ServerFile).validate_python(values)
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}); give the server's TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML file ({type(error).__name__}); correct it") from None
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{path}: {place}: {first['msg']}; correct it, and see docs/text/serving.md") from None
    if login != (parsed.auth is not None):
        rule = "needs a section [auth] for --login" if login else "has a section [auth]; start it with --login"
        raise InputError(f"{path} {rule}; see docs/text/serving.md")
    if parsed.auth:
        _check_auth(path, parsed.auth)
        if not (parsed.roles.administrators or parsed.roles.launchers or parsed.roles.viewers):
            raise InputError(f"{path} gives nobody a role, so nobody could do anything; add a section [roles]")
    return parsed


def _check_auth(path: Path, auth: AuthSection) -> None:
    """The rules without which a login protects nothing."""
    if len(auth.cookie_secret) < SHORTEST_SECRET:
        raise InputError(
            f"{path}: auth.cookie_secret must have at least {SHORTEST_SECRET} characters; make one with `python -c "
            "'import secrets; print(secrets.token_hex(32))'`"
        )
    if not auth.redirect_uri.endswith(CALLBACK):
        raise InputError(f"{path}: auth.redirect_uri must be this server's address and {CALLBACK}")
    if path.stat().st_mode & 0o004:
        raise InputError(f"{path} holds secrets, and everyone on this machine can read it; run `chmod o-r {path}`")
