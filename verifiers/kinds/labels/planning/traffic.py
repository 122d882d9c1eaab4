"""Queries one at a time, in an order as production has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....claims.tables import Gate
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .extent import Extent
from .given_runs import Given
from .made_runs import Made
from .related import RUNS, Related, Runs

CALLS, LEAST_CALLS = 4000, 320
"""Calls in turn of a full run, and the fewest in which half the noise would show anywhere."""

_WORK = 40_000_000  # classes squared times calls: what their laws take

BATCH = 4
"""Labels of a call for several, in between."""

_AFTER_BATCH = 1 / 16  # of the calls of related runs, those that such a call comes before
_SHORTEST, _LONGEST = 4, 12  # calls of a run
_OF_RUNS = 50  # which `RUNS` shares out
_LAGS = (1, 2, 5, 50)  # calls after which a query comes again
_OWN = 0.25  # of the calls, those that ask the deployment's own histograms as they stand
_MIXED, _SURE = 0.6, 0.225  # of all calls: runs of every kind, then nothing but sure ones
_TELLING = 0.42  # of what comes after the sure ones, those that are hard to predict


def calls_in_turn(claim: LabelsClaim, extent: Extent) -> int:
    """Calls that a plan of this extent makes: the fewer, the larger the smallest effect is.

    Fewer of many classes, whose laws take long; none where there would be so few that nothing
    showed in them.
    """
    effect = Gate.model_fields["smallest_effect"].default / claim.gate.smallest_effect
    calls = round(min(1.0, effect, extent.share) * CALLS)
    calls = min(calls, max(LEAST_CALLS, _WORK // claim.mechanism.classes**2))
    return calls if calls >= LEAST_CALLS and extent.symmetries else 0


@dataclass(frozen=True)
class Traffic:
    """What is asked in turn: `calls` histograms, one label each.

    given: whether only `own` may be asked, those of the claim's inputs; otherwise they come first.
    other_totals: whether the target serves totals other than the claimed teachers.

    First come runs of related queries; last, a block of sure ones, after which a running consensus
    is high however slowly it moves, with telling ones among them.
    """

    claim: LabelsMechanism
    seed: int
    calls: int
    own: tuple[tuple[int, ...], ...] = ()
    given: bool = False
    other_totals: bool = True

    @cached_property
    def after_batch(self) -> NDArray[np.bool_]:
        """Which calls (calls,) come just after a call for several labels of another histogram."""
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
        """What is asked (calls, c), in order; with kept answers, each once."""
        votes = np.array(self._votes(), dtype=np.int64).reshape(-1, self.claim.classes)
        if not self.claim.caching:
            return votes
        _, first = np.unique(votes, axis=0, return_index=True)
        return votes[np.sort(first)]

    def _votes(self) -> Runs:
        if self.calls == 0:
            return []
        rng = np.random.default_rng([self.seed, self.calls])
        related: Related = Made(self.claim, rng, self.other_totals)
        if self.given:
            related = Given.of(self.claim, self.own, rng)
        own = [np.array(votes, dtype=np.int64) for votes in self.own]
        found = own[: int(_OWN * self.calls)]
        mixed = int(_MIXED * self.calls)
        for run in _runs(related, rng, found):
            found += run
            if len(found) >= mixed:
                break
        found += related.sure(int(_SURE * self.calls))
        while len(found) < self.calls:
            telling = rng.random() < _TELLING
            found.append(related.telling_among_sure() if telling else related.sure(1)[0])
        return found[: self.calls]


def _runs(related: Related, rng: np.random.Generator, asked: Runs) -> Iterator[Runs]:
    """Runs without end, of every kind in its share; asked: all that came before, as it grows."""
    kinds = np.repeat(np.arange(len(RUNS)), [often for _, often in RUNS])
    repeats = np.full(_OF_RUNS - kinds.size, -1)
    while True:
        for kind in rng.permutation(np.concatenate([kinds, repeats])):
            size = int(rng.integers(_SHORTEST, _LONGEST + 1))
            if kind < 0:
                yield _again(related, rng, asked, size)
            else:
                yield RUNS[kind][0](related, size)


def _again(related: Related, rng: np.random.Generator, asked: Runs, size: int) -> Runs:
    """Queries that come again after so many calls: new ones, or those asked so long ago."""
    lag = int(rng.choice([lag for lag in _LAGS if lag <= _LONGEST or lag <= len(asked)]))
    new = related.any(lag) if lag <= _LONGEST else []
    cycle = new or asked[-lag:]
    return [*new, *(cycle[i % lag] for i in range(size))]
