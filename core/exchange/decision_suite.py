"""The results of a Decision Index and the rows of its suite, put together.

A result is one request, with its ``run_id`` and ``payload_sha256``. A row of the suite has the same in ``_evaluation``,
and what is right in ``expected``. A result belongs to the row with its id and its hash, or else to the rows with its
hash. Of several results for one request the last counts, because the runner tries a request with an error again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.server.reply_body import clean, mapping
from core.tables.safe_read import check_count, json_lines, shown


@dataclass(slots=True)
class ResultLine:
    """The last line of a request in the results: its number, the request's hash (empty: not known), whether its texts
    are in the line, and how many lines it has before."""

    line: int
    sha256: str
    has_texts: bool
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A row of the suite: the right option of each question, the question that is ``scored`` (empty: all of them),
    whether several options are right, the request's cluster and group, and its ``state`` and ``questions`` if the
    results do not have them."""

    expected: Mapping[str, Any]
    scored: str
    has_ties: bool
    cluster: str
    group: str
    texts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The rows of the suite that belong to requests, by the requests' names and by their hashes; None stands for rows
    of one request or with one hash that disagree about what is right."""

    by_name: Mapping[str, SuiteRow | None]
    by_hash: Mapping[str, SuiteRow | None]

    def of(self, name: str, request: ResultLine) -> SuiteRow | None:
        """The row of a request, or None."""
        return self.by_name[name] if name in self.by_name else self.by_hash.get(request.sha256)


def is_results(row: Mapping[str, Any]) -> bool:
    """Whether the first object of JSON lines is a result."""
    return {"dataset", "payload_sha256", "status"} <= row.keys()


def is_suite(row: Mapping[str, Any]) -> bool:
    """Whether the first object of JSON lines is a row of the suite."""
    return "expected" in row and isinstance(row.get("_evaluation"), dict)


def name_of(result: Mapping[str, Any]) -> str:
    """The name of a result's request."""
    return str(result.get("run_id") or result.get("payload_sha256"))


def requests_of(path: Path) -> dict[str, ResultLine]:
    """The requests of a file of results, by their names. Raises :class:`InputError` for a line that is no result."""
    requests: dict[str, ResultLine] = {}
    for line, result in json_lines(path):
        if not is_results(result):
            raise InputError(
                f"{path}, line {line}: expected a result of the Decision Index with 'dataset', 'payload_sha256' and "
                f"'status', found {shown(', '.join(result))}"
            )
        before = requests.get(name_of(result))
        if before and before.sha256 != _text(result["payload_sha256"]):
            raise InputError(
                f"{path}, line {line}: expected one 'payload_sha256' for each 'run_id', found another one for "
                f"{clean(name_of(result))!r} than in line {before.line}; leave out one of the lines, or all 'run_id's"
            )
        requests[name_of(result)] = ResultLine(
            line,
            sha256=_text(result["payload_sha256"]),
            has_texts="questions" in mapping(result.get("payload")),
            earlier=before.earlier + 1 if before else 0,
        )
        check_count(len(requests), path)
    return requests


def joined_rows(suites: Sequence[Path], requests: Mapping[str, ResultLine]) -> JoinedRows:
    """The rows of the suite's files that belong to requests. Raises :class:`InputError` for a line that is no row."""
    has_texts = {request.sha256: request.has_texts for request in requests.values() if request.sha256}
    by_name: dict[str, SuiteRow | None] = {}
    by_hash: dict[str, SuiteRow | None] = {}
    for path in suites:
        for line, values in json_lines(path):
            if not is_suite(values) or not isinstance(values["expected"], dict):
                raise InputError(
                    f"{path}, line {line}: expected a row of the Decision Index's suite with 'expected' and "
                    f"'_evaluation', found {shown(', '.join(values))}"
                )
            ids = values["_evaluation"]
            name, sha256 = _text(ids.get("run_id")), _text(ids.get("payload_sha256"))
            request = requests.get(name)
            if request is not None and sha256 in ("", request.sha256):
                rows, key, has = by_name, name, request.has_texts
            elif sha256 in has_texts:
                rows, key, has = by_hash, sha256, has_texts[sha256]
            else:
                continue
            row = _row(values, ids, texts=not has)
            other = rows.setdefault(key, row)
            if other is None or other.expected != row.expected:
                rows[key] = None
    return JoinedRows(by_name, by_hash)


def _row(values: Mapping[str, Any], ids: Mapping[str, Any], *, texts: bool) -> SuiteRow:
    scoring, provenance = mapping(values.get("scoring")), mapping(values.get("provenance"))
    accepted, scored = scoring.get("accepted"), _text(scoring.get("primary_field"))
    subject = mapping(values.get("metadata")).get("subject") or provenance.get("subject") or ids.get("track")
    return SuiteRow(
        expected=values["expected"],
        scored=scored if scored in values["expected"] else "",
        has_ties=isinstance(accepted, list) and len(accepted) > 1,
        cluster=_text(ids.get("group_id")),
        group=clean(subject),
        texts={name: values.get(name) for name in ("state", "questions")} if texts else {},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
