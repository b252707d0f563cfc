"""Logs that Inspect 0.3.285 wrote about a model whose log-probabilities are known, and what can be wrong."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backports.zstd import zipfile as zstd_zipfile

from core.errors import InputError
from core.exchange import inspect_log
from core.exchange.archive import Archive
from core.exchange.dropped.examples import as_json, zipped
from core.exchange.imported import save
from core.reports.evaluation import load
from core.settings import settings
from tests.core.recorded_logs import INSPECT_QUESTIONS as QUESTIONS
from tests.core.recorded_logs import unpack

FAILED = "q7"


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``plain`` and ``shuffled`` with logs, and what the model really said in ``truth.json``."""
    return unpack("inspect", tmp_path_factory.mktemp("inspect"))


@pytest.fixture
def changed(logs: Path, tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], None]], Path]:
    """Writes the plain JSON log again after ``change`` saw it."""

    def write(change: Callable[[dict[str, Any]], None]) -> Path:
        (source,) = (logs / "plain").glob("*.json")
        log = json.loads(source.read_text())
        change(log)
        path = tmp_path / "log.json"
        path.write_text(json.dumps(log))
        return path

    return write


def truth(logs: Path) -> dict[str, Any]:
    return json.loads((logs / "truth.json").read_text())


@pytest.mark.parametrize("ending", [".eval", ".json"])
def test_every_option_has_what_the_model_gave_it(home, logs, ending):
    (path,) = (logs / "plain").glob(f"*{ending}")
    run = inspect_log.read(path)
    true_logits = truth(logs)
    assert [q.id for q in run.questions] == [f"q{i}" for i in range(QUESTIONS)]
    assert [q.label for q in run.questions] == true_logits["labels"]
    assert run.scored.logits == pytest.approx(np.array(true_logits["plain"]), abs=1e-6)
    assert run.scored.letter_mass == pytest.approx(0.9, abs=1e-6)
    assert (run.spec.task, run.spec.model_name) == ("colours", "known")
    assert {q.group for q in run.questions} == {"sky", "earth"}
    assert run.provenance["bounded_questions"] == 0
    (name,) = save([run])
    expected = np.exp(true_logits["plain"]) / 0.9
    assert load(name).probabilities == pytest.approx(expected, abs=1e-6)


def test_both_kinds_of_log_are_the_same_results(logs):
    runs = [inspect_log.read(path) for path in sorted((logs / "plain").iterdir())]
    assert len(runs) == 2
    assert np.array_equal(runs[0].scored.logits, runs[1].scored.logits)
    assert runs[0].questions == runs[1].questions
    assert runs[0].roles == runs[1].roles


def test_shuffled_choices_go_back_epochs_count_once_and_what_is_not_listed_is_bounded(logs):
    run = inspect_log.read(*(logs / "shuffled").iterdir())
    true_logits = truth(logs)
    assert [q.id for q in run.questions] == [f"q{i}" for i in range(QUESTIONS) if f"q{i}" != FAILED]
    assert run.provenance["counts"] == {"samples": 2 * QUESTIONS, "errors": 2, "further epochs": QUESTIONS - 1}
    assert run.provenance["bounded_questions"] == run.provenance["bounded_letters"] == QUESTIONS - 1
    for question, logits in zip(run.questions, run.scored.logits, strict=True):
        row = int(question.id[1:])
        known = true_logits["shuffled"][row]
        listed = [value for value in known if value is not None]
        bound = min(min(listed), np.log(1 - np.exp(listed).sum()))
        assert logits == pytest.approx([bound if value is None else value for value in known], abs=1e-5)
        assert logits[known.index(None)] >= true_logits["plain"][row][known.index(None)] - 1e-6  # a bound from above


def _sample(log: dict[str, Any], place: int = 3) -> dict[str, Any]:
    return log["samples"][place]


def _token(log: dict[str, Any]) -> dict[str, Any]:
    return _sample(log)["output"]["choices"][0]["logprobs"]["content"][-1]


