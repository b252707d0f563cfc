"""The server's file: which role a person has by the provider's claims, and files that can't be used."""

import time
from pathlib import Path
from typing import Any

import pytest

from core.access import UserRole, server_file
from core.access.server_file import ServerFile
from core.errors import InputError
from tests import openid

pytestmark = pytest.mark.quick

SECRET = "planted-secret-0123456789-0123456789"
AUTH = f"""
[auth]
redirect_uri = "https://hedge.example.org/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "hedge"
client_secret = "{SECRET}"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""
ROLES = """
[roles]
administrators = ["Chief@Example.org"]
launchers = ["group:lab", "ann@example.org"]
viewers = ["*@example.org"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.fixture
def server_settings(tmp_path: Path) -> ServerFile:
    return server_file.read(written(tmp_path, AUTH + ROLES), login=True)


def claims(**more: Any) -> dict[str, Any]:
    return {"is_logged_in": True, "sub": "17", "iat": time.time(), "email_verified": True, **more}


@pytest.mark.parametrize(
    ("claimed", "role"),
    [
        ({"email": "chief@example.org"}, UserRole.ADMINISTRATOR),
        ({"email": "CHIEF@EXAMPLE.ORG"}, UserRole.ADMINISTRATOR),
        ({"email": "ann@example.org"}, UserRole.LAUNCHER),
        ({"email": "zoe@example.org", "groups": ["lab"]}, UserRole.LAUNCHER),
        ({"email": "zoe@example.org", "groups": "lab"}, UserRole.LAUNCHER),
        ({"groups": ["lab"]}, UserRole.LAUNCHER),
        ({"email": "zoe@example.org", "groups": ["labour"]}, UserRole.VIEWER),
        ({"email": "zoe@example.org", "groups": {"lab": True}}, UserRole.VIEWER),
        ({"email": "zoe@evil-example.org"}, UserRole.OUTSIDER),
        ({"email": "zoe@example.org.evil.org"}, UserRole.OUTSIDER),
        ({"email": "chief@example.org", "email_verified": False}, UserRole.OUTSIDER),
        ({"email": "chief@example.org", "email_verified": None}, UserRole.OUTSIDER),
        ({"email": "group:lab"}, UserRole.OUTSIDER),
        ({"name": "chief@example.org"}, UserRole.OUTSIDER),
        ({}, UserRole.OUTSIDER),
    ],
)
def test_the_highest_role_that_fits_holds(server_settings: ServerFile, claimed: dict[str, Any], role: UserRole):
    assert server_settings.role_of(claims(**claimed)) is role
    assert server_settings.actor_of(claims(**claimed)).role is role


def test_a_login_ends_after_the_hours_and_nobody_is_somebody_without_one(server_settings: ServerFile):
    chief = claims(email="chief@example.org")
    assert server_settings.actor_of(chief).role is UserRole.ADMINISTRATOR
    assert server_settings.actor_of(chief | {"iat": time.time() - 11.9 * 3600}).role is UserRole.ADMINISTRATOR
    for old in (time.time() - 12.1 * 3600, None, "now", True):
        assert server_settings.actor_of(chief | {"iat": old}).role is UserRole.OUTSIDER
    assert server_settings.actor_of(chief | {"is_logged_in": False}).role is UserRole.OUTSIDER
    assert server_settings.actor_of({}).role is UserRole.OUTSIDER


def test_a_person_is_called_by_a_verified_address_or_by_the_provider_s_name(server_settings: ServerFile):
    assert server_settings.name_of(claims(email="Ann@Example.org")) == "ann@example.org"
    assert server_settings.name_of(claims(email="ann@example.org", email_verified=False)) == "sub:17"
    assert server_settings.name_of(claims(sub="a\n" + "b" * 500)) == "sub:a" + "b" * 195


def test_everyone_who_logs_in_may_be_a_viewer(tmp_path: Path):
    open_to_all = server_file.read(written(tmp_path, AUTH + '[roles]\nviewers = ["*"]\n'), login=True)
    assert open_to_all.role_of(claims()) is UserRole.VIEWER


def test_the_limits_are_those_of_the_file_and_the_rest_is_as_by_default(tmp_path: Path):
    path = written(tmp_path, '[limits]\nwaiting_runs = 3\n[files]\nroots = ["/srv/models"]\n')
    settings_read = server_file.read(path, login=False)
    assert (settings_read.quotas.waiting_runs, settings_read.quotas.disk_gb) == (3, 20.0)
    assert settings_read.files.roots == (Path("/srv/models"),)
    assert settings_read.hosts.frame_ancestors == ()
    path = written(tmp_path, '[hosts]\nframe_ancestors = ["https://Example.org"]\n')
    assert server_file.read(path, login=False).hosts.frame_ancestors == ("https://example.org",)


@pytest.mark.parametrize(
    ("text", "login", "sentence"),
    [
        ("auth = ", True, "is no TOML file"),
        (AUTH, True, "gives nobody a role"),
        (ROLES, True, r"needs a section \[auth\] for --login"),
        (AUTH + ROLES, False, r"has a section \[auth\]; start it with --login"),
        ((AUTH + ROLES).replace(f'cookie_secret = "{SECRET}"', 'cookie_secret = "planted"'), True, "at least 32 char"),
        ((AUTH + ROLES).replace("/oauth2callback", "/"), True, "must be this server's address and /oauth2callback"),
        ((AUTH + ROLES).replace("client_id", "client_identity"), True, "auth.client_id: Field required"),
        (AUTH + ROLES + "[limits]\nwaiting_runs = -1\n", True, "limits.waiting_runs: Input should be greater"),
        (AUTH + ROLES + '[hosts]\nframe_ancestors = ["*"]\n', True, r"hosts.frame_ancestors.0: .* by https and"),
        (AUTH + ROLES + '[limit]\nx = "planted"\n', True, "limit: Extra inputs are not permitted"),
    ],
)
def test_a_file_that_can_t_be_used_is_one_sentence_without_its_secrets(
    tmp_path: Path, text: str, login: bool, sentence: str
):
    with pytest.raises(InputError, match=sentence) as error:
        server_file.read(written(tmp_path, text), login=login)
    assert "planted" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_everyone_can_read_keeps_no_secret(tmp_path: Path):
    path = written(tmp_path, AUTH + ROLES)
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod o-r"):
        server_file.read(path, login=True)
    with pytest.raises(InputError, match="can't be read"):
        server_file.read(tmp_path / "nowhere.toml", login=True)


def test_the_tests_provider_has_the_people_that_the_attempts_need(tmp_path: Path):
    settings_read = server_file.read(written(tmp_path, openid.server_file(openid.Provider())), login=True)
    roles = {
        name: settings_read.role_of(claims(**{"email_verified": False} | person))
        for name, person in openid.PEOPLE.items()
    }
    assert [roles[name].title for name in ("vera", "lars", "anna", "otto", "mara")] == [
        "viewer", "launcher", "administrator", "outsider", "outsider",
    ]  # fmt: skip
