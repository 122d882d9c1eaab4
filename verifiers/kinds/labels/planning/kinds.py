"""Kinds of histograms that a fault may be confined to: a number of classes with votes, or a total.

Each kind has one histogram: where its fault shows soonest, by Kullback-Leibler divergence. It gets
enough queries to see that fault.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Histogram
from .....reference.clock import step
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.power import ratios_to_see
from ....findings.note import Note
from ....run.error_budget import log_threshold
from ..mechanism import LabelsMechanism
from ..registry import SHARES
from .faults import Fault, divergences, fault_laws
from .laws import mechanism_law, scaled_to_the_teachers, screened_by_the_share
from .plan import ANCHOR_SHARE, POINTED, Stream
from .roles import Role
from .stream_planner import StreamPlanner

SHARES_OF_TEACHERS = (0.8, 0.9)
"""Totals of votes that are tried, as shares of the teachers, where other totals are served."""

_MOST = 6_000  # queries on the kinds of one role
_LEAST_OF_A_KIND, _MOST_OF_A_KIND = 200, 3_000
_STILL_TO_COME = 20  # streams of calls for one label

_EVERY = 10  # largest size of support up to which every size has a histogram
_THINNED = 1.3  # factor from one larger size to the next
_LEADS, _LARGEST_LEAD = 40, 6.0  # leads that are tried, and the largest in noise scales
_SHARES = (0.0, 0.3, 0.6)  # votes of each other class over the second's; at least one vote


@dataclass(frozen=True)
class Kind:
    """A histogram (c,), and the faults that it should show."""

    histogram: Histogram
    faults: tuple[Fault, ...]


def support(histogram: Sequence[int] | Histogram) -> int:
    """How many classes have votes."""
    return int(np.count_nonzero(histogram))


def half_the_noise(mechanism: LabelsMechanism) -> Fault:
    """The fault that is looked for on each size of support."""
    noise = mechanism.noise.times(0.5)
    note = Note("scale-too-small", "half the claimed scale", {"factor": 0.5})
    return Fault(note, mechanism_law(mechanism.mechanism(noise)))


def sizes(classes: int) -> list[int]:
    """Sizes of support from 1 to `classes`: every one up to 10, then in growing steps."""
    found = list(range(1, min(classes, _EVERY) + 1))
    while found[-1] < classes:
        found.append(min(classes, round(found[-1] * _THINNED)))
    return found


@lru_cache(maxsize=16)
def any_support(mechanism: LabelsMechanism) -> tuple[Kind, ...]:
    """`supports` of the claimed total, kept for other plans of the mechanism."""
    return tuple(supports(mechanism))


def supports(mechanism: LabelsMechanism, pool: NDArray[np.int64] | None = None) -> Iterator[Kind]:
    """For each size of support, the histogram on which half the noise shows soonest.

    pool: histograms (n, c) to choose from; None for any of the claimed total.
    """
    fault = half_the_noise(mechanism)
    used = None if pool is None else np.count_nonzero(pool, axis=-1)
    for size in sizes(mechanism.classes):
        if pool is not None:
            candidates = pool[used == size]
        else:
            candidates = _composed(mechanism, mechanism.teachers, size)
        if len(candidates):
            yield _most_telling(mechanism, candidates, (fault,))


@lru_cache(maxsize=16)
def fewer_votes(mechanism: LabelsMechanism) -> tuple[Kind, ...]:
    """For each total in `SHARES_OF_TEACHERS`, the histograms on which its faults show soonest.

    One for the faults of `faults_by_total`, and one for half the noise.
    """
    found = []
    for share in SHARES_OF_TEACHERS:
        total = round(share * mechanism.teachers)
        if 0 < total < mechanism.teachers:
            few = sizes(mechanism.classes)[1:]
            candidates = np.concatenate([_composed(mechanism, total, size) for size in few])
            for faults in (tuple(faults_by_total(mechanism)), (half_the_noise(mechanism),)):
                found.append(_most_telling(mechanism, candidates, faults))
    return tuple(found)


def faults_by_total(mechanism: LabelsMechanism) -> list[Fault]:
    """Faults that only totals other than the claimed teachers show."""
    teachers = mechanism.total
    fewest = round(min(SHARES_OF_TEACHERS) * teachers)
    faults = [
        Fault(
            Note(
                "votes-rescaled",
                f"votes scaled to {teachers} in all, whatever their total",
                {"to": teachers},
            ),
            scaled_to_the_teachers(mechanism, 0, None),
        ),
        Fault(
            Note(
                "votes-rescaled",
                f"votes of {fewest} to {teachers} in all scaled up to {teachers}",
                {"to": teachers, "from_votes": fewest},
            ),
            scaled_to_the_teachers(mechanism, fewest, teachers),
        ),
    ]
    if isinstance(mechanism.mechanism(), ConfidentGNMax):
        wording = "the threshold compared with the share of the votes, not with their number"
        few = f", where there are {fewest} to {teachers}"
        faults += [
            Fault(
                Note("threshold-of-the-share", wording), screened_by_the_share(mechanism, 0, None)
            ),
            Fault(
                Note("threshold-of-the-share", wording + few, {"from_votes": fewest}),
                screened_by_the_share(mechanism, fewest, teachers),
            ),
        ]
    return faults


def _most_telling(
    mechanism: LabelsMechanism, candidates: NDArray[np.int64], faults: tuple[Fault, ...]
) -> Kind:
    """The candidate (n, c) with the largest divergence of its least visible fault."""
    votes = candidates.astype(np.float64)
    log_q = np.asarray(mechanism.mechanism().log_probabilities(votes))
    divergence = divergences(fault_laws(faults, log_q, votes), log_q[:, None, :]).min(-1)
    return Kind(candidates[int(np.argmax(divergence))], faults)


def _composed(mechanism: LabelsMechanism, total: int, size: int) -> NDArray[np.int64]:
    """Histograms (n, c) with votes on `size` classes, and leads of up to six noise scales.

    A leader, one or more classes tied for second place, and the others with fewer votes. Empty
    where `total` is too small.
    """
    found = set()
    for lead in np.linspace(0.0, _LARGEST_LEAD, _LEADS) * mechanism.noise.scale:
        for second in {min(1, size - 1), min(2, size - 1), size - 1}:
            others = size - 1 - second
            for share in _SHARES if others else (0.0,):
                each = (total - lead) / (1 + second + share * others)
                votes = np.zeros(mechanism.classes, dtype=np.int64)
                votes[1 : 1 + second] = int(each)
                votes[1 + second : size] = max(1, int(share * each))
                votes[0] = total - votes.sum()
                if votes[0] == votes.max() and votes[:size].min() > 0:
                    found.add(tuple(votes.tolist()))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, mechanism.classes)


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
