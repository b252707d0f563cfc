"""An embed as a file: its figures' precision, no way out, no markup of data, no id of a run, and at most 1.5 MB."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from charts import embed, lab_outside
from charts.bundles import COMPONENTS
from charts.embed import LARGEST, PARTS, WITHOUT_TEXTS, embed_html, lab_embed, run_source
from core.errors import InputError
from core.reports.evaluation import load
from core.reports.frames import lab_tables
from core.runs import store
from tests.conftest import synthetic_questions, synthetic_run

pytestmark = pytest.mark.quick

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>%%SCRIPT%%"


def made(run_id: str, *, title: str = "A run", **how: object) -> str:
    run = load(run_id)
    return lab_embed(lab_tables(run), title=title, source=run_source(run), **how).decode()


def embedded(page: str) -> dict[str, object]:
    (data,) = re.findall(r'<script type="application/json" id="embedded">(.*?)</script>', page, re.S)
    return json.loads(data)["data"]


def column(table: dict[str, object], name: str) -> np.ndarray:
    cells = table["columns"][name]
    return np.frombuffer(base64.b64decode(cells["values"]), dtype=cells["kind"].lower())


def test_the_data_of_the_lab_keeps_its_precision(home):
    run_id = synthetic_run(700, k=5)
    tables, rows = lab_tables(load(run_id))["rows"], embedded(made(run_id))["rows"]
    for name in tables.column_names:
        assert np.array_equal(column(rows, name), tables[name].to_numpy()), name
    kinds = {name: cells["kind"] for name, cells in rows["columns"].items()}
    assert {kinds[name] for name in ("p0", "p4")} == {"Float64"}
    assert (kinds["y"], kinds["own"], kinds["place"]) == ("Uint8", "Uint8", "Uint16")


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0, 255], "Uint8"), ([0, 256], "Uint16"), ([-1, 3], "Int32"), ([65_536], "Int32"), ([], "Uint8")],
)
def test_whole_numbers_take_the_smallest_kind_that_holds_them(values, kind):
    cells = lab_outside.json_values({"table": pa.table({"n": pa.array(values, pa.int32())})})["table"]["columns"]["n"]
    assert cells["kind"] == kind
    assert np.frombuffer(base64.b64decode(cells["values"]), dtype=kind.lower()).tolist() == values


def test_texts_of_data_are_no_markup_and_only_the_own_script_may_run(home):
    run_id = synthetic_run(40, model="m")
    questions = [replace(q, question=HOSTILE, context=HOSTILE, group=HOSTILE) for q in synthetic_questions(40)]
    store.write_questions(store.folder_of(run_id), questions, ["calibration"] * 20 + ["test"] * 20)
    page = made(run_id, title=HOSTILE)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert not re.search(r"<img[^>]*onerror", page)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.S)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{allowed}';" in page
    assert embedded(page)["questions"]["columns"]["question"]["values"][0] == HOSTILE
    assert "<title>&lt;/script&gt;" in page


def test_nothing_says_an_id_and_everything_is_said_once(home):
    run_id = synthetic_run(40, model="org/model-a")
    page = made(run_id, title="model-a · Question answering")
    assert run_id not in page
    assert page.count("Made with Hedge ") == 1
    assert page.count("20 calibration questions and 20 test questions") == 1
    assert not re.search(r'(src|href)="?(https?:)?//', page)


def test_the_theme_is_the_reader_s_or_fixed(home):
    run_id = synthetic_run(40)
    following, dark = made(run_id), made(run_id, theme="dark")
    assert "prefers-color-scheme:dark" in following
    assert "prefers-color-scheme:dark)" not in dark
    assert ":root{color-scheme:dark;" in dark


def test_texts_are_left_out_where_they_do_not_fit_and_the_page_says_so(home, monkeypatch: pytest.MonkeyPatch):
    run_id = synthetic_run(300)
    whole = made(run_id)
    assert WITHOUT_TEXTS not in whole
    monkeypatch.setattr(embed, "LARGEST", len(whole.encode()) - 1)
    smaller = made(run_id)
    assert WITHOUT_TEXTS in smaller
    assert embedded(smaller)["questions"] is None
    assert embedded(smaller)["rows"] == embedded(whole)["rows"]
    assert WITHOUT_TEXTS not in made(run_id, texts=False)  # a person left them out
    assert "Which option of question" not in made(run_id, texts=False)


def test_a_file_that_would_be_too_large_is_refused_in_one_sentence():
    columns = {f"p{j}": np.zeros(30_000) for j in range(6)}
    with pytest.raises(InputError) as refused:
        embed_html("stream-lab", {"rows": pa.table(columns)}, title="t")
    assert re.fullmatch(
        r"this embed would have 1\.9\d MB, and 1\.5 MB is the most; choose a run with fewer questions",
        str(refused.value),
    )


@pytest.mark.parametrize("part", PARTS)
def test_every_part_holds_its_component(part: str):
    page = embed_html(part, {}, title="t").decode()
    (data,) = re.findall(r'<script type="application/json" id="embedded">(.*?)</script>', page, re.S)
    assert json.loads(data)["html"] == (COMPONENTS / f"{PARTS[part]}.html").read_text()
    assert len(page) < LARGEST / 3
