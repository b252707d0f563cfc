"""CITATION.cff says what CFF 1.2.0 asks for, and what is so."""

import pytest
import yaml

from core import __version__
from core.settings import ROOT

pytestmark = pytest.mark.quick


def test_the_citation_has_what_its_format_asks_for_and_the_version_of_the_code():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert all(isinstance(citation[key], str) and citation[key] for key in ("message", "title", "type"))
    assert citation["version"] == __version__
    (author,) = citation["authors"]
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert author["name"] in licence
    assert licence.startswith(citation["license"])
