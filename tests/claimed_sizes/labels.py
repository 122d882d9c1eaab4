"""Wrong aggregators of labels: their law for some histograms, copies, and noise by the order."""

from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.labels.planning.features import features

from .numbers import shortened

Numbers = NDArray[np.float64]


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    plan, size = planned.plan, entry.size
    mechanism = planned.claim.mechanism
    if entry.code in ("scale-too-small", "scale-too-large"):
        noise = mechanism.noise.times(1.0 + times * (float(size["factor"]) - 1.0))
        other = mechanism.mechanism(noise)
        return lambda rng: lambda votes, n: other.sample(votes, n, rng)
    if entry.code == "labels-depend-on-order":
        return _by_order(planned, entry, times, seed)
    if entry.code == "noise-missing":
        lead = float(size["lead"]) / times
        return _where(planned, lambda votes: _lead(votes) >= lead, _bare)
    if entry.code == "charge-too-low":
        return lambda rng: _Undercharging(mechanism.mechanism(), rng, shortened(entry, times))
    named = [stream for stream in plan.streams if stream.kind in entry.where]
    histogram = np.array(named[seed % len(named)].histogram)
    if entry.code == "noise-reused":
        longest = max(named, key=lambda stream: stream.queries - stream.rotated)
        histogram = np.array(longest.histogram)
        share, distance = times * float(size["share"]), int(size["distance"])
        return _copying(planned, histogram, min(share, 1.0), distance)
    off = times * float(size["total_variation"])
    if check == "class-probabilities":
        anchors = [stream for stream in named if stream.is_anchor]
        histogram = np.array(anchors[seed % len(anchors)].histogram)
        claimed = _law(planned, histogram)
        return _of_histogram(planned, histogram, hardest(claimed, off))
    base, other, _ = plan.compared_streams[check]
    of_other = np.array(plan.streams[other].histogram)
    law = _law(planned, of_other)
    if check == "vote-monotonicity":
        before = np.array(plan.streams[base].histogram)
        leader = int(np.argmax(of_other - before))
        less = max(0.0, _law(planned, before)[leader] - off)
        law = law * (1.0 - less) / (1.0 - law[leader])
        law[leader] = less
        return _of_histogram(planned, of_other, law, turns=1)
    return _of_histogram(planned, of_other, hardest(law, off), turns=1)


class _Undercharging:
    """The claimed mechanism, charged at a share of what a query costs against a moved vote."""

    def __init__(self, mechanism: Any, rng: np.random.Generator, share: float) -> None:
        self.mechanism, self.rng, self.share = mechanism, rng, share

    def sample(self, votes: Any, size: int) -> Any:
        return self.mechanism.sample(votes, size, self.rng)

    def rdp(self, votes: Any, orders: Any) -> Any:
        here = np.asarray(self.mechanism.log_probabilities(np.asarray(votes, dtype=float)))
        cost = np.zeros(len(orders))
        for of, to in permutations(range(len(votes)), 2):
            if votes[of]:
                moved = np.array(votes, dtype=float)
                moved[[of, to]] += [-1.0, 1.0]
                there = np.asarray(self.mechanism.log_probabilities(moved))
                cost = np.maximum(cost, renyi_divergence(here, there, np.asarray(orders)))
        return self.share * cost


def hardest(law: Numbers, total_variation: float) -> Numbers:
    """The law so far away that is hardest to tell: a group of labels gains what the rest loses.

    As far as any law lies, where none is so far away.
    """
    found, least = law, np.inf
    total_variation = min(total_variation, 1.0 - float(law.min()))
    for many in range(1, law.size):
        for group in combinations(range(law.size), many):
            share = float(law[list(group)].sum())
            gained = share + total_variation
            if gained > 1.0 + 1e-12:
                continue
            nats = gained * np.log(gained / share)
            nats += max(0.0, 1.0 - gained) * np.log(max(1.0 - gained, 1e-300) / (1.0 - share))
            if nats < least:
                ratio = np.full(law.size, max(0.0, 1.0 - gained) / (1.0 - share))
                ratio[list(group)] = gained / share
                found, least = law * ratio, nats
    return np.asarray(found / found.sum())


