"""Inspect: ``.json`` logs and ``.eval`` archives of multiple-choice tasks.

The options' log-probabilities are those of the letters at the place where the model wrote its answer: in
``output.choices[0].logprobs.content`` the token that is the letter after ``ANSWER:`` (or the whole answer), and there
``top_logprobs``. A letter that is not listed is at most as probable as the least probable token listed, and as what
the listed ones leave over: it gets the lesser of the two, an upper bound, and is counted (``bounded``). Choices that
were shuffled before they were asked are put back in order. Several epochs ask the same question again and are no
independent samples: the first usable one counts. Samples with errors and without an answer are left out and counted.
Every sample's score is recomputed from the letter that was answered.

A log without log-probabilities that asks each question in several epochs gives the frequencies of the answers
(:mod:`core.exchange.picks`). The ``choice`` scorer writes an answer as its letter in the sample's own order.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.archive import Archive
from core.exchange.build_run import ScoredRow, assemble, check_row
from core.exchange.cited_work import CitedWork
from core.exchange.dropped.examples import OPTIONS, as_json, example, zipped
from core.exchange.dropped.kind import Kind
from core.exchange.imported import ImportedRun, fingerprint_of
from core.exchange.listed_letters import bounded
from core.exchange.picks import assembled
from core.questions.prompting.written import NOT_FOUND
from core.records import LETTERS, Question
from core.runs.spec import RunSpec
from core.tables.safe_read import check_size, json_document, json_object, number, shown
from core.tables.token_lists import SPACES, letter

ORIGIN = "inspect"
ANSWER = re.compile(r"(?i)answer\s*:\s*[\s*($]*(?P<letter>[A-Z])(?![A-Za-z])")
ONLY_LETTER = re.compile(r"^[\s*($\"']*(?P<letter>[A-Z])[\s*)$.:\"']*$")
SHUFFLED = "Choices were shuffled before generating a response, the following was sent to the model:"
MEAN_WITHIN = 1e-6
NAMED = 50


@dataclass(frozen=True, slots=True)
class Letters:
    """The letters at the place of an answer, in the order asked: which was ``answered``, the log-probability of each,
    how many of these are upper bounds, and the share of probability on the listed letters (``mass``)."""

    answered: int
    logits: tuple[float, ...]
    bounded: int
    mass: float


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one sample says: its row, how many letters were bounded, and whether the answer was its top option."""

    row: ScoredRow
    bounded: int
    top_answered: bool


def read(path: Path) -> ImportedRun:
    """The run of a log; :class:`InputError` names the file and the sample, what was expected and what was found."""
    header, samples = _open(path)
    status = header.get("status")
    if status != "success":
        raise InputError(
            f"{path}: expected a log that ended well (status success), found {shown(status)}; repeat the evaluation"
        )
    about = header["eval"]
    answers: dict[str, _Answer] = {}
    counts: Counter[str] = Counter()
    values: list[float] = []
    for where, sample in samples:
        counts["samples"] += 1
        name = str(sample.get("id"))
        if sample.get("error"):
            counts["errors"] += 1
            continue
        answer, value = _answer(sample, where, str(about.get("task", "inspect")))
        if value is not None:
            values.append(value)
        if answer is None:
            counts["without an answer"] += 1
        elif name in answers:
            counts["further epochs"] += 1
        else:
            answers[name] = answer
    if counts["samples"] and not answers:
        if (run := _of_epochs(path, about)) is not None:
            return run
        raise InputError(
            f"{path}: expected the answers' log-probabilities, found none in {counts['samples']} samples "
            f"({counts['errors']} with errors); run Inspect with logprobs and top_logprobs (20 is a good choice), or "
            "with several epochs"
        )
    if not counts["errors"] and not counts["further epochs"]:
        _check_mean(header, values, path)
    names = [name for name, answer in answers.items() if answer.bounded]
    provenance = {
        "counts": dict(counts),
        "bounded_questions": len(names),
        "bounded_letters": sum(answer.bounded for answer in answers.values()),
        "bounded": names[:NAMED],
        "answered_another_than_the_top": sum(not answer.top_answered for answer in answers.values()),
    }
    rows = [answers[name].row for name in sorted(answers, key=natural_order)]  # samples are logged as they end
    return assemble(path, rows, _spec(about, path), provenance)


