"""Quotas of one person: runs that wait, disk space, questions a minute; and a disk that is nearly full."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from core import access
from core.access import Actor, UserRole, quotas
from core.access.quotas import Quotas
from core.errors import QuotaError
from core.exchange.dropped import question_files
from core.models.perplexity import stored_requests
from core.models.perplexity.conversation_files import parse
from core.models.perplexity.prompts import SystemPrompt
from core.models.perplexity.request import Request
from core.runs import actions, engine, store
from core.runs.answering import client
from core.runs.answering.answer_queue import AnswerQueue
from core.runs.answering.custom_question import CustomQuestion
from core.runs.queue import run_queue
from core.runs.spec import RunSpec
from core.shelf import cache
from tests.conftest import synthetic_run
from tests.light_environment import needs_models

pytestmark = pytest.mark.quick

ANN = Actor("ann@example.org", UserRole.LAUNCHER)
BEN = Actor("ben@example.org", UserRole.LAUNCHER)
CHIEF = Actor("chief@example.org", UserRole.ADMINISTRATOR)


def request(text: str) -> Request:
    return Request((SystemPrompt("a", text),), parse(b"assistant: Hello\nuser: Hi\nassistant: Good", "a").conversations)


@pytest.fixture
def limited(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server with small limits, where nothing is executed."""
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    monkeypatch.setattr(quotas, "_asked", {})
    access.serve("login")
    quotas.hold(Quotas(waiting_runs=2, disk_gb=0.0001, free_disk_gb=0.0, questions_a_minute=3))
    yield home
    access.serve("local")
    quotas.hold(Quotas())


def spec(seed: int) -> RunSpec:
    return RunSpec("pocket-1m", "qa", samples=10, seed=seed)


@needs_models
def test_a_person_s_runs_wait_up_to_the_limit_and_another_s_are_not_counted(limited: Path):
    with access.acting_as(ANN):
        outcome = actions.launch([spec(seed) for seed in (1, 2, 3)])[1]
        assert outcome.done == (spec(1).run_id, spec(2).run_id)
        assert "2 of your runs are waiting or running, and this server takes 2" in outcome.refused[spec(3).run_id]
        assert spec(3).run_id not in store.run_ids()
    with access.acting_as(BEN):
        engine.submit(spec(4))
    with access.acting_as(CHIEF):
        for seed in (5, 6, 7):
            engine.submit(spec(seed))
    assert len(run_queue.unfinished()) == 6


@needs_models
def test_a_run_that_is_repeated_is_deleted_only_if_it_can_be_queued(limited: Path):
    run_id = synthetic_run(30)
    store.update_record(run_id, provenance={"launched_by": ANN.name})
    with access.acting_as(ANN):
        actions.launch([spec(1), spec(2)])
        assert "wait until one has ended" in actions.repeat([run_id]).refused[run_id]
    assert store.read_record(run_id).state == "done"


@needs_models
def test_a_person_s_disk_space_counts_runs_juries_and_the_bin(limited: Path):
    for seed in range(3):
        store.update_record(synthetic_run(400, seed=seed), provenance={"launched_by": ANN.name})
    used = quotas.disk_of(ANN.name)
    assert used == sum(path.stat().st_size for path in (limited / "runs").rglob("*") if path.is_file())
    (limited / "bin").mkdir()
    (limited / "runs" / store.run_ids()[0]).exists()
    own = next(path for path in (limited / "runs").iterdir())
    own.rename(limited / "bin" / f"{own.name}@1")
    assert quotas.disk_of(ANN.name) == used
    quotas.hold(Quotas(disk_gb=1e-5))
    with access.acting_as(ANN), pytest.raises(QuotaError, match=r"your runs and other files take 0.0 GB, and"):
        engine.submit(spec(1))
    with access.acting_as(BEN):
        engine.submit(spec(1))


