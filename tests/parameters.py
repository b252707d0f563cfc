"""Split the parameters of a test between the normal run and the nightly run."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def rest_nightly(values: Iterable[Any], *, now: Collection[Any]) -> list[Any]:
    """The values for ``pytest.mark.parametrize``; those that are not in ``now`` are marked as nightly."""
    return [value if value in now else pytest.param(value, marks=pytest.mark.nightly) for value in values]
