"""Histograms of each kind that a fault may be confined to: so many classes with votes, or a total.

Of each kind there is one, that on which such a fault shows soonest, by Kullback-Leibler divergence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Histogram
from ..mechanism import LabelsMechanism
from .faults import Fault, divergences, fault_laws
from .laws import mechanism_law, scaled_to_the_teachers, screened_by_the_share

HALF = 0.5
"""Of the claimed noise, on histograms with so many classes with votes."""

SHARES_OF_TEACHERS = (0.8, 0.9)
"""Totals of votes, where other totals than the claimed teachers are served."""

_EVERY = 10  # sizes of support up to which each has a histogram of its own
_THINNED = 1.3  # factor from one to the next, of the others
_LEADS, _LARGEST_LEAD = 40, 6.0  # scales of the noise between the leader and the next
_SHARES = (0.0, 0.3, 0.6)  # of the second's votes, that each of the others has; a vote at least


@dataclass(frozen=True)
class Kind:
    """A histogram (c,), and the faults of this kind that are to be seen on it."""

    histogram: Histogram
    faults: tuple[Fault, ...]


def support(histogram: Sequence[int] | Histogram) -> int:
    """How many classes have votes."""
    return int(np.count_nonzero(histogram))


def half_the_noise(mechanism: LabelsMechanism) -> Fault:
    """The fault that is looked for on each size of support."""
    noise = mechanism.noise.times(HALF)
    return Fault("half the claimed scale", mechanism_law(mechanism.mechanism(noise)))


def sizes(classes: int) -> list[int]:
    """Sizes of support, from 1 to all classes: every one to ten, then fewer and fewer."""
    found = list(range(1, min(classes, _EVERY) + 1))
    while found[-1] < classes:
        found.append(min(classes, round(found[-1] * _THINNED)))
    return found


@lru_cache(maxsize=16)
def any_support(mechanism: LabelsMechanism) -> tuple[Kind, ...]:
    """`supports` of the claimed total; the last few are kept, for plans of one mechanism."""
    return tuple(supports(mechanism))


def supports(mechanism: LabelsMechanism, pool: NDArray[np.int64] | None = None) -> Iterator[Kind]:
    """Of each size of support the histogram on which half the noise shows soonest.

    pool: histograms (n, c) to choose from; any of the claimed total where there is none.
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
    """Of totals below the teachers the histograms on which faults of that total show soonest.

    One for what goes by the total, and one for half the noise.
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
    teachers = mechanism.teachers
    fewest = round(min(SHARES_OF_TEACHERS) * teachers)
    faults = [
        Fault(
            f"votes scaled to {teachers} in all, whatever their total",
            scaled_to_the_teachers(mechanism, 0, None),
        ),
        Fault(
            f"votes of {fewest} to {teachers} in all scaled up to {teachers}",
            scaled_to_the_teachers(mechanism, fewest, teachers),
        ),
    ]
    if isinstance(mechanism.mechanism(), ConfidentGNMax):
        wording = "the threshold compared with the share of the votes, not with their number"
        few = f", where there are {fewest} to {teachers}"
        faults += [
            Fault(wording, screened_by_the_share(mechanism, 0, None)),
            Fault(wording + few, screened_by_the_share(mechanism, fewest, teachers)),
        ]
    return faults


def _most_telling(
    mechanism: LabelsMechanism, candidates: NDArray[np.int64], faults: tuple[Fault, ...]
) -> Kind:
    """The candidate (n, c) whose labels tell the least visible of the faults from the claim."""
    votes = candidates.astype(np.float64)
    log_q = np.asarray(mechanism.mechanism().log_probabilities(votes))
    told = divergences(fault_laws(faults, log_q, votes), log_q[:, None, :]).min(-1)
    return Kind(candidates[int(np.argmax(told))], faults)


def _composed(mechanism: LabelsMechanism, total: int, size: int) -> NDArray[np.int64]:
    """Votes (n, c) on `size` classes, with leads up to some scales of the noise; none if too few.

    A leader, some who share the second place, and the others with a share of its votes.
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
