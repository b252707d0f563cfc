"""Facts that follow by working them out: sums, dates, order. They are drawn, not listed.

One in five of them, by checksum, is kept for the bank (:func:`kept_for_bank`): training text never uses its
operands in that relation, in any wording.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pocket_world.computed.arithmetic import addition, doubling, multiplication, sequence, subtraction
from pocket_world.computed.dates import month_shift, weekday_shift
from pocket_world.computed.order import alphabet, extreme, odd_kind, oldest, place_in_list
from pocket_world.relations import Fact

Maker = Callable[[random.Random], Fact]


def kept_for_bank(fact: Fact) -> bool:
    """Whether this computed fact may be asked in the bank, and so must stay out of training text."""
    return fact.checksum % 5 == 0


MAKERS: dict[Maker, float] = {
    addition: 4,
    subtraction: 3,
    multiplication: 2,
    doubling: 2,
    sequence: 2,
    weekday_shift: 1.5,
    month_shift: 1.5,
    extreme: 2,
    alphabet: 2,
    place_in_list: 2,
    oldest: 2,
    odd_kind: 3,
}
"""Every maker with its relative frequency in training text."""