def test_a_bank_a_download_and_what_a_page_keeps_count_too(limited: Path, tmp_path: Path):
    """Importing the same again costs nothing."""
    bank = tmp_path / "bank.csv"
    bank.write_text("question,A,B,answer\n" + "Which?,one,two,A\n" * 1000)
    quotas.hold(Quotas(disk_gb=0.0001))
    with access.acting_as(ANN):
        question_files.keep(bank, bank.name)
        held = quotas.disk_of(ANN.name)
        assert 0 < held - bank.stat().st_size < 200  # its digest
        part = cache.part_path("https://example.org/a")
        part.write_bytes(b"x" * 70_000)
        cache.keep(part, "https://example.org/a", sha256="", name="a")
        stored_requests.store(request("b" * 20_000))
        assert 106_000 < quotas.disk_of(ANN.name) < 110_000
        with pytest.raises(QuotaError, match=r"your runs and other files take 0\.0 GB"):
            stored_requests.store(request("c"))
        with pytest.raises(QuotaError):
            question_files.keep(bank, "another.csv")
    with access.acting_as(BEN):
        question_files.keep(bank, bank.name)
        assert quotas.disk_of(BEN.name) == 0


@needs_models
def test_a_full_disk_is_said_before_anything_is_written(limited: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    questions = tmp_path / "questions.csv"
    questions.write_text("question,A,B,answer\nWhich?,one,two,A\n")
    quotas.hold(Quotas(free_disk_gb=1.0))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=900_000_000))
    limited.mkdir(exist_ok=True)

    def kept() -> list[Path]:
        return sorted(
            p for p in limited.rglob("*") if p.name != "audit.jsonl" and limited / "cache" not in (p, *p.parents)
        )

    before = kept()
    with access.acting_as(ANN):
        for attempt in (lambda: engine.submit(spec(1)), lambda: question_files.keep(questions, questions.name)):
            with pytest.raises(QuotaError, match=r"disk is nearly full \(0.9 GB are free\).*nothing was lost"):
                attempt()
    assert kept() == before


def test_questions_a_minute_are_counted_for_each_person_and_the_same_one_once(
    limited: Path, monkeypatch: pytest.MonkeyPatch
):
    now = [1000.0]
    monkeypatch.setattr(quotas.time, "monotonic", lambda: now[0])
    with access.acting_as(ANN):
        for name in ("a", "b", "b", "b", "c"):
            quotas.check_question(name)
        now[0] += 20
        with pytest.raises(QuotaError, match="answers 3 questions a minute for each person; ask again in 40 s"):
            quotas.check_question("d")
        quotas.check_question("a")  # it is being answered, and the page asks for it again
    with access.acting_as(BEN):
        quotas.check_question("d")
    now[0] += 41
    with access.acting_as(ANN):
        quotas.check_question("d")


def test_visitors_of_a_public_server_are_told_apart_by_their_address(limited: Path):
    access.serve("public")
    for address in ("10.0.0.1", "10.0.0.2"):
        with access.acting_as(Actor("visitor", UserRole.VIEWER, address)):
            for name in "abc":
                quotas.check_question(name)
    with access.acting_as(Actor("visitor", UserRole.VIEWER, "10.0.0.2")), pytest.raises(QuotaError):
        quotas.check_question("d")
    for n in range(3):  # one line has 2^64 addresses
        with access.acting_as(Actor("visitor", UserRole.VIEWER, f"2001:db8::{n + 1}")):
            quotas.check_question(f"{n}")
    with access.acting_as(Actor("visitor", UserRole.VIEWER, "2001:db8::ffff")), pytest.raises(QuotaError):
        quotas.check_question("d")


@needs_models
def test_the_limit_stands_before_the_queue(limited: Path, monkeypatch: pytest.MonkeyPatch):
    queue = AnswerQueue()
    monkeypatch.setattr(queue, "start", lambda: None)  # nothing answers
    monkeypatch.setattr(client, "QUEUE", queue)
    run_id = synthetic_run(30)
    with access.acting_as(ANN):
        for n in range(3):
            client.ask(CustomQuestion("pocket-1m", run_id, f"Which of {n}?", ("a", "b")))
        with pytest.raises(QuotaError):
            client.ask(CustomQuestion("pocket-1m", run_id, "Which of 9?", ("a", "b")))
    assert len(queue.waiting) == 3


def test_the_person_at_this_machine_has_no_limits(home: Path):
    quotas.hold(Quotas(questions_a_minute=1, disk_gb=1e-9, free_disk_gb=1e9, waiting_runs=1))
    try:
        for name in "abc":
            quotas.check_question(name)
        quotas.check_disk(10)
        quotas.check_waiting(lambda _: 99)
    finally:
        quotas.hold(Quotas())
