import pytest

from core.errors import InputError
from core.runs.spec import RunSpec

pytestmark = pytest.mark.quick


def test_equal_specs_are_one_run_and_unlike_ones_are_not():
    spec = RunSpec(model="m", task="qa")
    assert spec.run_id == RunSpec(model="m", task="qa").run_id
    ids = {
        RunSpec(**({"model": "m", "task": "qa"} | change)).run_id
        for change in (
            {},
            {"model": "n"},
            {"task": "rc"},
            {"strategy": "task"},
            {"shots": 1},
            {"dtype": "bfloat16"},
            {"samples": 100},
            {"seed": 1},
            {"calibration_share": 0.4},
            {"fingerprint": "x"},
            {"prompt_format": "chat"},
            {"rotations": True},
            {"form": "cloze"},
        )
    }
    assert len(ids) == 13
    assert RunSpec(model="m", task="qa", batch_size=7).run_id == spec.run_id


def test_the_id_is_a_file_name_that_can_be_read():
    name = RunSpec(model="/data/My Models/Qwen2.5 0.5B!", task="qa").run_id
    assert name.startswith("qwen2-5-0-5b-qa-base-0shot-float32-")


def test_json_and_back():
    spec = RunSpec(model="m", task="qa", samples=7)
    assert RunSpec.from_json(spec.to_json()) == spec
    with pytest.raises(InputError, match="newer"):
        RunSpec.from_json(spec.to_json() | {"temperature": 1})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": " "}, "needs a model"),
        ({"task": ""}, "needs a task"),
        ({"model": "m\x1b[2J"}, r"model holds a control character, got 'm\\x1b\[2J'; rename it"),
        ({"batch_size": 0}, "at least 1, got 0"),
        ({"strategy": "x"}, "base, shared, task"),
        ({"dtype": "int3"}, "float32, float16, bfloat16, int8, int4"),
        ({"form": "essay"}, "letters"),
        ({"shots": 17}, "0 to 16"),
        ({"samples": 1}, "at least 2"),
        ({"seed": -1}, "at least 0, got -1"),
        ({"calibration_share": 0.0}, r"\(0, 1\)"),
        ({"calibration_share": 1.0}, r"\(0, 1\)"),
    ],
)
def test_what_is_no_spec(change, says):
    with pytest.raises(InputError, match=says):
        RunSpec(**({"model": "m", "task": "qa"} | change))


def test_later_keys_leave_the_ids_of_earlier_runs_alone():
    before = RunSpec(model="pocket-3m", task="qa")
    values = before.to_json()
    for key in ("prompt_format", "rotations", "batch_size"):
        del values[key]
    assert RunSpec.from_json(values) == before
    assert before.run_id == "pocket-3m-qa-base-0shot-float32-d6f799119f"


def test_a_tasks_short_name():
    names = ("qa", "qa@hub", "qa@/data/mmlu_10k.json", "/data/mine.csv")
    assert [RunSpec(model="m", task=task).task_name for task in names] == ["qa", "qa", "qa", "mine"]
