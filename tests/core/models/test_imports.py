import gc
import subprocess
import sys

import pytest

from core.models.imports import uncollected
from core.settings import ROOT

TWO_THREADS = """
import sys, threading
from core.models.imports import language_models
threads = [threading.Thread(target=language_models) for _ in range(2)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
import transformers.utils
import transformers.models.llama.modeling_llama  # as every model's class does, it imports transformers.generation
left_out = not {"scipy.optimize", "accelerate", "boto3"} & set(sys.modules)
print(left_out, transformers.utils.is_scipy_available(), transformers.utils.is_accelerate_available())
"""


@pytest.mark.nightly
def test_what_is_left_out_of_the_import_is_there_again_after_it():
    """Two threads of a worker import at once: the one that looks for runs, and the run."""
    done = subprocess.run([sys.executable, "-c", TWO_THREADS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]


ADAPTERS = """
from core.models.imports import language_models
language_models()
import torch
from core.models.adapters.inject import inject_lora
from core.models.adapters.juror import Tuning, _with_adapter
from core.models.model_loading import load_model
from core.models.model_sources import resolve
load_model(resolve("pocket-8m-humble"), dtype="float32")
model, _ = load_model(resolve("pocket-1m"), dtype="float32")
inject_lora(model, rank=2, alpha=4)
model = _with_adapter(load_model(resolve("pocket-1m"), dtype="float32")[0], Tuning(rank=2), quantized=False)
steps = torch.optim.AdamW(parameter for parameter in model.parameters() if parameter.requires_grad)
model(torch.arange(1, 9)[None]).logits.sum().backward()
steps.step()
print("trained")
"""


def test_adapters_are_loaded_and_trained_after_the_short_import(home):
    """In a new process, because that of the tests has imported transformers as a whole."""
    done = subprocess.run([sys.executable, "-c", ADAPTERS], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["trained"], done.stderr


DROPPED = """
import sys, weakref
from core.runs.answering.model_cache import ModelCache
from core.runs.answering.token_text import BY_TOKEN
models = ModelCache(limit=10**9)
network = weakref.ref(models.by_token("pocket-1m").loaded.model)
engine = weakref.ref(models.get(("pocket-8m-humble", "float32")).engine)
models.clear()
print(network(), engine(), "torch._dynamo" in sys.modules)
"""


def test_models_that_were_dropped_are_gone_and_no_compiler_was_imported_for_them(home):
    """In a new process: imports leave garbage that holds the frames which they were called from."""
    done = subprocess.run([sys.executable, "-c", DROPPED], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["None", "None", "False"], done.stderr


def test_the_garbage_collector_is_as_it_was():
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
