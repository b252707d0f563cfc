"""One line of lm-evaluation-harness's samples: a question, how likely each option is, and its own metrics."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import InputError
from core.exchange.build_run import ScoredRow, check_row
from core.questions.bank_shapes import CAUSE_OR_EFFECT, option_runs, without_marks
from core.records import LETTERS, OPTION_NAMES, FloatArray, Question
from core.tables import field_names
from core.tables.cells import common_beginning
from core.tables.safe_read import number, shown

PARTS = {
    "asked": (
        *("question", "query", "input_final", "input", "prompt", "sentence", "goal", "ctx", "text", "premise"),
        *field_names.QUESTION_NAMES,
        "sent1",
    ),
    "about": (*field_names.CONTEXT_NAMES, "sentence"),
    "premise": ("premise", "sentence1", "context"),
    "hypothesis": field_names.HYPOTHESIS_NAMES,
    "options": ("choices", "options", "endings", *field_names.OPTIONS_NAMES),
    "group": ("subject", "category", "topic", "activity_label", "source", *field_names.GROUP_NAMES),
}
"""The fields of a document by what they are; those that the harness's own tasks use come first. The subject of a
question counts if the prompt has it too."""
DELIMITER = " "
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with its log-likelihoods, the options as they were scored, and the line's own metrics."""

    row: ScoredRow
    choices: tuple[str, ...]
    claims: dict[str, float]


def scored(row: dict[str, Any], where: str, task: str, *, delimiter: str, digits: str) -> Sample:
    """The sample of a line at ``where``; ``digits`` says whether a target like "3" is a "number" or a "text". Raises
    :class:`InputError` if the line lacks something, or if a metric of its own is not that of its likelihoods."""
    contexts, continuations = _requests(row, where)
    likelihoods = _likelihoods(row, where)
    if len(likelihoods) != len(continuations):
        raise InputError(
            f"{where}: expected a log-likelihood for each of {len(continuations)} requests, found {len(likelihoods)}"
        )
    halves = _is_mutual(row, contexts, continuations)
    k = len(continuations) // 2 if halves else len(continuations)
    values = np.array(likelihoods)
    choices, exact = _choices(contexts[:k], continuations[:k], delimiter)
    several_prompts = not exact and len(set(continuations[:k])) == 1
    label = (
        _gold_of_prompts(row, values[:k], where)
        if several_prompts
        else _gold(row.get("target"), choices, where, digits)
    )
    shown_options = _option_texts(row["doc"], choices)
    if k == 1:
        raise InputError(
            f"{where}: expected the log-likelihoods of several options, found one text; only tasks of output_type "
            "multiple_choice have options"
        )
    check_row(where, k, label, shown_options)
    own = values[:k]
    _check_claims(row, own, values[k:] if halves else None, choices if exact else None, label, where)
    if not np.isfinite(own).any():
        raise InputError(f"{where}: expected at least one finite log-likelihood, found {own.tolist()}")
    doc = row["doc"]
    context, question_text = _context_and_question(doc, contexts[0])
    group = next(
        (doc[name] for name in _fields(tuple(doc), "group") if isinstance(doc[name], str) and doc[name].strip()), task
    )
    name = str(row.get("doc_hash") or row["doc_id"])[:16]
    question = Question(name, task, group, context, question_text, shown_options, label)
    mass = _letter_mass(own) if is_letters(choices) else float("nan")
    claims = {metric: float(row[metric]) for metric in METRICS if _is_claimed(row, metric)}
    return Sample(ScoredRow(question, tuple(own.tolist()), where, mass), choices, claims)


@functools.lru_cache(maxsize=1024)
def _fields(names: tuple[str, ...], part: str) -> list[str]:
    """The names that are a part of a question (:data:`PARTS`); the documents of a task have the same names."""
    return field_names.matching(names, PARTS[part])


