"""Decision Index: ``results.jsonl`` of its runner, with the rows of its suite, which say what is right.

A line of the results is one request: ``dataset``, ``status`` and, where that is ``ok``, ``response.answers`` in the
format ``systemone`` (:mod:`core.questions.prompting.decision`). The truth is in the suite's rows
(``selected-rows.jsonl``, ``added-rows.jsonl``, or a sample of them; :mod:`core.exchange.decision_suite`). The texts are
those of ``payload``, which ``--compact`` leaves out, or else those of the suite.

Each data set is a run. Requests with another status than ``ok`` are missing questions. Left out are questions that the
suite does not score, that have no single right option, or that are of another type than ``choice``, ``noul`` and
``score``. The options of a ``score`` are its levels, in order; a data set that has other types beside it is still one
run, whose options are then not all in order. A probability of 0 was rounded, so only an upper bound of it is known, as
in a reply of a server.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError, plain
from core.exchange.build_run import ScoredRow, assemble
from core.exchange.cited_work import CitedWork
from core.exchange.decision_suite import SuiteRow, is_results, is_suite, joined_rows, name_of, requests_of
from core.exchange.dropped.examples import LABELS, OPTIONS, P, as_lines
from core.exchange.dropped.kind import FileExample, Files, Kind
from core.exchange.imported import ImportedRun, fingerprint, fingerprint_of
from core.models.server.decision_replies import (
    Decided,
    Fault,
    is_contradiction,
    level_probabilities,
    log_bound,
    option_probabilities,
)
from core.models.server.reply_body import clean, mapping, number
from core.questions.prompting.decision import SYSTEM_ONE
from core.records import MOST_OPTIONS, NOT_PUBLISHED, Question, added_options
from core.runs.caveats import COLUMN, CONTRADICTION
from core.runs.spec import SERVED, RunSpec
from core.tables.read_as import counted, line
from core.tables.safe_read import check_count, json_lines, shown

ORIGIN = "decision-index"
CHOICE, NOUL, SCORE = "choice", "noul", "score"
YES, NO = "yes", "no"
"""The options of a ``noul`` question, whose answer is the probability of yes."""
OK = "ok"
STATUSES = {"unsupported": "unsupported", "error": "errors", "abstained": "abstained"}
"""What a question of a request with this status is counted as (:data:`core.runs.caveats.MISSING`)."""
NOT_ANSWERED = "without an answer"
NOT_SCORED = "that the suite does not score"
OTHER_TYPE = f"of another type than {CHOICE}, {NOUL} and {SCORE}"
NO_RIGHT_OPTION = "without one right option"
NO_LEVELS = Fault(NOT_ANSWERED, "the levels do not count from 0")
WRONG_NUMBER = f"with fewer than 2 or more than {MOST_OPTIONS} options"
MOST_BENCHMARKS = 500
"""The most data sets of one file; the Decision Index has about fifty."""
NAMED, LONGEST_ID = 5, 60
"""How many requests a sentence names, and the characters of each name."""
REASONS = 3
"""How many data sets a sentence gives the reasons of."""


def read(path: Path, suites: Sequence[Path]) -> list[ImportedRun]:
    """The runs of a file of results, one for each data set, with a line each that says how it was read. ``suites`` are
    the files with the suite's rows. Raises :class:`InputError` that names the file, the line, what was expected and
    what was found."""
    requests = requests_of(path)
    rows = joined_rows(suites, requests)
    benchmarks: dict[str, _Benchmark] = {}
    total = 0
    for number_of_line, result in json_lines(path):
        name = name_of(result)
        if requests[name].line != number_of_line:
            continue
        where = f"{path}, line {number_of_line}"
        data = clean(result.get("dataset"))
        if not data:
            raise InputError(f"{where}: expected the name of a data set, found {shown(result.get('dataset'))}")
        benchmark = benchmarks.setdefault(data, _Benchmark())
        if len(benchmarks) > MOST_BENCHMARKS:
            raise InputError(f"{path}: expected at most {MOST_BENCHMARKS} data sets, found more; split it by data set")
        row = rows.of(name, requests[name])
        if row is None:
            benchmark.without_row.append(name)
            continue
        total += len(row.expected)
        check_count(total, path)
        if model := clean(mapping(result.get("response")).get("model")):
            benchmark.models[model] += 1
        benchmark.add(data, name, result, row, where)
    return _runs(path, benchmarks, repeated=sum(request.earlier for request in requests.values()))


# ---------------------------------------------------------------- questions and answers


@dataclass(frozen=True, slots=True)
class _Answered:
    question: Question
    answer: Decided
    where: str


@dataclass(slots=True)
class _Benchmark:
    """The answered questions of a data set. Beside them: how many are ``missing`` and ``left_out``, by what they are;
    the requests ``without_row`` in the suite; the right answers that are ``no_option`` of their question; how many
    answers contradict themselves; and how many requests each of the ``models`` answered."""

    answered: list[_Answered] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    without_row: list[str] = field(default_factory=list)
    no_option: list[str] = field(default_factory=list)
    contradictions: int = 0
    models: Counter[str] = field(default_factory=Counter)

    def add(self, data: str, name: str, result: Mapping[str, Any], row: SuiteRow, where: str) -> None:
        """Add the questions of a result."""
        texts = mapping(result.get("payload")) if "questions" in mapping(result.get("payload")) else row.texts
        asked, response = mapping(texts.get("questions")), mapping(result.get("response"))
        answers, diagnostics = mapping(response.get("answers")), mapping(response.get("diagnostics"))
        status = str(result.get("status"))
        context = _text(texts.get("state"))
        for key, truth in row.expected.items():
            about, answer = mapping(asked.get(key)), mapping(answers.get(key))
            kind = str(about.get("type") or answer.get("type") or CHOICE)
            if truth is None or row.scored not in ("", key):
                self.left_out[NOT_SCORED] += 1
                continue
            if kind not in (CHOICE, NOUL, SCORE):
                self.left_out[OTHER_TYPE] += 1
                continue
            keys, options = _options(kind, about, answer)
            if keys and not 2 <= len(keys) <= MOST_OPTIONS:
                self.left_out[WRONG_NUMBER] += 1
                continue
            if status != OK:
                self.missing[STATUSES.get(status, NOT_ANSWERED)] += 1
                continue
            right = _right(kind, truth, keys, options)
            label = len(keys) if right is None or right not in keys else keys.index(right)
            mass = number(mapping(diagnostics.get(key)).get("label_mass"))
            decided = _decided(kind, answer, keys, label_mass=mass if 0 <= mass <= 1 else math.nan)
            if isinstance(decided, Fault):
                self.missing[NOT_ANSWERED] += 1
            elif row.has_ties or label >= len(keys) - added_options(options):
                self.left_out[NO_RIGHT_OPTION] += 1
                if isinstance(truth, str) and right not in keys:
                    self.no_option.append(truth)
            else:
                self.contradictions += is_contradiction(answer, keys, decided, kind=kind)
                alone = name if len(row.expected) == 1 else f"{name}/{key}"
                text = _text(about.get("instructions")) or f"{data}, {alone} (its text is not in the files)"
                names = (alone, data, row.group or data)
                question = Question(*names, context, text, options, label, row.cluster, ordered=kind == SCORE)
                self.answered.append(_Answered(question, decided, where))


def _options(kind: str, about: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[list[str], tuple[str, ...]]:
    """The keys of a question's options, and their texts; an option without a description is its key."""
    given = about.get("criteria")
    if kind == SCORE and isinstance(given, list):
        given = {str(level): text for level, text in enumerate(given)}
    criteria = mapping(given)
    if kind == NOUL:
        return [YES, NO], (_text(criteria.get("true")) or "Yes", _text(criteria.get("false")) or "No")
    if criteria:
        keys = [str(key).strip() for key in criteria]
        return keys, tuple(_text(text) or key for key, text in zip(keys, criteria.values(), strict=True))
    keys = sorted(
        (str(key).strip() for key in mapping(answer.get("probabilities"))),
        key=lambda key: (kind == SCORE and len(key), key),
    )
    return keys, (NOT_PUBLISHED,) * len(keys)


