"""A failing JavaScript test is named where pytest reports the failure."""

from pathlib import Path

import pytest

from tests.app.javascript import passed_tests

BROKEN = """
import assert from "node:assert/strict";
import test, { describe, it } from "node:test";
test("a sum", () => assert.equal(1 + 1, 2));
test("case #3: two lists", () => assert.deepEqual([1, 2], [1, 3]));
describe("a group", () => {
  it("its own test", () => { throw new Error("first line\\nsecond line"); });
});
"""


def test_failing_tests_are_named_with_their_places_and_messages_and_passing_ones_counted(tmp_path: Path):
    path = tmp_path / "broken.test.mjs"
    path.write_text(BROKEN)
    with pytest.raises(pytest.fail.Exception) as failed:
        passed_tests([path])
    first, _, text = str(failed.value).partition("\n")
    assert first == "2 JavaScript test(s) failed: case #3: two lists; its own test"
    assert f"{path.name}:5:1" in text
    assert "+   2\n  -   3" in text
    assert "first line\n  second line" in text
    path.write_text("\n".join(BROKEN.strip().splitlines()[:3]))
    assert passed_tests([path]) == 1


def test_a_file_that_does_not_load_is_named_with_what_node_printed(tmp_path: Path):
    path = tmp_path / "unloaded.test.mjs"
    path.write_text('throw new Error("there is no such module");\n')
    with pytest.raises(pytest.fail.Exception, match=r"unloaded\.test\.mjs") as failed:
        passed_tests([path])
    assert "Error: there is no such module" in str(failed.value)
