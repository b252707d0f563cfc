"""Greedy and sampled answers compared with a plain loop over the model's logits, whatever the model's files say."""

import json
import shutil

import pytest
import torch
from transformers import AddedToken, GenerationConfig

from core.errors import InputError
from core.models.generation import LONGEST, Generator, continuations, end_tokens, sample
from core.models.transformers_engine import WRITTEN, TransformersEngine
from core.questions.prompting.written import answer_line
from core.records import Prompt
from core.settings import ASSETS

MODEL = ASSETS / "models" / "pocket-1m"
ASKED = (
    "Question: Where is Brazil?\nAnswer:",
    "The grass is green. The grass is green. The grass",
    "The cat and the cat and",
)
FILES = (
    {"repetition_penalty": 1.5},
    {"no_repeat_ngram_size": 1},
    {"suppress_tokens": list(range(300, 1400))},
    {"begin_suppress_tokens": list(range(300, 1400))},
    {"bad_words_ids": [[token] for token in range(300, 1400)]},
    {"sequence_bias": [[[token], 20.0] for token in range(300, 310)]},
    {"forced_bos_token_id": 400, "forced_eos_token_id": 400},
    {"exponential_decay_length_penalty": [1, 50.0]},
    {"min_new_tokens": 20, "max_length": 10},
    {"do_sample": True, "temperature": 5.0, "top_k": 2, "top_p": 0.1},
    {"do_sample": True, "min_p": 0.9},
    {"do_sample": True, "typical_p": 0.2},
    {"do_sample": True, "epsilon_cutoff": 0.5, "eta_cutoff": 0.5},
    {"num_beams": 4, "num_return_sequences": 2},
    {"penalty_alpha": 0.6, "top_k": 4},
    {"guidance_scale": 3.0},
    {"watermarking_config": {"greenlist_ratio": 0.5, "bias": 20.0}},
    {"stop_strings": ["e", "a"]},
    {"use_cache": False, "cache_implementation": "static"},
    {"renormalize_logits": True, "remove_invalid_values": True, "max_time": 0.0},
    {"prompt_lookup_num_tokens": 3},
    {"return_dict_in_generate": True, "output_scores": True},
    {"encoder_no_repeat_ngram_size": 1, "encoder_repetition_penalty": 3.0},
)
"""What a ``generation_config.json`` may hold."""


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator.load("pocket-1m", dtype="float32")


@pytest.fixture
def configured(generator, request):
    """The generator while its model's configuration for generation is another."""
    own = generator.model.generation_config
    generator.model.generation_config = GenerationConfig.from_dict(
        {"eos_token_id": 1, "pad_token_id": 0} | request.param
    )
    yield generator
    generator.model.generation_config = own


@torch.inference_mode()
def plain(model, tokenizer, text: str, *, ends: set[int], most: int = LONGEST, seed: int | None = None) -> str:
    """The most probable text, or a sampled one, token by token and without a cache."""
    tokens = tokenizer(text)["input_ids"]
    start = len(tokens)
    if seed is not None:
        torch.manual_seed(seed)
    while len(tokens) < start + most:
        logits = model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].float()
        chosen = logits.argmax() if seed is None else torch.multinomial(torch.softmax(logits, -1), 1)
        if int(chosen) in ends:
            break
        tokens.append(int(chosen))
    return tokenizer.decode(tokens[start:], skip_special_tokens=True)


@pytest.mark.parametrize("configured", FILES, indirect=True, ids=lambda values: next(iter(values)))
def test_what_a_models_file_says_about_generation_changes_no_answer(configured):
    model, tokenizer = configured.model, configured.tokenizer
    greedy = [answer_line(plain(model, tokenizer, text, ends={1})) for text in ASKED]
    assert [text for _, text in sorted(configured.answers(ASKED))] == greedy
    assert all(greedy)

    engine = TransformersEngine(model, tokenizer, name="pocket-1m", dtype="float32")
    prompts = [Prompt(str(i), text, k=4) for i, text in enumerate(ASKED)]
    sampled = [plain(model, tokenizer, text, ends={1}, most=WRITTEN, seed=7 + i) for i, text in enumerate(ASKED)]
    written = dict(engine.write(prompts, repeats=1, seeds=[7, 8, 9]))
    assert [written[i] for i in range(len(ASKED))] == [[text] for text in sampled]
    assert model.generation_config.eos_token_id == 1


