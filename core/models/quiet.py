"""Silences other libraries while they load. Hedge itself says what a person needs to know."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

LIBRARIES = ("transformers", "peft", "huggingface_hub", "accelerate", "torch", "bitsandbytes", "safetensors")
SILENT = logging.CRITICAL + 1


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the logs, warnings and progress bars of these libraries. Exceptions pass through.

    Their logs stay silent after the first use, because transformers repeats its messages about a model while it runs.
    """
    from transformers.utils.logging import disable_progress_bar

    for name in LIBRARIES:
        logging.getLogger(name).setLevel(SILENT)
    disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
