"""How large the calls of a run are, and how often its evidence is looked at."""

from collections.abc import Iterator

from .asked import Asked
from .plan import NumbersPlan

_FEW, _SHARE = 50, 0.1
"""Evidence is looked at after every call at first, then after a tenth of the releases beyond."""

_GROWTH, _MANY = 10, 10_000
"""A call asks for a tenth of the releases before it at most, until so many numbers were seen.

A fault that some releases show is not paid for by a call for hundreds.
"""


def paced(plan: NumbersPlan, seed: int, seen: int) -> Iterator[tuple[Asked, int, bool]]:
    """Calls without end, after so many releases: an input, a size, whether a look follows."""
    waiting, width = 0, plan.coordinates.size
    for asked, wanted in plan.calls(seed):
        before = seen + waiting
        few = before * width < _MANY
        size = min(wanted, max(1, before // _GROWTH)) if few else wanted
        waiting += size
        look = waiting >= _SHARE * (seen - _FEW)
        if look:
            seen, waiting = seen + waiting, 0
        yield asked, size, look
