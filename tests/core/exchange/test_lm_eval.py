"""Logs that lm-evaluation-harness 0.4.13 wrote about a model of ours, and how they can be older or wrong."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import lm_eval
from core.exchange.imported import save
from core.exchange.lm_eval_results import named_parts
from core.exchange.lm_eval_sample import _gold
from core.reports.evaluation import load
from core.reports.report import report
from core.runs import store
from core.settings import settings
from hedge.cli import main
from tests.core.exchange.drops import Drop
from tests.core.recorded_logs import HARNESS_QUESTIONS as QUESTIONS
from tests.core.recorded_logs import read_samples, unpack
from tests.core.shelf.conftest import mirror  # noqa: F401  a fixture

Row = dict


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the samples and results of both tasks, named as the harness names it."""
    return unpack("lm_eval", tmp_path_factory.mktemp("lm-eval") / "assets__models__pocket-1m")


def samples(folder: Path, task: str) -> Path:
    (path,) = folder.glob(f"samples_{task}_*.jsonl")
    return path


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def changed(logs: Path, tmp_path: Path) -> Callable[..., Path]:
    """Writes the log of a task again after ``change`` saw its rows; without the results file unless asked for."""

    def write(task: str, change: Callable[[list[Row]], list[Row] | None], *, results: bool = False) -> Path:
        folder = tmp_path / "org__tiny-model"
        folder.mkdir(exist_ok=True)
        source = samples(logs, task)
        written_rows = rows(source)
        written_rows = change(written_rows) or written_rows
        path = folder / source.name
        path.write_text("".join(json.dumps(row) + "\n" for row in written_rows))
        if results:
            for results_path in logs.glob("results_*.json"):
                shutil.copy(results_path, folder)
        return path

    return write


def test_every_row_has_the_accuracies_that_the_harness_gave_it(home, logs):
    runs = {run.spec.task: run for run in read_samples(logs)}
    assert {task: run.spec.form for task, run in runs.items()} == {"bank_letters": "letters", "bank_cloze": "cloze"}
    for task, run in runs.items():
        written = rows(samples(logs, task))
        assert len(run.questions) == len(written) == QUESTIONS
        for question, logits, row in zip(run.questions, run.scored.logits, written, strict=True):
            assert question.id == row["doc_hash"][:16]
            lengths = [len(row["arguments"][f"gen_args_{i}"]["arg_1"]) - 1 for i in range(6)]
            assert float(np.argmax(logits) == question.label) == row["acc"]
            assert float(np.argmax(logits / np.array(lengths)) == question.label) == row["acc_norm"]
        aggregated = json.loads(next(logs.glob("results_*.json")).read_text())["results"][task]
        assert run.provenance["claims"]["acc"] == pytest.approx(aggregated["acc,none"], abs=1e-12)
        assert run.spec.model.endswith("pocket-1m")
        assert run.spec.dtype == "float32"
    assert "acc_mutual_info" in runs["bank_cloze"].provenance["recomputed"]
    names = save(runs.values())
    for name, run in zip(names, runs.values(), strict=True):
        loaded = load(name)
        all_rows = np.concatenate([loaded.calibration, loaded.test])
        right = (loaded.probabilities.argmax(axis=1) == loaded.labels)[all_rows].mean()
        assert right == pytest.approx(run.provenance["claims"]["acc"], abs=1e-12)
        report(loaded, 100)


def test_letters_and_texts_of_the_same_documents_meet(logs):
    letters, cloze = sorted(read_samples(logs), key=lambda run: run.spec.task, reverse=True)
    assert [q.id for q in letters.questions] == [q.id for q in cloze.questions]
    assert [q.options for q in letters.questions] == [q.options for q in cloze.questions]
    assert letters.roles == cloze.roles
    assert np.nanmax(letters.scored.letter_mass) <= 1
    assert np.isnan(cloze.scored.letter_mass).all()


def test_lines_that_were_appended_again_count_once(changed):
    path = changed("bank_letters", lambda samples: samples + samples[:50])
    (run,) = lm_eval.read(path)
    assert len(run.questions) == QUESTIONS
    assert run.provenance["repeated_lines"] == 50
    assert run.read_as.endswith(", asked by letter, 50 lines twice")
    assert run.spec.model == "org/tiny-model"