def _right(kind: str, truth: object, keys: Sequence[str], options: Sequence[str]) -> str | None:
    """The key of the right option; a level may also be named by its number or its text."""
    if kind == NOUL and isinstance(truth, bool):
        return YES if truth else NO
    if kind == SCORE and not isinstance(truth, (str, bool)):
        level = number(truth)
        return keys[int(level)] if 0 <= level < len(keys) and level.is_integer() else None
    text = truth.strip() if isinstance(truth, str) else None
    if kind == SCORE and text is not None and text not in keys and options.count(text) == 1:
        return keys[options.index(text)]
    return text


def _text(value: Any) -> str:
    """A text, or JSON as the model reads it; empty for nothing."""
    if not value:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _decided(kind: str, answer: Mapping[str, Any], keys: Sequence[str], *, label_mass: float) -> Decided | Fault:
    given = answer.get("probabilities")
    if len(keys) < 2:
        return Fault(NOT_ANSWERED, "its options are not known")
    if kind == NOUL:
        yes = number(answer.get("noul"))
        return option_probabilities([(YES, yes), (NO, float(1 - Decimal(repr(yes))))], keys, label_mass=label_mass)
    if kind == SCORE:
        numbered = list(keys) == [str(level) for level in range(len(keys))]
        return level_probabilities(answer, len(keys), label_mass=label_mass) if numbered else NO_LEVELS
    if not isinstance(given, Mapping) or len(set(keys)) < len(keys):
        return Fault(NOT_ANSWERED, "the answer has no probabilities of different options")
    return option_probabilities(list(given.items()), keys, label_mass=label_mass)