def of_write_out(row: dict[str, Any]) -> dict[str, Any]:
    """A sample of 2023, which ``--write_out`` kept as ``prompt_<i>`` (with the option), ``logit_<i>`` and ``truth``.
    The option is the text that differs in the prompts, from a word's beginning on. Its length is not certain, so
    ``acc_norm`` is left out."""
    prompts = [str(row.get(f"prompt_{i}", "")) for i in range(sum(key.startswith("logit_") for key in row))]
    shared = common_beginning(prompts) if prompts else ""
    begin = max(shared.rfind(sign) for sign in ":\n ") + 1
    return {
        "doc_id": row["doc_id"],
        "doc": {},
        "target": row.get("truth"),
        "arguments": [[prompt[:begin].rstrip(), f" {prompt[begin:].strip()}"] for prompt in prompts],
        "resps": [[[row[f"logit_{i}"], False]] for i in range(len(prompts)) if f"logit_{i}" in row],
    } | ({"acc": row["acc"]} if "acc" in row else {})


def _context_and_question(doc: dict[str, Any], prompt: str) -> tuple[str, str]:
    """What a question is about, if it is about anything, and what is asked; the prompt where the document does not say.
    Of two statements (NLI), the first is the context. A text that the model was not shown, or that the question
    contains, is no context."""
    lists = {name: "\n".join(value) for name, value in doc.items() if name.lower() == "contexts" and _are_texts(value)}
    texts = {name: value for name, value in (doc | lists).items() if isinstance(value, str) and value.strip()}
    names = tuple(texts)
    premise, hypothesis, name = (next(iter(_fields(names, part)), "") for part in ("premise", "hypothesis", "asked"))
    if premise and hypothesis and name.lower() != "question":
        return texts[premise], texts[hypothesis]
    question = texts.get(name) or prompt.strip()
    if premise and question.strip().lower() in CAUSE_OR_EFFECT:
        return texts[premise], CAUSE_OR_EFFECT[question.strip().lower()]
    about = [other for other in _fields(names, "about") if other != name and not (other == "ctx" and "ctx_a" in doc)]
    for other in about:
        text = texts[other]
        is_shown = text in prompt or " ".join(text.split()) in " ".join(prompt.split())
        if is_shown and text.strip() not in question and question.strip() not in text:
            return text, question
    return "", question


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _requests(row: dict[str, Any], where: str) -> tuple[list[str], list[str]]:
    """Prompts and continuations of a line's requests; newer files name them, older ones list them."""
    arguments = row.get("arguments")
    if isinstance(arguments, dict):
        arguments = [
            list(arguments[key].values()) if isinstance(arguments[key], dict) else arguments[key]
            for key in sorted(arguments, key=lambda key: int(re.sub(r"\D", "", key) or 0))
        ]
    if not isinstance(arguments, list) or not arguments:
        raise InputError(f"{where}: expected the requests in 'arguments', found {shown(arguments)}")
    if any(
        isinstance(request, (list, tuple)) and len(request) > 1 and isinstance(request[1], dict)
        for request in arguments
    ):
        raise InputError(
            f"{where}: expected the log-likelihoods of options, found a generation task; only tasks of "
            "output_type multiple_choice say how probable each option is"
        )
    if not all(isinstance(request, (list, tuple)) and len(request) >= 2 for request in arguments):
        raise InputError(f"{where}: expected (prompt, option) pairs in 'arguments', found {shown(arguments[0])}")
    return [str(request[0]) for request in arguments], [str(request[1]) for request in arguments]


def _likelihoods(row: dict[str, Any], where: str) -> list[float]:
    responses: Any = row.get("filtered_resps") or row.get("resps")
    if not isinstance(responses, list):
        raise InputError(f"{where}: expected a list of log-likelihoods in 'resps', found {shown(responses)}")
    values = []
    for response in responses:
        while isinstance(response, list) and len(response) == 1 and isinstance(response[0], list):
            response = response[0]
        if not (isinstance(response, list) and len(response) == 2):
            raise InputError(
                f"{where}: expected [log-likelihood, greedy] for each option, found {shown(response)}; generation and "
                "rolling tasks do not say how probable each option is"
            )
        values.append(number(response[0], where, "a log-likelihood"))
    return values


def _is_mutual(row: dict[str, Any], contexts: Sequence[str], continuations: Sequence[str]) -> bool:
    """Whether the second half of the requests asks for the same options after an empty prompt."""
    half, odd = divmod(len(continuations), 2)
    if odd or half < 2:
        return False
    doubled = list(continuations[:half]) == list(continuations[half:])
    return doubled and ("acc_mutual_info" in row or not any(text.strip() for text in contexts[half:]))