def _spec(about: dict[str, Any], path: Path) -> RunSpec:
    task = str(about.get("task") or path.stem).rsplit("/", 1)[-1]
    return RunSpec(str(about.get("model") or "unknown"), task, origin=ORIGIN, fingerprint=fingerprint_of(path))


def _of_epochs(path: Path, about: dict[str, Any]) -> ImportedRun | None:
    """The frequencies of the letters that were answered, by question; None if each question was asked once."""
    picks_by_id: dict[str, tuple[Question, list[int]]] = {}
    errors = 0
    for where, sample in _open(path)[1]:
        if sample.get("error"):
            errors += 1
            continue
        question = _question(sample, where, str(about.get("task", "inspect")))
        answer = str(_score(sample.get("scores")).get("answer") or "").strip()
        place = LETTERS.find(answer) if len(answer) == 1 else NOT_FOUND
        picks = picks_by_id.setdefault(question.id, (question, []))[1]
        picks.append(place if place < len(question.options) else NOT_FOUND)
    if not any(len(picks) > 1 for _, picks in picks_by_id.values()):
        return None
    rows = [picks_by_id[name] for name in sorted(picks_by_id, key=natural_order)]
    return assembled(path, rows, _spec(about, path), {"file": path.name, "errors": errors})


def natural_order(name: str) -> list[tuple[bool, int, str]]:
    """A sort key that puts q2 before q10."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


# ---------------------------------------------------------------- files


def _open(path: Path) -> tuple[dict[str, Any], Iterator[tuple[str, dict[str, Any]]]]:
    """The log without its samples, and the samples with where each was found."""
    if _is_archive(path):
        with Archive(path) as archive:
            if "header.json" not in archive.names:
                raise InputError(
                    f"{path}: expected header.json in the archive, found {shown(', '.join(archive.names[:8]))}; "
                    "the evaluation was not finished, or this is not a log of Inspect"
                )
            header = json_object(archive.read("header.json"), f"{path}, member header.json")
        return _checked(header, path), _members(path)
    log = json_document(path)
    samples = log.pop("samples", None)
    header = _checked(log, path)
    if not isinstance(samples, list):
        raise InputError(f"{path}: expected a list of samples, found {shown(samples)}; it was logged without them")
    return header, _listed(samples, path)


def _is_archive(path: Path) -> bool:
    check_size(path)
    with path.open("rb") as file:
        return file.read(2) == b"PK" or path.suffix == ".eval"


def _checked(header: dict[str, Any], path: Path) -> dict[str, Any]:
    if not isinstance(header.get("eval"), dict):
        raise InputError(f"{path}: expected a log of Inspect with 'eval', found the keys {shown(', '.join(header))}")
    return header


def _members(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with Archive(path) as archive:
        for name in archive.names:
            if name.startswith("samples/") and name.endswith(".json"):
                where = f"{path}, member {name}"
                yield where, json_object(archive.read(name), where)


def _listed(samples: list[Any], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, sample in enumerate(samples, start=1):
        where = f"{path}, sample {place}"
        if not isinstance(sample, dict):
            raise InputError(f"{where}: expected a sample, found {shown(sample)}")
        yield where, sample


# ---------------------------------------------------------------- one sample


def _answer(sample: dict[str, Any], where: str, task: str) -> tuple[_Answer | None, float | None]:
    """The sample's answer, None if it has none that can be used, and what its score claims (1 right, 0 wrong)."""
    question = _question(sample, where, task)
    texts, label = question.options, question.label
    claimed = _claim(sample.get("scores"))
    order = asked_order(sample.get("scores"), texts, where)
    tokens = _tokens(sample)
    place = _letter_place(tokens, len(texts))
    if place is None:
        return None, claimed
    answered = order[LETTERS.index(letter(tokens[place]["token"]))]
    if claimed is not None and claimed != float(answered == label):
        raise InputError(
            f"{where}: expected the score {float(answered == label):g} of the answer {LETTERS[answered]} where "
            f"{LETTERS[label]} is right, found {claimed:g} in the file"
        )
    letters = read_letters(sample.get("output") or {}, len(texts), where)
    if letters is None:
        return None, claimed
    logits = unshuffled(letters.logits, order)
    row = ScoredRow(question, logits, where, letters.mass)
    return _Answer(row, letters.bounded, int(np.argmax(logits)) == answered), claimed


