"""What the app's caches hold: how many entries pages need, how large one is, and what they take when they are full.

python -m tests.benchmarks.cache_memory

An entry's size is that of its pickle: its arrays, texts and frames, without what Python adds to each object. Entries
are those of the runs and juries that ship. "Needed" is what the pages that fill a cache go through at one view: with
what ships, and with 500 more runs.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from statistics import mean
from typing import Any

from app.background import Computation
from app.caches import (
    alpha_lab_cache,
    forecast_cache,
    jury_cache,
    overview_cache,
    prompting_cache,
    question_cache,
    run_cache,
)
from app.caches.per_run import RunKey
from app.caches.run_cache import run_key
from app.components.calibration import calibration_cache
from app.components.compare import compare_cache
from app.components.learn import course
from app.components.one_question.question import MOST_RUNS
from app.components.perplexity import perplexity_library
from app.state.alpha_lab import AlphaLabView
from core.errors import HedgeError
from core.jury.confidence import CONFIDENCES
from core.reports import question_identity
from core.reports.compare.benchmark import SetRule
from core.reports.prompting import experiments
from core.reports.prompting.experiments import LETTERS_METHOD, METHODS, PromptingMethod
from core.reports.tokens import recorded_views
from core.runs.spec import MAX_SHOTS, RunSpec

MORE = 500
SAMPLE = 12
"""Of how many runs the entries are made where each takes a while."""
MOST_SHARED = RunSpec(model="pocket-8m", task="qa").run_id
"""A run that ships, whose questions were asked in the most other runs."""


@dataclass(frozen=True)
class Row:
    """A cache: its function, the arguments of its entries, and how many a view needs with ``n`` runs."""

    cached: Any
    arguments: Iterable[tuple[Any, ...]]
    needed: Callable[[int], int]
    named: str = ""
    """The name of a cache that is no function."""

    @property
    def name(self) -> str:
        """The module and the function, as the code has them."""
        return self.named or f"{self.cached.__module__.removeprefix('app.caches.')}.{self.cached.__name__}"

    @property
    def holds(self) -> int:
        """How many entries the cache has room for."""
        return int(self.cached.most if hasattr(self.cached, "most") else self.cached._info.max_entries)

    def sizes(self) -> Iterator[int]:
        """Bytes of each entry."""
        for arguments in self.arguments:
            try:
                found = self.cached(*arguments)
                if isinstance(found, Computation):
                    found.run()
                    found = found.value()
                yield len(pickle.dumps(found))
            except HedgeError:
                continue  # such as two runs that share no question


def rows() -> Iterator[Row]:
    """Every cache of pages that grows with runs, juries or what a person asks for."""
    keys = [run_key(record.run_id) for record in run_cache.runs().finished]
    some = keys[:: max(1, len(keys) // SAMPLE)]
    one, all_runs = run_key(MOST_SHARED), [run_key(record.run_id) for record in run_cache.runs().records]
    yield Row(run_cache._record, [(key,) for key in all_runs], lambda n: n, "run_cache._record")
    yield Row(run_cache._disk_use, [(key,) for key in all_runs], lambda n: n, "run_cache._disk_use")
    yield Row(run_cache.load_evaluation, [(key,) for key in keys], lambda n: 3)
    yield Row(run_cache.load_compared, [(key,) for key in keys], lambda n: 24, "run_cache.load_compared")
    yield Row(overview_cache._summary, [(key,) for key in keys], lambda n: n, "overview_cache._summary")
    margin = overview_cache._score_summaries["margin"]
    yield Row(margin, [(key,) for key in some[:4]], lambda n: n, "overview_cache._score_summaries")
    sets = alpha_lab_cache.sets_of(MOST_SHARED, AlphaLabView())
    yield Row(alpha_lab_cache.lab_tables, [(key.run_id,) for key in some], lambda n: 1)
    yield Row(alpha_lab_cache.lab_report, [(key.run_id, sets) for key in some], lambda n: 1)
    yield Row(alpha_lab_cache.evaluation_of_split, [(key.run_id, sets.split) for key in some], lambda n: 1)
    yield Row(alpha_lab_cache.worst_pair, [(key.run_id, "lac") for key in islice(some, 4)], lambda n: 1)
    worst = next(found for key in some if (found := alpha_lab_cache.worst_pair(key.run_id, "lac")))
    yield Row(alpha_lab_cache._shifted, _sides(some, worst.source, worst.target), lambda n: 1)
    yield Row(course.lesson_tables, [(key.run_id,) for key in islice(some, 4)], lambda n: 1)
    question = str(question_cache.question_list(MOST_SHARED)["id"][0])
    tested = [
        run_key(record.run_id) for record, _ in question_cache.in_other_runs(MOST_SHARED, question, MOST_RUNS).tested
    ]
    yield Row(question_cache.question_list, [(key.run_id,) for key in some], lambda n: 1)
    yield Row(question_cache.shown_question, [(one.run_id, question)], lambda n: 1)
    yield Row(question_cache.calibrated_run, [(key.run_id,) for key in some], lambda n: MOST_RUNS + 1)
    yield Row(question_cache._question_kind, _question_sets(keys), lambda n: 6 if n < MORE else 30)
    yield Row(question_cache._standings, [(key.run_id, question) for key in tested], lambda n: MOST_RUNS)
    yield Row(question_cache._index_of, _question_sets(keys), lambda n: 6 if n < MORE else 30)
    rule = SetRule(100, ("lac", "aps"), "exact", "allow")
    yield Row(compare_cache.compared, [(tuple(key.run_id for key in keys[:24]), rule)], lambda n: 1)
    yield Row(compare_cache.matrix, [((one.run_id, key.run_id), 100, "lac", "allow") for key in some], lambda n: 1)
    yield Row(
        compare_cache.inspector_tables, [((one.run_id, key.run_id), 100, "lac", "allow") for key in some], lambda n: 1
    )
    yield Row(compare_cache._texts, [((one.run_id, key.run_id),) for key in some], lambda n: 1)
    yield Row(calibration_cache.diagrams, [(key.run_id, "all", 15, "width") for key in some[:4]], lambda n: 24)
    yield Row(calibration_cache.calibrated, [(key.run_id, "all", 15, "width") for key in some[:4]], lambda n: 24)
    yield Row(calibration_cache.recalibrated, [(key.run_id, 100) for key in some[:2]], lambda n: 1)
    yield Row(calibration_cache.nominal_coverage, [(key.run_id,) for key in some[:4]], lambda n: 24)
    yield Row(calibration_cache.dial_rows, [(key.run_id,) for key in some], lambda n: 1)
    yield from prompting_rows(rule)
    yield from perplexity_rows(all_runs)
    yield from jury_rows()
    yield from forecast_rows()


def _sides(keys: list[RunKey], source: str, target: str) -> Iterator[tuple[Any, ...]]:
    for key in keys:
        if {source, target} <= set(alpha_lab_cache.subjects(key.run_id)):
            yield (key, source), (key, target), "lac"


def _question_sets(keys: list[RunKey]) -> Iterator[tuple[Any, ...]]:

    seen: dict[tuple[str, ...], str] = {}
    for key in keys:
        seen.setdefault(question_identity.questions_key(key.run_id), key.run_id)
    yield from seen.items()


def prompting_rows(rule: SetRule) -> Iterator[Row]:
    """Of an experiment with every way of asking and all numbers of shots, the largest there can be."""
    most = len(METHODS) * (MAX_SHOTS + 1)
    found = {one: experiments.readings(records) for one, records in prompting_cache.experiments().items()}
    readings = max(found.values(), key=len)
    letters = [one for one in readings if one.method == LETTERS_METHOD]
    shots = [one for one in readings if one.shots == readings[0].shots]

    def key(one: PromptingMethod) -> RunKey:
        return run_key(one.run_id)

    chosen = tuple(readings), rule
    against = tuple(map(key, shots)), shots[0], tuple(shots[1:]), 100, "lac"
    yield Row(
        prompting_cache.evaluation,
        [(one,) for one in readings],
        lambda n: len(readings) if n < MORE else most,
    )
    yield Row(prompting_cache.figures, [chosen], lambda n: 2)
    yield Row(prompting_cache._against, [against], lambda n: 1)
    yield Row(prompting_cache.sets_of, [(one, 100, "lac") for one in readings], lambda n: 2)
    yield Row(prompting_cache.invalid, [(one.run_id,) for one in letters], lambda n: MAX_SHOTS + 1)
    yield Row(prompting_cache.orders, [(one.run_id, 100, "lac") for one in letters], lambda n: MAX_SHOTS + 1)
    yield Row(prompting_cache.spread, [(one.run_id,) for one in letters], lambda n: MAX_SHOTS + 1)


def perplexity_rows(keys: list[RunKey]) -> Iterator[Row]:
    """Of runs of words: with 500 more, all of them could be such runs."""
    words = [key for key in keys if not run_cache.record(key.run_id).spec.answers]
    requests = perplexity_library._request
    yield Row(
        requests, [(key,) for key in words], lambda n: len(words) if n < MORE else n, "perplexity_library._request"
    )
    yield Row(perplexity_library._measured, [(key,) for key in words], lambda n: len(words))


def jury_rows() -> Iterator[Row]:
    """Of every jury that ships, under both kinds of answers and every scale of confidence."""
    records, _ = jury_cache.records()
    keys = [jury_cache.jury_key(record.jury_id) for record in records]
    pairs = [
        (key.jury_id, jury_cache.protocol(key.jury_id, judged, confidence))
        for key, judged, confidence in product(keys, ("disputed", "all"), list(CONFIDENCES)[:2])
    ]
    yield Row(jury_cache._record, [(key,) for key in keys], lambda n: len(keys))
    yield Row(jury_cache.judgements, [(key.jury_id,) for key in keys], lambda n: 1)
    yield Row(jury_cache.agreed, [(key.jury_id,) for key in keys], lambda n: 1)
    for cached in (jury_cache.rules, jury_cache.rules_without_intervals, jury_cache.first_split):
        yield Row(cached, pairs, lambda n: 1)
    for cached in (jury_cache.left_out, jury_cache.confidences):
        yield Row(cached, pairs, lambda n: 1)


def forecast_rows() -> Iterator[Row]:
    """Of what the runs that ship asked, and a text by token."""
    from dataclasses import replace

    specs = {
        replace(record.spec, model="any", dtype="float32", batch_size=None): record.spec
        for record in run_cache.runs().finished
        if record.spec.origin == "hedge"
    }
    works = [(spec, forecast_cache.stamp(spec.task), True) for spec in specs]
    yield Row(forecast_cache._work, works, lambda n: len(works) if n < MORE else MORE)
    sizes = [len(pickle.dumps(view)) for view in recorded_views().values()]
    print(f"text_by_token.stored_view: one recorded text {mean(sizes) / 1e3:,.0f} kB")


def main() -> None:
    """Print a row a cache."""
    logging.disable(logging.CRITICAL)  # outside a server every cached call warns that there is no session
    print(f"{'cache':40} {'room':>5} {'needed':>6} {'+500':>5}  mean kB  most kB  now MB +500 MB full MB")
    now, later, full, n = 0.0, 0.0, 0.0, len(run_cache.runs().records)
    for row in rows():
        sizes = list(row.sizes())
        if not sizes:
            print(f"{row.name:40} {row.holds:5} nothing ships")
            continue
        one = mean(sizes) / 1e6
        here, more = (min(row.holds, row.needed(count)) for count in (n, n + MORE))
        now, later, full = now + here * one, later + more * one, full + row.holds * one
        print(
            f"{row.name:40} {row.holds:5} {row.needed(n):6} {row.needed(n + MORE):5} {one * 1e3:8,.1f} "
            f"{max(sizes) / 1e3:8,.1f} {here * one:7.1f} {more * one:7.1f} {row.holds * one:.1f}",
            flush=True,
        )
    print(
        f"all: {now:,.0f} MB needed now, {later:,.0f} MB with {MORE} more runs, {full:,.0f} MB if every cache is full"
    )


if __name__ == "__main__":
    main()
