"""A token bucket: how fast somebody may continue, with a reserve for bursts."""

import asyncio
import time
from collections import OrderedDict

LARGEST_TABLE = 10_000


class Bucket:
    """Lets ``per_s`` units pass in a second and ``burst`` at once. Debts are allowed, and then waited for."""

    def __init__(self, *, per_s: float, burst: float) -> None:
        self.per_s, self.burst = per_s, burst
        self.left, self._at = burst, time.monotonic()

    def take(self, units: float) -> float:
        """Take units, and return the seconds to wait before more are taken."""
        self.left = self._now_left() - units
        return max(0.0, -self.left / self.per_s)

    def may_take(self, units: float) -> bool:
        """Take units if that many are left, and return whether they were."""
        self.left = self._now_left()
        if self.left < units:
            return False
        self.left -= units
        return True

    def _now_left(self) -> float:
        before, self._at = self._at, time.monotonic()
        return min(self.burst, self.left + (self._at - before) * self.per_s)


class Buckets:
    """A bucket for each address. The one that was used longest ago is forgotten when there are too many."""

    def __init__(self, *, per_s: float, burst: float) -> None:
        self.per_s, self.burst = per_s, burst
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def of(self, address: str) -> Bucket:
        """The bucket of an address."""
        bucket = self._of.get(address) or Bucket(per_s=self.per_s, burst=self.burst)
        self._of[address] = bucket
        self._of.move_to_end(address)
        if len(self._of) > LARGEST_TABLE:
            self._of.popitem(last=False)
        return bucket


class Shares:
    """A rate for each address, and one for all. A client at a small rate does not wait for the others."""

    def __init__(self, *, address: Buckets, small: Buckets, everyone: Bucket) -> None:
        self._address, self._small, self._everyone = address, small, everyone

    def take(self, address: str, units: float) -> float:
        """Take units for an address, and return the seconds to wait."""
        own, others = self._address.of(address).take(units), self._everyone.take(units)
        return own if self._small.of(address).may_take(units) else max(own, others)


_refusals = Buckets(per_s=10, burst=50)
LONGEST_DELAY_S = 2.0


async def delay_refusal(address: str) -> None:
    """Let an address wait that was refused many times, so that asking again and again costs the server little."""
    await asyncio.sleep(min(LONGEST_DELAY_S, _refusals.of(address).take(1)))