def _wrong_score(log: dict[str, Any]) -> None:
    score = _sample(log)["scores"]["choice"]
    score["value"] = "C" if score["value"] == "I" else "I"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_wrong_score, r"sample 4: expected the score [01] of the answer [A-D] where [A-D] is right, found [01] in"),
        (lambda log: log.update(status="error"), r"expected a log that ended well .* found 'error'"),
        (lambda log: log.pop("eval"), "expected a log of Inspect with 'eval'"),
        (lambda log: log.update(samples=None), "expected a list of samples, found 'None'"),
        (lambda log: _sample(log).update(choices=None), "sample 4: expected a multiple-choice sample with 'choices'"),
        (
            lambda log: _sample(log).update(target=["A", "B"]),
            "sample 4: expected one right answer in 'target', found 2",
        ),
        (lambda log: _sample(log).update(target="E"), "sample 4: expected 'target' as a letter from A to D, found 'E'"),
        (
            lambda log: _sample(log).update(choices=["one"], target="A"),
            "sample 4: expected from 2 to 100 options, found 1",
        ),
        (
            lambda log: _token(log)["top_logprobs"][1].update(logprob="nan"),
            "sample 4: expected a log-probability as a number, found nan",
        ),
        (
            lambda log: _token(log)["top_logprobs"][1].update(logprob=0.5),
            r"sample 4: expected log-probabilities of at most 0, found 0\.5",
        ),
        (
            lambda log: [s["output"]["choices"][0].pop("logprobs") for s in log["samples"]],
            "expected the answers' log-probabilities, found none in 24 samples",
        ),
        (lambda log: log["results"]["scores"][0]["metrics"]["accuracy"].update(value=0.123), "expected an accuracy of"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(home, changed, change, says):
    with pytest.raises(InputError, match=says):
        save([inspect_log.read(changed(change))])
    assert not settings().runs.exists()


def test_a_sample_without_an_answer_is_left_out_and_counted(changed):
    def silent(log: dict[str, Any]) -> None:
        wrong = next(sample for sample in log["samples"] if sample["scores"]["choice"]["value"] == "I")
        wrong["output"]["choices"][0]["logprobs"]["content"] = [{"token": "Well", "logprob": -1.0}]

    run = inspect_log.read(changed(silent))
    assert run.provenance["counts"]["without an answer"] == 1
    assert len(run.questions) == QUESTIONS - 1


@pytest.mark.parametrize("keep", [0, 100, 0.5, 0.99])
def test_a_truncated_archive(logs, tmp_path, keep):
    (source,) = (logs / "plain").glob("*.eval")
    content = source.read_bytes()
    path = tmp_path / "cut.eval"
    path.write_bytes(content[: int(len(content) * keep) if keep < 1 else keep])
    with pytest.raises(InputError, match=r"whole zip archive|empty file"):
        inspect_log.read(path)


def test_a_member_with_another_checksum_is_refused(logs, tmp_path):
    (source,) = (logs / "plain").glob("*.eval")
    content = bytearray(source.read_bytes())
    with zipfile.ZipFile(source) as archive:
        info = archive.getinfo("samples/q5_epoch_1.json")
    content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 0xFF
    path = tmp_path / "damaged.eval"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"member samples/q5_epoch_1.json: expected a whole member, found a damaged"):
        inspect_log.read(path)


def bomb(path: Path, *, members: int, size: int) -> Path:
    header = {"status": "success", "eval": {"task": "t", "model": "m"}}
    samples = {f"samples/{i}_epoch_1.json": b"0" * size for i in range(members)}
    path.write_bytes(zipped({"header.json": as_json(header), **samples}))
    return path


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = bomb(tmp_path / "bomb.eval", members=1, size=100_000_000)
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"expected at most 64,000,000 bytes in a member .* found more"):
        inspect_log.read(path)
    monkeypatch.setattr("core.exchange.archive.MOST_UNPACKED", 3_000_000)
    with (
        Archive(bomb(tmp_path / "many.eval", members=5, size=1_000_000)) as archive,
        pytest.raises(InputError, match="3,000,000 in all, found more"),
    ):
        [archive.read(name) for name in archive.names]


def zstd_archive(path: Path, content: bytes) -> Path:
    with zstd_zipfile.ZipFile(path, "w", zstd_zipfile.ZIP_ZSTANDARD) as archive:
        archive.writestr("header.json", content)
    return path


def test_a_zstd_member_is_read(tmp_path):
    with Archive(zstd_archive(tmp_path / "log.eval", b"{}" * 5000)) as opened:
        assert opened.read("header.json") == b"{}" * 5000


def test_a_zstd_bomb_is_refused_too_and_one_that_says_it_is_small_is_damaged(tmp_path):
    path = zstd_archive(tmp_path / "bomb.eval", b"0" * 100_000_000)
    content = path.read_bytes()
    assert len(content) < 100_000
    with Archive(path) as opened, pytest.raises(InputError, match="found more"):
        opened.read("header.json")
    path.write_bytes(content.replace((100_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with Archive(path) as opened, pytest.raises(InputError, match="found a damaged one"):
        opened.read("header.json")


def test_a_zstd_member_that_was_changed_is_damaged(tmp_path):
    path = zstd_archive(tmp_path / "log.eval", bytes(range(256)))
    content = bytearray(path.read_bytes())
    content[content.index(bytes(range(100, 110)))] ^= 0xFF
    path.write_bytes(content)
    with Archive(path) as opened, pytest.raises(InputError, match="found a damaged one"):
        opened.read("header.json")
