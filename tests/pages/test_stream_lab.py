"""The Stream lab: which runs can follow one another, and what the component gets."""

from app.state.stream_lab import NO_CHANGE
from core.reports import evaluation
from core.reports.stream_lab import stream_pool, stream_tables
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, page_text, sent


def test_a_link_opens_both_runs_and_its_view(open_page: Open):
    first, second = (synthetic_run(80, task=task, seed=i) for i, task in enumerate(("ds", "qa")))
    view = {"alpha": "200", "score": "aps", "gamma": "50", "change": "7", "length": "500", "draw": "3"}
    app = open_page("stream_lab", run=first, after=second, **view)
    assert not app.warning
    data = sent(app, "names")
    expected = stream_tables(stream_pool(evaluation.load(first), evaluation.load(second), "aps"))
    assert (data["n"], data["names"], data["ink"]) == (40, ["Summaries", "Question answering"], "aps")
    assert data["first"] == expected["first"].to_pydict()
    assert data["second"] == expected["second"].to_pydict()
    of_link = {"alpha": 200, "score": "aps", "gamma": 50, "change": "7", "last": 100, "draw": 3, "length": 500}
    assert data["view"] == of_link | {"present": "0", "shown": "page"}
    assert {name: app.query_params[name] for name in view} == view


def test_runs_of_other_models_sizes_and_ways_can_not_follow(open_page: Open):
    first, second = (synthetic_run(40, task=task, seed=i) for i, task in enumerate(("ds", "qa")))
    for other in ({"task": "rc", "k": 4}, {"task": "rc", "model": "another"}, {"task": "rc", "shots": 2}, {"seed": 3}):
        synthetic_run(40, **{"task": "ds", **other})
    app = open_page("stream_lab", run=first, after="no-such-run", change="-5")
    assert "the change must be a whole number of questions; the default is shown instead." in page_text(app)
    (choice,) = [box for box in app.selectbox if box.label == "After the change"]
    assert choice.options == ["synthetic · Question answering", "No change: only the first run"]
    assert choice.value == second
    assert "The run no-such-run can't come after Summaries" in page_text(app)
    assert "Question answering is shown instead." in page_text(app)
    choice.set_value(NO_CHANGE).run()
    assert sent(app, "names")["second"] is None
    assert app.query_params["after"] == NO_CHANGE


def test_a_single_run_has_no_change_and_the_page_says_what_a_change_needs(open_page: Open):
    app = open_page("stream_lab", run=synthetic_run(40))
    assert sent(app, "names")["second"] is None
    assert "A change needs another finished run of synthetic" in page_text(app)
