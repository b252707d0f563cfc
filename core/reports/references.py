"""Works to cite, as BibTeX: Hedge, and the papers of the scores, methods, data sets and models that runs used.

Every work that the code names by its arXiv number is listed here once (tests/core/reports/test_references.py). A score
names its own paper (:attr:`core.conformal.scores.record.Score.source`), and is matched by that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core import __version__
from core.conformal.scores import SCORES
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.kinds import KINDS
from core.questions import POCKET_BANK
from core.reports.compare.benchmark import SetRule
from core.reports.evaluation import Evaluation
from core.reports.paper_tables import latex_text
from core.reports.provenance import commit, today

ARXIV = re.compile(r"\b(\d{4}\.\d{4,5})\b")


NEURIPS = "Advances in Neural Information Processing Systems"
ICML = "Proceedings of the International Conference on Machine Learning"
ICLR = "International Conference on Learning Representations"

METHODS = (
    CitedWork(
        "gibbs2021adaptive",
        "inproceedings",
        "Gibbs, Isaac and Cand{\\`e}s, Emmanuel J.",
        "Adaptive Conformal Inference Under Distribution Shift",
        2021,
        NEURIPS,
        "2106.00170",
    ),
    CitedWork(
        "vovk2021testing",
        "article",
        "Vovk, Vladimir",
        "Testing Randomness Online",
        2021,
        "Statistical Science",
        "1906.09256",
    ),
    CitedWork(
        "vovk2021retrain",
        "inproceedings",
        "Vovk, Vladimir and Petej, Ivan and Nouretdinov, Ilia and Ahlberg, Ernst and Carlsson, Lars and "
        "Gammerman, Alex",
        "Retrain or Not Retrain: Conformal Test Martingales for Change-Point Detection",
        2021,
        "Conformal and Probabilistic Prediction and Applications",
        "2102.10439",
    ),
    CitedWork(
        "sadinle2019least",
        "article",
        "Sadinle, Mauricio and Lei, Jing and Wasserman, Larry",
        "Least Ambiguous Set-Valued Classifiers with Bounded Error Levels",
        2019,
        "Journal of the American Statistical Association",
        "1609.00451",
        "10.1080/01621459.2017.1395341",
    ),
    CitedWork(
        "miller2024adding",
        "misc",
        "Miller, Evan",
        "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations",
        2024,
        arxiv="2411.00640",
    ),
    CitedWork(
        "dunn2023distributionfree",
        "article",
        "Dunn, Robin and Wasserman, Larry and Ramdas, Aaditya",
        "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models",
        2023,
        "Journal of the American Statistical Association",
        "1809.07441",
        "10.1080/01621459.2022.2060112",
    ),
    CitedWork(
        "romano2020classification",
        "inproceedings",
        "Romano, Yaniv and Sesia, Matteo and Cand{\\`e}s, Emmanuel J.",
        "Classification with Valid and Adaptive Coverage",
        2020,
        NEURIPS,
        "2006.02544",
    ),
    CitedWork(
        "angelopoulos2021uncertainty",
        "inproceedings",
        "Angelopoulos, Anastasios N. and Bates, Stephen and Malik, Jitendra and Jordan, Michael I.",
        "Uncertainty Sets for Image Classifiers using Conformal Prediction",
        2021,
        ICLR,
        "2009.14193",
    ),
    CitedWork(
        "huang2024conformal",
        "inproceedings",
        "Huang, Jianguo and Xi, Huajun and Zhang, Linjun and Yao, Huaxiu and Qiu, Yue and Wei, Hongxin",
        "Conformal Prediction for Deep Classifier via Label Ranking",
        2024,
        ICML,
        "2310.06430",
    ),
    CitedWork(
        "johansson2017model",
        "inproceedings",
        'Johansson, Ulf and Linusson, Henrik and L{\\"o}fstr{\\"o}m, Tuve and Bostr{\\"o}m, Henrik',
        "Model-agnostic Nonconformity Functions for Conformal Classification",
        2017,
        "International Joint Conference on Neural Networks",
        doi="10.1109/IJCNN.2017.7966105",
    ),
    CitedWork(
        "vovk2005algorithmic",
        "book",
        "Vovk, Vladimir and Gammerman, Alexander and Shafer, Glenn",
        "Algorithmic Learning in a Random World",
        2005,
        "Springer",
    ),
    CitedWork(
        "tibshirani2019conformal",
        "inproceedings",
        "Tibshirani, Ryan J. and Barber, Rina Foygel and Cand{\\`e}s, Emmanuel J. and Ramdas, Aaditya",
        "Conformal Prediction Under Covariate Shift",
        2019,
        NEURIPS,
        "1904.06019",
    ),
    CitedWork(
        "ye2024benchmarking",
        "inproceedings",
        "Ye, Fanghua and Yang, Mingming and Pang, Jianhui and Wang, Longyue and Wong, Derek F. and Yilmaz, Emine and "
        "Shi, Shuming and Tu, Zhaopeng",
        "Benchmarking LLMs via Uncertainty Quantification",
        2024,
        NEURIPS,
        "2401.12794",
    ),
    CitedWork(
        "kumar2023conformal",
        "misc",
        "Kumar, Bhawesh and Lu, Charlie and Gupta, Gauri and Palepu, Anil and Bellamy, David and Raskar, Ramesh and "
        "Beam, Andrew",
        "Conformal Prediction with Large Language Models for Multi-Choice Question Answering",
        2023,
        arxiv="2305.18404",
    ),
    CitedWork(
        "yang2025conformal",
        "misc",
        "Yang, Guang and Liu, Xinyang",
        "Conformal Sets in Multiple-Choice Question Answering under Black-Box Settings with Provable Coverage "
        "Guarantees",
        2025,
        arxiv="2508.05544",
    ),
    CitedWork(
        "guo2017calibration",
        "inproceedings",
        "Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.",
        "On Calibration of Modern Neural Networks",
        2017,
        ICML,
        "1706.04599",
    ),
    CitedWork(
        "nixon2019measuring",
        "inproceedings",
        "Nixon, Jeremy and Dusenberry, Michael W. and Zhang, Linchuan and Jerfel, Ghassen and Tran, Dustin",
        "Measuring Calibration in Deep Learning",
        2019,
        "CVPR Workshops",
        "1904.01685",
    ),
    CitedWork(
        "kull2019beyond",
        "inproceedings",
        'Kull, Meelis and Perello Nieto, Miquel and K{\\"a}ngsepp, Markus and Silva Filho, Telmo and Song, Hao and '
        "Flach, Peter",
        "Beyond Temperature Scaling: Obtaining Well-Calibrated Multi-Class Probabilities with Dirichlet Calibration",
        2019,
        NEURIPS,
        "1910.12656",
    ),
    CitedWork(
        "vaicenavicius2019evaluating",
        "inproceedings",
        "Vaicenavicius, Juozas and Widmann, David and Andersson, Carl and Lindsten, Fredrik and Roll, Jacob and "
        'Sch{\\"o}n, Thomas B.',
        "Evaluating Model Calibration in Classification",
        2019,
        "International Conference on Artificial Intelligence and Statistics",
        "1902.06977",
    ),
    CitedWork(
        "blasiok2024smooth",
        "inproceedings",
        "B{\\l}asiok, Jaros{\\l}aw and Nakkiran, Preetum",
        "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing",
        2024,
        ICLR,
        "2309.12236",
    ),
    CitedWork(
        "sun2024confidence",
        "misc",
        "Sun, Yan and Chaudhari, Pratik and Barnett, Ian J. and Dobriban, Edgar",
        "A Confidence Interval for the l2 Expected Calibration Error",
        2024,
        arxiv="2408.08998",
    ),
    CitedWork(
        "geifman2017selective",
        "inproceedings",
        "Geifman, Yonatan and El-Yaniv, Ran",
        "Selective Classification for Deep Neural Networks",
        2017,
        NEURIPS,
        "1705.08500",
    ),
    CitedWork(
        "depeweg2018decomposition",
        "inproceedings",
        "Depeweg, Stefan and Hern{\\'a}ndez-Lobato, Jos{\\'e} Miguel and Doshi-Velez, Finale and Udluft, Steffen",
        "Decomposition of Uncertainty in Bayesian Deep Learning for Efficient and Risk-sensitive Learning",
        2018,
        ICML,
        "1710.07283",
    ),
    CitedWork(
        "verga2024replacing",
        "misc",
        "Verga, Pat and others",
        "Replacing Judges with Juries: Evaluating LLM Generations with a Panel of Diverse Models",
        2024,
        arxiv="2404.18796",
    ),
)
"""Papers of scores and methods."""

CALIBRATION = ("1706.04599", "1902.06977", "2408.08998")
"""Papers behind the reliability diagram, the ECE, and what luck adds to it."""
JURY = ("2404.18796",)

DATA = {
    "mmlu": CitedWork(
        "hendrycks2021measuring",
        "inproceedings",
        "Hendrycks, Dan and Burns, Collin and Basart, Steven and Zou, Andy and Mazeika, Mantas and Song, Dawn and "
        "Steinhardt, Jacob",
        "Measuring Massive Multitask Language Understanding",
        2021,
        ICLR,
        "2009.03300",
    ),
    "cosmosqa": CitedWork(
        "huang2019cosmos",
        "inproceedings",
        "Huang, Lifu and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
        "Cosmos QA: Machine Reading Comprehension with Contextual Commonsense Reasoning",
        2019,
        "Proceedings of EMNLP-IJCNLP",
        "1909.00277",
    ),
    "hellaswag": CitedWork(
        "zellers2019hellaswag",
        "inproceedings",
        "Zellers, Rowan and Holtzman, Ari and Bisk, Yonatan and Farhadi, Ali and Choi, Yejin",
        "HellaSwag: Can a Machine Really Finish Your Sentence?",
        2019,
        "Proceedings of ACL",
        "1905.07830",
    ),
    "halueval": CitedWork(
        "li2023halueval",
        "inproceedings",
        "Li, Junyi and Cheng, Xiaoxue and Zhao, Wayne Xin and Nie, Jian-Yun and Wen, Ji-Rong",
        "HaluEval: A Large-Scale Hallucination Evaluation Benchmark for Large Language Models",
        2023,
        "Proceedings of EMNLP",
        "2305.11747",
        "10.18653/v1/2023.emnlp-main.397",
    ),
    "arc-challenge": CitedWork(
        "clark2018think",
        "misc",
        "Clark, Peter and Cowhey, Isaac and Etzioni, Oren and Khot, Tushar and Sabharwal, Ashish and Schoenick, "
        "Carissa and Tafjord, Oyvind",
        "Think You Have Solved Question Answering? Try ARC, the AI2 Reasoning Challenge",
        2018,
        arxiv="1803.05457",
    ),
    "commonsenseqa": CitedWork(
        "talmor2019commonsenseqa",
        "inproceedings",
        "Talmor, Alon and Herzig, Jonathan and Lourie, Nicholas and Berant, Jonathan",
        "CommonsenseQA: A Question Answering Challenge Targeting Commonsense Knowledge",
        2019,
        "Proceedings of NAACL-HLT",
        "1811.00937",
    ),
    "llmbar": CitedWork(
        "zeng2024evaluating",
        "inproceedings",
        "Zeng, Zhiyuan and Yu, Jiatong and Gao, Tianyu and Meng, Yu and Goyal, Tanya and Chen, Danqi",
        "Evaluating Large Language Models at Evaluating Instruction Following",
        2024,
        ICLR,
        "2310.07641",
    ),
    "pandalm": CitedWork(
        "wang2024pandalm",
        "inproceedings",
        "Wang, Yidong and Yu, Zhuohao and others",
        "PandaLM: An Automatic Evaluation Benchmark for LLM Instruction Tuning Optimization",
        2024,
        ICLR,
        "2306.05087",
    ),
    "alpacaeval": CitedWork(
        "dubois2024length",
        "misc",
        "Dubois, Yann and Galambosi, Bal{\\'a}zs and Liang, Percy and Hashimoto, Tatsunori B.",
        "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic Evaluators",
        2024,
        arxiv="2404.04475",
    ),
}
"""Maps the beginning of a bank's name, in lower case, to the paper of its questions."""

