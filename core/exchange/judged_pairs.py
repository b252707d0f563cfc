"""Judges of pairs of answers, as three benchmarks publish them, read as juries: True means that the first is better.

``LLMBar``      ``SET/evaluators/MODEL/PROMPT/result.json``: each pair with its label and the evaluator's winner, once
                with the answers in order and once swapped. These are two jurors, whose disagreement is position bias
                (Zeng et al. 2023, arXiv 2310.07641)
``PandaLM``     ``testset-v1.json``: pairs with the verdicts of three annotators (1, 2, or 0 for a tie), and for each
                judge a file of the same pairs by ``idx``. The annotators' majority is the truth; three different
                verdicts count as the first annotator's, as the authors count them (Wang et al. 2023, arXiv 2306.05087)
``AlpacaEval``  ``results/MODEL/ANNOTATOR/annotations.json``: a preference from 1 (the first answer is better) to 2; a
                weighted one is the probability that the annotator names the second (Dubois et al. 2024,
                arXiv 2404.04475). No human judged these pairs: the annotator :data:`ALPACA_TRUTH` says what counts

A judge that gives no verdict, or calls a pair a tie, has the probability ½. The rules then read the verdict as "the
second is better"; the jury's notes say how often that is so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.errors import InputError
from core.exchange.juries import ReadJury
from core.jury.judgements import Judgements, check_jury
from core.tables.safe_read import json_list, number, shown

Format = Literal["LLMBar", "PandaLM", "PandaLM judge", "AlpacaEval"]
ALPACA_TRUTH = "alpaca_eval_cot_gpt4_turbo_fn"
"""The annotator whose preference counts as the truth. Of GPT-4 Turbo's three prompts it agrees most with people: 68.6 %
of their verdicts, by the table of annotators in AlpacaEval's README."""
ANNOTATORS = ("annotator1", "annotator2", "annotator3")
TIED = ("tie", "garbage", "0")
ORDERS = {"swap = False": "", "swap = True": ", swapped"}


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two answers to a question, and whether the ``first`` is better; None if neither is."""

    id: str
    question: str
    first: str
    second: str
    first_is_better: bool | None


def format_of(rows: Sequence[Any]) -> Format | None:
    """The format of a JSON list, by the keys of its first row; None if it is not one of them."""
    keys = set(rows[0]) if rows and isinstance(rows[0], dict) else set()
    if {"input", "output_1", "output_2", "label", "results"} <= keys:
        return "LLMBar"
    if {"idx", "instruction", "response1", "response2", *ANNOTATORS} <= keys:
        return "PandaLM"
    if "idx" in keys and sum(key.endswith("_result") for key in keys) == 1:
        return "PandaLM judge"
    if {"instruction", "output_1", "output_2", "annotator", "preference"} <= keys:
        return "AlpacaEval"
    return None


# ---------------------------------------------------------------- LLMBar


def read_llmbar(paths: Sequence[Path]) -> ReadJury:
    """The jury of one set's evaluators, two jurors each. Raises :class:`InputError` that names file and row."""
    pairs: list[JudgedPair] = []
    jurors: dict[str, dict[str, float]] = {}
    for path in paths:
        evaluator = evaluator_of(path)
        own_pairs: list[JudgedPair] = []
        for where, row in _rows(path):
            pair = JudgedPair(
                id=str(len(own_pairs) + 1),
                question=str(row.get("input")),
                first=str(row.get("output_1")),
                second=str(row.get("output_2")),
                first_is_better=_side(row.get("label"), where) == 1,
            )
            results = row["results"][-1] if isinstance(row.get("results"), list) and row["results"] else None
            for order, suffix in ORDERS.items():
                winner = results.get(order) if isinstance(results, dict) else None
                if not isinstance(winner, dict) or "winner" not in winner:
                    raise InputError(
                        f"{where}: expected the winner with {order!r} in 'results', found {shown(results)}"
                    )
                verdicts = jurors.setdefault(f"{evaluator}{suffix}", {})
                verdicts[pair.id] = {1: 1.0, 2: 0.0}.get(_verdict(winner["winner"], where), 0.5)
            own_pairs.append(pair)
        if pairs and own_pairs != pairs:
            raise InputError(f"{path}: expected the pairs of {paths[0].parent}, found others; give one set at a time")
        pairs = own_pairs
    return replace(_jury(pairs, jurors), name=paths[0].parents[3].name if len(paths[0].parents) > 3 else "")