def test_two_runs_in_one_file_are_refused(changed):
    def other(samples: list[Row]) -> list[Row]:
        again = json.loads(json.dumps(samples[4]))
        again["filtered_resps"][0][0] = again["resps"][0][0][0] = str(float(again["filtered_resps"][0][0]) - 40)
        again.pop("acc"), again.pop("acc_norm"), again.pop("acc_bytes")
        return [*samples, again]

    with pytest.raises(InputError, match=rf"line {QUESTIONS + 1}: expected document 4 once.*line 5; two runs"):
        lm_eval.read(changed("bank_letters", other))


def test_older_files_list_their_arguments_and_have_no_hash(changed, logs):
    def older(samples: list[Row]) -> None:
        for row in samples:
            row["arguments"] = [list(argument.values()) for argument in row["arguments"].values()]
            for key in ("doc_hash", "prompt_hash", "target_hash", "filter", "metrics"):
                del row[key]
            row["target"] = "ABCDEF".index(row["target"])

    (run,) = lm_eval.read(changed("bank_letters", older))
    (now,) = lm_eval.read(samples(logs, "bank_letters"))
    assert np.array_equal(run.scored.logits, now.scored.logits)
    assert [q.label for q in run.questions] == [q.label for q in now.questions]
    assert [q.id for q in run.questions][:3] == ["0", "1", "2"]


def test_several_filters_are_not_several_questions(changed):
    path = changed("bank_letters", lambda samples: [*({**row, "filter": "first"} for row in samples), *samples])
    (run,) = lm_eval.read(path)
    assert len(run.questions) == QUESTIONS
    assert run.provenance["filters"] == ["first", "none"]


@pytest.mark.parametrize("metric", ["acc", "acc_norm", "acc_bytes", "acc_mutual_info"])
def test_a_claim_that_the_likelihoods_contradict_is_refused_with_its_line(home, changed, metric):
    def lie(samples: list[Row]) -> None:
        samples[41][metric] = 1 - samples[41][metric]

    with pytest.raises(InputError, match=rf"line 42: expected {metric} [01] from the log-likelihoods .* found [01] in"):
        save(lm_eval.read(changed("bank_cloze", lie)))
    assert not settings().runs.exists()


def test_a_mean_that_the_samples_contradict_is_refused(changed):
    with pytest.raises(
        InputError, match=rf"expected acc .* as its results file says, found .* over {QUESTIONS - 1} samples"
    ):
        lm_eval.read(changed("bank_letters", lambda samples: samples[1:], results=True))


def _put(row: int, **values: object) -> Callable[[list[Row]], None]:
    return lambda samples: samples[row].update(values)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_put(2, filtered_resps=[["nan", "False"]] * 6), "line 3: expected a log-likelihood as a number, found nan"),
        (_put(2, filtered_resps=[["x", "False"]] * 6), "line 3: expected a log-likelihood as a number, found 'x'"),
        (
            _put(2, filtered_resps=[["-1", "False"]] * 5),
            "line 3: expected a log-likelihood for each of 6 requests, found 5",
        ),
        (_put(2, filtered_resps=["some text"]), "line 3: expected .log-likelihood, greedy. for each option"),
        (
            _put(2, arguments={"gen_args_0": {"arg_0": "Q", "arg_1": {"until": ["\n"]}}}),
            "line 3: expected the log-likelihoods of options, found a generation task",
        ),
        (_put(2, target="Z"), "line 3: expected 'target' as an option's number from 0 or one of"),
        (_put(2, target="9"), "line 3: expected a label that is one of the 6 options, found number 9"),
        (_put(2, target="[0, 1]"), "line 3: expected one right answer in 'target', found several"),
        (_put(2, target="E", acc=0.0), "line 3: expected an answer as the truth, found E “I don't know”"),
        (lambda samples: samples[2].pop("resps") and None, "line 3: expected a sample of lm-eval with 'resps'"),
    ],
)
def test_what_is_wrong_is_named(changed, change, says):
    with pytest.raises(InputError, match=says):
        lm_eval.read(changed("bank_letters", change))


def test_files_that_are_no_samples(logs, tmp_path):
    cut = tmp_path / "samples_x.jsonl"
    cut.write_text(samples(logs, "bank_letters").read_text()[:20_000])
    with pytest.raises(InputError, match=r"line \d+: expected a whole JSON object"):
        lm_eval.read(cut)
    cut.write_text("")
    with pytest.raises(InputError, match="expected results, found an empty file"):
        lm_eval.read(cut)
    cut.write_bytes(b"\x80\x04pickle")
    with pytest.raises(InputError, match="line 1: expected text in UTF-8, found byte 0x80"):
        lm_eval.read(cut)


