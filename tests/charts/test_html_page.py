"""HTML that Hedge writes: texts stay texts, scripts keep their one end, and only the page's own script may run."""

import base64
import hashlib
import re

import pytest
from jinja2 import UndefinedError

from charts.html_page import fragment, html_page

pytestmark = pytest.mark.quick

HOSTILE = "</script></SCRIPT ><script>alert(1)</script><!--<script>{{ 7*7 }}\u2028\"'&"


def test_a_text_a_title_and_data_hold_no_element():
    page = html_page("figure", script="run()", data={HOSTILE: HOSTILE}, title=HOSTILE, background="#fff").decode()
    assert len(re.findall(r"<script", page, re.I)) == len(re.findall(r"</script", page, re.I)) == 2
    assert "<!--" not in page
    assert "{{ 7*7 }}" in page  # and not 49


def test_the_policy_names_the_script_as_the_page_has_it():
    page = html_page("figure", script='a("</script><!--")', data=1, title="t", background="#fff").decode()
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.S)
    assert script == r'a("<\/script><\!--")'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'" in page
    assert page.index("Content-Security-Policy") < page.index("<title")


def test_a_page_without_one_of_its_values_is_not_written():
    with pytest.raises(UndefinedError):
        html_page("figure", script="", data=1, title="t")


def test_a_value_of_a_fragment_leaves_neither_its_element_nor_its_attribute():
    result = fragment('<p title="{{ text }}">{{ text }}</p>', text='"><img src=x onerror=alert(1)>')
    assert result.count("<") == 2
    assert result.count('"') == 2
