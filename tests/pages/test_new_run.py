"""New run: what is asked of the engine, and what its answers look like."""

import io
import json
import platform
import re
import sys
import threading
import time
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import streamlit as st

from app.caches import live_runs, overview_cache
from app.components.new_run import prompt_preview
from app.formatting import clock
from core.conformal.question_counts import band_width
from core.errors import RunError
from core.models.devices.nvml import GpuMetrics
from core.reports.compare.power import ROUGH, SpreadOfPair
from core.runs import groups, store, trash
from core.runs.prompts import draw_questions, pinned, prompts
from core.runs.spec import RunSpec
from core.runs.status import RunStatus
from core.runs.store import Progress
from hedge.cli import main, parser
from hedge.commands.runs import specs_of
from tests.conftest import give_files, synthetic_run
from tests.pages.conftest import Open, click, page_text, unfolded


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The page's calls to the engine, which are only recorded. The fake model and the task are available."""
    calls: list[Any] = []
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    monkeypatch.setattr("core.questions.bank.available", lambda: ("qa",))
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: calls.append(spec) or spec.run_id)
    monkeypatch.setattr("core.runs.engine.cancel", lambda run_id: calls.append(("cancel", run_id)))
    monkeypatch.setattr("core.runs.engine.resume", lambda run_id: calls.append(("resume", run_id)))
    return calls


def status(run_id: str, **changes: Any) -> RunStatus:
    running = RunStatus(store.read_record(run_id), "running", "", worker="here:cpu", worker_alive=True)
    return replace(running, **changes)


