import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from core.errors import InputError
from core.models import paths
from core.models.encoding import Encoder, context_of
from core.models.letters import letter_tokens
from core.models.model_sources import resolve
from core.models.transformers_engine import TransformersEngine
from core.questions import bank
from core.questions.prompting.strategies import prompt
from core.records import Prompt, Question
from core.runs import store
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from hedge.cli import main
from tests.conftest import synthetic_questions
from tests.core.models.architectures import tiny
from tests.core.models.conftest import WORDS, save_tokenizer

SHARED = " ".join(WORDS[-50:-10])


def prompts(n=30, seed=0, longest=40, shared=""):
    """Prompts of very unlike lengths, of six letters."""
    rng = np.random.default_rng(seed)
    words = WORDS[-50:]
    return [
        Prompt(f"p{i}", f"{shared} Question: {' '.join(rng.choice(words, rng.integers(1, longest)))}\nAnswer:", 6)
        for i in range(n)
    ]


def load(folder, dtype="float32", **options):
    return TransformersEngine.load(resolve(str(folder)), dtype=dtype, **options)


def one_by_one(folder, prompts, letters):
    """The plainest way: transformers' own call, a prompt at a time, nothing padded."""
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        rows = [
            torch.log_softmax(model(**tokenizer(p.text, return_tensors="pt")).logits[0, -1].float(), -1)[letters]
            for p in prompts
        ]
    return torch.stack(rows).numpy()


def scored(engine, prompts):
    batches = list(engine.score(prompts))
    ids = [name for batch in batches for name in batch.ids]
    logits = np.concatenate([batch.logits for batch in batches])
    mass = np.concatenate([batch.letter_mass for batch in batches])
    order = [ids.index(p.question_id) for p in prompts]
    return logits[order], mass[order]


def letters_of(engine):
    return list(engine.description["letter_tokens"].values())


@pytest.mark.parametrize(("shared", "rung"), [("", "padded rows"), (SHARED, "prefix cache")])
def test_fast_equals_one_by_one(tiny_model, shared, rung):
    test_prompts, engine = prompts(shared=shared), load(tiny_model)
    engine.prepare(test_prompts)
    check = engine.self_check(test_prompts)
    assert check.passed
    assert check.rung == engine.description["rung"] == rung
    assert engine.description["shared_prefix_tokens"] == (len(SHARED.split()) + 2 if shared else 0)
    logits, mass = scored(engine, test_prompts)
    alone = one_by_one(tiny_model, test_prompts, letters_of(engine))
    assert np.abs(logits - alone).max() < 1e-4
    assert mass == pytest.approx(np.exp(alone).sum(axis=1), abs=1e-5)


def test_no_rung_is_used_that_has_not_passed(tiny_model, monkeypatch):
    """Before the check, and after one that failed, everything is scored one by one."""

    def refuse(*args, **kwargs):
        raise AssertionError("a rung was used that has not passed")

    test_prompts, engine = prompts(6, shared=SHARED), load(tiny_model)
    engine.prepare(test_prompts)
    with monkeypatch.context() as patch:
        patch.setattr(paths, "letters", refuse)
        before, _ = scored(engine, test_prompts)
    monkeypatch.setattr(paths, "read_positions", lambda lengths: [max(lengths) - 1] * len(lengths))
    check = engine.self_check(test_prompts)
    assert check.rung == "one by one"
    assert len(check.refused) == 2
    after, _ = scored(engine, test_prompts)
    assert np.array_equal(before, after)
    # A new set of prompts has to pass again.
    monkeypatch.undo()
    assert engine.self_check(test_prompts).rung == "prefix cache"
    engine.prepare(test_prompts)
    assert engine.description["rung"] == "one by one"