def _question(sample: dict[str, Any], where: str, task: str) -> Question:
    choices = sample.get("choices")
    if not isinstance(choices, list) or not choices:
        raise InputError(f"{where}: expected a multiple-choice sample with 'choices', found {shown(choices)}")
    texts = tuple(str(choice) for choice in choices)
    label = true_option(sample.get("target"), texts, where)
    check_row(where, len(texts), label, texts)
    task = task.rsplit("/", 1)[-1]
    group = str((sample.get("metadata") or {}).get("subject") or task)
    return Question(
        str(sample.get("id")), task, group, "", _asked(sample) or f"sample {sample.get('id')}", texts, label
    )


def true_option(target: Any, texts: tuple[str, ...], where: str) -> int:
    """The true choice, counted from 0. Raises :class:`InputError` if the target names none, or several."""
    targets = target if isinstance(target, list) else [target]
    if len(targets) != 1:
        raise InputError(f"{where}: expected one right answer in 'target', found {len(targets)}, {shown(targets)}")
    text = str(targets[0]).strip()
    if len(text) == 1 and text.upper() in LETTERS[: len(texts)]:
        return LETTERS.index(text.upper())
    if texts.count(text) == 1:
        return texts.index(text)
    raise InputError(
        f"{where}: expected 'target' as a letter from A to {LETTERS[min(len(texts), 26) - 1]}, found {shown(target)}"
    )


def _claim(scores: Any) -> float | None:
    """1 or 0 as the ``choice`` scorer wrote it, or the only scorer there is; None if there is neither."""
    if not isinstance(scores, dict) or not scores:
        return None
    value = _score(scores).get("value")
    if value in ("C", "I"):
        return float(value == "C")
    return float(value) if isinstance(value, (int, float)) and value in (0, 1) else None


def _score(scores: Any) -> dict[str, Any]:
    if not isinstance(scores, dict) or not scores:
        return {}
    score = scores.get("choice") or (next(iter(scores.values())) if len(scores) == 1 else None)
    return score if isinstance(score, dict) else {}


def read_letters(output: dict[str, Any], k: int, where: str) -> Letters | None:
    """What a sample's ``output`` says of the letters of k choices as they were asked; None without log-probabilities.
    Raises :class:`InputError` for a log-probability above 0."""
    tokens = _tokens({"output": output})
    place = _letter_place(tokens, k)
    if place is None or not tokens[place].get("top_logprobs"):
        return None
    logits, missing, mass = _letters(tokens[place], k, where)
    return Letters(LETTERS.index(letter(tokens[place]["token"])), tuple(logits), missing, mass)


def unshuffled(values: Sequence[float], order: Sequence[int]) -> tuple[float, ...]:
    """Values in the order asked, put back into the order of the sample, given :func:`asked_order`.

    >>> unshuffled([0.1, 0.2, 0.7], [2, 0, 1])
    (0.2, 0.7, 0.1)
    """
    back = dict(zip(order, values, strict=True))
    return tuple(back[place] for place in range(len(order)))


def asked_order(scores: Any, texts: tuple[str, ...], where: str) -> list[int]:
    """From the place of a choice as it was asked to its place in the sample."""
    explanations = (str(score.get("explanation")) for score in (scores or {}).values() if isinstance(score, dict))
    explanation = next((text for text in explanations if SHUFFLED in text), "")
    if not explanation:
        return list(range(len(texts)))
    shuffled = explanation.split(SHUFFLED, 1)[1].split("\nShuffled answer:")[0].lstrip("\n")
    order: list[int] = []
    for place in range(len(texts)):
        head = f"{LETTERS[place]}) "
        rest = [
            i
            for i, text in enumerate(texts)
            if i not in order and (shuffled == head + text or shuffled.startswith(f"{head}{text}\n"))
        ]
        if not rest:
            raise InputError(
                f"{where}: expected the shuffled choices in the score's explanation, found {shown(shuffled)}"
            )
        longest = max(rest, key=lambda i: len(texts[i]))
        order.append(longest)
        shuffled = shuffled[len(head + texts[longest]) + 1 :]
    return order


def _tokens(sample: dict[str, Any]) -> list[dict[str, Any]]:
    output = sample.get("output") or {}
    choices = output.get("choices") or [{}]
    logprobs = (choices[0] or {}).get("logprobs") or {}
    content = logprobs.get("content") or []
    return [token for token in content if isinstance(token, dict) and isinstance(token.get("token"), str)]


