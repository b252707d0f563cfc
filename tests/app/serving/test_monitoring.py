"""The figures for a monitoring system, and who may read them."""

from collections import Counter

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.testclient import TestClient

from app.serving.monitoring import Monitoring
from core.errors import InputError
from core.runs import engine, store
from core.runs.agent import liveness
from core.runs.store import RunRecord, create
from core.serving import monitoring
from core.settings import settings
from core.storage.file_lock import take
from tests.core.runs.conftest import spec

HERE, AWAY = "127.0.0.1", "192.168.1.7"


async def streamlit(request: Request) -> Response:
    """Stands for everything else that the server answers."""
    return Response("streamlit", 404)


def ask(path: str, *, client: str = HERE, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """The status and the text of an answer."""
    app = Router([*Monitoring().routes("/hedge"), Route("/{rest:path}", streamlit)])
    answer = TestClient(app, client=(client, 5)).get(path, headers=headers)
    return answer.status_code, answer.text


def figures() -> dict[str, float]:
    status, text = ask("/metrics")
    assert status == 200
    return {
        sample.name + (str(sample.labels) if sample.labels else ""): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_runs_disk_and_process_are_told(fake_home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "ensure_agent", lambda: None)
    engine.submit(spec(seed=1))
    engine.submit(spec(seed=2))
    engine.cancel(spec(seed=2).run_id)
    values = figures()
    assert values["hedge_ready"] == 1
    assert values["hedge_runs{'state': 'queued'}"] == 1
    assert values["hedge_runs{'state': 'cancelled'}"] == 1
    assert values["hedge_runs{'state': 'failed'}"] == 0
    assert values["hedge_questions_per_second"] == 0
    assert values["hedge_sessions"] == 0
    assert values["hedge_home_free_bytes"] > 0
    assert values["process_resident_memory_bytes"] > 1e6


@pytest.mark.quick
def test_open_pages_are_counted(home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.serving.sessions.open_pages", Counter({HERE: 2, AWAY: 1}))
    assert figures()["hedge_sessions"] == 3


@pytest.mark.quick
def test_a_run_at_work_tells_its_rate(home):
    running = spec(seed=1)
    folder = create(RunRecord(spec=running, state="running", created=0.0))
    store.write_progress(folder, store.Progress(10, 100, "scoring", rate=12.5, remaining_s=7.2, worker="here"))
    # Nobody holds the run's lock, so its process is gone and its rate is not counted.
    assert figures()["hedge_questions_per_second"] == 0
    lock = take(liveness.run_lock(folder))
    assert lock is not None
    with lock:
        values = figures()
    assert values["hedge_questions_per_second"] == 12.5
    assert values[f"hedge_run_remaining_seconds{{'run': '{running.run_id}'}}"] == 7.2


@pytest.mark.quick
@pytest.mark.parametrize("path", ["/healthz", "/hedge/healthz"])
def test_the_server_says_that_it_lives_with_and_without_the_path_of_its_pages(home, path: str):
    assert ask(path, client=AWAY) == (200, "alive\n")


@pytest.mark.quick
@pytest.mark.parametrize("path", ["/_stcore/health", "/_stcore/metrics", "/overview", "/healthz/more", "/"])
def test_everything_else_is_streamlits(path: str):
    assert ask(path) == (404, "streamlit")


@pytest.mark.quick
def test_the_figures_are_told_to_this_machine_and_to_networks_that_are_named(home, monkeypatch: pytest.MonkeyPatch):
    """A proxy on this machine sends its requests from this machine, for all of its own clients."""
    assert ask("/metrics")[0] == 200
    assert ask("/metrics", client=AWAY)[0] == 403
    assert ask("/metrics", headers={"X-Forwarded-For": AWAY})[0] == 403
    monkeypatch.setenv("HEDGE_METRICS_FROM", "10.0.0.0/8, 192.168.1.0/24")
    assert ask("/metrics", client=AWAY)[0] == 200
    assert ask("/metrics", client="172.16.0.1")[0] == 403
    monkeypatch.setenv("HEDGE_METRICS_FROM", "everybody")
    with pytest.raises(InputError, match="HEDGE_METRICS_FROM can't be"):
        settings()


@pytest.mark.quick
def test_a_server_that_can_not_work_says_so_and_why_to_its_own_machine(home, monkeypatch: pytest.MonkeyPatch):
    assert ask("/readyz", client=AWAY) == (200, "ready\n")
    monkeypatch.setattr(monitoring, "LEAST_FREE_BYTES", 1 << 60)
    status, text = ask("/readyz")
    assert status == 503
    assert text.startswith("not ready\nThe disk of HEDGE_HOME has ")
    assert ask("/readyz", client=AWAY) == (503, "not ready\n")


@pytest.mark.quick
def test_a_home_that_is_no_folder(home, monkeypatch: pytest.MonkeyPatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HEDGE_HOME", str(tmp_path / "file" / "home"))
    assert ask("/readyz")[0] == 503
    assert figures()["hedge_ready"] == 0


@pytest.mark.quick
def test_a_database_that_is_gone(home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEDGE_DATABASE_URL", "postgresql://hedge@127.0.0.1:9/hedge")
    status, text = ask("/readyz")
    assert status == 503
    assert "The run database does not answer" in text
    assert figures()["hedge_ready"] == 0