def test_prompts_that_a_path_can_not_take_are_scored_one_by_one(tiny_model):
    """The path was selected for letters behind a shared beginning; these prompts have longer options, or begin
    otherwise."""
    engine = load(tiny_model)
    engine.prepare(prompts(6, shared=SHARED))
    assert engine.self_check(prompts(6, shared=SHARED)).rung == "prefix cache"
    others = prompts(3, shared="")
    longer = [
        Prompt(prompt.question_id, prompt.text, 2, continuations=(" one two", " three"))
        for prompt in prompts(3, shared=SHARED)
    ]
    for test_prompts in (others, longer):
        test_prompts = [replace(prompt, question_id=f"another-{i}") for i, prompt in enumerate(test_prompts)]
        alone = np.concatenate([batch.logits for batch in load(tiny_model).score(test_prompts)])
        assert np.array_equal(np.concatenate([batch.logits for batch in engine.score(test_prompts)]), alone)


def test_a_planted_fault_steps_down_and_the_run_says_why(home, tiny_model, monkeypatch):
    monkeypatch.setattr(paths, "read_positions", lambda lengths: [max(lengths) - 1] * len(lengths))
    # Questions alike in length would hide the fault: make one of them long.
    long = synthetic_questions(20)
    long[3] = type(long[3])("long", "qa", "sums", "w1 " * 20, "w2?", long[3].options, long[3].label)
    monkeypatch.setattr(bank, "load", lambda task: long)
    name = execute(RunSpec(model=str(tiny_model), task="qa"))
    check = store.read_record(name).provenance["self_check"]
    assert check["rung"] == "one by one"
    assert "padded rows: differs by" in check["refused"][0]
    assert any("refused padded rows" in line for line in store.read_log(name))


def test_a_run_of_a_real_model(home, tiny_model, monkeypatch):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(60))
    name = execute(RunSpec(model=str(tiny_model), task="qa", shots=1))
    provenance = store.read_record(name).provenance
    assert provenance["engine"]["architecture"] == "LlamaForCausalLM"
    assert provenance["engine"]["letter_tokens"] == {letter: WORDS.index(letter) for letter in "ABCDEF"}
    assert provenance["engine"]["rung"] == provenance["self_check"]["rung"] == "prefix cache"
    assert provenance["self_check"]["largest_difference"] < 1e-4
    assert provenance["chunk"] == 50


# ---------------------------------------------------------------- too long


def test_the_oldest_demonstrations_go_and_are_counted(tiny_model):
    shown = [Question(f"d{i}", "qa", "g", "", f"{'w1 ' * 20}w{i}?", ("w3", "w4"), 0) for i in range(8)]
    last = Question("last", "qa", "g", "", "w5 w6?", ("w3", "w4"), 0)
    engine = load(tiny_model)
    built_prompt = prompt(last, demonstrations=shown)
    engine.prepare([built_prompt])
    assert engine.description["truncated_prompts"] == 1
    dropped = engine.description["dropped_demonstrations"]
    prompt_after_cut = prompt(last, demonstrations=shown[dropped:])
    assert 0 < dropped < 8
    assert engine.encoder.shown(built_prompt)[0] == prompt_after_cut.text
    fuller = prompt(last, demonstrations=shown[dropped - 1 :])
    assert len(engine.encoder.ids([prompt_after_cut.text])[0]) <= 128 < len(engine.encoder.ids([fuller.text])[0])
    assert np.isfinite(scored(engine, [built_prompt])[0]).all()


def test_a_run_says_what_did_not_fit(home, tiny_model, monkeypatch, capsys):
    monkeypatch.setattr(bank, "load", lambda task: synthetic_questions(30))
    assert main(["run", "--model", str(tiny_model), "--task", "qa", "--shots", "8"]) == 0
    says = "22 of 22 prompts were longer than the 128 tokens that the model reads, and lost 154 demonstrations."
    run_id = next(name for name in store.run_ids() if name.startswith("tiny-llama"))
    assert any(says in line for line in store.read_log(run_id))
    printed = capsys.readouterr()
    assert says in printed.out
    warned = "About 22 of 22 prompts are longer than the 128 tokens that tiny-llama reads, so demonstrations will be"
    assert f"warning: run {run_id}: {warned}" in printed.err


