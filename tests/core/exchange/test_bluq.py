import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.exchange import bluq
from core.exchange.dropped.examples import npy
from core.exchange.imported import save
from core.reports.evaluation import load
from core.reports.report import report
from core.settings import settings

pytestmark = pytest.mark.quick


def write(folder: Path, *, name="probs_tiny_qa_float32_base.npz", **change) -> Path:
    rng = np.random.default_rng(0)
    arrays = {
        "cal_probs": rng.dirichlet(np.ones(6), 30),
        "test_probs": rng.dirichlet(np.ones(6), 20),
        "cal_labels": rng.integers(0, 4, 30),
        "test_labels": rng.integers(0, 4, 20),
        "option_letters": np.array(list("ABCDEF")),
    } | change
    path = folder / name
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def test_probabilities_come_back(home, tmp_path):
    path = write(tmp_path)
    (name,) = save([bluq.read(path)])
    run = load(name)
    with np.load(path) as archive:
        assert run.probabilities[run.calibration] == pytest.approx(archive["cal_probs"], abs=1e-6)
        assert run.probabilities[run.test] == pytest.approx(archive["test_probs"], abs=1e-6)
        assert np.array_equal(run.labels[run.test], archive["test_labels"])
    assert (run.spec.model, run.spec.task, run.spec.dtype, run.spec.strategy) == ("tiny", "qa", "float32", "base")


ABOUT = {"model": "microsoft/phi-2", "task": "drs", "dtype": "float16", "strategy": "shared"}


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("probs_drs_float16_shared_20250101_120000.npz", ABOUT),
        ("probs_phi-2_drs_float16_shared_20250101_120000.npz", ABOUT),
        ("probs_phi-2_drs_float16_shared.npz", ABOUT),  # the last part of the hub's id
        ("upload.npz", ABOUT),
        ("probs_drs_float16_shared_20250101_120000.npz", ["model"]),
    ],
)
def test_an_archive_says_itself_what_it_is_or_its_name_does(tmp_path, name, inside, shape):
    path = write(tmp_path, name=name, **{key: np.array(ABOUT[key]).reshape(shape) for key in inside})
    run = bluq.read(path)
    assert {key: getattr(run.spec, key) for key in ABOUT} == ABOUT


def test_a_published_archive_under_its_published_name(home, real_data, tmp_path):
    source = real_data / "bluq" / "probs_phi-2_drs_float32_base.npz"
    path = tmp_path / "probs_drs_float32_base_20251209_135616.npz"
    path.write_bytes(source.read_bytes())
    run, same = bluq.read(path), bluq.read(source)
    assert run.spec == same.spec


def test_a_probability_of_zero_stays_one(home, tmp_path):
    p = np.tile([1.0, 0, 0, 0, 0, 0], (20, 1))
    (name,) = save([bluq.read(write(tmp_path, test_probs=p))])
    run = load(name)
    assert np.array_equal(run.probabilities[run.test], p)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cal_labels": np.full(30, 6)}, "label 6 of row 0 is outside"),
        ({"cal_probs": np.full((30, 6), np.nan)}, "must be a number"),
        ({"cal_probs": np.full((30, 6), 0.5)}, "sum to 1"),
        ({"test_probs": None}, "expected the array 'test_probs'"),
        ({"cal_probs": np.array([None] * 30, dtype=object)}, "not a complete npz"),
        ({"test_probs": np.full((20, 5), 0.2)}, "have .* options"),
        ({"name": "tiny.npz"}, "neither the archive nor its name says the model"),
        ({"name": "probs_qa_float32_base_20250101_120000.npz"}, "neither the archive nor its name says the model"),
        ({"task": np.array(["rc"])}, "the name says task 'qa', the archive says 'rc'; rename the file"),
        ({"model": np.array("other")}, "the name says model 'tiny', the archive says 'other'; rename the file"),
        ({"dtype": np.array(["float8"])}, "the archive says dtype 'float8'; expected one of float32, float16"),
        ({"model": np.array(["a", "b"])}, "expected 'model' as one text, found an array of shape"),
        ({"model": np.array([" "])}, "expected 'model' as one text"),
        ({"strategy": np.array([1.0])}, "expected 'strategy' as one text, found an array of shape .* and type float64"),
        ({"model": np.array([{"tiny": 1}], dtype=object)}, "it holds Python objects, which could run code"),
        ({"test_labels": np.full(20, 4)}, "test-0: expected an answer as the truth, found E “I don't know”"),
        (
            {"cal_probs": np.full((30, 6), 1 / 6), "test_probs": np.full((20, 6), 1 / 6)},
            "found all equal in each of 50 questions",
        ),
    ],
)
def test_bad_files_are_named_and_nothing_is_written(home, tmp_path, change, says):
    good = write(tmp_path, name="probs_good_qa_float32_base.npz")
    bad = write(tmp_path, **change)
    with pytest.raises(InputError, match=says):
        save(map(bluq.read, [good, bad]))
    assert not settings().runs.exists()


@pytest.mark.parametrize("keep", [0, 0.02, 0.5, 0.95, "npy"])
def test_a_truncated_file_and_another_one(tmp_path, keep):
    path = write(tmp_path)
    content = path.read_bytes()
    path.write_bytes(npy(np.ones(3)) if keep == "npy" else content[: int(keep * len(content))])
    with pytest.raises(InputError, match="not a complete npz"):
        bluq.read(path)


@pytest.mark.parametrize("task", ["qa", "rc", "ci", "drs", "ds"])
@pytest.mark.parametrize("model", ["phi-2", "gemma-2-9b-it"])
def test_published_figures(home, real_data, model, task):
    folder = real_data / "bluq"
    published = {
        row["conformal_method"]: row
        for row in json.loads((folder / f"results_{model}_float32.json").read_text())
        if row["task"] == task
    }
    (name,) = save([bluq.read(folder / f"probs_{model}_{task}_float32_base.npz")])
    figures_read = report(load(name), 100, method="bluq", empty="top1")
    assert figures_read.accuracy == pytest.approx(published["lac"]["accuracy"], abs=1e-9)
    for score, figures in figures_read.scores.items():
        if score == "aps" and abs(figures.threshold - 1) < 1e-9:
            # What stays at a threshold of 1 is the noise of a running sum; the report says so.
            assert any("rounding noise" in note for note in figures.notes)
            continue
        assert figures.coverage == pytest.approx(published[score]["coverage_rate"], abs=1e-9)
        assert figures.mean_set_size == pytest.approx(published[score]["avg_set_size"], abs=1e-9)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("core.exchange.npy_headers.MOST_UNPACKED", 10_000_000)
    path = tmp_path / "probs_tiny_qa_float32_base.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cal_probs.npy", bytes(20_000_000))
    assert path.stat().st_size < 30_000
    with pytest.raises(InputError, match=r"expected arrays of at most 0\.01 GB, found 0\.0 GB; it is not unpacked"):
        bluq.read(path)


def test_millions_of_equal_questions_in_a_small_file_are_refused(tmp_path):
    path = tmp_path / "probs_tiny_qa_float32_base.npz"
    arrays = {f"{side}_probs": np.tile(np.array([0.6, 0.4]), (600_000, 1)) for side in ("cal", "test")}
    labels = {f"{side}_labels": np.zeros(600_000, dtype=np.int64) for side in ("cal", "test")}
    np.savez_compressed(path, **arrays, **labels)
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"at most 1,000,000 questions, found 1,200,000; split it into several files"):
        bluq.read(path)