TOOLS = {kind.origin: kind.cited for kind in KINDS.values() if kind.cited}
"""Maps a run's origin to the tool that scored it."""

MODELS = (
    (
        r"mistral-7b",
        CitedWork("jiang2023mistral", "misc", "Jiang, Albert Q. and others", "Mistral 7B", 2023, arxiv="2310.06825"),
    ),
    (
        r"llama-2",
        CitedWork(
            "touvron2023llama2",
            "misc",
            "Touvron, Hugo and others",
            "Llama 2: Open Foundation and Fine-Tuned Chat Models",
            2023,
            arxiv="2307.09288",
        ),
    ),
    (
        r"llama-3",
        CitedWork(
            "grattafiori2024llama3",
            "misc",
            "Grattafiori, Aaron and others",
            "The Llama 3 Herd of Models",
            2024,
            arxiv="2407.21783",
        ),
    ),
    (
        r"qwen2\.5",
        CitedWork("qwen2024qwen25", "misc", "{Qwen Team}", "Qwen2.5 Technical Report", 2024, arxiv="2412.15115"),
    ),
    (r"qwen3", CitedWork("qwen2025qwen3", "misc", "{Qwen Team}", "Qwen3 Technical Report", 2025, arxiv="2505.09388")),
    (
        r"qwen2(?!\.)",
        CitedWork("yang2024qwen2", "misc", "Yang, An and others", "Qwen2 Technical Report", 2024, arxiv="2407.10671"),
    ),
    (
        r"qwen(-|1)",
        CitedWork("bai2023qwen", "misc", "Bai, Jinze and others", "Qwen Technical Report", 2023, arxiv="2309.16609"),
    ),
    (
        r"gemma-2-",
        CitedWork(
            "gemma2024gemma2",
            "misc",
            "{Gemma Team}",
            "Gemma 2: Improving Open Language Models at a Practical Size",
            2024,
            arxiv="2408.00118",
        ),
    ),
    (
        r"gemma-\d+b",
        CitedWork(
            "gemma2024gemma",
            "misc",
            "{Gemma Team}",
            "Gemma: Open Models Based on Gemini Research and Technology",
            2024,
            arxiv="2403.08295",
        ),
    ),
    (
        r"phi-1[._]5",
        CitedWork(
            "li2023textbooks",
            "misc",
            "Li, Yuanzhi and others",
            "Textbooks Are All You Need II: phi-1.5 Technical Report",
            2023,
            arxiv="2309.05463",
        ),
    ),
    (
        r"tinyllama",
        CitedWork(
            "zhang2024tinyllama",
            "misc",
            "Zhang, Peiyuan and Zeng, Guangtao and Wang, Tianduo and Lu, Wei",
            "TinyLlama: An Open-Source Small Language Model",
            2024,
            arxiv="2401.02385",
        ),
    ),
    (
        r"pythia",
        CitedWork(
            "biderman2023pythia",
            "inproceedings",
            "Biderman, Stella and others",
            "Pythia: A Suite for Analyzing Large Language Models Across Training and Scaling",
            2023,
            ICML,
            "2304.01373",
        ),
    ),
    (
        r"smollm2",
        CitedWork(
            "allal2025smollm2",
            "misc",
            "Ben Allal, Loubna and others",
            "SmolLM2: When Smol Goes Big: Data-Centric Training of a Small Language Model",
            2025,
            arxiv="2502.02737",
        ),
    ),
    (
        r"falcon",
        CitedWork(
            "almazrouei2023falcon",
            "misc",
            "Almazrouei, Ebtesam and others",
            "The Falcon Series of Open Language Models",
            2023,
            arxiv="2311.16867",
        ),
    ),
    (
        r"(^|/)yi-",
        CitedWork("young2024yi", "misc", "{01.AI}", "Yi: Open Foundation Models by 01.AI", 2024, arxiv="2403.04652"),
    ),
)
"""Maps a pattern of a model's name to the paper of the model. The first pattern that fits counts."""