@pytest.mark.parametrize(
    ("target", "choices", "digits", "label"),
    [
        ("2", ("x", "y", "z"), "number", 2),
        (1, ("x", "y"), "number", 1),
        ("B", ("A", "B"), "number", 1),
        ("B", ("(A)", "(B)"), "number", 1),
        ("1963", ("1969", "1963"), "number", 1),  # no option's number, but an option's text
        ("2", ("1", "2", "3"), "number", 2),
        ("2", ("1", "2", "3"), "text", 1),
        ("[1]", ("x", "y"), "number", 1),
    ],
)
def test_ways_to_write_the_truth(target, choices, digits, label):
    assert _gold(target, choices, "here", digits) == label


def test_targets_in_digits_that_are_texts_are_read_as_the_file_means_them(changed):
    def numerals(samples: list[Row]) -> None:
        for row in samples:
            label = "ABCDEF".index(row["target"])
            row["doc"]["choices"] = [str(i + 1) for i in range(6)]
            for i in range(6):
                row["arguments"][f"gen_args_{i}"]["arg_1"] = f" {i + 1}"
            row["target"] = str(label + 1)

    (run,) = lm_eval.read(changed("bank_letters", numerals))
    assert run.provenance["claims"]["acc"] > 0.3
    assert {q.options[q.label] for q in run.questions} <= set("1234")


def winogrande(samples: list[Row]) -> None:
    """The rows as a task writes them that puts each option into the prompt and asks for one ending."""
    for row in samples:
        for i in range(6):
            name, other = row["doc"]["choices"][:2]
            if i < 2:
                row["arguments"][f"gen_args_{i}"] = {"arg_0": f"Because {(name, other)[i]}", "arg_1": " was late."}
            else:
                del row["arguments"][f"gen_args_{i}"]
        row["filtered_resps"] = row["filtered_resps"][:2]
        own = [float(response[0]) for response in row["filtered_resps"]]
        row["doc"]["answer"] = "2"
        row["acc"] = float(own[1] > own[0])
        row["target"] = "was late."
        for metric in ("acc_norm", "acc_bytes"):
            del row[metric]


def test_one_ending_after_two_prompts_is_read_by_its_accuracy(changed):
    (run,) = lm_eval.read(changed("bank_letters", winogrande))
    assert {q.label for q in run.questions} == {1}
    assert all(len(q.options) == 2 for q in run.questions)

    def lie(samples: list[Row]) -> None:
        winogrande(samples)
        samples[9]["acc"] = 1 - samples[9]["acc"]

    with pytest.raises(InputError, match="line 10: expected the answer 2 of the document to be right"):
        lm_eval.read(changed("bank_letters", lie))


# ---------------------------------------------------------------- other forms of the same samples


def _document(logs: Path, *tasks: str) -> dict:
    """What ``simple_evaluate()`` returns, of what the harness wrote."""
    about = json.loads(next(logs.glob("results_*.json")).read_text())
    about.pop("model_name"), about.pop("model_name_sanitized", None)
    return about | {"samples": {task: rows(samples(logs, task)) for task in tasks}}


def test_a_document_of_simple_evaluate_holds_all_of_its_tasks(logs, tmp_path):
    path = tmp_path / "out.json"
    path.write_text(json.dumps(_document(logs, "bank_letters", "bank_cloze"), indent=1))
    reading = Drop([path], scratch=tmp_path / "scratch").read()
    assert not reading.refused
    first = {run.spec.task: run for run in read_samples(logs)}
    for found_run in reading.runs:
        run = first.pop(found_run.run.spec.task)
        assert found_run.run.spec.model.endswith("pocket-1m")
        assert found_run.run.questions == run.questions
        assert np.array_equal(found_run.run.scored.logits, run.scored.logits)
        assert found_run.run.provenance["stated"] == run.provenance["stated"]
    assert not first
    path.write_text(json.dumps(_document(logs, "bank_letters")["samples"]))  # its samples alone, on one line
    (run,) = lm_eval.read(path)
    assert (run.spec.task, len(run.questions)) == ("bank_letters", QUESTIONS)


def test_a_document_leaves_out_the_tasks_that_are_not_multiple_choice(logs, tmp_path):
    document = _document(logs, "bank_letters")
    generated = {"doc_id": 0, "doc": {}, "arguments": [["Q", {"until": ["\n"]}]], "resps": [["text"]], "target": "4"}
    document["samples"]["gsm8k"] = [generated]
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document))
    (run,) = lm_eval.read(path)
    assert run.provenance["left_out"] == ["gsm8k"]
    assert run.read_as.endswith(", asked by letter, tasks without options left out: 'gsm8k'")
    del document["samples"]["bank_letters"]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="gsm8k, entry 1: expected the log-likelihoods of options, found a generation"):
        lm_eval.read(path)


