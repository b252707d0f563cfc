"""A run with every caveat at once, for tests of the places that show a run."""

import time
from dataclasses import replace

import numpy as np

from core.conformal.probabilities import frequencies
from core.models import letter_mass
from core.records import OptionLogits
from core.runs import store
from core.runs.caveats import PICKS, picked
from core.runs.spec import RunSpec
from core.runs.store import RunRecord
from tests.conftest import synthetic_questions, synthetic_run

CUT = {"asked": 120, "truncated_prompts": 119, "dropped_demonstrations": 300, "shortened_prompts": 7}
STATED = "Its first author says that *two* <b>annotators</b> disagreed."


def unanswered_run(*, noted: bool = True, model: str = "reasoner") -> str:
    """Write a finished run of 60 questions whose letters have 0.01% of the probability, because its model begins with
    ``<think>``. Its ``run.json`` says so, unless it is one of an earlier version (not ``noted``). Returns its id."""
    run_id = synthetic_run(60, model=model)
    scored = store.read_logits(run_id)
    mass = np.full(60, 1e-4, np.float32)
    scored = replace(scored, letter_mass=mass, top_tokens=("<think>",) * 60)
    store.write_logits(store.folder_of(run_id), scored)
    if noted:
        store.update_record(run_id, provenance=letter_mass.noted(scored, np.arange(30, 60)))
    return run_id


def picked_run() -> str:
    """Write a finished run of 60 questions whose probabilities are frequencies of 5 picks. Returns its id."""
    questions = synthetic_questions(60, k=4)
    rng = np.random.default_rng(0)
    shares, samples = frequencies(rng.multinomial(5, rng.dirichlet(np.ones(4), 60)))
    with np.errstate(divide="ignore"):
        logits = np.log(shares).astype(np.float32)
    spec = RunSpec(model="picker", task="qa", picks=5, dtype="served", servers=("http://gpu-3:8000/v1",))
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, ["calibration" if i < 30 else "test" for i in range(60)])
    mass = np.full(60, np.nan, np.float32)
    ids = tuple(q.id for q in questions)
    store.write_logits(folder, OptionLogits(ids, logits, mass, probabilities=shares, samples=samples))
    store.update_record(spec.run_id, state="done", ended=time.time(), provenance={PICKS: picked(samples, unread=3)})
    return spec.run_id


def flawed_run(*, model: str = "fake", shots: int = 16) -> str:
    """Write a finished run of 60 calibration and 60 test questions that has every caveat but bounded letters and
    repeated questions. Returns its id."""
    questions = synthetic_questions(120)
    for i in range(40):
        question = questions[i]
        questions[i] = replace(
            question, options=(*question.options[:3], *question.options[4:]), label=min(question.label, 2)
        )
    logits = np.random.default_rng(0).normal(size=(120, 6)).astype(np.float32)
    logits[:40, 5] = -np.inf
    logits[80:90, :2] = 4.0  # ties at the top
    logits[100, questions[100].label] = -np.inf
    spec = RunSpec(model=model, task="qa", shots=shots)
    folder = store.create(RunRecord(spec=spec, state="queued", created=time.time()))
    store.write_questions(folder, questions, ["calibration" if i < 60 else "test" for i in range(120)])
    store.write_logits(folder, OptionLogits(tuple(q.id for q in questions), logits, np.full(120, 0.2, np.float32)))
    provenance = {
        "engine": {"context": 512, "truncated_prompts": 240},
        "prompts": CUT,
        "counts": {"samples": 130, "errors": 8, "without an answer": 2, "further epochs": 4},
        "caveats": STATED,
    }
    store.update_record(spec.run_id, state="done", ended=time.time(), provenance=provenance)
    return spec.run_id
