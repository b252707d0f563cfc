"""SECURITY.md says which test plays which attack."""

import re

import pytest

from core.settings import ROOT

pytestmark = pytest.mark.quick

NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`")


def test_the_test_of_each_attack_exists():
    rows = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if "`tests/" in line]
    assert len(rows) > 50
    for path, name in NAMED.findall("\n".join(rows)):
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"^(async )?def {name}\(", source, re.M), f"{path}::{name}"