def test_the_first_versions_name_the_model_and_the_task(changed, logs, tmp_path):
    def of_2023(samples: list[Row]) -> None:
        for row in samples:
            row["arguments"] = [list(argument.values()) for argument in row["arguments"].values()]
            for key in ("doc_hash", "prompt_hash", "target_hash", "filter", "metrics"):
                del row[key]

    written = rows(changed("bank_letters", of_2023))
    folder = tmp_path / "output"
    folder.mkdir()
    path = folder / "pretrained__org__tiny_model-1b,dtype__bfloat16_bank_letters.jsonl"
    path.write_text(json.dumps(written, indent=2))
    (alone,) = lm_eval.read(path)
    assert alone.provenance["lacks"] == ["model"]
    about = _document(logs) | {"config": {"model": "hf", "model_args": "pretrained=org/tiny_model-1b,dtype=bfloat16"}}
    (folder / "results.json").write_text(json.dumps(about))
    (run,) = lm_eval.read(path)
    assert (run.spec.model, run.spec.task, run.spec.dtype) == ("org/tiny_model-1b", "bank_letters", "bfloat16")
    assert run.provenance["stated"]["acc"] == run.provenance["claims"]["acc"]
    assert run.provenance["lacks"] == []
    path.rename(folder / "mine.json")  # a name that says nothing: of several tasks it is not known which
    (run,) = lm_eval.read(folder / "mine.json")
    assert (run.spec.task, run.spec.model) == ("mine", "output")
    about["results"] = {"bank_letters": about["results"]["bank_letters"]}
    (folder / "results.json").write_text(json.dumps(about))
    (run,) = lm_eval.read(folder / "mine.json")
    assert (run.spec.task, run.spec.model) == ("bank_letters", "org/tiny_model-1b")
    assert run.provenance["lacks"] == ["model"]


def test_of_two_evaluations_of_one_task_the_newest_counts(logs, tmp_path):
    folder = shutil.copytree(logs, tmp_path / logs.name)
    name, about = samples(folder, "bank_letters"), next(folder.glob("results_*.json"))
    date = about.stem.removeprefix("results_")
    shutil.copy(name, folder / name.name.replace(date, "2020-01-01T00-00-00.1"))
    shutil.copy(about, folder / "results_2020-01-01T00-00-00.1.json")
    reading = Drop([folder], scratch=tmp_path / "scratch").read()
    assert sorted(found_run.run.spec.task for found_run in reading.runs) == ["bank_cloze", "bank_letters"]
    (refused,) = reading.refused
    assert "2020-01-01" in refused.name
    assert refused.sentence == (
        f"it is an earlier evaluation of the same task than {name.name}, which counts; import it by itself to have both"
    )


def test_samples_of_2023_are_read(tmp_path):
    shots = "Question: Is snow hot?\nAnswer: no\n\nQuestion: Which is number {}?\nAnswer: {}"
    written = [
        {
            "doc_id": i,
            **{f"prompt_{j}": shots.format(i, f"the {word}") for j, word in enumerate(("cat", "cow", "dog"))},
            **{f"logit_{j}": -1.0 - (j - i % 3) ** 2 for j in range(3)},
            "truth": 1,
            "acc": str(float(i % 3 == 1)),
            "acc_norm": "1.0",
        }
        for i in range(6)
    ]
    path = tmp_path / "animals_write_out_info.json"
    path.write_text(json.dumps(written, indent=4))
    (found_run,) = Drop([path], scratch=tmp_path / "scratch").read().runs
    assert found_run.run.spec.task == "animals"
    assert found_run.run.questions[4].options == ("cat", "cow", "dog")
    assert found_run.run.questions[4].question.endswith("Question: Which is number 4?\nAnswer: the")
    assert found_run.run.provenance["claims"] == {"acc": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pretrained__lmsys__vicuna-7b_mmlu_nutrition.jsonl", ("lmsys/vicuna-7b", "mmlu_nutrition")),
        ("pretrained__org__open_llama_3b_arc_easy.jsonl", ("org/open_llama_3b", "arc_easy")),
        ("pretrained__gpt2_my_task.jsonl", ("gpt2", "my_task")),
        ("samples_arc_easy_2024-06-01T10-00-00.1.jsonl", ("", "arc_easy")),
        ("notes.jsonl", ("", "notes")),
    ],
)
def test_what_a_name_says_without_results(name, parts):
    assert named_parts(Path(name)) == parts