def test_what_is_too_long_even_so_loses_its_beginning(tiny_model):
    test_prompts = [*prompts(3), Prompt("long", "w1 " * 300 + "Answer:", 6)]
    engine = load(tiny_model)
    engine.prepare(test_prompts)
    assert engine.description["truncated_prompts"] == 1
    row = engine.encoder.rows([test_prompts[-1]])[0]
    assert len(row.context) == 128
    assert row.context[-2:] == (WORDS.index("Answer"), WORDS.index(":"))


def test_a_text_leaves_room_for_its_options(tiny_model):
    engine = load(tiny_model)
    long_prompt = Prompt("p", "w1 " * 130 + "Answer:", 2, continuations=(" w2 w3 w4", " w5"))
    row = engine.encoder.rows([long_prompt])[0]
    assert row.options == ((WORDS.index("w2"), WORDS.index("w3"), WORDS.index("w4")), (WORDS.index("w5"),))
    assert len(row.context) + 3 - 1 == 128


def test_the_context_by_whatever_name():
    assert context_of(tiny("gpt2").config) == context_of(tiny("mpt").config) == context_of(tiny("llama").config) == 512
    assert context_of(tiny("bloom").config) == 0


# ---------------------------------------------------------------- precision, letters, bad folders


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_precision_is_what_it_says(tiny_model, dtype):
    engine = load(tiny_model, dtype)
    engine.prepare(prompts())
    assert {p.dtype for p in engine.model.parameters()} == {getattr(torch, dtype)}
    assert engine.self_check(prompts()).passed


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_quantised_weights_need_a_gpu(tiny_model, dtype):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(InputError, match=f"{dtype} needs an NVIDIA GPU and the package bitsandbytes"):
        load(tiny_model, dtype)


def test_letters_without_tokens_of_their_own_are_refused(tmp_path):
    save_tokenizer(tmp_path, [word for word in WORDS if word not in "CD"])
    encoder = Encoder(AutoTokenizer.from_pretrained(tmp_path), context=0, vocabulary=len(WORDS))
    assert len(letter_tokens(encoder.ids, k=2, context="Question: w1\nAnswer:")) == 2
    # C and D are both the unknown word now.
    with pytest.raises(InputError, match="with the same token"):
        letter_tokens(encoder.ids, k=4, context="Question: w1\nAnswer:")


class _Bytes:
    """A tokenizer that needs two tokens for a letter: a mark for capitals, then the letter."""

    model_max_length = 10**30

    def __call__(self, texts, *, add_special_tokens, verbose):
        written = [text.replace(" ", "") for text in texts]
        return {"input_ids": [[t for c in text for t in ((1, 3 + ord(c) % 90) if c.isupper() else (3 + ord(c) % 90,))]
                              for text in written]}  # fmt: skip


def test_letters_of_two_tokens_are_scored_as_continuations():
    prompts = [Prompt(f"p{i}", "shared words " * 4 + "more " * i + "Answer:", 4) for i in range(6)]
    engine = TransformersEngine(tiny("llama"), _Bytes(), name="tiny", dtype="float32")
    engine.prepare(prompts)
    assert engine.self_check(prompts).rung == "prefix cache and tree (full mask)"
    assert engine.description["letter_tokens"] == {"scored as": "continuations"}
    logits, mass = scored(engine, prompts)
    for p, row, share in zip(prompts, logits, mass, strict=True):
        tokens = _Bytes()([p.text, *(p.text + f" {letter}" for letter in "ABCD")], add_special_tokens=True, verbose=0)
        context, *wholes = tokens["input_ids"]
        truth = []
        for whole in wholes:
            log_p = torch.log_softmax(engine.decoder.whole(whole), dim=-1)
            truth.append(sum(float(log_p[i - 1, whole[i]]) for i in range(len(context), len(whole))))
        assert row == pytest.approx(truth, abs=1e-4)
        assert share == pytest.approx(np.exp(truth).sum(), abs=1e-5)