def test_an_empty_list_says_what_will_be_there(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    assert "Runs that you launch appear here" in page_text(app)


def test_the_form_becomes_a_spec(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    app.segmented_control(key="launch_mode").set_value("number").run()
    app.number_input(key="launch_samples").set_value(300)
    app.segmented_control(key="launch_strategies").set_value(["shared"])
    app.multiselect(key="launch_shots").set_value([2])
    click(app, "Launch")
    assert calls == [RunSpec(model="fake", task="qa", samples=300, strategy="shared", shots=2)]
    assert "Launched fake on Question answering, 300 questions at most" in page_text(app)


def test_every_choice_of_the_command_line_becomes_part_of_the_spec(open_page: Open, calls: list[Any], tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps({"question": f"{i}?", "options": ["x", "y"], "label": 0}) for i in range(9)))
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    # As if the path had been typed and Enter pressed, which AppTest can't.
    app.session_state["launch_tasks"] = ["qa", str(path)]
    app.segmented_control(key="launch_mode").set_value("all")
    app.segmented_control(key="launch_form").set_value("cloze")
    app.segmented_control(key="launch_format").set_value("chat")
    app.checkbox(key="launch_rotations").check()
    app.segmented_control(key="launch_dtypes").set_value(["bfloat16"])
    app.number_input(key="launch_batch").set_value(4)
    app.number_input(key="launch_seed").set_value(3)
    app.slider(key="launch_share").set_value(0.25)
    click(app.run(), "Launch 2 runs")
    assert [error.value for error in app.error] == []
    # Texts are asked without an order, so the rotations are left out of their runs.
    rest = {"form": "cloze", "prompt_format": "chat", "rotations": False, "dtype": "bfloat16", "seed": 3}
    first, second = calls
    assert first == RunSpec(model="fake", task="qa", calibration_share=0.25, **rest)
    assert second == pinned(RunSpec(model="fake", task=str(path), calibration_share=0.25, **rest))
    assert {spec.batch_size for spec in calls} == {4}
    assert "Launched 2 runs" in page_text(app)


def test_one_bad_task_and_nothing_is_launched(open_page: Open, calls: list[Any], tmp_path: Path):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    app.session_state["launch_tasks"] = ["qa", str(tmp_path / "none.csv")]
    app.run()
    assert f"There is no file {tmp_path / 'none.csv'}" in page_text(app)
    assert next(button for button in app.button if button.label == "Launch").disabled


def test_the_questions_say_what_they_show(open_page: Open, calls: list[Any]):
    app = open_page("new_run", models="fake", amount="number", samples="1000")
    # Nobody has run this task yet, so the two models are taken to differ as much as they can.
    width, difference = band_width(500, 500, 100), SpreadOfPair(0.5).detectable_accuracy(500)
    says = f"500 calibration and 500 test questions put coverage at alpha 0.1 into a band {100 * width:.1f} points wide"
    assert f"{says} and show a difference of {100 * difference:.1f} points in accuracy." in page_text(app)
    assert not app.get("vega_lite_chart")
    app = unfolded(app, "question_counts_open")
    assert len(app.get("vega_lite_chart")) == 1
    assert "Without a pilot run" in page_text(app)
    pilots = [synthetic_run(model=f"m-{i}", signal=2 + i, seed=4) for i in range(2)]
    assert all(name in page_text(app.run()) for name in pilots)
    assert ROUGH in page_text(app)  # about ten of a hundred calibration questions are missed by each pilot


def test_without_a_task_there_is_nothing_to_launch(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_tasks").set_value([]).run()
    assert {button.label: button.disabled for button in app.button} == {"Launch": True, "Show the exact prompt": True}


def test_a_model_of_the_table_comes_with_its_size_and_terms(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["google/gemma-2-2b"]).run()
    assert "2,614 million parameters · base · Gemma licence · gated: accept its terms on the hub" in page_text(app)
    # What needs code of its makers can't be run, and is not offered.
    assert "apple/OpenELM-270M" not in app.multiselect(key="launch_models").options


def test_weights_of_few_bits_are_offered_where_they_can_be_used(open_page: Open, calls: list[Any], monkeypatch: Any):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "8-bit" not in open_page("new_run").segmented_control(key="launch_dtypes").options
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    st.cache_resource.clear()
    assert {"8-bit", "4-bit"} <= set(open_page("new_run").segmented_control(key="launch_dtypes").options)


# ---------------------------------------------------------------- the exact prompt


def previewed(app: Any) -> Any:
    """The page once the process that reads the prompt has ended."""
    app = click(app, "Show the exact prompt")
    _, reading = app.session_state["previewed"]
    assert reading.ended.wait(120)
    return app.run()


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bank as it ships."""
    monkeypatch.setattr("core.runs.engine.submit", lambda spec: spec.run_id)


@cache
def read_once(command: tuple[str, ...]) -> dict[str, Any]:
    """What the process of a preview prints, from the same words in this process, which need not load torch again."""
    words = command[command.index("run") :]
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(list(words)) == 0
    values: dict[str, Any] = json.loads(out.getvalue())
    return values


def printed(command: tuple[str, ...]) -> dict[str, Any]:
    """A copy, because its reader takes it apart."""
    return deepcopy(read_once(command))


def test_the_exact_prompt_is_that_of_the_run(open_page: Open, tasks: None):
    app = open_page("new_run")
    app.multiselect(key="launch_shots").set_value([1])
    app.segmented_control(key="launch_strategies").set_value(["shared"])
    app.segmented_control(key="launch_form").set_value("cloze")
    app = previewed(app)
    spec = RunSpec(model="pocket-8m", task="qa", samples=100, shots=1, strategy="shared", form="cloze")
    _, reading = app.session_state["previewed"]
    (group,) = reading.previews
    assert (group.run, group.questions) == (spec.run_id, 100)
    drawn = draw_questions(spec)
    by_text = {prompt.text: prompt for prompt in prompts(spec, drawn)}
    shown = by_text[app.code[0].value]
    assert shown.continuations == group.preview.continuations
    (tokens,) = (metric.value for metric in app.metric if metric.label == "Tokens")
    assert tokens == str(group.preview.tokens)
    assert "␣" + shown.continuations[0].strip() in page_text(app)
    command = app.code[1].value.split()
    assert command[:2] == ["hedge", "run"]
    assert specs_of(parser().parse_args(command[1:])) == [spec]


def test_a_form_that_changed_hides_the_prompt(open_page: Open, tasks: None, monkeypatch: Any):
    monkeypatch.setattr(prompt_preview, "_output", printed)
    app = previewed(open_page("new_run"))
    assert len(app.code) == 2
    app.number_input(key="launch_seed").set_value(1).run()
    assert len(app.code) == 0
    assert "The form has changed since the prompt was shown" in page_text(app)
    app.number_input(key="launch_seed").set_value(0).run()
    assert len(app.code) == 2


def test_a_prompt_on_its_way_is_seen_and_asked_for_once(open_page: Open, tasks: None, monkeypatch: Any):
    begun, go = [], threading.Event()

    def slow(command: Any) -> Any:
        begun.append(command)
        assert go.wait(60)
        return printed(command)

    monkeypatch.setattr(prompt_preview, "_output", slow)
    app = click(open_page("new_run"), "Show the exact prompt")
    assert "Reading the prompt with the model's tokenizer" in page_text(app)
    click(app, "Show the exact prompt")
    go.set()
    _, reading = app.session_state["previewed"]
    assert reading.ended.wait(120)
    app.run()
    assert len(app.code) == 2
    assert len(begun) == 1


def test_what_the_preview_says_goes_wrong_is_one_sentence(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    app = previewed(app)
    assert [error.value.replace("\\", "") for error in app.error] == [
        "The fake model has no tokenizer, so there is nothing to preview; choose another model."
    ]


def test_a_preview_that_takes_too_long_is_stopped_and_tried_again(open_page: Open, tasks: None, monkeypatch: Any):
    with monkeypatch.context() as patch:
        patch.setattr(prompt_preview, "TIME_LIMIT_S", 0.1)
        app = previewed(open_page("new_run"))
        assert "The preview took more than 0.1 seconds and was stopped" in page_text(app)
    monkeypatch.setattr(prompt_preview, "_output", printed)
    app = previewed(app)
    assert len(app.error) == 0
    assert len(app.code) == 2


def test_a_preview_that_dies_is_one_sentence(open_page: Open, tasks: None, monkeypatch: Any):
    monkeypatch.setattr(prompt_preview, "command", lambda request: (sys.executable, "-c", "raise SystemExit(7)"))
    assert "The preview ended with status 7; the server's log has the details" in page_text(
        previewed(open_page("new_run"))
    )


def test_prompts_that_do_not_fit_are_counted(open_page: Open, tasks: None, monkeypatch: Any):
    monkeypatch.setattr(prompt_preview, "_output", printed)
    app = open_page("new_run")
    app.multiselect(key="launch_shots").set_value([16])
    app.segmented_control(key="launch_strategies").set_value(["shared"])
    app = previewed(app)
    _, reading = app.session_state["previewed"]
    look = reading.previews[0].preview
    assert look.longest <= look.context
    assert look.truncated > 0
    assert f"{look.truncated} of 100 prompts looked at do not fit the {look.context:,} tokens" in page_text(app)


def test_short_and_long_are_the_modes_of_the_command_line(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    click(app, "Launch")
    app.segmented_control(key="launch_mode").set_value("long").run()
    click(app, "Launch")
    assert [spec.samples for spec in calls] == [100, 10_000]


def test_a_model_that_is_nowhere_is_one_sentence(open_page: Open, calls: list[Any], monkeypatch: Any, tmp_path: Path):
    # As if it had been typed: AppTest can't choose what is not among the options.
    monkeypatch.setattr("app.components.new_run.form.known_models", lambda: [str(tmp_path / "no-model")])
    app = open_page("new_run")
    assert len(app.error) == 1
    assert "There is no folder" in page_text(app)
    assert next(button for button in app.button if button.label == "Launch").disabled


def test_a_running_run_shows_progress_rate_time_and_worker(open_page: Open, calls: list[Any], monkeypatch: Any):
    run_id = synthetic_run()
    store.update_record(run_id, state="running", ended=None)
    progress = Progress(done=40, total=200, stage="scoring", rate=12.5, remaining_s=100, worker="here:cpu")
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status(run_id, progress=progress)])
    app = open_page("new_run")
    assert app.progress[0].value == 20
    text = app.progress[0].text.replace("\\", "")
    assert text == "40 of 200 prompts · scoring · 12.5 a second · 1 min 40 s left · worker here:cpu"
    click(app, "Cancel")
    assert calls == [("cancel", run_id)]


def test_a_failed_run_says_why_and_can_be_resumed(open_page: Open, calls: list[Any], monkeypatch: Any):
    run_id = synthetic_run()
    failed = status(run_id, state="failed", message="The model's weights end early; download it again.")
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [failed])
    app = open_page("new_run")
    assert "weights end early; download it again" in page_text(app)
    click(app, "Try again")
    assert calls == [("resume", run_id)]


def test_a_failed_runs_settings_go_back_into_the_form(open_page: Open, calls: list[Any], monkeypatch: Any):
    spec = RunSpec(
        model="fake", task="qa", samples=300, strategy="task", shots=3, form="cloze", dtype="bfloat16", seed=7
    )
    store.create(store.RunRecord(spec=spec, state="failed", created=time.time(), message="It broke."))
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status(spec.run_id, state="failed", message="It broke.")])
    app = open_page("new_run")
    assert [error.value.replace("\\", "") for error in app.error] == ["It broke."]
    click(app, "Change the settings")
    assert not app.warning
    click(app, "Resume with these settings")
    assert calls == [spec]


def test_a_finished_run_leads_to_the_alpha_lab(open_page: Open, calls: list[Any], monkeypatch: Any):
    run_id = synthetic_run()
    store.update_record(run_id, started=time.time() - 50, ended=time.time())
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status(run_id, state="done")])
    app = open_page("new_run")
    assert "finished in 50 s" in page_text(app) or "finished in 51 s" in page_text(app)
    assert links(app)["Open in the Alpha lab"] == {"run": run_id}


def existing(state: str) -> str:
    spec = RunSpec(model="fake", task="qa", samples=100)
    return give_files(store.create(store.RunRecord(spec=spec, state=state, created=time.time(), ended=time.time())))


def test_a_cancelled_run_is_offered_to_be_resumed(open_page: Open, calls: list[Any]):
    run_id = existing("cancelled")
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"]).run()
    assert "This run already exists" in page_text(app)
    app.button(key=f"exists-resume-{run_id}").click().run()
    assert ("resume", run_id) in calls


def test_a_run_that_ends_while_the_page_is_drawn_is_offered_to_be_resumed(
    open_page: Open, calls: list[Any], monkeypatch: Any
):
    """The form above stands as it was a moment before, so it is drawn again."""
    run_id = existing("running")
    begun = status(run_id)

    def current(*, refresh: bool = False) -> live_runs.LiveRuns:
        if refresh:  # its worker stops between the form and the list
            store.update_record(run_id, state="cancelled")
        return live_runs.LiveRuns((replace(begun, state=store.read_record(run_id).state),))

    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    monkeypatch.setattr(live_runs, "current", current)
    app.run()
    labels = [button.label for button in app.button]
    assert sum("Resume" in label for label in labels) == 3, labels


def test_a_repeat_puts_the_results_into_the_bin_and_asks_again(open_page: Open, calls: list[Any]):
    run_id = existing("done")
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"]).run()
    assert "This run already exists" in page_text(app)
    assert app.button(key="launch").disabled
    assert app.button(key=f"exists-repeat-{run_id}").label == "Repeat"
    app.button(key=f"exists-repeat-{run_id}").click().run()
    assert not app.error
    assert [spec.run_id for spec in calls] == [run_id]
    assert [each.run_id for each in trash.binned()] == [run_id]


def test_a_matrix_says_what_it_takes_and_becomes_one_group(open_page: Open, calls: list[Any]):
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    app.segmented_control(key="launch_strategies").set_value(["base", "task"])
    app.segmented_control(key="launch_dtypes").set_value(["float32", "bfloat16"])
    app.multiselect(key="launch_shots").set_value([0, 2, 5]).run()
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics["Runs"] == "12"
    assert metrics["Questions"] == "1,200"  # 2 × 2 × 3 runs of 100
    assert metrics["Time"] == "not known"
    assert "12 runs answer 1,200 questions. The time is not known before a first run" in page_text(app)
    assert "no speed is known yet for fake" in page_text(app)
    click(app, "Launch 12 runs")
    assert "Launched 12 runs" in page_text(app)
    assert len({spec.run_id for spec in calls}) == 12
    (group,) = groups.known()
    assert set(group.run_ids) == {spec.run_id for spec in calls}
    assert group.name == "fake · Question answering · 2 strategies × 2 precisions × 3 numbers of shots"


def test_what_is_there_can_not_be_launched_and_leads_to_the_runs(open_page: Open, calls: list[Any]):
    wanted = [RunSpec(model="fake", task="qa", samples=100, strategy=name) for name in ("base", "task")]
    for spec in wanted:
        give_files(store.create(store.RunRecord(spec=spec, state="done", created=time.time(), ended=time.time())))
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"])
    app.segmented_control(key="launch_strategies").set_value(["base", "task"]).run()
    assert "Both runs already exist." in page_text(app)
    assert app.button(key="launch").disabled
    assert links(app)["Compare these"]["runs"] == ",".join(spec.run_id for spec in wanted)
    app.segmented_control(key="launch_strategies").set_value(["base", "shared", "task"]).run()
    click(app, "Launch 1 run")
    assert page_text(app).count("2 of these 3 runs already exist.") == 1
    assert [len(group.run_ids) for group in groups.known()] == [3]  # with one that is new, the whole matrix is a group


def links(app: Any) -> dict[str, dict[str, str]]:
    """From a page link's label to the view that it opens."""
    queries = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    return {label: dict(parse_qsl(query)) for label, query in queries.items()}


def test_a_finished_group_leads_on_and_groups_of_one_name_differ(open_page: Open, calls: list[Any], monkeypatch: Any):
    ids = [synthetic_run(model=f"model-{i}") for i in range(2)]
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status(run_id, state="done") for run_id in ids])
    first = groups.create(ids, name="2 models")
    monkeypatch.setattr("core.runs.groups.time.time", lambda now=time.time: now() + 1)
    groups.create(ids, name="2 models")
    app = open_page("new_run")
    titles = [text.value.replace("\\", "") for text in app.markdown if text.value.startswith("**Together**")]
    assert len(set(titles)) == len(titles) == 2
    assert clock(first.created, None) in titles[1]
    figures = overview_cache.overview([store.read_record(run_id) for run_id in ids], 100)[0].set_index("run").loc[ids]
    table = app.dataframe[0].value
    assert table["Model"].tolist() == ["model-0", "model-1"]
    assert table["Question answering"].tolist() == [
        f"{row.lac_set_size:.2f} ({row.accuracy:.0%})" for row in figures.itertuples()
    ]
    assert links(app)["Compare these"]["runs"] == ",".join(ids)
    assert links(app)["Open the first in the Alpha lab"] == {"run": ids[0]}
    assert not [button.label for button in app.button if button.label == "Delete"]  # no card of a run that is listed


