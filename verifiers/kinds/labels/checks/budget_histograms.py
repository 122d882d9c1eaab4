"""The histograms on which a budget is tested: clear leads, near ties, ties, the costliest."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .....reference import Histogram
from .....reference.accounting.worst_pair import worst_pair
from .....reference.mechanisms import ClaimedMechanism
from .....reference.searches import last_between
from ....inputs.histogram_file import read_histograms
from ..claim import LabelsClaim
from ..planning.given_inputs import given_inputs
from .certain_cost import CertainCost
from .privacy_claim import MOST_ROWS, SEARCHED_ORDERS

_RUNNERS_UP = (1e-3, 1e-2, 0.1, 0.4)  # probabilities that the second class wins
_SEEN = 10.0  # probability of the rarest runner-up, over delta
_INPUTS = 8  # tried, of a claim with inputs
_TELLING = 1e-3  # least epsilon that one answer must cost


def costliest(claim: LabelsClaim) -> tuple[CertainCost, int] | None:
    """The histogram that exceeds the claimed epsilon with the fewest answers, and how many.

    Only answers count, also where the mechanism may refuse. None where no histogram exceeds it.
    """
    found = []
    for cost in _of_inputs(claim) if claim.given else _of_the_worst_pair(claim):
        answers = cost.answers_beyond(claim.private.epsilon)
        if answers is not None:
            found.append((cost, answers))
    return min(found, key=lambda pair: pair[1], default=None)


def _of_the_worst_pair(claim: LabelsClaim) -> Iterator[CertainCost]:
    """Costs of the histograms in the costliest pairs known, with their partners there."""
    claimed = claim.mechanism
    worst = worst_pair(
        claimed.mechanism().answering,
        claimed.classes,
        claimed.teachers,
        SEARCHED_ORDERS,
        claimed.neighbourhood,
    )
    pairs: dict[tuple[int, ...], list[Histogram]] = {}
    for one, other in zip(worst.here, worst.there, strict=True):
        for here, there in ((one, other), (other, one)):
            if here.sum() != claimed.teachers:
                continue  # a neighbour with a teacher more or less, which the target may refuse
            pairs.setdefault(tuple(here.tolist()), []).append(there)
    for votes, others in pairs.items():
        yield _cost(claim, votes, others)


def _of_inputs(claim: LabelsClaim) -> list[CertainCost]:
    """Costs of some inputs of the claim, spread evenly from predictable to unpredictable labels."""
    pool = given_inputs(claim).pool
    order = np.argsort(pool.log_q.max(-1))
    kept = np.unique(np.linspace(0, order.size - 1, _INPUTS).astype(np.int64))
    return [_cost(claim, pool.histograms[i]) for i in order[kept][::-1]]


def telling(claim: LabelsClaim) -> list[CertainCost]:
    """Costs of histograms of every kind, from a clear lead to ties, in the claimed total.

    Only those of which one answer has a cost that matters; the lead is as clear as that allows.
    """
    if claim.given:
        costs = _of_inputs(claim)
    else:
        kinds = dict.fromkeys(tuple(votes.tolist()) for votes in _kinds(claim))
        costs = [_cost(claim, votes) for votes in kinds]
    return [cost for cost in costs if cost.estimate(1) > _TELLING]


def in_scope(claim: LabelsClaim) -> list[tuple[CertainCost, int]]:
    """Costs of the most frequent histograms in the scope file, with their counts.

    The cheapest come first. Raises ValueError for a file that cannot be read.
    """
    rows = Counter(row.histogram for row in read_histograms(claim.private.scope))
    if claim.given:  # nothing else may be asked
        known = {row.histogram for row in claim.given}
        rows = Counter({votes: times for votes, times in rows.items() if votes in known})
    found = [(_cost(claim, votes), times) for votes, times in rows.most_common(MOST_ROWS)]
    return sorted(found, key=lambda pair: pair[0].estimate(pair[1]))


def _cost(
    claim: LabelsClaim, votes: Sequence[int] | Histogram, others: Iterable[Histogram] = ()
) -> CertainCost:
    """The cost of answers to a histogram (c,); others: neighbours that are tried in addition."""
    return CertainCost(
        claim.mechanism.mechanism().answering,
        np.array(votes),
        claim.private.delta,
        claim.mechanism.neighbourhood,
        others,
    )


def _kinds(claim: LabelsClaim) -> Iterator[Histogram]:
    mechanism = claim.mechanism.mechanism().answering
    classes, teachers = claim.mechanism.classes, claim.mechanism.teachers
    for chance in sorted({min(_SEEN * claim.private.delta, _RUNNERS_UP[0]), *_RUNNERS_UP}):
        yield _lead(mechanism, classes, teachers, chance)
    yield _split(classes, teachers, teachers // 2)
    yield np.array([(teachers + k) // classes for k in reversed(range(classes))])
    if teachers > 1:  # a near tie with one teacher missing, which costs as much
        yield _lead(mechanism, classes, teachers - 1, _RUNNERS_UP[-1])


def _lead(mechanism: ClaimedMechanism, classes: int, teachers: int, chance: float) -> Histogram:
    """Two classes share all votes; the second wins with probability at most `chance`."""

    def is_rare(second: int) -> bool:
        votes = _split(classes, teachers, second).astype(np.float64)
        return bool(mechanism.log_probabilities(votes)[1] <= np.log(chance))

    most = teachers // 2
    few = min(1, most)  # least votes of the second class
    return _split(classes, teachers, last_between(few, most + 1, is_rare))


def _split(classes: int, teachers: int, second: int) -> Histogram:
    votes = np.zeros(classes, dtype=np.int64)
    votes[:2] = teachers - second, second
    return votes