# ---------------------------------------------------------------- runs


def _tasks(names: Iterable[str]) -> dict[str, str]:
    """The task of each data set, all of them different. A task's name ends where a place begins, such as a folder.

    >>> _tasks(["SGD/SGD-X", "A/B", "A-B"])
    {'A-B': 'A-B', 'A/B': 'A-B-2', 'SGD/SGD-X': 'SGD-SGD-X'}
    """
    tasks: dict[str, str] = {}
    for data in sorted(names):  # not in the order of the file: another model's run has the same task
        task = data.replace("/", "-").replace("@", "-")
        while task in tasks.values():
            task += "-2"
        tasks[data] = task
    return tasks


def _runs(path: Path, benchmarks: Mapping[str, _Benchmark], *, repeated: int) -> list[ImportedRun]:
    """The run of each data set that can be one, by the model that answered most of it; the first one's line names the
    others."""
    folder = path.resolve().parent.name
    spec = RunSpec(
        model=folder or "unknown",
        task="decisions",
        dtype=SERVED,
        prompt_format=SYSTEM_ONE,
        origin=ORIGIN,
    )
    content = fingerprint_of(path)
    tasks = _tasks(benchmarks)
    runs: list[ImportedRun] = []
    reasons: dict[str, str] = {}
    for data, benchmark in benchmarks.items():
        try:
            ((model, _),) = benchmark.models.most_common(1) or [(spec.model, 0)]
            runs.append(_run(path, replace(spec, model=model, task=tasks[data]), benchmark, content))
        except InputError as error:
            reasons[data] = "; ".join(_left_out(benchmark)) or str(error).removeprefix(f"{path}: ")
    named = [f"{data} ({reason})" for data, reason in list(reasons.items())[:REASONS]]
    why = ", ".join(named) + (f" and {len(reasons) - REASONS:,} more" if len(reasons) > REASONS else "")
    if not runs:
        raise InputError(f"{path}: expected answered questions with a truth in the suite's rows, found none: {why}")
    more = [f"{counted(repeated, 'earlier line')} for the same requests" if repeated else ""]
    more.append(f"data sets left out: {why}" if reasons else "")
    first = runs[0]
    runs[0] = replace(first, read_as=", ".join(part for part in (first.read_as, *more) if part))
    return runs


def _run(path: Path, spec: RunSpec, benchmark: _Benchmark, content: str) -> ImportedRun:
    sizes = Counter(each.question.cluster for each in benchmark.answered)
    decimals = max((each.answer.decimals for each in benchmark.answered), default=0)  # one data set may be rounded
    rows = [
        ScoredRow(
            replace(
                each.question,
                task=spec.task,
                cluster=each.question.cluster if sizes[each.question.cluster] > 1 else "",
            ),
            log_bound(each.answer, decimals=decimals),
            each.where,
            each.answer.label_mass,
        )
        for each in benchmark.answered
    ]
    truth = "\n".join(f"{row.question.id}\t{row.question.label}" for row in rows)
    spec = replace(spec, fingerprint=fingerprint(content.encode(), truth.encode()))
    run = assemble(
        path, rows, spec, {"counts": dict(benchmark.missing), "lacks": [] if benchmark.models else ["model"]}
    )
    shares = np.zeros(run.scored.logits.shape)
    for i, each in enumerate(benchmark.answered):
        shares[i, : len(each.answer.probabilities)] = each.answer.probabilities
    bounded = (shares == 0) & np.isfinite(run.scored.logits)
    stated = _stated(benchmark)
    return replace(
        run,
        scored=replace(run.scored, probabilities=shares, bounded=bounded if bounded.any() else None),
        provenance=run.provenance
        | {"bounded_questions": int(bounded.any(axis=1).sum())}
        | ({COLUMN: stated} if stated else {}),
        read_as=line(run.questions, *_left_out(benchmark)),
    )


