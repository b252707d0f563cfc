import pytest

from core import progress
from core.progress import ScoringRate

pytestmark = pytest.mark.quick


def test_the_time_left_goes_by_length(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    rate = ScoringRate(1000)
    now[0] = 110.0
    rate.add(4, 800)  # 0.4 questions and 80 characters a second; 200 characters are left
    assert rate.per_second == pytest.approx(0.4)
    assert rate.remaining_s == pytest.approx(2.5)
    assert rate.seconds == pytest.approx(10.0)
