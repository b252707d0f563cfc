"""Raw, LN and UN against a slow reference and against lm-evaluation-harness; next tokens; written answers."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from core.models.model_sources import bundled_models, resolve
from core.models.transformers_engine import TransformersEngine
from core.questions import bank, catalogue
from core.questions.prompting.cloze import BARE, OptionTexts, bare_prompt, cloze_prompt, continuation_prompt, normalised
from core.questions.prompting.strategies import prompt
from core.records import Question
from core.settings import ASSETS
from tests.core.recorded_logs import MODEL, unpack

N = 60
METRICS = {"acc": "raw", "acc_norm": "characters", "acc_bytes": "bytes", "acc_mutual_info": "mutual"}
"""A metric of the harness → the normalisation whose decisions it scores."""


def folder_of(name: str, request: pytest.FixtureRequest) -> Path:
    if name == "bundled":
        return ASSETS / "models" / bundled_models()[0]
    return request.getfixturevalue("real_models") / name


@pytest.fixture(params=["bundled", "tinystories-656k"], scope="module")
def model(request: pytest.FixtureRequest) -> str:
    return request.param


def engine_of(folder: Path) -> TransformersEngine:
    return TransformersEngine.load(resolve(str(folder)), dtype="float32")


def scored(engine, prompts):
    """By prompt id: log-likelihoods and token counts."""
    engine.prepare(prompts)
    assert engine.self_check(prompts).passed
    return {
        name: (row[np.isfinite(row)], tokens[np.isfinite(row)])
        for batch in engine.score(prompts)
        for name, row, tokens in zip(batch.ids, batch.logits, batch.option_tokens, strict=True)
    }


def alone(engine, texts, by):
    joined = bool(BARE[by]) and engine.joins([bare_prompt(t, by=by) for t in texts])
    scores = scored(engine, [bare_prompt(t, by=by, joined=joined) for t in texts])
    return {text: float(row[0]) for text, (row, _) in scores.items()}


def all_of(engine, questions, build=cloze_prompt):
    """By normalisation and question id: the scores of its options."""
    prompts = [build(q) for q in questions]
    raw = scored(engine, prompts)
    texts = sorted({text for p in prompts for text in p.continuations})
    bare = {by: alone(engine, texts, by) for by in BARE}
    collected = {}
    for q, p in zip(questions, prompts, strict=True):
        row, tokens = raw[q.id]
        option_texts = OptionTexts(
            tokens[None].astype(float),
            np.array([[float(len(o.strip())) for o in q.options]]),
            np.array([[float(len(o.strip().encode())) for o in q.options]]),
            {by: np.array([[bare[by][text] for text in p.continuations]]) for by in BARE},
        )
        for by in ("raw", "tokens", "characters", "bytes", *BARE):
            collected.setdefault(by, {})[q.id] = normalised(row[None], option_texts, by=by)[0]
    return collected


def slow(engine, context: str, option: str) -> tuple[float, int]:
    """Σ log p of the option's tokens after the context, each from a forward pass of its own, and how many they are."""
    tokenizer, model = engine.encoder.tokenizer, engine.model
    whole = tokenizer(context + option)["input_ids"]
    before = len(tokenizer(context)["input_ids"])
    total = 0.0
    for at in range(before, len(whole)):
        with torch.inference_mode():
            logits = model(torch.tensor([whole[:at]])).logits[0, -1].float()
        total += float(torch.log_softmax(logits, -1)[whole[at]])
    return total, len(whole) - before


ODD = Question("odd", "local", "", "", "Who came?", ("Zoë — the cook", "a", "no one at all, it seems"), 0)


@pytest.mark.parametrize("build", [cloze_prompt, continuation_prompt])
def test_raw_ln_and_un_equal_one_token_at_a_time(build):
    engine = engine_of(ASSETS / "models" / bundled_models()[0])
    chosen = [*bank.load("qa")[:6], ODD]
    got = all_of(engine, chosen, build)
    for q in chosen:
        prompts_built = build(q)
        for j, text in enumerate(prompts_built.continuations):
            raw, tokens = slow(engine, prompts_built.text, text)
            bare, _ = slow(engine, "Answer:", text)
            assert got["raw"][q.id][j] == pytest.approx(raw, abs=1e-4)
            assert got["tokens"][q.id][j] == pytest.approx(raw / tokens, abs=1e-4)
            assert got["unconditional"][q.id][j] == pytest.approx(raw - bare, abs=1e-4)


