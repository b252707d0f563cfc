"""Works to cite, as BibTeX: Hedge, and the papers of the scores, methods, data sets and models that runs used.

Every paper that the code names by its arXiv number stands once in ``references.bib``
(tests/core/reports/test_references.py). A score names its own paper
(:attr:`core.conformal.scores.record.Score.source`), and is matched by that number.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from core import __version__
from core.conformal.scores import SCORES
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.kinds import KINDS
from core.questions import POCKET_BANK
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.reports.paper.writers import latex_text
from core.reports.provenance import commit, today

ARXIV = re.compile(r"\b(\d{4}\.\d{4,5})\b")
BIB = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
ENTRIES = {entry[1]: entry[0] for entry in re.finditer(r"@\w+\{([^,\s]+),\n.*?\n\}\n", BIB, re.DOTALL)}
"""The papers of ``references.bib`` by their keys, each entry as it is exported."""
NUMBERS = {entry[1]: key for key, text in ENTRIES.items() if (entry := re.search(r"eprint +=.*?([\d.]+)", text))}
"""The keys of these papers by their numbers on arXiv."""
CALIBRATION = ("guo2017calibration", "vaicenavicius2019evaluating", "sun2024confidence")
"""Papers behind the reliability diagram, the ECE, and what chance adds to it."""
SELECTIVE = ("bauer1991multiple", "angelopoulos2021learn")
"""Papers behind the thresholds from which a model may answer."""
DATA = {
    "mmlu": "hendrycks2021measuring",
    "cosmosqa": "huang2019cosmos",
    "hellaswag": "zellers2019hellaswag",
    "halueval": "li2023halueval",
    "arc-challenge": "clark2018think",
    "commonsenseqa": "talmor2019commonsenseqa",
    "llmbar": "zeng2024evaluating",
    "pandalm": "wang2024pandalm",
    "alpacaeval": "dubois2024length",
}
"""Maps the beginning of a bank's name, in lower case, to the paper of its questions."""
TOOLS = {kind.origin: kind.cited for kind in KINDS.values() if kind.cited}
"""Maps a run's origin to the tool that scored it."""
MODELS = {
    r"mistral-7b": "jiang2023mistral",
    r"llama-2": "touvron2023llama2",
    r"llama-3": "grattafiori2024llama3",
    r"qwen2\.5": "qwen2024qwen25",
    r"qwen3": "qwen2025qwen3",
    r"qwen2(?!\.)": "yang2024qwen2",
    r"qwen(-|1)": "bai2023qwen",
    r"gemma-2-": "gemma2024gemma2",
    r"gemma-\d+b": "gemma2024gemma",
    r"phi-1[._]5": "li2023textbooks",
    r"tinyllama": "zhang2024tinyllama",
    r"pythia": "biderman2023pythia",
    r"smollm2": "allal2025smollm2",
    r"falcon": "almazrouei2023falcon",
    r"(^|/)yi-": "young2024yi",
}
"""Maps a pattern of a model's name to the paper of the model. The first pattern that fits counts."""


def hedge() -> CitedWork:
    """Hedge itself, as it is now."""
    version = f"Version {__version__}" + (f", commit {commit()}" if commit() else "")
    title = "Hedge: Conformal Prediction Sets, Calibration and Juries of Language Models"
    return CitedWork("hedge", "software", "{The Hedge authors}", title, int(today()[:4]), venue=version)


def works(
    runs: Sequence[Evaluation],
    rule: SetRule,
    *,
    calibration: bool = True,
    jury: bool = False,
    answers: bool = False,
) -> dict[str, str]:
    """The entries to cite for figures of ``runs`` by ``rule``, by key: Hedge, then methods, data, tools and models.
    ``answers`` are given from a confidence on (:mod:`core.conformal.selective`)."""
    keys = ["vovk2005algorithmic"]
    keys += [NUMBERS[number] for name in rule.scores for number in ARXIV.findall(SCORES[name].source)]
    keys += [*(CALIBRATION if calibration else ()), *(["verga2024replacing"] if jury else ())]
    keys += SELECTIVE if answers else ()
    if any(run.spec.origin == "llm-uncertainty-bench" for run in runs) or rule.method == "paper":
        keys.append("ye2024benchmarking")
    if any(run.samples is not None for run in runs):
        keys.append("yang2025conformal")
    if "margin" in rule.scores:
        keys.append("johansson2017model")
    keys += [key for run in runs for key in _data_of(run.bank)]
    tools = [TOOLS[run.spec.origin] for run in runs if run.spec.origin in TOOLS]
    entries = [(key, ENTRIES[key]) for key in keys]
    entries += [(tool.key, _entry(tool)) for tool in tools]
    entries += [entry for run in runs for entry in _model_of(run)]
    return dict([("hedge", _entry(hedge())), *entries])


def jury_works() -> dict[str, str]:
    """The entries to cite for the report of a jury, by key."""
    keys = ("verga2024replacing", *SELECTIVE, "jung2024trust", "angelopoulos2023ppi")
    return {"hedge": _entry(hedge())} | {key: ENTRIES[key] for key in keys}


def bibtex(entries: Mapping[str, str]) -> str:
    """The entries as a BibTeX file."""
    return "\n".join(entries.values())


def _data_of(bank: str) -> list[str]:
    """The paper of a bank's questions; those of the pocket bank are Hedge's own."""
    name = bank.lower().removeprefix("bluq ")
    return [] if bank == POCKET_BANK else [key for begins, key in DATA.items() if name.startswith(begins)][:1]


def _model_of(run: Evaluation) -> list[tuple[str, str]]:
    """The paper of a run's model, or the model's page on the hub; nothing for a folder and the pocket models."""
    model = run.spec.model
    papers = [key for pattern, key in MODELS.items() if re.search(pattern, model.lower())]
    if papers:
        return [(papers[0], ENTRIES[papers[0]])]
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return []
    maker, name = model.split("/")
    key = f"hub-{re.sub(r'[^a-z0-9]+', '', name.lower())}"
    page = CitedWork(key, "misc", f"{{{latex_text(maker)}}}", name, 0, url=f"https://huggingface.co/{model}")
    return [(key, _entry(page))]


def _entry(work: CitedWork) -> str:
    place = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "software": "note"}
    fields = {"author": work.authors, "title": f"{{{latex_text(work.title)}}}"}
    if work.year:
        fields["year"] = str(work.year)
    if work.venue:
        fields[place.get(work.kind, "howpublished")] = latex_text(work.venue)
    if work.arxiv:
        fields |= {"eprint": work.arxiv, "archiveprefix": "arXiv"}
    if work.doi:
        fields["doi"] = work.doi
    if work.url:
        fields["url"] = work.url
    # The classic styles of BibTeX know no @software.
    kind = "misc" if work.kind == "software" else work.kind
    lines = ",\n".join(f"  {name:<13} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{work.key},\n{lines}\n}}\n"