def test_the_time_is_that_of_a_rate_measured_here(open_page: Open, calls: list[Any]):
    """The earlier run asked the same 100 prompts: 2 s to begin, 30 s of scoring; a matrix of two takes 32 s new."""
    spec = RunSpec(model="fake", task="qa", samples=100)
    provenance = {"scoring_seconds": 30.0, "host": platform.node()}
    times = {"created": 1.0, "started": 1_000_000.0, "ended": 1_000_032.0}
    give_files(store.create(store.RunRecord(spec, "done", **times, provenance=provenance)))
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"]).run()
    assert {metric.label: metric.value for metric in app.metric}["Time"] == "32 s"  # a repeat takes as long
    assert "fake has answered 100 questions of Question answering. A repeat takes about 32 s." in page_text(app)
    app.number_input(key="launch_seed").set_value(7).run()  # other questions, nearly as long
    time_said = {metric.label: metric.value for metric in app.metric}["Time"]
    seconds = int(time_said.removesuffix(" s"))
    assert 28 <= seconds <= 36
    assert f"fake answers 100 questions of Question answering. This takes about {time_said}." in page_text(app)
    speed = re.search(r"speed: ([\d.]+) questions per second with loading, measured here\.", page_text(app))
    assert speed is not None
    assert float(speed[1]) == pytest.approx(100 / seconds, abs=0.11)
    app.multiselect(key="launch_shots").set_value([5]).run()
    metrics = {metric.label: metric.value for metric in app.metric}
    assert metrics["Time"].startswith("about ")
    assert "with loading, measured here with 0 shots, so this is rough" in page_text(app)