def _choices(contexts: Sequence[str], continuations: Sequence[str], delimiter: str) -> tuple[tuple[str, ...], bool]:
    """The options' texts, and whether they are known to the character (their lengths count in ``acc_norm``)."""
    if len(set(continuations)) == 1 and len(set(contexts)) > 1:
        # One ending after several beginnings (Winogrande): what differs in the beginnings is the option.
        begin = len(common_beginning(contexts))
        end = len(common_beginning([c[::-1] for c in contexts]))
        return tuple(c[begin : len(c) - end].strip() or c for c in contexts), False
    if delimiter and all(text.startswith(delimiter) for text in continuations):
        return tuple(text[len(delimiter) :] for text in continuations), True
    return tuple(continuations), True


def delimiters(row: dict[str, Any]) -> list[str]:
    """What may stand between a prompt and its options: a blank, what all options of a sample begin with, or nothing."""
    try:
        _, continuations = _requests(row, "")
    except InputError:
        return [DELIMITER]
    shared = common_beginning(continuations)
    space = shared[: len(shared) - len(shared.lstrip())]
    return list(dict.fromkeys([DELIMITER, space, ""]))


def has_several_right(rows: Iterable[dict[str, Any]]) -> bool:
    """Whether the samples of a task count several options as right, told by their own metrics.

    ``acc`` is then a share (``truthfulqa_mc2``), or 1 where another option than the target was taken, and never 0 where
    the target was (``bbq_multiple_choice``, which scores many words for one answer).
    """
    shares = more = less = 0
    wordings = False
    for row in rows:
        try:
            if not _is_claimed(row, "acc"):
                continue
            claimed = number(row["acc"], "", "acc")
            likelihoods = _likelihoods(row, "")
            choices, _ = _choices(*_requests(row, ""), DELIMITER)
            taken = float(_top(np.array(likelihoods)) == _gold(row.get("target"), choices, "", "number"))
        except InputError:
            continue
        shares += 0 < claimed < 1
        more += claimed > taken
        less += claimed < taken
        doc = row.get("doc")
        listed = max(map(len, option_runs(doc)), default=len(choices)) if isinstance(doc, dict) else len(choices)
        wordings |= listed < len(choices)
    return shares > 0 or (more > 0 and less == 0 and (more > 1 or wordings))


def _option_texts(doc: dict[str, Any], choices: Sequence[str]) -> tuple[str, ...]:
    """What the letters stand for, where the document says it; else the options as they were scored."""
    if not is_letters(choices):
        return tuple(text.lstrip("\n") or text for text in choices)
    k = len(choices)
    for name in _fields(tuple(doc), "options"):
        options = doc[name]
        if isinstance(options, dict):
            options = options.get("text", [options[letter] for letter in LETTERS[:k] if letter in options])
        if isinstance(options, list) and len(options) == k:
            return without_marks(tuple(map(str, options)))
    options = next(([doc[name] for name in run] for run in option_runs(doc) if len(run) == k), None)
    if not options and isinstance(doc.get("input"), str):
        options = _listed(doc["input"], choices)
    return tuple(str(text) for text in options) if options and len(options) == k else tuple(choices)


def _listed(text: str, choices: Sequence[str]) -> list[str]:
    """What a text says behind each letter at the beginning of a line; letters that it does not list stay bare.

    >>> _listed("Which?\\nOptions:\\n(A) One\\n(B) Two", ["(A)", "(B)", "(C)"])
    ['One', 'Two', '(C)']
    """
    texts = dict(re.findall(r"(?m)^\(([A-Z])\) (.+)$", text))
    return [texts.get(choice.strip().strip("()"), choice) for choice in choices]


def _letter_mass(own: FloatArray) -> float:
    mass = float(np.exp(own).sum())
    return mass if mass <= 1 + ROUNDING else float("nan")


def is_letters(choices: Sequence[str]) -> bool:
    return tuple(text.strip().strip("().") for text in choices) == tuple(LETTERS[: len(choices)])


