"""How long a conversation of 200 messages under two prompts takes, from asking for the run to its figures on disk.

`PYTHONPATH=. python tests/benchmarks/perplexity_run.py [MODEL]`; the model is loaded anew, torch is imported before.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time

import torch

MESSAGES = 200


def main(model: str) -> None:
    """Measure once with progress."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["HEDGE_HOME"] = home
        from core.models.perplexity.conversations import Conversation, bundled
        from core.models.perplexity.prompts import FITTING, UNFITTING
        from core.models.perplexity.request import Request
        from core.reports import perplexity_results
        from core.runs import store
        from core.runs.execution import perplexity_run
        from core.runs.execution.execute import execute

        said = list(itertools.islice(itertools.cycle(m for talk in bundled() for m in talk.messages[1:-1]), MESSAGES))
        request = Request((FITTING, UNFITTING), (Conversation("long", tuple(said)),))
        heard: list[float] = []
        begun, cpu = time.monotonic(), time.process_time()
        name = execute(perplexity_run.spec_of(request, model), on_progress=lambda p: heard.append(p.done))
        wall, cpu = time.monotonic() - begun, time.process_time() - cpu
        provenance = store.read_record(name).provenance
        tokens = sum(m.tokens for of in perplexity_results.read(name).messages.values() for m in of)
        print(
            f"{model}: {MESSAGES} messages x 2 prompts, {tokens:,} tokens scored by {provenance['engine']['rung']}: "
            f"{wall:.1f} s ({cpu:.1f} s of processor time, {torch.get_num_threads()} threads), of it scoring "
            f"{provenance['scoring_seconds']:.1f} s; progress was told {len(heard)} times"
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pocket-1m")