def test_caveats_are_said_before_the_launch(open_page: Open, tasks: None):
    app = open_page("new_run")
    assert "Only 50 calibration and 50 test questions" in page_text(app)
    assert not app.warning
    app.multiselect(key="launch_shots").set_value([16])
    app.run()
    (warning,) = app.warning
    assert "prompts are longer than the 512 tokens" in warning.value.replace("\\", "")
    assert "Take fewer shots" in page_text(app)


def test_a_model_too_large_for_every_device_is_said_before(open_page: Open, calls: list[Any], monkeypatch: Any):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", '{"needs_gib": 70000}')
    app = open_page("new_run")
    app.multiselect(key="launch_models").set_value(["fake"]).run()
    assert "No device here has room for fake (32-bit): it needs about 70000.0 GiB" in page_text(app)


def test_a_database_that_does_not_answer_is_one_sentence(open_page: Open, calls: list[Any], monkeypatch: Any):
    def refuse() -> list[RunStatus]:
        raise RunError("the database can't be used; check HEDGE_DATABASE_URL")

    monkeypatch.setattr("core.runs.engine.statuses", refuse)
    app = open_page("new_run")
    assert [error.value.replace("\\", "") for error in app.error] == [
        "The database can't be used; check HEDGE_DATABASE_URL."
    ]
    assert any(button.label == "Launch" for button in app.button)


