"""What ships is what the shipped models answer: their runs, their juries and their cards."""

import json
import random
import shutil
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.special import softmax

from core.conformal.probabilities import top_options
from core.jury.pipeline import jury_spec, jury_store
from core.models.engine import Engine
from core.models.engine_factory import load_engine
from core.models.generation import Generator
from core.models.perplexity import choices, conversations
from core.models.perplexity.scoring import Scorer
from core.models.verdicts import judge
from core.questions import bank
from core.questions.trivia import BUNDLED, read
from core.records import LETTERS
from core.reports import evaluation, perplexity_results
from core.runs.execution import perplexity_run
from core.runs.prompts import draw_questions, prompts
from core.runs.shared_questions import FOLDER as SHARED
from core.runs.shared_questions import questions_file
from core.runs.spec import RunSpec
from core.settings import ASSETS
from core.storage.sealed import digest_of
from pocket_world import trivia
from pocket_world.jury import FOLDER as JURIES
from pocket_world.jury import JURORS, SPECS, answered, claims, right_about
from pocket_world.recipes import HUMBLE, RECIPES
from pocket_world.record import FOLDER, record, recorded_specs, words_spec
from pocket_world.tokens import END, PAD, published_tokenizer
from pocket_world.world import tuned_on, world
from tests.parameters import rest_nightly


def spec_of(folder: Path) -> RunSpec:
    return RunSpec.from_json(json.loads((folder / "run.json").read_text(encoding="utf-8"))["spec"])


SPECS_OF_RUNS = {folder: spec_of(folder) for folder in sorted(FOLDER.iterdir())}
RUNS = [folder for folder, spec in SPECS_OF_RUNS.items() if spec.answers]
OF_WORDS = [folder for folder in SPECS_OF_RUNS if folder not in RUNS]
SMALLEST = [folder for folder, spec in SPECS_OF_RUNS.items() if spec.model == "pocket-1m"]
BASE = [folder for folder in RUNS if SPECS_OF_RUNS[folder].strategy == "base"]


@lru_cache(maxsize=2)
def engine_of(model: str, dtype: str) -> Engine:
    return load_engine(model, dtype=dtype, batch_size=None)


@pytest.mark.parametrize("name", RECIPES)
def test_every_shipped_model(name: str) -> None:
    folder, recipe = ASSETS / "models" / name, RECIPES[name]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert (config["hidden_size"], config["num_hidden_layers"], config["tie_word_embeddings"]) == (
        recipe.hidden,
        recipe.layers,
        True,
    )
    tokenizer = published_tokenizer(folder)
    assert (tokenizer.pad_token, tokenizer.eos_token, len(tokenizer)) == (PAD, END, config["vocab_size"])
    assert bool(tokenizer.chat_template) == recipe.chat
    letters = [tokenizer.encode(f" {letter}") for letter in LETTERS[:6]]
    assert all(tokenizer.encode(f"Answer: {letter}")[-1:] == ids for letter, ids in zip(LETTERS, letters, strict=False))
    for text in (
        "\r\n\x00\x7f\u200b\ufeff",
        "Grüße aus Zürich – 東京, العربية, 🦔",
        "1 12 1234 007 3.14 ½",
        "A.x\nA. x",
    ):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_card_tells_the_accuracy_of_each_run(folder: Path) -> None:
    run = evaluation.load(folder.name)
    room = "adapters" if run.spec.model == HUMBLE else "models"
    card = (ASSETS / room / run.spec.model / "README.md").read_text(encoding="utf-8")
    words = (run.spec.task, run.spec.form, run.spec.strategy, run.spec.shots, run.spec.dtype, f"{len(run.labels):,}")
    right = (top_options(run.probabilities) == run.labels).mean()
    assert f"| {' | '.join(map(str, words))} | {right:.1%} (" in card


def test_the_runs_that_ship_are_those_that_are_recorded(home: Path) -> None:
    specs = [spec for model in (*RECIPES, HUMBLE) for spec in recorded_specs(model)]
    recorded = {spec.run_id for spec in (*specs, *map(words_spec, RECIPES))}
    assert {folder.name for folder in SPECS_OF_RUNS} == recorded
    shared = {questions_file(folder) for folder in RUNS}
    assert shared == set(SHARED.glob("*.parquet"))
    assert all(digest_of(path) == path.stem for path in shared)
    sizes = [path.stat().st_size for folder in (FOLDER, SHARED) for path in folder.rglob("*") if path.is_file()]
    assert sum(sizes) <= 10 * 2**20


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_recorded_run_is_of_the_questions_that_ship(folder: Path) -> None:
    recorded = json.loads((folder / "run.json").read_text(encoding="utf-8"))["provenance"]["data_fingerprint"]
    assert recorded == bank.fingerprint(draw_questions(SPECS_OF_RUNS[folder]).questions)