def test_a_batch_size_by_hand_is_honoured(tiny_model):
    test_prompts, engine = prompts(10), load(tiny_model, batch_size=3)
    engine.prepare(test_prompts)
    engine.self_check(test_prompts)
    assert [len(batch.ids) for batch in engine.score(test_prompts)] == [3, 3, 3, 1]


def test_out_of_memory_inside_a_run_changes_no_score(tiny_model, monkeypatch):
    test_prompts, engine = prompts(20), load(tiny_model)
    engine.prepare(test_prompts)
    engine.self_check(test_prompts)
    before, _ = scored(engine, test_prompts)
    whole = engine.decoder.hidden

    def narrow(tokens, **options):
        if tokens.shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(tokens, **options)

    monkeypatch.setattr(engine.decoder, "hidden", narrow)
    after, _ = scored(engine, test_prompts)
    assert engine.description["budget"]["halved"] > 0
    assert np.abs(before - after).max() < 1e-4


def test_a_tokenizer_of_another_model(tiny_model, tmp_path):
    folder = tmp_path / "mixed"
    shutil.copytree(tiny_model, folder)
    save_tokenizer(folder, [*WORDS, "more"])
    engine = load(folder)
    with pytest.raises(InputError, match="do not belong together"):
        engine.prepare([Prompt("p", "more Answer:", 6)])


def test_a_pretrained_model(real_models):
    """Tinystories knows no letters, but all rungs say the same as one by one."""
    folder = real_models / "tinystories-656k"
    story = "Once upon a time there was a little girl named Lily. She liked to play with her red ball. "
    prompts = [Prompt(f"s{i}", story * 2 + "The end. " * (1 + i % 5) + "Answer:", 6) for i in range(12)]
    engine = load(folder)
    engine.prepare(prompts)
    check = engine.self_check(prompts)
    assert check.passed
    assert not check.refused
    truth = np.array(paths.one_by_one(engine.decoder, [engine.encoder.rows([p])[0] for p in prompts]))
    assert np.abs(scored(engine, prompts)[0] - truth).max() < 1e-4


def test_a_model_that_can_not_keep_a_prefix_goes_without(tiny_model, monkeypatch):
    from core.models import transformers_engine as module

    def refuse(decoder, tokens, lengths):
        raise ValueError("the state has the wrong shape")

    test_prompts, engine = prompts(6, shared=SHARED), load(tiny_model)
    monkeypatch.setattr(module, "Prefix", refuse)
    engine.prepare(test_prompts)
    check = engine.self_check(test_prompts)
    assert check.rung == "padded rows"
    assert check.refused == ("prefix cache: ValueError: the state has the wrong shape",)
    alone = one_by_one(tiny_model, test_prompts, letters_of(engine))
    assert np.abs(scored(engine, test_prompts)[0] - alone).max() < 1e-4


def test_a_template_that_writes_the_date_is_described_and_the_rest_of_a_run_keeps_the_date():
    engine = TransformersEngine.load(resolve("pocket-1m"), dtype="float32")
    assert "template_notes" not in engine.description
    dated = "{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.content }}{% endfor %}"
    engine.encoder.tokenizer.chat_template = dated
    test_prompts = [replace(prompt(question), chat=True) for question in synthetic_questions(2)]
    engine.take_date({"template_date": "2026-02-28T12:00:00"})
    engine.prepare(test_prompts)
    assert engine.encoder.shown(test_prompts[0])[0].startswith("2026-02-28")
    described = engine.description
    assert described["template_date"] == "2026-02-28T12:00:00"
    assert "here 2026-02-28;" in described["template_notes"][0]