def test_values_in_the_files_of_a_folder_change_no_answer(tmp_path):
    """As a person has them: ``generation_config.json``, and values inside ``config.json`` of older folders."""
    expected = dict(Generator.load("pocket-1m", dtype="float32").answers(ASKED))
    folder = shutil.copytree(MODEL, tmp_path / "model")
    values = {"repetition_penalty": 1.5, "no_repeat_ngram_size": 1, "eos_token_id": 1}
    (folder / "generation_config.json").write_text(json.dumps(values))
    assert dict(Generator.load(str(folder), dtype="float32").answers(ASKED)) == expected
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))
    assert dict(Generator.load(str(folder), dtype="float32").answers(ASKED)) == expected


def test_a_file_about_generation_that_cannot_be_read_is_named(tmp_path):
    folder = shutil.copytree(MODEL, tmp_path / "model")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 1, "early_stopping": "maybe"}))
    with pytest.raises(InputError, match=r"^the generation_config.json of model .* has values that transformers can't"):
        Generator.load(str(folder), dtype="float32")


def test_every_end_token_ends_an_answer(generator):
    """The tokenizer's is another, as with models whose chat ends with a token of its own."""
    model, tokenizer = generator.model, generator.tokenizer
    expected = dict(generator.answers(ASKED))
    own = model.generation_config
    tokenizer.eos_token = "<|pad|>"
    try:
        model.generation_config = GenerationConfig(eos_token_id=[0, 1])
        assert end_tokens(model, tokenizer) == (0, 1)
        assert dict(generator.answers(ASKED)) == expected
        words = tokenizer(" the", add_special_tokens=False)["input_ids"]
        model.generation_config = GenerationConfig(eos_token_id=[1, words[0]])
        assert words[0] in end_tokens(model, tokenizer)  # a person wrote it down, so it is meant
    finally:
        tokenizer.eos_token, model.generation_config = "<|end|>", own


@pytest.mark.parametrize("value", ["abc", [[1]], -5, 1.0, None, True, [2**40]])
def test_an_end_token_that_is_none_is_left_out(generator, value):
    own = generator.model.generation_config
    generator.model.generation_config = GenerationConfig(eos_token_id=value)
    try:
        assert end_tokens(generator.model, generator.tokenizer) == (1,)
    finally:
        generator.model.generation_config = own


def test_a_default_end_token_that_is_a_word_of_the_tokenizer_is_none(generator):
    """``config.json`` leaves its end token out, and that of its type is an ordinary token here."""
    model = generator.model
    (word,) = generator.tokenizer("e", add_special_tokens=False)["input_ids"]
    own, model.generation_config = model.generation_config, GenerationConfig(eos_token_id=word, _from_model_config=True)
    try:
        assert end_tokens(model, generator.tokenizer) == (1,)
    finally:
        model.generation_config = own


def test_an_answer_ends_with_the_models_context(generator):
    """A prompt that leaves three tokens of 512 is answered with three, and a longer one than all is refused."""
    tokenizer, encoder = generator.tokenizer, generator.encoder
    text = "Question: What colour is grass?\nAnswer:"
    size = len(tokenizer(text)["input_ids"])
    full = encoder.context
    try:
        encoder.context = size + 3
        assert dict(generator.answers([text]))[0] == answer_line(
            plain(generator.model, tokenizer, text, ends={1}, most=3)
        )
        encoder.context = size - 1
        with pytest.raises(InputError, match=f"a prompt has {size} tokens, but the model reads at most {size - 1}"):
            list(generator.answers([text]))
        assert sample(generator.model, encoder, text, chat=False, seed=0, most=9) is not None
    finally:
        encoder.context = full


def test_marks_of_thinking_stay_where_they_are_special_tokens():
    """A tokenizer that hides them would show what a model thinks as its answer."""
    made = Generator.load("pocket-1m", dtype="float32")
    made.tokenizer.add_tokens([AddedToken("[THINK]", special=True)])
    (mark,) = made.tokenizer("[THINK]", add_special_tokens=False)["input_ids"]
    thought = made.tokenizer(" green", add_special_tokens=False)["input_ids"]

    class Thinks:
        """Writes the mark and a word."""

        generation_config, config = made.model.generation_config, made.model.config
        get_input_embeddings = made.model.get_input_embeddings

        def generate(self, input_ids, **_):
            return torch.tensor([[*row, mark, *thought, 1] for row in input_ids.tolist()])

    (text,) = continuations(Thinks(), made.tokenizer, [(5, 6)], most=9)
    assert text == "[THINK] green"
    assert answer_line(text) == ""
