import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.models.model_sources import DTYPES
from core.questions import bank, local_file
from core.questions.prompting.forms import FORMATS, FORMS
from core.questions.prompting.strategies import STRATEGIES
from core.questions.split import draw
from core.runs import prompts as run_prompts
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.prompts import Combination, draw_questions, make_prompt, pinned, prompts
from core.runs.spec import MAX_SHOTS, RunSpec
from hedge.cli import main, parser
from hedge.commands.run_words import run_words
from hedge.commands.runs import specs_of
from tests.conftest import synthetic_questions


def write(path, n=20, answer=1):
    rows = [
        {"question": f"How many legs have {i} cats?", "options": [str(i), str(4 * i), "none"], "label": answer}
        for i in range(1, n + 1)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_a_changed_file_is_another_run(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    path = write(tmp_path / "mine.jsonl")
    words = ["run", "--model", "fake", "--task", path, "--json"]
    names = []
    for answer in (1, 1, 0):
        write(tmp_path / "mine.jsonl", answer=answer)
        assert main(words) == 0
        printed = capsys.readouterr()
        names += json.loads(printed.out)["runs"]
    assert f"run {names[2]} uses all 20 available questions" in printed.err
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("fake-mine-base")
    assert store.read_record(names[0]).provenance["data"] == {"source": path, "left_out": {}, "alike": 0}


def test_a_run_does_not_go_on_with_other_questions(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    spec = pinned(RunSpec(model="fake", task=write(tmp_path / "mine.jsonl")))
    write(tmp_path / "mine.jsonl", answer=0)
    with pytest.raises(InputError, match="have changed since this run was asked for"):
        execute(spec)


def test_the_bank_needs_no_fingerprint():
    spec = RunSpec(model="m", task="qa")
    assert pinned(spec) is spec


@pytest.mark.parametrize("form", ["letters", "cloze"])
@pytest.mark.parametrize("prompt_format", ["plain", "chat"])
def test_prompts_are_as_the_spec_says(monkeypatch, form, prompt_format):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(40))
    spec = RunSpec(model="m", task="qa", form=form, prompt_format=prompt_format, shots=MAX_SHOTS)
    drawn = draw_questions(spec)
    test_prompts = prompts(spec, drawn)
    assert [len(p.text) for p in test_prompts] == sorted((len(p.text) for p in test_prompts), reverse=True)
    assert {p.question_id for p in test_prompts} == {q.id for q in drawn.scored}
    assert {bool(p.continuations) for p in test_prompts} == {form == "cloze"}
    assert {p.chat for p in test_prompts} == {prompt_format == "chat"}
    assert make_prompt(spec, drawn.scored[0], ()).text.count("Answer:") == 1
    assert {p.text.count("Answer:") for p in test_prompts} == {MAX_SHOTS + 1}


def one_or_two(choices):
    return st.lists(st.sampled_from(choices), min_size=1, max_size=2, unique=True).map(tuple)


@given(
    st.builds(
        Combination,
        models=st.just(("pocket-1m",)),
        tasks=one_or_two(("qa", "rc@hub", "qa@published")),
        strategies=one_or_two(STRATEGIES),
        dtypes=one_or_two(DTYPES),
        forms=one_or_two(FORMS),
        formats=one_or_two(FORMATS),
        shots=one_or_two(range(MAX_SHOTS + 1)),
        samples=st.none() | st.integers(2, 20_000),
        rotations=st.booleans(),
        batch_size=st.none() | st.integers(1, 64),
        seed=st.integers(0, 2**31 - 1),
        calibration_share=st.floats(0.1, 0.9),
    )
)
def test_the_page_and_the_command_line_ask_for_the_same(asked):
    specs = specs_of(parser("run").parse_args(["run", *run_words(asked)]))  # as `hedge.cli.main`
    assert specs == asked.specs()
    assert {spec.batch_size for spec in specs} == {asked.batch_size}
    product = (asked.models, asked.tasks, asked.strategies, asked.dtypes, asked.forms, asked.formats, asked.shots)
    assert len({spec.run_id for spec in specs}) == len(specs)
    expected = 1
    for choices in product:
        expected *= len(choices)
    assert len(specs) == expected


def test_a_persons_file_is_read_once_and_drawn_once_in_a_launch(home, monkeypatch, tmp_path, capsys):
    path = tmp_path / "own.csv"
    rows = [f"Question {i}?,yes {i},no {i},A" for i in range(40)]
    path.write_text("\n".join(["question,A,B,label", *rows]), encoding="utf-8")
    reads, draws = [], []
    read = local_file.read_path
    monkeypatch.setattr(local_file, "read_path", lambda file, **named: reads.append(file) or read(file, **named))
    monkeypatch.setattr(run_prompts, "draw", lambda *args, **named: draws.append(1) or draw(*args, **named))
    monkeypatch.setenv("HEDGE_FAKE_ENGINE", "{}")
    assert main(["run", "--model", "fake", "--task", str(path)]) == 0
    assert (len(reads), len(draws)) == (1, 1)
    path.write_text("\n".join(["question,A,B,label", *rows[:30]]), encoding="utf-8")  # a changed file is read again
    assert main(["run", "--model", "fake", "--task", str(path)]) == 0
    assert (len(reads), len(draws)) == (2, 2)
    capsys.readouterr()