def _letter_place(tokens: Sequence[dict[str, Any]], k: int) -> int | None:
    """The token that is the letter of the answer: the last after ``ANSWER:``, or the only letter there is."""
    text, starts = "", []
    for token in tokens:
        starts.append(len(text))
        text += token["token"].translate(SPACES)
    announced = list(ANSWER.finditer(text))
    only = ONLY_LETTER.match(re.sub(r"<\|[^|]*\|>|</s>", "", text))
    at = announced[-1].start("letter") if announced else text.index(only["letter"]) if only else None
    if at is None:
        return None
    place = max(i for i, start in enumerate(starts) if start <= at)
    return place if letter(tokens[place]["token"]) in LETTERS[:k] and letter(tokens[place]["token"]) else None


def _letters(token: dict[str, Any], k: int, where: str) -> tuple[list[float], int, float]:
    """The log-probability of each letter, how many are upper bounds, and the share that fell on listed letters."""
    listed = {
        str(entry.get("token")): number(entry.get("logprob"), where, "a log-probability")
        for entry in [token, *token["top_logprobs"]]
        if isinstance(entry, dict)
    }
    return bounded(listed, k, where)


def _asked(sample: dict[str, Any]) -> str:
    """The question as text, looked up where the log keeps long texts apart."""
    content = sample.get("input")
    if isinstance(content, list):
        users = [message for message in content if isinstance(message, dict) and message.get("role") == "user"]
        content = users[-1].get("content") if users else ""
        if isinstance(content, list):
            content = " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    text = str(content or "")
    attachments: dict[str, Any] = sample.get("attachments") or {}
    return str(attachments.get(text.removeprefix("attachment://"), text)).strip()


def _check_mean(header: dict[str, Any], values: Sequence[float], path: Path) -> None:
    for score in (header.get("results") or {}).get("scores") or []:
        claimed = ((score.get("metrics") or {}).get("accuracy") or {}).get("value")
        if score.get("name") == "choice" and isinstance(claimed, (int, float)) and values:
            mean = sum(values) / len(values)
            if abs(mean - claimed) > MEAN_WITHIN:
                raise InputError(f"{path}: expected an accuracy of {mean!r} from its samples, found {claimed!r} in it")


# ---------------------------------------------------------------- its record, with an example


def _inspect() -> dict[str, Any]:
    listed = [{"token": f" {letter}", "logprob": p} for letter, p in zip("ABC", (-0.5, -1.5, -2.0), strict=True)]
    before: list[dict[str, Any]] = [{"token": token, "logprob": 0.0, "top_logprobs": []} for token in ("ANSWER", ":")]
    content = [*before, listed[0] | {"top_logprobs": listed}]
    choice = {"message": {"content": "ANSWER: A", "role": "assistant"}, "logprobs": {"content": content}}
    samples = [
        {
            "id": f"q{i}",
            "epoch": 1,
            "input": f"Which is {i}?",
            "choices": list(OPTIONS),
            "target": "A" if i % 2 else "B",
            "output": {"choices": [choice], "completion": "ANSWER: A"},
            "scores": {"choice": {"value": "C" if i % 2 else "I", "answer": "A"}},
        }
        for i in range(4)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "colours", "model": "mock/known"}, "samples": samples}


def eval_log() -> bytes:
    """A log of Inspect as an archive."""
    log = _inspect()
    samples = {f"samples/{sample['id']}_epoch_1.json": as_json(sample) for sample in log.pop("samples")}
    return zipped({"header.json": as_json(log)} | samples)


KIND = Kind(
    title="log of Inspect",
    place="runs",
    listed="Inspect logs",
    archive=lambda names, path: "header.json" in names or any(name.startswith("_journal/") for name in names),
    document=lambda values: isinstance(values.get("eval"), dict) and ("samples" in values or "status" in values),
    read=read,
    origin=ORIGIN,
    cited=CitedWork(
        "inspect-ai",
        "misc",
        "{UK AI Security Institute}",
        "Inspect AI: Framework for Large Language Model Evaluations",
        2024,
        url="https://inspect.aisi.org.uk/",
    ),
    examples=(
        example("A log in JSON", "colours.json", lambda: as_json(_inspect())),
        example("A log as an archive", "colours.eval", eval_log),
    ),
)