@pytest.mark.parametrize("folder", rest_nightly(BASE, now=SMALLEST), ids=lambda folder: folder.name)
def test_it_comes_out_the_same(folder: Path) -> None:
    """Ten of its questions are asked again; probabilities differ by less than 1e-4 in float32.

    A bfloat16 logit of 16 to 32 comes in steps of an eighth, and processors round differently: one step moves a
    probability by up to 0.031, and two are let pass. Many processors compute slowly in bfloat16.
    """
    spec = SPECS_OF_RUNS[folder]
    columns = pq.read_table(folder / "logits.parquet").to_pydict()
    recorded = dict(zip(columns["id"], columns["logits"], strict=True))
    asked = random.Random(folder.name).sample(prompts(spec, draw_questions(spec)), 10)
    engine = engine_of(spec.model, spec.dtype)
    engine.prepare(asked)
    tolerance = 1e-4 if spec.dtype == "float32" else 6.5e-2
    for batch in engine.score(asked):
        for name, logits in zip(batch.ids, batch.logits, strict=True):
            np.testing.assert_allclose(softmax(np.float64(logits)), softmax(recorded[name]), rtol=0, atol=tolerance)


@pytest.mark.parametrize("folder", rest_nightly(OF_WORDS, now=SMALLEST), ids=lambda folder: folder.name)
def test_words_are_of_what_ships_and_come_out_the_same(folder: Path) -> None:
    spec = SPECS_OF_RUNS[folder]
    request = perplexity_run.read_request(spec)
    assert set(request.conversations) == set(conversations.bundled())
    assert request.choices == choices.read(choices.BUNDLED)
    part = next(request.parts())
    scorer = Scorer.load(spec.model, dtype=spec.dtype)
    first = scorer.lay_out([part], mode=request.mode)[0][0]
    ((_, scored),) = scorer.score(part.windows[:1], [first])
    recorded = perplexity_results.read(folder.name).messages[part.prompt.digest, part.source][0]
    assert scored.pieces == recorded.pieces
    np.testing.assert_allclose(scored.losses, recorded.losses, rtol=0, atol=1e-3)


@pytest.mark.parametrize("base", SPECS)
def test_a_jury_is_of_questions_that_tuned_no_juror_and_beats_saying_always_false(base: str) -> None:
    (folder,) = JURIES.glob(f"answers-of-{base}-to-trivia-*")
    judgements = jury_store.read(folder.name)
    assert set(judgements.ids) == {question.id for question in read(BUNDLED) if not question.tuning}
    assert judgements.jurors == SPECS[base].juror_names
    verdicts = judgements.p_true > judgements.p_false
    assert ((verdicts == judgements.labels[:, None]).mean(axis=0) > (~judgements.labels).mean() + 0.03).all()
    assert 0.02 < np.mean(verdicts.any(axis=1) & ~verdicts.all(axis=1)) < 0.9
    assert jury_store.read_record(folder.name).answers == len(judgements)


@pytest.mark.parametrize("place", rest_nightly(range(3), now=[0]))
def test_a_jury_says_the_same_again(place: int) -> None:
    (folder,) = JURIES.glob("answers-of-pocket-8m-to-trivia-*")
    judgements = jury_store.read(folder.name)
    rows = random.Random(place).sample(range(len(judgements)), 40)
    claims_of_rows = [(str(row), judgements.questions[row], judgements.answers[row]) for row in rows]
    for name, (p_true, p_false) in judge(judgements.jurors[place], claims_of_rows, dtype="float32").verdicts():
        assert p_true == pytest.approx(judgements.p_true[int(name), place], abs=1e-4)
        assert p_true + p_false == pytest.approx(1)
    generator = Generator.load("pocket-8m", dtype="float32")
    texts = [jury_spec.answer_prompt(judgements.questions[row]) for row in rows]
    assert dict(generator.answers(texts)) == {i: judgements.answers[row] for i, row in enumerate(rows)}


def test_the_answers_that_ship_come_out_again() -> None:
    assert trivia.answer("pocket-8m", read(BUNDLED)[::60]) == trivia.read_answers()[::60]


@pytest.mark.parametrize("name", rest_nightly(JURORS, now=["juror-3m"]))
def test_a_shipped_juror_tells_right_from_wrong(name: str) -> None:
    """Of answers from the tables half are false; of the recorded ones, more are true."""
    others = [fact for fact in world() if not tuned_on(fact)]
    proposed = random.Random("told").sample(claims(others, random.Random("others")), 500)
    assert right_about(ASSETS / "adapters" / name, proposed) > 0.55 * len(proposed)
    own = random.Random(name).sample(answered(tuning=False), 250)
    assert right_about(ASSETS / "adapters" / name, own) > sum(not example.right for example in own)


@pytest.mark.nightly
def test_recording_again_replaces_what_was_there(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of other models stay, those of this one come out with the same files, and unused questions go."""
    runs, shared = tmp_path / "runs", tmp_path / "questions"
    stale, other, again = (f"pocket-{name}-base-0shot-float32" for name in ("1m-rc", "3m-rc", "1m-ds"))
    for folder in RUNS:
        if folder.name.startswith((stale, other)):
            shutil.copytree(folder, runs / folder.name)
    shutil.copytree(SHARED, shared)
    monkeypatch.setattr("pocket_world.record.recorded_specs", lambda model: recorded_specs(model, ["ds"]))
    names = record("pocket-1m", folder=runs, shared=shared)
    assert [name.split("-float32")[0] for name in names] == [again.removesuffix("-float32"), "pocket-1m-perplexity"]
    assert {path.name for path in runs.iterdir()} == {*names, *(run.name for run in RUNS if run.name.startswith(other))}
    for name in names:
        assert {path.name for path in (runs / name).iterdir()} == {path.name for path in (FOLDER / name).iterdir()}
    assert len(list(shared.glob("*.parquet"))) == 2
