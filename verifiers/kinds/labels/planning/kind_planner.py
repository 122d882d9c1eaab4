"""How many queries each kind of histogram gets: enough to see a fault confined to that kind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .....reference import Histogram
from .....reference.clock import step
from ....evidence.pointed import FROM_THE_START
from ....evidence.power import ratios_to_see
from ....run.error_budget import log_threshold
from ..registry import SHARES
from .faults import Fault, fault_laws
from .kinds import Kind, support
from .plan import ANCHOR_SHARE, POINTED, Stream
from .roles import Role
from .stream_planner import StreamPlanner

_MOST = 6_000  # queries on the kinds of one role
_LEAST_OF_A_KIND, _MOST_OF_A_KIND = 200, 3_000
_STILL_TO_COME = 20  # streams of calls for one label


def add_kinds(
    planner: StreamPlanner,
    role: Role,
    kinds: Iterable[Kind],
    faults: Sequence[Fault],
    explored: int,
) -> None:
    """Adds a stream for each kind, with enough queries to see the faults confined to it.

    Left out are faults that take more than `_MOST_OF_A_KIND` queries, kinds whose faults a stream
    of the same support and total shows already, and kinds beyond the budget. faults: all known
    ones; explored: how many streams are still to come.
    """
    power = _Power(planner, sum(fault.weight for fault in faults), explored)
    left = min(planner.extent.of(_MOST, 0), planner.room(explored))
    for kind in kinds:
        step(role.kind)
        needed = {fault: power.to_see(kind.histogram, fault) for fault in kind.faults}
        seen = {fault: n for fault, n in needed.items() if n <= _MOST_OF_A_KIND}
        queries = max([_LEAST_OF_A_KIND, *seen.values()])
        shown = any(power.shows(stream, kind, list(seen)) for stream in planner.streams)
        if seen and not shown and queries <= left:
            left -= queries
            planner.add(role, kind.histogram, queries)


@dataclass(frozen=True)
class _Power:
    """Labels needed to see a fault on one stream that is no anchor.

    weights: sum over all known faults; explored: how many streams are still to come.
    """

    planner: StreamPlanner
    weights: float
    explored: int

    def to_see(self, histogram: Histogram, fault: Fault) -> int:
        """Labels of this histogram (c,) after which the fault shows with probability 0.99."""
        log_q = self.planner.log_q(histogram)
        law = fault_laws((fault,), log_q[None], histogram[None].astype(np.float64))[0, 0]
        others = len(self.planner.streams) + self.explored + _STILL_TO_COME
        share = (1.0 - ANCHOR_SHARE) / others * POINTED * fault.weight / self.weights
        wanted = log_threshold(SHARES["class-probabilities"], self.planner.claim.gate.false_alarm)
        return ratios_to_see(law, log_q, float(wanted - np.log(share * FROM_THE_START)))

    def shows(self, stream: Stream, kind: Kind, faults: Sequence[Fault]) -> bool:
        """Whether a stream of the same support and total has enough queries to show `faults`."""
        votes = np.array(stream.histogram)
        alike = support(votes) == support(kind.histogram)
        if not alike or votes.sum() != kind.histogram.sum():
            return False
        return all(stream.queries >= self.to_see(votes, fault) for fault in faults)