def test_an_agent_that_does_not_start_is_one_sentence(open_page: Open, calls: list[Any], monkeypatch: Any):
    def refuse() -> None:
        raise RunError("no agent could be started on this host")

    queue: list[RunStatus] = []
    monkeypatch.setattr("core.runs.engine.statuses", lambda: queue)
    monkeypatch.setattr("core.runs.engine.agent_alive", lambda: False)
    monkeypatch.setattr("core.runs.engine.ensure_agent", refuse)
    app = open_page("new_run")
    assert "No agent could be started" not in page_text(app)  # no run waits, so none is needed
    queue += waiting(1)
    live_runs.current(refresh=True)
    assert "No agent could be started" in page_text(open_page("new_run"))


def test_a_database_that_hangs_holds_up_nothing(open_page: Open, calls: list[Any], monkeypatch: Any):
    go = threading.Event()

    def hang() -> list[RunStatus]:
        assert go.wait(60)
        return []

    monkeypatch.setattr(live_runs, "WAIT_S", 0.1)
    monkeypatch.setattr("core.runs.engine.statuses", hang)
    app = open_page("new_run")
    assert "The run database has not answered for" in page_text(app)
    assert not next(button for button in app.button if button.label == "Launch").disabled
    go.set()


# ---------------------------------------------------------------- the list


