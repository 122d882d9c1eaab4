"""Single queries in an order like production's."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....claims.tables import Gate
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .runs import Histograms, RelatedRuns, RunsOfAnyTotal, RunsOfGiven
from .streams import Extent

CALLS, LEAST_CALLS = 4000, 320
"""Calls of a full run, and the fewest in which half the noise would show."""

_WORK = 40_000_000  # most calls times classes squared, which is what their laws cost

BATCH = 4
"""Labels of each call for several labels in between."""

_AFTER_BATCH = 1 / 16  # share of calls in related runs that follow a call for several labels
_SHORTEST, _LONGEST = 4, 12  # calls of a run
_OF_RUNS = 50  # runs over which the kinds of runs are counted
_LAGS = (1, 2, 5, 50)  # calls after which a query is repeated
_OWN = 0.25  # largest share of calls on the deployment's own histograms as they stand
_MIXED, _SURE = 0.6, 0.225  # shares: runs of every kind, then near-unanimous ones only
_TELLING = 0.42  # share of the rest whose labels are hard to predict


def calls_in_turn(claim: LabelsClaim, extent: Extent) -> int:
    """Single calls that a plan of this extent makes: fewer for a larger smallest effect.

    Fewer, too, for many classes, whose laws take long to compute. None where they would be too few
    for anything to show.
    """
    effect = Gate.model_fields["smallest_effect"].default / claim.gate.smallest_effect
    calls = round(min(1.0, effect, extent.share) * CALLS)
    calls = min(calls, max(LEAST_CALLS, _WORK // claim.mechanism.classes**2))
    return calls if calls >= LEAST_CALLS and extent.symmetries else 0


@dataclass(frozen=True)
class Traffic:
    """Single queries in order: `calls` histograms, one label each.

    own: histograms that are asked first, or, where `given`, the only ones that may be asked (the
    claim's inputs); other_totals: whether the target serves totals other than the claimed teachers.

    Runs of related queries come first. A block of near-unanimous histograms follows, which makes
    any running consensus high; then more of them, mixed with histograms on which faults show.
    """

    claim: LabelsMechanism
    seed: int
    calls: int
    own: tuple[tuple[int, ...], ...] = ()
    given: bool = False
    other_totals: bool = True

    @cached_property
    def after_batch(self) -> NDArray[np.bool_]:
        """Whether each call (calls,) follows a call for several labels of another histogram."""
        rng = np.random.default_rng([self.seed, self.calls, 1])
        followed = rng.random(len(self.histograms)) < _AFTER_BATCH
        followed[int(_MIXED * self.calls) :] = False
        return followed & (not self.claim.caching)

    @property
    def labels(self) -> int:
        """Labels in all, those of the calls for several included."""
        return self.calls + BATCH * int(self.after_batch.sum())

    @cached_property
    def histograms(self) -> NDArray[np.int64]:
        """The histograms (calls, c) in the order asked; distinct where the target keeps answers."""
        votes = np.array(self._votes(), dtype=np.int64).reshape(-1, self.claim.classes)
        if not self.claim.caching:
            return votes
        _, first = np.unique(votes, axis=0, return_index=True)
        return votes[np.sort(first)]

    def _votes(self) -> Histograms:
        if self.calls == 0:
            return []
        rng = np.random.default_rng([self.seed, self.calls])
        related: RelatedRuns
        if self.given:
            related = RunsOfGiven(self.claim, self.own, rng)
        else:
            related = (RunsOfAnyTotal if self.other_totals else RelatedRuns)(self.claim, rng)
        found = [np.array(votes, dtype=np.int64) for votes in self.own[: int(_OWN * self.calls)]]
        mixed = int(_MIXED * self.calls)
        for run in _endless(related, rng, found):
            found += run
            if len(found) >= mixed:
                break
        found += related.sure(int(_SURE * self.calls))
        while len(found) < self.calls:
            telling = rng.random() < _TELLING
            found.append(related.telling_among_sure() if telling else related.sure(1)[0])
        return found[: self.calls]


def _endless(
    related: RelatedRuns, rng: np.random.Generator, asked: Histograms
) -> Iterator[Histograms]:
    """Runs of each kind in its share; asked: the histograms so far, a list that grows."""
    weights, makers = zip(*related.of_each_kind(), strict=True)
    kinds = np.repeat(np.arange(len(makers)), weights)
    repeats = np.full(_OF_RUNS - kinds.size, -1)
    while True:
        for kind in rng.permutation(np.concatenate([kinds, repeats])):
            size = int(rng.integers(_SHORTEST, _LONGEST + 1))
            yield _again(related, rng, asked, size) if kind < 0 else makers[kind](size)


def _again(
    related: RelatedRuns, rng: np.random.Generator, asked: Histograms, size: int
) -> Histograms:
    """A run of queries that repeats every `lag` calls, of new histograms or earlier ones."""
    lag = int(rng.choice([lag for lag in _LAGS if lag <= _LONGEST or lag <= len(asked)]))
    new = related.any(lag) if lag <= _LONGEST else []
    cycle = new or asked[-lag:]
    return [*new, *(cycle[i % lag] for i in range(size))]
