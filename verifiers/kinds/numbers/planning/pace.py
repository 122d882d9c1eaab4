"""The sizes of the calls of a run, and how often its evidence is looked at."""

from collections.abc import Iterator

from .asked import Asked
from .plan import NumbersPlan

_FEW, _SHARE = 50, 0.1
"""Evidence is looked at after every call up to `_FEW` releases, then after a tenth more of them."""

_GROWTH, _MANY = 10, 10_000
"""A call asks for at most a tenth of the releases before it, until so many numbers were seen.

So a fault that shows in a few releases is not followed by a call for hundreds.
"""


def paced(plan: NumbersPlan, seed: int, seen: int) -> Iterator[tuple[Asked, int, bool]]:
    """Calls without end after `seen` releases: an input, a size, and whether a look follows."""
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