def hedge() -> CitedWork:
    """Hedge itself, as it is now."""
    version = f"Version {__version__}" + (f", commit {commit()}" if commit() else "")
    title = "Hedge: Conformal Prediction Sets, Calibration and Juries of Language Models"
    return CitedWork("hedge", "software", "{The Hedge authors}", title, int(today()[:4]), venue=version)


def works(
    runs: Sequence[Evaluation], asked: SetRule, *, calibration: bool = True, jury: bool = False
) -> tuple[CitedWork, ...]:
    """The works to cite for figures of ``runs`` by ``asked``: Hedge first, then methods, data, tools and models."""
    numbers = [number for name in asked.scores for number in ARXIV.findall(SCORES[name].source)]
    numbers += [number for number in CALIBRATION if calibration] + [number for number in JURY if jury]
    if any(run.spec.origin == "llm-uncertainty-bench" for run in runs) or asked.method == "paper":
        numbers.append("2401.12794")
    if any(run.samples is not None for run in runs):
        numbers.append("2508.05544")
    found = [hedge(), *(work for work in METHODS if work.key == "vovk2005algorithmic")]
    found += [_by_number(number) for number in numbers]
    if "margin" in asked.scores:
        found += [work for work in METHODS if work.key == "johansson2017model"]
    found += [work for run in runs for work in _data_of(run.bank)]
    found += [TOOLS[run.spec.origin] for run in runs if run.spec.origin in TOOLS]
    found += [work for run in runs for work in _model_of(run)]
    return tuple({work.key: work for work in found}.values())


def bibtex(found: Iterable[CitedWork]) -> str:
    """The works as a BibTeX file."""
    return "\n".join(_entry(work) for work in found)


def _by_number(number: str) -> CitedWork:
    return next(work for work in METHODS if work.arxiv == number)


def _data_of(bank: str) -> list[CitedWork]:
    """The paper of a bank's questions; those of the pocket bank are Hedge's own."""
    name = bank.lower().removeprefix("bluq ")
    return [] if bank == POCKET_BANK else [work for begins, work in DATA.items() if name.startswith(begins)][:1]


def _model_of(run: Evaluation) -> list[CitedWork]:
    """The paper of a run's model, or the model's page on the hub; nothing for a folder and the pocket models."""
    model = run.spec.model
    found = [work for pattern, work in MODELS if re.search(pattern, model.lower())][:1]
    if found or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return found
    maker, name = model.split("/")
    key = re.sub(r"[^a-z0-9]+", "", name.lower())
    return [CitedWork(f"hub-{key}", "misc", f"{{{latex_text(maker)}}}", name, 0, url=f"https://huggingface.co/{model}")]


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