def evaluator_of(path: Path) -> str:
    """The model and the prompt of an evaluator, from its folders.

    >>> evaluator_of(Path("Natural/evaluators/GPT-4/Vanilla_NoRules/result.json"))
    'GPT-4 Vanilla NoRules'
    """
    return " ".join(path.parts[-3:-1]).replace("_", " ")


# ---------------------------------------------------------------- PandaLM


def read_pandalm(pairs: Path, judges: Sequence[Path]) -> ReadJury:
    """The jury of two or more judges, whose truth is the annotators' majority."""
    voted = _pandalm_pairs(pairs)
    jury = _jury([pair for pair, _ in voted], {_judge(path): _pandalm_judge(path) for path in judges})
    return replace(jury, name="judges")


def read_annotators(pairs: Path) -> ReadJury:
    """The three annotators as a jury of their own, for how much they agree."""
    voted = _pandalm_pairs(pairs)
    chance = {1: 1.0, 2: 0.0, 0: 0.5}
    jurors = {
        f"annotator {i + 1}": {pair.id: chance[votes[i]] for pair, votes in voted} for i in range(len(ANNOTATORS))
    }
    jury = _jury([judged for judged, _ in voted], jurors)
    note = "The truth is these annotators' own majority, so their accuracy is high by construction."
    return ReadJury(jury.judgements, (note, *jury.notes), name="annotators")


def pandalm_votes(pairs: Path) -> list[tuple[int, ...]]:
    """The annotators' verdicts (0, 1 or 2) of each pair, in the order of the file."""
    return [votes for _, votes in _pandalm_pairs(pairs)]


def pandalm_verdicts(judge: Path) -> list[int]:
    """A judge's verdicts (0, 1 or 2) of each pair, in the order of the file."""
    return [{1.0: 1, 0.0: 2}.get(value, 0) for value in _pandalm_judge(judge).values()]


def majority(votes: Sequence[int]) -> int:
    """The verdict that most annotators give; of equally frequent ones the first.

    >>> majority((2, 1, 2)), majority((0, 1, 2))
    (2, 0)
    """
    return Counter(votes).most_common(1)[0][0]


def _pandalm_pairs(path: Path) -> list[tuple[JudgedPair, tuple[int, ...]]]:
    voted = []
    for where, row in _rows(path):
        votes = tuple(_verdict(row.get(name), where) for name in ANNOTATORS)
        question_parts = [row.get("instruction"), row.get("input")]
        pair = JudgedPair(
            id=str(row.get("idx")),
            question="\n\n".join(text for text in question_parts if isinstance(text, str) and text.strip()),
            first=str(row.get("response1")),
            second=str(row.get("response2")),
            first_is_better={1: True, 2: False}.get(majority(votes)),
        )
        voted.append((pair, votes))
    return voted


def _pandalm_judge(path: Path) -> dict[str, float]:
    verdicts = {}
    for where, row in _rows(path):
        key = next((name for name in row if name.endswith("_result")), "")
        verdicts[str(row.get("idx"))] = {1: 1.0, 2: 0.0}.get(_verdict(row.get(key), where), 0.5)
    return verdicts


def _judge(path: Path) -> str:
    return path.stem.partition("-testset")[0]


# ---------------------------------------------------------------- AlpacaEval