def _left_out(benchmark: _Benchmark) -> list[str]:
    """What is not in a data set's run, and how often."""
    parts = [f"{counted(n, 'question')} {what} left out" for what, n in sorted(benchmark.left_out.items())]
    parts += [f"{counted(n, 'question')} missing ({what})" for what, n in sorted(benchmark.missing.items())]
    return [*parts, *([_without_row(benchmark.without_row)] if benchmark.without_row else [])]


def _without_row(names: Sequence[str]) -> str:
    """How many requests have no row of the suite, and the first of them."""
    first = ", ".join(clean(name, LONGEST_ID) for name in names[:NAMED])
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{counted(len(names), 'result')} without a row of the suite that says what is right ({first}{more})"


def _stated(benchmark: _Benchmark) -> str:
    """The caveats of a run that no other field of its record says."""
    sentences = []
    if benchmark.without_row:
        sentences.append(
            f"The file has {_without_row(benchmark.without_row)}. Their right options are not known, so figures are "
            "those of the others."
        )
    if benchmark.no_option:
        number, first = len(benchmark.no_option), clean(benchmark.no_option[0], LONGEST_ID)
        sentences.append(
            f"For {counted(number, 'question')}, the right answer in the suite does not match any option, such as "
            f"“{first}”. Figures are those of the others, so check that the results and the rows are of one version."
        )
    if benchmark.contradictions:
        sentences.append(f"In {counted(benchmark.contradictions, 'answer')}, {CONTRADICTION}.")
    if len(benchmark.models) > 1:
        names = ", ".join(name for name, _ in benchmark.models.most_common(NAMED))
        sentences.append(f"The answers of this run are by {len(benchmark.models):,} models ({names}).")
    return plain(" ".join(sentences), one_line=True)


# ---------------------------------------------------------------- its records, with an example


def _example() -> Files:
    results, rows = [], []
    for i, shares in enumerate(P):
        ids = {"run_id": f"24:MMLU:{i}", "dataset": "MMLU", "group_id": f"{i}", "payload_sha256": f"{i:064x}"}
        criteria = dict(zip("ABC", OPTIONS, strict=True))
        payload = {"state": "", "questions": {"q1": {"type": CHOICE, "instructions": f"{i}?", "criteria": criteria}}}
        probabilities = dict(zip("ABC", shares, strict=True))
        answer = {"type": CHOICE, "choice": "ABC"[int(np.argmax(shares))], "probabilities": probabilities}
        response = {"model": "small", "answers": {"q1": answer}}
        results.append({**ids, "payload": payload, "status": OK, "response": response})
        rows.append({"id": f"{i}", **payload, "expected": {"q1": LABELS[i]}, "_evaluation": ids})
    return {"results.jsonl": as_lines(results), "selected-rows.jsonl": as_lines(rows)}


KIND = Kind(
    title="results of the Decision Index",
    article="",
    place="runs",
    listed="Decision Index `results.jsonl` with the suite's rows",
    document=is_results,
    line=is_results,
    origin=ORIGIN,
    cited=CitedWork(
        "decision-index",
        "misc",
        "{Decision Index Contributors}",
        "Decision Index: a Benchmark for Typed Decision Engines",
        2026,
        url="https://github.com/apolinario/decision-index",
    ),
    examples=(
        FileExample(
            "The results of a model, with the rows of the suite",
            _example,
            "The suite's rows say which options are right. Each data set becomes a run.",
        ),
    ),
)
SUITE_KIND = Kind(
    title="rows of the Decision Index's suite", article="", place="runs", document=is_suite, line=is_suite
)
