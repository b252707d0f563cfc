"""The image runs as any user, and the Space of Hugging Face is this image."""

import re

import pytest
import yaml

from core.settings import ROOT
from tests.benchmarks.container import steps

pytestmark = pytest.mark.quick

KEYS = {"title", "sdk", "app_port", "license", "short_description"}
"""Keys that https://huggingface.co/docs/hub/spaces-config-reference lists."""


def image() -> list[tuple[str, str]]:
    """The steps of the image, in order."""
    return list(steps((ROOT / "Dockerfile").read_text(encoding="utf-8"), ""))


def test_every_user_may_write_where_the_image_writes():
    (variables,) = [rest for word, rest in image() if word == "ENV"]
    assert "HEDGE_HOME=/data HF_HOME=/data/hub HOME=/tmp" in variables
    assert any("install -d -m 1777 /data" in rest for word, rest in image() if word == "RUN")
    assert not any("chown" in rest for _, rest in image())
    assert [rest for word, rest in image() if word == "VOLUME"] == ["/data"]


def test_the_space_says_what_the_image_does():
    text = (ROOT / "deploy" / "space" / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about.keys() == KEYS
    assert about["sdk"] == "docker"
    assert [str(about["app_port"])] == [rest for word, rest in image() if word == "EXPOSE"]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith(f"{about['license'].upper()} License")
    assert len(about["short_description"]) <= 60
    (command,) = [rest for word, rest in image() if word == "CMD"]
    assert '"--public"' in command
    for name in re.findall(r"--env (\w+)=", body):
        assert name in (ROOT / "core/settings.py").read_text() + (ROOT / "deploy/compose/compose.yaml").read_text()