def waiting(count: int) -> list[RunStatus]:
    """This many queued runs; the first of them is next."""
    statuses = []
    for seed in range(count):
        spec = RunSpec(model="fake", task="qa", samples=100, seed=seed)
        store.create(store.RunRecord(spec=spec, state="queued", created=time.time()))
        statuses.append(RunStatus(store.read_record(spec.run_id), "queued", ""))
    return statuses


def test_a_long_queue_is_one_table_whose_runs_can_be_put_first(open_page: Open, calls: list[Any], monkeypatch: Any):
    queue = waiting(6)
    ids = [status.run_id for status in queue]
    monkeypatch.setattr("core.runs.engine.statuses", lambda: queue)
    monkeypatch.setattr("core.runs.engine.put_first", lambda run_ids: calls.append(("first", list(run_ids))))
    monkeypatch.setattr("core.runs.engine.reorder", lambda run_ids: calls.append(("order", list(run_ids))))
    app = open_page("new_run")
    assert "6 runs waiting" in page_text(app)
    assert app.button(key="queue_first").disabled
    app.session_state["queue_chosen"] = (ids[3], ids[4])
    # The choice stays with its runs when the first of the queue has begun.
    queue.pop(0)
    app.run()
    assert "2 chosen" in page_text(app)
    app.button(key="queue_first").click().run()
    assert ("first", [ids[3], ids[4]]) in calls
    app.button(key="queue_later").click().run()
    assert ("order", [ids[1], ids[2], ids[5], ids[3], ids[4]]) in calls
    app.button(key="queue_cancel").click().run()
    assert [call[1] for call in calls if call[0] == "cancel"] == [ids[3], ids[4]]


