"""Works to cite: each that the code names stands there once, and runs cite what they used."""

import re
from pathlib import Path

import pytest

from core.conformal.scores import SCORES
from core.exchange.dropped.kinds import KINDS
from core.reports import references
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import load
from core.runs import store
from core.settings import ROOT
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick


def test_every_paper_that_the_code_names_can_be_cited():
    known = references.NUMBERS.keys() | {tool.arxiv for tool in references.TOOLS.values()}
    for path in sorted((ROOT / "core").rglob("*.py")):
        named = re.findall(r"arXiv\s+(\d{4}\.\d{4,5})", path.read_text(encoding="utf-8"))
        assert set(named) <= known, path


def test_every_score_s_paper_is_cited_by_its_author():
    papers = entries(references.BIB)
    for score in SCORES.values():
        keys = [references.NUMBERS[number] for number in references.ARXIV.findall(score.source)] or [
            key for key, paper in papers.items() if score.source.startswith(paper["author"].split(",")[0] + ",")
        ]
        assert len(keys) == 1, score.name
        paper = papers[keys[0]]
        assert paper["author"].split(",")[0] in score.source
        assert paper["year"] in score.source


def test_every_tool_whose_results_are_imported_is_cited():
    # LLM-Uncertainty-Bench and BLUQ are cited by what they publish; a table has no tool.
    tools = {kind.origin for kind in KINDS.values()} - {"", "bluq", "llm-uncertainty-bench", "table"}
    assert set(references.TOOLS) == tools


def test_the_file_has_every_paper_once_and_nothing_else():
    assert "\n".join(references.ENTRIES.values()) == references.BIB
    assert entries(references.BIB).keys() == references.ENTRIES.keys()
    assert {*references.DATA.values(), *references.MODELS.values()} <= references.ENTRIES.keys()
    assert not references.ENTRIES.keys() & {tool.key for tool in references.TOOLS.values()}


def entries(text: str) -> dict[str, dict[str, str]]:
    """A BibTeX file's fields by key; each entry has its braces in balance."""
    by_key = {}
    for kind, key, body in re.findall(r"@(\w+)\{([^,\s]+),\n(.*?)\n\}\n", text, re.DOTALL):
        assert kind in {"misc", "article", "inproceedings", "book"}
        bare = re.sub(r"\\[{}]", "", body)
        assert bare.count("{") == bare.count("}"), key
        by_key[key] = dict(re.findall(r"^  (\w+) += \{(.*)\},?$", body, re.MULTILINE))
    assert len(by_key) == text.count("@")
    return by_key


def test_a_run_cites_its_scores_its_questions_its_model_and_hedge(home: Path):
    name = synthetic_run(model="mistralai/Mistral-7B-v0.1", task="qa@hub")
    cited = entries(references.bibtex(references.works([load(name)], SetRule(scores=("lac", "margin")))))
    assert next(iter(cited)) == "hedge"
    assert {"sadinle2019least", "johansson2017model", "guo2017calibration"} <= set(cited)
    assert {"hendrycks2021measuring", "jiang2023mistral"} <= set(cited)
    assert "romano2020classification" not in cited
    assert cited["hendrycks2021measuring"]["eprint"] == "2009.03300"
    assert all({"author", "title"} <= set(fields) for fields in cited.values())


def test_a_model_without_a_paper_is_cited_by_its_page(home: Path):
    name = synthetic_run(model="maker_x/some-model", task="qa")
    cited = entries(references.bibtex(references.works([load(name)], SetRule())))
    assert cited["hub-somemodel"]["url"] == "https://huggingface.co/maker_x/some-model"
    assert cited["hub-somemodel"]["author"] == r"{maker\_x}"


def test_what_ships_cites_no_one_s_questions_but_hedge_s():
    run = load(next(name for name in store.run_ids() if name.startswith("pocket-8m-ds-base-0shot-float32")))
    keys = references.works([run], SetRule())
    assert not set(keys) & set(references.DATA.values())
    assert not [key for key in keys if key.startswith("hub-")]
