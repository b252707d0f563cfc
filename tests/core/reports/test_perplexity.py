"""The uniform level beside perplexities, and differences over conversations."""

import numpy as np
import pytest

from core.models.perplexity.figures import ScoredMessage
from core.reports import perplexity as reports

pytestmark = pytest.mark.quick


def message(loss: float, number: int = 1) -> ScoredMessage:
    return ScoredMessage(number, (" some", " words"), np.full(2, loss, dtype=np.float32))


def talks(*losses: float) -> dict[str, tuple[ScoredMessage, ...]]:
    """A conversation of two messages a loss."""
    return {f"talk {i}": (message(loss), message(loss, 3)) for i, loss in enumerate(losses)}


def test_the_uniform_level_stands_beside_every_figure():
    table = reports.by_conversation({"A": talks(1.0, 3.0)}, vocabulary=16)
    assert table["uniform"].tolist() == [16.0] * 3
    assert table["uniform_bits_per_byte"].tolist() == [pytest.approx(2 * 4 / 11)] * 3
    assert "uniform" not in reports.by_conversation({"A": talks(1.0, 3.0)})
    assert reports.worse_than_uniform((message(2.8),), 16)
    assert not reports.worse_than_uniform((message(2.7),), 16)  # ln 16 is 2.77
    assert not reports.worse_than_uniform((message(9.9),), None)
    assert "did not record" in reports.uniform_sentence(None)


def test_all_conversations_together_are_compared_over_conversations():
    result = reports.overall(talks(1.0, 2.0, 4.0), talks(0.0, 0.0, 0.0))
    assert (result.n, result.conversations) == (6, 3)
    alone = reports.overall(talks(1.0), talks(0.0))
    assert (alone.n, alone.conversations) == (2, 1)
