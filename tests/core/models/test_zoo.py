"""Every folder of the zoo is scored as transformers would score it one by one, or refused in one sentence of ours."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import AutoConfig

from core.errors import InputError
from core.models.loaded import HARMLESS, check_tensors
from core.models.model_loading import load_model
from core.models.model_sources import resolve
from core.models.safetensors_files import Stored
from tests.core.models.architectures import SETTINGS, TYPES
from tests.core.models.zoo import (
    BROKEN,
    CAVEAT,
    SAMPLES,
    TASK,
    THEIRS,
    TRIED,
    WHOLE,
    difference,
    make,
    model,
    refusal,
)
from tests.parameters import rest_nightly

ROOT = Path(__file__).resolve().parents[3]
# peft 0.21 asks for gradient checkpointing by its old name.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")


RUN = ("run", "--task", TASK, "--samples", SAMPLES)


@pytest.mark.parametrize("name", rest_nightly(WHOLE, now=list(WHOLE)[::3]))
def test_a_whole_folder_scores_as_transformers_does(name, tmp_path, home):
    largest, text = difference(make(name, tmp_path))
    assert largest <= 1e-4
    assert text == ""


@pytest.mark.parametrize("name", rest_nightly(BROKEN, now=list(BROKEN)[::3]))
def test_a_broken_folder_is_refused_in_one_sentence(name, tmp_path, home):
    sentence = refusal(*RUN, "--json", "--model", make(name, tmp_path))
    assert re.search(BROKEN[name][1], sentence)
    assert "; " in sentence, "what is wrong; what would do"


@pytest.mark.parametrize(("name", "package"), [("gptq", "optimum"), ("awq", "gptqmodel")])
def test_quantised_weights_name_the_package_that_reads_them(name, package, tmp_path, monkeypatch):
    """As on a machine with a GPU and without the package: only the question whether there is a GPU is left out."""
    monkeypatch.setattr("core.models.model_loading.refuse_quantised", lambda *_, **__: None)
    with pytest.raises(InputError, match=rf"install the package that reads them \({package}\), or choose the model"):
        load_model(resolve(str(make(name, tmp_path))), dtype="bfloat16")


UNREAD = {
    *("not a number", "infinite", "too large", "adapter of NaN", "xlnet"),
    *("bitsandbytes", "gptq", "awq", "fp8", "some quantisation"),
}
"""What shows in numbers alone, which a preview does not read, and what another machine may run."""


def test_a_preview_refuses_what_a_run_would(tmp_path, home):
    for name in BROKEN.keys() - UNREAD:
        assert re.search(BROKEN[name][1], refusal(*RUN, "--dry-run", "--model", make(name, tmp_path))), name


@pytest.mark.parametrize("name", ["a layer missing", "classifier, no word of it", "not a number", "half an adapter"])
def test_every_way_to_a_model_refuses_it(name, tmp_path, home):
    folder = make(name, tmp_path)
    (tmp_path / "answers.jsonl").write_text(
        "".join(json.dumps({"id": f"a{i}", "question": "q", "answer": "a", "label": i % 2}) + "\n" for i in range(8))
    )
    answers = ("--answers", tmp_path / "answers.jsonl")
    for words in (
        ("run", "--task", TASK, "--samples", "8", "--form", "cloze", "--model", folder),
        ("perplexity", "run", "--model", folder),
        ("tokens", "evaluate", "--num-samples", "20", "--model", folder),
        ("tokens", "view", "--text", "the A", "--model", folder),
        ("train-adapter", "--out", tmp_path / "out", "--model", folder),
        ("jury", "judge", *answers, "--juror", folder, folder),
        ("jury", "answer", "--samples", "8", "--out", tmp_path / "written.jsonl", "--model", folder),
        *((("jury", "finetune", *answers, "--out", tmp_path / "juror", "--model", folder),) * ("adapter" not in name)),
    ):
        trained = words[0] == "train-adapter" and "adapter" in name
        assert re.search("is an adapter already" if trained else BROKEN[name][1], refusal(*words)), words


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("half an adapter", "4 of 8 tensors are missing"),
        ("adapter of NaN", "4 tensors of adapter .* no finite numbers"),
    ],
)
def test_a_broken_adapter_of_ours(name, says, tmp_path, home):
    """Lora that ``train-adapter`` wrote, which peft itself would fill up without a word."""
    folder = make(name, tmp_path)
    recipe = {"kind": "lora", "rank": 2, "alpha": 8, "targets": ["q_proj", "v_proj"]}
    values = {"schema": 1, "base": f"{folder}-base", "recipe": recipe, "progress": []}
    (folder / "adapter.json").write_text(json.dumps(values))
    assert re.search(says, refusal("tokens", "evaluate", "--num-samples", "20", "--model", folder))


@pytest.mark.parametrize("dtype", rest_nightly(["float32", "bfloat16", "float16"], now=["float32"]))
def test_no_architecture_is_refused_wrongly(dtype, tmp_path):
    for name in set(SETTINGS) - (set(TRIED) if dtype == "float32" else set()):
        model(TYPES.get(name, name), SETTINGS[name])(folder := tmp_path / name)
        load_model(resolve(str(folder)), dtype=dtype)


def test_what_is_harmless_says_why_and_is_looked_at_closely():
    config = AutoConfig.for_model("deepseek_v3", num_hidden_layers=3, num_nextn_predict_layers=1)

    def check(*names: str, shape: tuple[int, ...] = (4, 4)) -> None:
        check_tensors(
            missing=(),
            left_over=names,
            reshaped=(),
            expected=9,
            into="a model",
            where="a folder",
            stored={name: Stored("F32", shape) for name in names},
            config=config,
        )

    assert all(len(reason) > 20 for reason in HARMLESS.values())
    check("model.layers.3.eh_proj.weight", "mtp.fc.weight", "model.visual.blocks.0.weight", "visual.patch.bias")
    check("model.layers.0.self_attn.rotary_emb.inv_freq", "transformer.position_ids")
    check("transformer.h.0.attn.bias", shape=(1, 1, 8, 8))
    check("transformer.h.0.attn.masked_bias", shape=())
    for name in ("model.layers.4.norm.weight", "h.0.attn.bias", "score.weight", "model.language.visual.weight"):
        with pytest.raises(InputError, match=re.escape(f"1 tensor is left over ({name})")):
            check(name)


@pytest.mark.nightly
def test_the_real_terminal_shows_sentences_of_ours_alone(tmp_path):
    """A process of its own, in which nothing was imported or silenced before."""
    names = ("no head", "another width", "an expert missing", "roberta's body", "xlnet", "half an adapter")
    for chosen in (names, ("classifier",)):  # which is refused before any other is loaded
        folders = [make(name, tmp_path) for name in chosen]
        ended = subprocess.run(
            [sys.executable, "-m", "core", "run", "--model", *folders, "--task", TASK, "--samples", str(SAMPLES)],
            cwd=ROOT,
            env=os.environ | {"HEDGE_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert ended.returncode == 2
        written = CAVEAT.sub("", ended.stderr)
        for name, line in zip(chosen, written.splitlines(), strict=True):
            assert line.startswith("hedge: ")
            assert re.search(BROKEN[name][1], line)
        assert not THEIRS.search(ended.stdout + written)