def test_a_group_is_counted_cancelled_resumed_and_repeated(open_page: Open, calls: list[Any], monkeypatch: Any):
    queue = waiting(3)
    ids = [status.run_id for status in queue]
    groups.create(ids, name="three of them")
    states = dict(zip(ids, ("done", "failed", "queued"), strict=True))
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [replace(s, state=states[s.run_id]) for s in queue])
    monkeypatch.setattr("core.runs.engine.status", lambda run_id: replace(queue[0], state=states[run_id]))
    app = open_page("new_run")
    (group,) = groups.known()
    assert f"three of them · launched at {clock(group.created, None)} 2 of 3 ended" in page_text(app).replace("*", "")
    assert app.progress[0].text == "1 finished · 1 waiting · 1 failed"
    click(app, "Cancel the remaining run")
    click(app, "Resume 1")
    assert calls == [("cancel", ids[2]), ("resume", ids[1])]


def test_a_deleted_run_comes_back_by_undo(open_page: Open, calls: list[Any], monkeypatch: Any):
    run_id = synthetic_run()
    monkeypatch.setattr(
        "core.runs.engine.statuses", lambda: [status(run_id, state="done")] if run_id in store.run_ids() else []
    )
    app = open_page("new_run")
    app.button(key=f"delete-{run_id}").click().run()
    assert "Deleted synthetic · Question answering" in page_text(app)
    assert run_id not in store.run_ids()
    click(app, "Undo")
    assert run_id in store.run_ids()
    assert "Deleted" not in page_text(app)