def test_options_that_join_the_colon_and_others_score_the_same_stretch_of_text(real_models):
    """This tokenizer writes "Answer: a" with the tokens ":" and " a", "Answer: bank" with ": " and "bank"."""
    engine = engine_of(real_models / "tinystories-656k")
    chosen = [
        *bank.load("qa")[:6],
        Question("mixed", "local", "", "", "Who?", ("a", "bank", "the girl", "Zoë"), 0),
        ODD,
    ]
    assert engine.joins([cloze_prompt(q) for q in chosen])
    got = all_of(engine, chosen)
    for q in chosen:
        built_prompt = cloze_prompt(q)
        raw = np.array([slow(engine, built_prompt.text[:-1], f":{text}")[0] for text in built_prompt.continuations])
        bare = np.array([slow(engine, "Answer", f":{text}")[0] for text in built_prompt.continuations])
        # A colon that is the same token for all options is no option's; then it adds the same to all.
        assert got["raw"][q.id] - got["raw"][q.id][0] == pytest.approx(raw - raw[0], abs=2e-4)
        un = raw - bare
        assert got["unconditional"][q.id] - got["unconditional"][q.id][0] == pytest.approx(un - un[0], abs=2e-4)


def test_decisions_are_those_of_the_harness(tmp_path: Path):
    """With a tokenizer that joins no tokens across the seam; elsewhere the harness conditions on a token that is not in
    the text."""
    (path,) = unpack("lm_eval", tmp_path).glob("samples_bank_cloze_*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    theirs = {row["doc_id"]: row for row in rows if row["doc_id"] < N}
    questions = bank.load("qa")[:N]
    got = all_of(engine_of(MODEL), questions)
    assert len(theirs) == N
    for i, q in enumerate(questions):
        answers = [float(answer[0][0]) for answer in theirs[i]["resps"]]
        k = len(q.options)
        # The harness computes in batches of its own; a sum of log-probabilities differs by rounding alone.
        assert got["raw"][q.id] == pytest.approx(answers[:k], abs=2e-3)
        assert got["raw"][q.id] - got["mutual"][q.id] == pytest.approx(answers[k:], abs=2e-3)
        for metric, by in METRICS.items():
            assert float(got[by][q.id].argmax() == q.label) == theirs[i][metric], (q.id, metric)


@pytest.mark.parametrize(("task", "name"), [("arc", "data_arc"), ("csqa", "data_common_qa")])
def test_published_questions_of_any_number_of_options(real_data, real_models, task, name):
    every = catalogue.load(f"{task}@{real_data / 'cp-mcp' / f'{name}.jsonl'}").questions
    unusual = [q for q in every if len(q.options) not in (4, 5) or (task == "arc" and len(q.options) == 5)]
    engine = engine_of(real_models / "tinystories-656k")
    chosen = [*every[:8], *unusual[:4]]
    got = all_of(engine, chosen)
    for q in chosen[-5:]:
        built_prompt = cloze_prompt(q)
        expected = np.array(
            [slow(engine, built_prompt.text[:-1], f":{text}")[0] for text in built_prompt.continuations]
        )
        assert got["raw"][q.id] - got["raw"][q.id][0] == pytest.approx(expected - expected[0], abs=2e-4)


def test_the_most_probable_next_token_is_that_of_the_model(model, request):
    engine = engine_of(folder_of(model, request))
    prompts = [prompt(q) for q in bank.load("qa")[:5]]
    engine.prepare(prompts)
    engine.self_check(prompts)
    top_tokens = {
        name: batch.top_tokens and batch.top_tokens[i]
        for batch in engine.score(prompts)
        for i, name in enumerate(batch.ids)
    }
    for scored_prompt in prompts:
        row = engine.encoder.rows([scored_prompt])[0]
        assert row.is_letters
        with torch.inference_mode():
            top = int(engine.model(torch.tensor([row.context])).logits[0, -1].argmax())
        assert top_tokens[scored_prompt.question_id] == engine.encoder.tokenizer.decode([top])


def next_token(engine, scored_prompt):
    with torch.inference_mode():
        tokens = torch.tensor([engine.encoder.tokenizer(scored_prompt.text)["input_ids"]])
        return torch.softmax(engine.model(tokens).logits[0, -1].float(), -1)


def unsure(engine, prompts):
    """The prompt whose most probable next token is the least probable."""
    return min(prompts, key=lambda asked: float(next_token(engine, asked).max()))


def test_written_answers_come_from_the_models_own_probabilities():
    engine = engine_of(ASSETS / "models" / bundled_models()[0])
    prompts = unsure(engine, [prompt(q) for q in bank.load("qa")[:20]])
    first, again, other = (answers for _, answers in engine.write([prompts] * 3, repeats=8, seeds=[1, 1, 2]))
    assert first == again
    assert first != other
    ((_, drawn),) = engine.write([prompts], repeats=600, seeds=[0])
    tokenizer, odds = engine.encoder.tokenizer, next_token(engine, prompts)
    begins = Counter(text.strip()[:1] for text in drawn)
    for letter in "ABCD":
        p = float(odds[tokenizer(f"{prompts.text} {letter}")["input_ids"][-1]])
        spread = 4.5 * max((p * (1 - p) / 600) ** 0.5, 1 / 600)
        assert begins[letter] / 600 == pytest.approx(p, abs=spread), letter