def _gold(target: Any, choices: Sequence[str], where: str, digits: str) -> int:
    """The true option: its number from 0, its text, or a letter among the options' letters. Digits count options; with
    ``digits="text"`` they are the text of one where it is there."""
    text = str(target).strip()
    if re.fullmatch(r"\[.*\]", text):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = []
        if len(listed) == 1:
            return _gold(listed[0], choices, where, digits)
        raise InputError(f"{where}: expected one right answer in 'target', found several, {shown(text)}")
    stripped = [choice.strip() for choice in choices]
    counts = bool(re.fullmatch(r"-?\d+", text))
    in_range = counts and 0 <= int(text) < len(choices)
    if not in_range or digits == "text":
        for candidates in (stripped, [choice.strip("().") for choice in stripped]):
            if candidates.count(text) == 1:
                return candidates.index(text)
    if counts:
        return int(text)
    raise InputError(
        f"{where}: expected 'target' as an option's number from 0 or one of {shown(', '.join(stripped))}, "
        f"found {shown(target)}"
    )


def _gold_of_prompts(row: dict[str, Any], own: FloatArray, where: str) -> int:
    """The right one of several prompts with one continuation (Winogrande). The file's target is then the continuation
    and says nothing. Of two, ``acc`` tells which was right; the document's own answer, counted from 1, must agree where
    there is one."""
    written = str(row["doc"].get("answer", "")).strip()
    if not _is_claimed(row, "acc") and written.isdecimal() and 1 <= int(written) <= len(own):
        return int(written) - 1
    if len(own) != 2 or not _is_claimed(row, "acc"):
        raise InputError(
            f"{where}: expected two prompts and 'acc' where one continuation follows several prompts, found {len(own)} "
            "prompts; the file does not say which is right"
        )
    top = _top(own)
    label = top if number(row["acc"], where, "acc") == 1 else 1 - top
    if written in ("1", "2") and int(written) != label + 1:
        raise InputError(
            f"{where}: expected the answer {written} of the document to be right, found acc {row['acc']} where the "
            f"log-likelihoods take {top + 1}"
        )
    return label


# ---------------------------------------------------------------- what the line claims


def _top(values: FloatArray) -> int:
    """The largest value's place, of equal ones the first, as the harness counts ``acc``."""
    return int(np.argmax(values))


def _by_length(values: FloatArray, lengths: Sequence[int]) -> int:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _top(values / np.array(lengths, dtype=np.float64))


METRICS: dict[str, Callable[[FloatArray, FloatArray | None, Sequence[str]], int]] = {
    "acc": lambda own, empty, choices: _top(own),
    "acc_norm": lambda own, empty, choices: _by_length(own, [len(text) for text in choices]),
    "acc_bytes": lambda own, empty, choices: _by_length(own, [len(text.encode()) for text in choices]),
    "acc_mutual_info": lambda own, empty, choices: _top(own if empty is None else own - empty),
}
"""From a metric to the option that it takes for the model's answer."""


def _is_claimed(row: dict[str, Any], metric: str) -> bool:
    """Whether a sample says how the model did by a metric; a missing value of other tasks' metrics says nothing."""
    return row.get(metric) is not None and row[metric] == row[metric]


def _check_claims(
    row: dict[str, Any],
    own: FloatArray,
    empty: FloatArray | None,
    choices: Sequence[str] | None,
    label: int,
    where: str,
) -> None:
    for metric, answer in METRICS.items():
        if not _is_claimed(row, metric):
            continue
        claimed = number(row[metric], where, metric)
        if claimed not in (0, 1):
            raise InputError(f"{where}: expected {metric} to be 0 or 1, found {claimed:g}")
        if choices is None and metric in ("acc_norm", "acc_bytes"):
            continue  # the lengths that were divided by are not in the file
        taken = answer(own, empty, choices or ())
        if float(taken == label) != claimed:
            raise InputError(
                f"{where}: expected {metric} {float(taken == label):g} from the log-likelihoods (option "
                f"{OPTION_NAMES[taken]} is taken, {OPTION_NAMES[label]} is right), found {claimed:g} in the file"
            )
