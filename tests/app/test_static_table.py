"""Small tables: what is data is shown letter by letter, and an interval stays on one line."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import PAGE_WITHIN_S

pytestmark = pytest.mark.quick

CELLS = ("57.1% (53.2% to 60.9%)", "<b>bold</b> & 'so'", "[here](http://x.y)")


def _page(cells: tuple[str, ...]) -> None:
    import pandas as pd

    from app.components.shared.static_table import static_table

    static_table(pd.DataFrame({"<i>": cells, "n": [1, 2, 3]}), alt='A "table"', texts=1)


def test_cells_are_shown_letter_by_letter_and_the_table_has_a_name_and_the_keyboard():
    app = AppTest.from_function(_page, default_timeout=PAGE_WITHIN_S, kwargs={"cells": CELLS}).run()
    assert not app.exception
    (table,) = app.get("html")
    body = table.proto.body
    assert "<td>57.1% (53.2%\u00a0to\u00a060.9%)</td><td>1</td>" in body
    assert "<td>&lt;b&gt;bold&lt;/b&gt; &amp; &#39;so&#39;</td><td>2</td>" in body
    assert "<td>[here](http://x.y)</td>" in body
    assert '<th scope="col">&lt;i&gt;</th>' in body
    assert 'class="static-table texts-1" role="region" tabindex="0" aria-label="A &#34;table&#34;"' in body