def read_alpaca_eval(paths: Sequence[Path]) -> ReadJury:
    """The jury of annotators of one model's answers. The pairs are those that every annotator has."""
    preferences: dict[str, dict[tuple[str, str, str], float]] = {}
    for path in paths:
        values_by_pair = preferences.setdefault(path.parent.name, {})
        for where, row in _rows(path):
            if row.get("preference") is None:
                continue
            preference = number(row["preference"], where, "a preference")
            if not 1 <= preference <= 2:
                raise InputError(f"{where}: expected a preference from 1 to 2, found {preference:g}")
            values_by_pair[str(row.get("instruction")), str(row.get("output_1")), str(row.get("output_2"))] = (
                2 - preference
            )
    if ALPACA_TRUTH not in preferences or len(preferences) < 3:
        raise InputError(
            f"{paths[0].parents[1]}: expected annotations of {ALPACA_TRUTH}, which count as the truth, and of two "
            f"other annotators of the same model, found {', '.join(preferences)}"
        )
    shared = [key for key in preferences[ALPACA_TRUTH] if all(key in values for values in preferences.values())]
    pairs = [
        JudgedPair(str(i + 1), *key, first_is_better=None if (p := preferences[ALPACA_TRUTH][key]) == 0.5 else p > 0.5)
        for i, key in enumerate(shared)
    ]
    jurors = {
        name: {pair.id: values_by_pair[key] for pair, key in zip(pairs, shared, strict=True)}
        for name, values_by_pair in preferences.items()
        if name != ALPACA_TRUTH
    }
    jury = _jury(pairs, jurors)
    left = max(map(len, preferences.values())) - len(shared)
    notes = [f"No human judged these pairs. The preference of {ALPACA_TRUTH} decides which answer is better."]
    notes += [f"{left:,} pairs are left out, because not every annotator has them."] if left else []
    return ReadJury(jury.judgements, (*notes, *jury.notes), name=paths[0].parents[1].name)


def mean_preference(path: Path) -> float:
    """The mean preference for the second answer, in [0, 1], over the pairs that have one."""
    preferences = [
        number(row["preference"], where, "a preference") for where, row in _rows(path) if row.get("preference")
    ]
    if not preferences:
        raise InputError(f"{path}: expected preferences, found none")
    return float(np.mean(preferences)) - 1


# ---------------------------------------------------------------- all of them


def _rows(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    for i, row in enumerate(json_list(path), start=1):
        if not isinstance(row, dict):
            raise InputError(f"{path}, entry {i}: expected a judged pair, found {shown(row)}")
        yield f"{path}, entry {i}", row


def _verdict(value: object, where: str) -> int:
    """1 or 2 for the better answer, 0 for a tie or no verdict."""
    text = str(value).strip().lower()
    if value is None or text in TIED:
        return 0
    return _side(value, where)


def _side(value: object, where: str) -> int:
    text = str(value).strip()
    if text not in ("1", "2"):
        raise InputError(f"{where}: expected 1 or 2, the better answer, found {shown(value)}")
    return int(text)


def _jury(pairs: Sequence[JudgedPair], jurors: Mapping[str, Mapping[str, float]]) -> ReadJury:
    """The jury of jurors with a probability for each pair's id that the first is better; tied pairs are left out."""
    for name, verdicts in jurors.items():
        missing = next((pair.id for pair in pairs if pair.id not in verdicts), None)
        if missing is not None or len(verdicts) != len(pairs):
            which = f"pair {missing}" if missing is not None else f"{len(pairs)} pairs, found {len(verdicts)}"
            raise InputError(f"juror {name!r} judged other pairs: expected {which}")
    decided = [pair for pair in pairs if pair.first_is_better is not None]
    if not decided:
        raise InputError(
            "expected pairs that every juror judged with one answer better, found none; the files may be of "
            "different answers"
        )
    p_first = np.array([[verdicts[pair.id] for verdicts in jurors.values()] for pair in decided], dtype=np.float64)
    judged = Judgements(
        jurors=tuple(jurors),
        ids=tuple(pair.id for pair in decided),
        questions=tuple(pair.question for pair in decided),
        answers=tuple(f"First: {pair.first}\n\nSecond: {pair.second}" for pair in decided),
        labels=np.array([bool(pair.first_is_better) for pair in decided], dtype=np.bool_),
        p_true=p_first.reshape(len(decided), -1),
        p_false=1 - p_first.reshape(len(decided), -1),
        parts=("",) * len(decided),
        pairwise=True,
    )
    notes = []
    if len(decided) < len(pairs):
        notes.append(f"{len(pairs) - len(decided):,} pairs are left out, because neither answer counts as better.")
    undecided = (judged.verdicts == 0.5).sum(axis=0)
    if undecided.any():
        counts = ", ".join(f"{name} {n:,}" for name, n in zip(jurors, undecided, strict=True) if n)
        notes.append(
            f"Ties and missing verdicts have the probability ½, which counts half for each answer of a pair: {counts}."
        )
    return ReadJury(check_jury(judged), tuple(notes))


JURY_READERS: dict[Format, Callable[[Sequence[Path]], ReadJury]] = {
    "LLMBar": read_llmbar,
    "AlpacaEval": read_alpaca_eval,
}
"""The formats whose files of one folder are a jury."""