def test_the_shelf_lists_disk_use_and_the_bin_is_emptied_by_hand(open_page: Open, calls: list[Any]):
    run_id, other = synthetic_run(), synthetic_run(model="second", task="rc")
    store.update_record(run_id, created=86_400.0)
    store.update_record(other, state="queued")
    app = open_page("new_run")
    app.session_state["shelf"] = True
    app.run()
    assert "2 runs, " in page_text(app)
    app.text_input(key="shelf_search").set_value("synthetic").run()
    (row,) = app.dataframe[-1].value.to_dict("records")
    assert row["Run"].startswith("synthetic · Question answering")
    assert (row["Launched"].date(), row["State"]) == (date(1970, 1, 2), "finished")
    app.text_input(key="shelf_search").set_value("second").run()
    assert app.dataframe[-1].value["State"].tolist() == ["waiting"]
    trash.put_in_bin(store.folder_of(run_id))
    (damaged,) = store.folder_of(other).glob("run.json")
    damaged.write_text("{")
    trash.put_in_bin(store.folder_of(other))
    app.run()
    assert "synthetic · Question answering: " in page_text(app)
    assert run_id not in page_text(app)
    assert f"{other}: " in page_text(app)  # whose record can't be read
    click(app, "Empty the bin")
    assert trash.binned() == []


def test_a_gpu_its_way_of_scoring_and_its_budget_are_shown(open_page: Open, calls: list[Any], monkeypatch: Any):
    run_id = synthetic_run()
    said_by_engine = {"device": "cuda", "rung": "packed rows", "budget": {"bytes": 6_080_855_040}}
    store.update_record(run_id, state="running", ended=None, provenance={"engine": said_by_engine})
    card = GpuMetrics(0, "GPU-1", "NVIDIA H200", 140.0, 12.34, 0.83, 61)
    monkeypatch.setattr("core.runs.agent.host_reports.latest_metrics", lambda: {"here:gpu0": card})
    monkeypatch.setattr("core.runs.engine.statuses", lambda: [status(run_id, worker="here:gpu0")])
    text = page_text(open_page("new_run"))
    assert "NVIDIA H200 · 12.3 of 140 GiB in use · 83% busy · 61 °C · scores by packed rows" in text
    assert "a batch takes at most 6.1 GB" in text


@pytest.mark.parametrize(
    ("state", "toast"),
    [
        ("failed", "Failed: fake · Question answering · up to 100 questions\n\n[See why on New run](new_run)"),
        (
            "done",
            "Finished: fake · Question answering · up to 100 questions\n\n[Open in the Alpha lab](alpha_lab?run={run})",
        ),
    ],
)
def test_a_toast_says_on_another_page_that_a_run_has_ended(open_page: Open, calls: list[Any], state: str, toast: str):
    (queued,) = waiting(1)
    app = open_page("learn")
    assert not app.toast
    give_files(store.folder_of(queued.run_id))
    store.update_record(queued.run_id, state=state, message="no", ended=time.time())
    app.run()
    assert [toast.value.replace("\\", "") for toast in app.toast] == [toast.format(run=queued.run_id)]
    assert app.session_state["runs_watched"] == set()  # so that it appears once


def test_a_run_that_stopped_before_the_page_was_opened_is_not_announced(open_page: Open, calls: list[Any]):
    for state in ("failed", "paused", "cancelled"):
        existing(state)
        app = open_page("learn")
        assert not app.session_state["runs_watched"]
        assert not app.run().toast


ANSWERS = "A,B,label\n0.7,0.3,A\n0.2,0.8,B\n0.6,0.4,A\n0.1,0.9,B\n"
BANK = "question,A,B,answer\n" + "".join(f"Is it {i}?,yes,no,{'AB'[i % 2]}\n" for i in range(6))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ANSWERS, "mine.csv is a table of option probabilities. It belongs on the page Data"),
        (BANK, "mine.csv: 6 questions, 2 options, answers as letters"),
    ],
)
def test_a_file_as_a_task_says_how_it_is_read_or_where_it_belongs(
    open_page: Open, tmp_path: Path, text: str, says: str
):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    app = open_page("new_run")
    app.session_state["launch_tasks"] = [str(path)]
    assert says in page_text(app.run())
