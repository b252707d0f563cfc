"""The record of a kind of file. Everything that depends on the kind follows from it: how a file is recognised and read,
the title that people see, which work is cited, and the examples of the documentation, the tests and the fuzzer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.errors import InputError
from core.exchange.cited_work import CitedWork
from core.exchange.imported import ImportedRun
from core.exchange.option_columns import OptionColumns
from core.exchange.table_columns import figure_columns, text_columns
from core.questions.bank_shapes import cells_of, looks_like_bank, parts, with_header
from core.tables.field_names import LABEL_NAMES, matching
from core.tables.labels import UNANSWERED
from core.tables.list_columns import widened
from core.tables.tabular import Sheet

Place = Literal["runs", "jury", "new_run", "perplexity", ""]
"""Where a file's content goes: it becomes runs or a jury, or is used on another page, or nowhere."""
Files = Mapping[str, bytes]
"""Files that are dropped together, by their names."""


class SheetView:
    """A table with what several kinds ask of it, each computed once."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.names = {name.strip().lower() for name in sheet.names}

    @cached_property
    def wide(self) -> Sheet:
        """The table with a column for each entry of a column of lists."""
        return widened(self.sheet)

    @cached_property
    def figures(self) -> OptionColumns | None:
        """The columns of numbers that may be those of options."""
        return figure_columns(self.wide)

    @property
    def is_scored(self) -> bool:
        """Whether columns of numbers may be those of options."""
        return self.figures is not None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns of the options' texts."""
        return text_columns(self.wide)

    @cached_property
    def is_bank(self) -> bool:
        """Whether all rows look like questions with options and right answers, and not like a model's figures."""
        return looks_like_bank(self.sheet) and self._has_answers()

    @cached_property
    def has_figures_as_options(self) -> bool:
        """Whether the columns of numbers are what a bank's questions offer, and not beside the options' texts."""
        columns = with_header(cells_of(self.sheet))
        figures = set(self.figures.options) if self.figures else set()
        made_of_lists = not figures & set(self.sheet.names)  # as widened() makes them of a field with all options
        return bool(figures) and (made_of_lists or bool(figures & set(parts(columns).options.names)))

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether the columns of numbers sum to 1 in each row."""
        names = self.figures.options if self.figures else ()
        try:
            sums = np.sum([np.nan_to_num(self.wide.numbers(name)) for name in names], axis=0)
        except InputError:
            return False
        return bool((np.abs(sums - 1) <= 0.01).all())

    @cached_property
    def has_whole_figures(self) -> bool:
        """Whether the columns of numbers have whole numbers alone, which are sums and years more likely than logits."""
        values = [self.wide.numbers(name) for name in (self.figures.options if self.figures else ())]
        return all((np.mod(column[np.isfinite(column)], 1) == 0).all() for column in values)

    def _has_answers(self) -> bool:
        names = matching(self.sheet.names, LABEL_NAMES)
        return not names or any(set(map(str.lower, self.sheet.texts(name))) - UNANSWERED for name in names)


@dataclass(frozen=True, slots=True)
class FileExample:
    """A small whole drop of a kind: its title, its files, and a sentence where the title does not say enough."""

    title: str
    files: Callable[[], Files]
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of file.

    ``title`` names one file in words, ``article`` and ``plural`` go with it. ``place`` is where its content goes, and
    ``sentence`` says so of a file that can't become a run. ``listed`` names the kind in lists of what can be imported.

    A file is of the first kind that has one of these marks in its content: it ``begins`` with these bytes; ``head``
    of its first bytes, ``archive`` of the names of a zip's members, ``pickled`` of a pickle's value, ``document`` of a
    JSON object, ``entries`` of a JSON list, ``line`` of the first object of JSON lines or of a list, ``table`` of a
    table, ``text`` of lines of text.

    ``read`` reads a file that is complete by itself. Kinds without it are put together in :mod:`.grouping`.
    ``origin`` is that of the runs that come of it, and ``cited`` the work to cite.
    """

    title: str
    article: str = "a"
    plural: str = ""
    place: Place = ""
    sentence: str = ""
    listed: str = ""
    begins: tuple[bytes, ...] = ()
    head: Callable[[bytes], bool] | None = None
    archive: Callable[[Sequence[str], Path], bool] | None = None
    pickled: Callable[[Any], bool] | None = None
    document: Callable[[dict[str, Any]], bool] | None = None
    entries: Callable[[list[Any]], bool] | None = None
    line: Callable[[dict[str, Any]], bool] | None = None
    table: Callable[[SheetView], bool] | None = None
    text: Callable[[Sequence[str]], bool] | None = None
    read: Callable[[Path], ImportedRun] | None = None
    origin: str = ""
    cited: CitedWork | None = None
    examples: tuple[FileExample, ...] = ()

    @property
    def phrase(self) -> str:
        """What a file is or holds, as it follows the file's name."""
        return f"is {self.article} {self.title}" if self.article else f"holds {self.title}"
