"""Titles of runs: what is at its default is not said, and no two runs of one list read the same."""

from dataclasses import replace
from typing import Any

import pytest

from core.jury.pipeline.jury_spec import JurySpec
from core.models.model_sources import DTYPES
from core.questions import POCKET_BANK
from core.questions.bank_names import bank_name
from core.questions.prompting.decision import DECISION_FORMATS
from core.questions.prompting.forms import FORMATS, FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.reports.titles import (
    FORM_TITLES,
    FORMAT_TITLES,
    PRECISION_TITLES,
    STRATEGY_TITLES,
    details,
    distinct_titles,
    record_titles,
    row_names,
    run_title,
)
from core.runs import store
from core.runs.execution import jury_run
from core.runs.spec import SERVED, RunSpec
from tests.conftest import synthetic_run

pytestmark = pytest.mark.quick

PLAIN = RunSpec(model="org/phi-2", task="ds")


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (STRATEGY_TITLES, STRATEGIES),
        (PRECISION_TITLES, (*DTYPES, SERVED)),
        (FORM_TITLES, FORMS),
        (FORMAT_TITLES, (*FORMATS, *DECISION_FORMATS)),
    ],
)
def test_every_setting_has_words_of_its_own(words: dict[str, str], known: tuple[str, ...]):
    assert tuple(words) == known
    assert len(set(words.values())) == len(words)


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({}, "phi-2 · Summaries"),
        ({"strategy": "shared"}, "phi-2 · Summaries · shared instruction"),
        ({"shots": 1}, "phi-2 · Summaries · 1 shot"),
        ({"dtype": "bfloat16"}, "phi-2 · Summaries · 16-bit (bf16)"),
        ({"form": "cloze", "shots": 4}, "phi-2 · Summaries · 4 shots · by text"),
        ({"prompt_format": "chat", "samples": 1200}, "phi-2 · Summaries · chat format · up to 1,200 questions"),
        ({"rotations": True, "system": "Be brief."}, "phi-2 · Summaries · options rotated · own system prompt"),
        ({"orders": True, "repeats": 2}, "phi-2 · Summaries · all orders · 2 written answers"),
        ({"task": "/data/mine.csv"}, "phi-2 · mine"),
        ({"task": "qa@hub"}, "phi-2 · Question answering · MMLU"),
        ({"task": "perplexity@0a1b", "form": "losses"}, "phi-2 · Perplexity"),
    ],
)
def test_a_title_says_what_is_not_at_its_default(changed: dict[str, Any], title: str):
    spec = replace(PLAIN, **changed)
    assert run_title(spec, bank_name(spec)) == title


def test_a_jury_has_a_title():
    spec = jury_run.spec_of(JurySpec("pocket-3m", ("pocket-1m", "pocket-8m"), "trivia"))
    assert run_title(spec, bank_name(spec)) == "pocket-3m · Jury"
    assert details(spec) == "answers, tuned jurors and their verdicts · 32-bit"


def titles_of(*specs: RunSpec) -> list[str]:
    return list(distinct_titles({spec.run_id: (spec, bank_name(spec)) for spec in specs}).values())


def test_two_runs_with_one_title_say_what_differs():
    assert titles_of(PLAIN, replace(PLAIN, seed=3)) == ["phi-2 · Summaries · seed 0", "phi-2 · Summaries · seed 3"]
    assert titles_of(PLAIN, replace(PLAIN, calibration_share=0.25)) == [
        "phi-2 · Summaries · 50% calibration questions",
        "phi-2 · Summaries · 25% calibration questions",
    ]
    assert titles_of(PLAIN, replace(PLAIN, model="other/phi-2")) == [
        "phi-2 · Summaries · org",
        "phi-2 · Summaries · other",
    ]
    first, second = replace(PLAIN, task="qa@/a/mine.csv"), replace(PLAIN, task="qa@/b/mine.csv")
    assert titles_of(first, second) == [
        "phi-2 · Question answering · mine · /a/mine.csv",
        "phi-2 · Question answering · mine · /b/mine.csv",
    ]


def test_where_nothing_that_has_words_differs_the_ids_do():
    first, second = replace(PLAIN, fingerprint="a"), replace(PLAIN, fingerprint="b")
    titles = titles_of(first, second, replace(PLAIN, shots=2))
    assert titles == [
        f"phi-2 · Summaries · {first.run_id[-4:]}",
        f"phi-2 · Summaries · {second.run_id[-4:]}",
        "phi-2 · Summaries · 2 shots",
    ]


def test_no_two_runs_that_ship_have_one_title():
    records = [store.read_record(run_id) for run_id in store.run_ids() if store.is_bundled(run_id)]
    titles = record_titles(records)
    answering = [titles[record.run_id] for record in records if record.spec.answers]
    assert len(records) == len(set(titles.values())) > 40
    assert "pocket-8m · Question answering" in answering
    assert all(POCKET_BANK not in title for title in answering)
    assert all(record.run_id[-4:] not in titles[record.run_id] for record in records)


def test_details_say_the_defaults_too():
    assert details(PLAIN) == "no instruction · 0 shots · by letter · 32-bit · weights not recorded"
    assert details(replace(PLAIN, form="cloze", samples=100)).endswith("up to 100 questions · weights not recorded")


def names_of(**changed: list[Any]) -> tuple[str, list[str]]:
    """The heading and the names of runs that differ in these fields."""
    specs = [dict(zip(changed, values, strict=True)) for values in zip(*changed.values(), strict=True)]
    ids = [synthetic_run(20, **{"task": "ds", "seed": 1} | spec) for spec in specs]
    heading, names = row_names([store.read_record(run_id) for run_id in ids])
    return heading, [names[run_id] for run_id in ids]


def test_runs_are_called_by_what_differs_and_the_heading_has_the_rest(home):
    assert names_of(model=["a", "b"]) == ("Summaries", ["a", "b"])
    assert names_of(model=["a", "b"], shots=[2, 2]) == ("Summaries · 2 shots", ["a", "b"])
    assert names_of(model=["c", "c"], shots=[0, 5]) == ("c · Summaries", ["0 shots", "5 shots"])
    assert names_of(model=["d", "d"], task=["ds", "qa"]) == ("d", ["Summaries", "Question answering"])
    assert names_of(model=["e", "f"], shots=[0, 5]) == ("Summaries", ["e", "f · 5 shots"])
    assert names_of(model=["g"], shots=[2]) == ("Summaries · 2 shots", ["g"])
    assert names_of(model=["h", "h"], seed=[1, 2]) == ("h · Summaries", ["seed 1", "seed 2"])
