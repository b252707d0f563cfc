"""The score of ordered options is offered where all options are ordered, and refused in one sentence elsewhere."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.conformal.scores import SCORE_NAMES, SCORES
from tests.conftest import synthetic_run
from tests.pages.conftest import Open, components, sent

TITLE = SCORES["ordinal-aps"].title
REFUSED = f"{TITLE} is for questions whose options are ordered levels, and those here are not all ordered. "


def warnings(app: AppTest) -> list[str]:
    return [warning.value.replace("\\", "") for warning in app.warning]


@pytest.mark.usefixtures("in_messages")
def test_the_alpha_lab_offers_it_for_ordered_options(open_page: Open):
    run_id = synthetic_run(80, k=5, ordered=True)
    app = open_page("alpha_lab", run=run_id, left="ordinal-aps")
    assert not app.warning
    data = json.loads(components(app)[0].proto.mixed.json)
    assert [score["name"] for score in data["scores"]] == list(SCORES)
    assert data["view"]["left"] == "ordinal-aps"
    other = open_page("alpha_lab", run=synthetic_run(80, k=5, seed=1), left="ordinal-aps", right="ordinal-aps")
    assert warnings(other) == [f"{REFUSED}LAC is shown instead.", f"{REFUSED}APS is shown instead."]
    data = json.loads(components(other)[0].proto.mixed.json)
    assert [score["name"] for score in data["scores"]] == list(SCORE_NAMES)
    assert (data["view"]["left"], data["view"]["right"]) == ("lac", "aps")


@pytest.mark.usefixtures("in_messages")
def test_one_question_lists_it_for_ordered_options(open_page: Open):
    app = open_page("one_question", run=synthetic_run(40, k=5, ordered=True), bars="ordinal-aps")
    assert not app.warning
    assert [score["name"] for score in sent(app, "question")["scores"]] == list(SCORES)
    other = open_page("one_question", run=synthetic_run(40, k=5, seed=1), bars="ordinal-aps")
    assert warnings(other) == [f"{REFUSED}LAC is shown instead."]
    assert sent(other, "question")["bars"] == "lac"


@pytest.mark.parametrize("page", ["compare", "stream_lab", "overview", "calibration", "data"])
def test_pages_offer_it_where_all_runs_are_ordered(open_page: Open, page: str):
    first, second = (synthetic_run(40, k=5, seed=seed, ordered=True) for seed in (0, 1))
    chosen = {"run": first} if page == "stream_lab" else {} if page == "overview" else {"runs": f"{first},{second}"}
    app = open_page(page, **chosen, score="ordinal-aps")
    assert not app.warning
    assert not app.error
    boxes = [box for box in app.selectbox if box.label == "Score"]
    assert all(box.value == "ordinal-aps" and TITLE in box.options for box in boxes)
    assert bool(boxes) == (page in ("compare", "overview"))
    plain = synthetic_run(40, k=5, seed=2)
    chosen = {"run": plain} if page == "stream_lab" else {} if page == "overview" else {"runs": f"{first},{plain}"}
    app = open_page(page, **chosen, score="ordinal-aps")
    assert f"{REFUSED}LAC is shown instead." in warnings(app)
    assert not app.error
    boxes = [box for box in app.selectbox if box.label == "Score"]
    assert all(box.value == "lac" and TITLE not in box.options for box in boxes)
