"""Records as tables, and back."""

import numpy as np
import pyarrow as pa
import pytest

from core.records import OptionLogits
from core.storage import record_tables
from tests.conftest import synthetic_questions

pytestmark = pytest.mark.quick


def scored(**known) -> OptionLogits:
    logits = np.array([[0.5, -1.0], [2.0, 0.25], [-3.5, 7.0]], dtype=np.float32)
    return OptionLogits(("a", "b", "ä"), logits, np.array([0.5, 1.0, 0.25], dtype=np.float32), **known)


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"option_tokens": np.array([[1, 2], [3, 4], [5, 6]])},
        {"bounded": np.array([[True, False], [False, False], [True, True]])},
        {"top_tokens": (" A", " B", "")},
    ],
    ids=lambda known: next(iter(known), "logits alone"),
)
def test_option_logits_come_back_from_their_table(known):
    before = scored(**known)
    after = record_tables.option_logits(record_tables.logits_table(before))
    assert after.ids == before.ids
    assert after.logits.dtype == after.letter_mass.dtype == np.float32
    np.testing.assert_array_equal(after.logits, before.logits)
    np.testing.assert_array_equal(after.letter_mass, before.letter_mass)
    assert after.top_tokens == before.top_tokens
    for name in ("option_tokens", "bounded"):
        column, other = getattr(after, name), getattr(before, name)
        assert (column is None) == (other is None)
        if other is not None:
            np.testing.assert_array_equal(column, other)


def test_a_row_holds_a_question_with_its_role():
    questions = synthetic_questions(2, k=4)
    first, second = record_tables.questions_table(questions, ["calibration", "test"]).to_pylist()
    assert first | {"options": tuple(first["options"])} == {
        "id": "q0", "task": "qa", "group": "colours", "context": "", "question": questions[0].question,
        "options": questions[0].options, "label": questions[0].label, "role": "calibration",
    }  # fmt: skip
    assert second["role"] == "test"


def test_what_texts_score_on_their_own_is_kept_for_each_bare_prompt():
    alone = OptionLogits(("yes", "no"), np.array([[-1.0], [-2.5]], dtype=np.float32), np.ones(2, dtype=np.float32))
    later = OptionLogits(("yes",), np.array([[-4.0]], dtype=np.float32), np.ones(1, dtype=np.float32))
    table = pa.concat_tables(record_tables.bare_tables({"unconditional": alone, "mutual": later}))
    assert record_tables.bare_scores(table) == {"unconditional": {"yes": -1.0, "no": -2.5}, "mutual": {"yes": -4.0}}


def test_a_row_holds_a_written_answer():
    table = record_tables.written_table([("q0", 0, "B", 1), ("q0", 1, "no idea", -1)])
    assert table.to_pylist() == [
        {"id": "q0", "repeat": 0, "text": "B", "answer": 1},
        {"id": "q0", "repeat": 1, "text": "no idea", "answer": -1},
    ]
