"""The progress of loading a model's weights, by tensors and by files."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

REPORT_EVERY_S = 0.2
OF_WEIGHTS = "Loading weights"
"""The title that transformers gives to the progress bar of the weights."""


@contextmanager
def reported(report: Callable[[str], None] | None, file_of: Mapping[str, str]) -> Iterator[list[Exception]]:
    """While the body loads a model, report the progress to ``report``; ``file_of`` names the file of each tensor. An
    exception of ``report`` ends the loading. It is put into the yielded list, because it says nothing about the model.
    """
    raised: list[Exception] = []
    if report is None:
        yield raised
        return
    from transformers.utils.logging import set_tqdm_hook

    def report_stage(stage: str) -> None:
        try:
            report(stage)
        except Exception as error:
            raised.append(error)
            raise

    def counted_bar(factory: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kwargs.get("desc") != OF_WEIGHTS or not args:
            return factory(*args, **kwargs)
        return _counted(list(args[0]), report_stage, file_of)

    before = set_tqdm_hook(counted_bar)
    try:
        yield raised
    finally:
        set_tqdm_hook(before)


def _counted(items: list[Any], report: Callable[[str], None], file_of: Mapping[str, str]) -> Iterator[Any]:
    left = Counter(file_of[name] for name, _ in items if name in file_of)
    files, due = len(left), 0.0
    for done, (name, mapping) in enumerate(items):
        if time.monotonic() >= due:
            due = time.monotonic() + REPORT_EVERY_S
            whole = f", {sum(not count for count in left.values())} of {files} files" if files > 1 else ""
            report(f"loading the model: {done} of {len(items)} tensors{whole}")
        yield name, mapping
        if name in file_of:
            left[file_of[name]] -= 1