def _law(planned: Any, histogram: NDArray[np.int64]) -> Numbers:
    mechanism = planned.claim.mechanism.mechanism()
    log_law = mechanism.log_probabilities(histogram.astype(float))
    return np.asarray(np.exp(np.asarray(log_law)))


def _lead(votes: NDArray[np.int64]) -> float:
    highest = np.sort(votes)[-2:]
    return float(highest[1] - highest[0])


def _bare(votes: NDArray[np.int64], size: int, _: np.random.Generator) -> Any:
    return np.full(size, int(np.argmax(votes)))


def _where(planned: Any, holds: Callable[[Any], bool], instead: Callable[..., Any]) -> Any:
    """Labels of some histograms are drawn otherwise."""
    right = planned.claim.mechanism.mechanism()

    def make(rng: np.random.Generator) -> Any:
        return lambda votes, size: (instead if holds(votes) else right.sample)(votes, size, rng)

    return make


def _of_histogram(
    planned: Any, histogram: NDArray[np.int64], law: Numbers, turns: int | None = None
) -> Any:
    """Labels of one histogram follow another law, under all rotations of the class numbers.

    turns: how many of the rotations; one, that of the histogram itself, where others may be asked
    as its twin.
    """
    turned = {
        tuple(np.roll(histogram, by)): np.roll(law, by) for by in range(turns or histogram.size)
    }

    def draw(votes: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.choice(law.size, size, p=turned[tuple(votes)])

    return _where(planned, lambda votes: tuple(votes) in turned, draw)


def _copying(planned: Any, histogram: NDArray[np.int64], share: float, distance: int) -> Any:
    """A share of one histogram's labels copies those so many before."""
    right = planned.claim.mechanism.mechanism()

    def make(rng: np.random.Generator) -> Any:
        said: list[int] = []

        def answer(votes: Any, size: int) -> Any:
            labels = np.array(right.sample(votes, size, rng))
            if tuple(votes) != tuple(histogram):
                return labels
            for place, again in enumerate(rng.random(size) < share):
                if again and len(said) >= distance:
                    labels[place] = said[-distance]
                said.append(int(labels[place]))
            return labels

        return answer

    return make


def _by_order(planned: Any, entry: Excluded, times: float, seed: int) -> Any:
    """Half the noise in the calls of the traffic where one of the seen properties holds."""
    plan, claim = planned.plan, planned.claim.mechanism
    traffic = plan.traffic.histograms
    ways = seen_ways(planned, str(entry.size["on"]))
    holds = ways[seed % len(ways)]
    factor = float(entry.size["factor"]) / times
    right, less = claim.mechanism(), claim.mechanism(claim.noise.times(factor))

    def make(rng: np.random.Generator) -> Any:
        place = [0]

        def answer(votes: Any, size: int) -> Any:
            at = place[0]
            in_turn = size == 1 and at < len(traffic) and np.array_equal(votes, traffic[at])
            if not in_turn:
                return right.sample(votes, size, rng)
            place[0] += 1
            return (less if holds[at] else right).sample(votes, size, rng)

        return answer

    return make


def seen_ways(planned: Any, family: str) -> list[NDArray[np.bool_]]:
    """Where the properties (calls,) of a family hold, of which the check says that they show."""
    from dpassay.verifiers.kinds.labels.checks import Order

    plan = planned.plan
    known = features(
        plan.traffic.histograms, planned.claim.mechanism.total, plan.traffic.after_batch
    )
    surely = Order(plan)._surely(np.ones(len(plan.traffic.histograms), dtype=bool))
    return [
        one.holds for one, seen in zip(known, surely, strict=True) if seen and one.family == family
    ]