def test_one_file_is_imported_with_the_results_beside_it(home, changed, capsys):
    path = changed("bank_letters", lambda samples: None, results=True)
    (about,) = path.parent.glob("results_*.json")
    about.rename(about.with_name(about.name.replace("results_", "mine_")))  # --output_path mine.json
    assert main(["import", str(path)]) == 0
    record = store.read_record(capsys.readouterr().out.split()[0])
    assert record.provenance["stated"] == {metric: record.provenance["claims"][metric] for metric in METRICS_OF_LETTERS}


METRICS_OF_LETTERS = ("acc", "acc_norm", "acc_bytes")


# ---------------------------------------------------------------- documents and claims


def _cloze(samples: list[Row], doc: Callable[[int, Row], Row], *, prompt: str, before: str = " ") -> None:
    """Other documents; the model was shown ``prompt`` with their values."""
    for i, row in enumerate(samples):
        row["doc"] = doc(i, row["doc"])
        row["doc_hash"] = f"{i:064x}"
        for argument in row["arguments"].values():
            argument["arg_0"] = prompt.format(**row["doc"])
            argument["arg_1"] = before + argument["arg_1"].removeprefix(" ")


@pytest.mark.parametrize(
    ("doc", "prompt", "context", "question"),
    [
        (
            lambda i, doc: {"context": f"Room {i} is empty.", "question": "Who is there?", "answers": 3},
            "{context}\n\nQ: {question}",
            "Room 0 is empty.",
            "Who is there?",
        ),
        (
            lambda i, doc: {"premise": f"It rained {i} times.", "hypothesis": "It was wet.", "idx": i},
            "{premise}\nQuestion: {hypothesis} True or False?",
            "It rained 0 times.",
            "It was wet.",
        ),
        (
            lambda i, doc: {"premise": f"Street {i} was wet.", "question": "cause", "choice1": "a", "choice2": "b"},
            "{premise} because",
            "Street 0 was wet.",
            "What was the cause of this?",
        ),
        (
            lambda i, doc: {
                "support": "was not shown",
                "query": f"Number {i}: he",
                "ctx_a": "",
                "ctx": f"number {i}: He",
            },
            "{query}",
            "",
            "Number 0: he",
        ),
    ],
)
def test_a_text_that_a_question_is_about_belongs_to_it(changed, doc, prompt, context, question):
    path = changed("bank_cloze", lambda samples: _cloze(samples, doc, prompt=prompt))
    (run,) = lm_eval.read(path)
    assert (run.questions[0].context, run.questions[0].question) == (context, question)
    assert len({(question.context, question.question) for question in run.questions}) == QUESTIONS
    assert set(run.roles) == {"calibration", "test"}


def test_another_delimiter_is_told_from_the_metrics(changed):
    def of_lines(samples: list[Row]) -> None:
        _cloze(samples, lambda i, doc: doc, prompt="{question}", before="\n")

    (run,) = lm_eval.read(changed("bank_cloze", of_lines))
    assert "acc_norm" in run.provenance["recomputed"]
    assert not any(option.startswith("\n") for question in run.questions for option in question.options)


def test_a_delimiter_that_can_not_be_told_needs_the_results(changed):
    def lie(samples: list[Row]) -> None:
        _cloze(samples, lambda i, doc: doc, prompt="{question}", before="\n")
        samples[3]["acc_norm"] = 1 - samples[3]["acc_norm"]

    with pytest.raises(InputError, match=r"expected acc_norm [01] .*; if the task has a target_delimiter .* results_"):
        lm_eval.read(changed("bank_cloze", lie))


@pytest.mark.parametrize("share", [True, False])
def test_several_right_answers_are_named_as_such(changed, share):
    def change(samples: list[Row]) -> None:
        for row in samples:
            del row["acc_norm"], row["acc_bytes"], row["acc_mutual_info"]
        for row in samples[5:9]:  # where the target was not taken, another right answer was
            row["acc"] = 0.25 if share else 1.0

    with pytest.raises(
        InputError, match="its questions have several right answers each, as the metrics of 'bank_cloze'"
    ):
        lm_eval.read(changed("bank_cloze", change))


def test_a_question_s_own_none_of_the_above_can_be_right(changed):
    def change(samples: list[Row]) -> None:
        for row in samples:
            row["doc"]["choices"][4:] = ["Both of them", "None of the above"]
        samples[2].update(target="F")
        for metric in METRICS_OF_LETTERS:
            samples[2].pop(metric)

    (run,) = lm_eval.read(changed("bank_letters", change))
    assert run.questions[2].options[run.questions[2].label] == "None of the above"
