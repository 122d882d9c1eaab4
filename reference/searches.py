"""Searches over whole numbers for the last one that still has a property.

The property must hold up to some number and for none beyond it: how many answers fit a budget, how
many votes still leave a class rare.
"""

from collections.abc import Callable

Holds = Callable[[int], bool]


def last_between(low: int, high: int, holds: Holds) -> int:
    """The last number from `low` on for which `holds`, by halving; it is taken to fail at `high`.

    Neither end is tried, so that `low` is also what comes out where it holds for none.
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def last_from_zero(holds: Holds, most: int | None = None) -> int:
    """The last number from 0 on for which `holds`, by doubling and then halving.

    0 is not tried. most: beyond which nobody looks; without it the property must end somewhere.
    """
    low, high = 0, 1
    while holds(high):
        if high == most:
            return high
        low, high = high, 2 * high if most is None else min(2 * high, most)
    return last_between(low, high, holds)
