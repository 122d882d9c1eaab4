"""A lower bound of the total cost of the queries of a log, below any sound account."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .....reference import REFUSAL
from .....reference.accounting.certified import enclosed_parts
from .....reference.accounting.composed import SumTest, sum_test, sum_test_epsilon
from .....reference.accounting.divergences import renyi_divergence
from .....reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import ClaimedMechanism
from .laws import Histogram

MOST_KINDS = 1_000
"""Most histograms that are counted, the costliest ones; others can only add to the cost."""

MOST_PROVED = 400
"""Most histograms in a proof, which take a quarter of a second each."""

_LOOKED_THROUGH = 20_000  # most frequent histograms, among which the costliest are chosen
_BLOCK = 2_048
_ORDER = 2.0  # order of the divergence by which neighbours are chosen
_SURE = 1.001  # estimate over `beyond` from which a proof is tried


_Part = tuple[NDArray[np.int64], NDArray[np.int64], bool]
"""Histograms (k, c), how often each was asked (k,), and whether these queries were refused."""


_Change = tuple[int, int]
"""How the votes of every query change: at most so many leave a class, and come to another."""


@dataclass(frozen=True)
class CertainTotal:
    """A lower bound of the cost of a log's queries.

    epsilon: of all of them, in floating point; proved: in ball arithmetic, 0 if no proof was tried;
    histograms, queries: in the proof, where histograms that are permutations count once.
    """

    epsilon: float = 0.0
    proved: float = 0.0
    histograms: int = 0
    queries: int = 0


def certain_total(
    mechanism: ClaimedMechanism,
    asked: Mapping[Histogram, int],
    delta: float,
    beyond: float,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    refused: Mapping[Histogram, int] | None = None,
    both_ways: bool = True,
    apart: bool = False,
) -> CertainTotal:
    """A lower bound of the epsilon at `delta` of asking each histogram (c,) so many times.

    beyond: an epsilon; a larger cost is proved, with as few histograms as suffice. refused: queries
    of each that were refused, for an account that charges these only for the screen; both_ways:
    whether the direction from the neighbours counts too, which a data-dependent account need not
    cover; apart: whether answers count by themselves, beside the screen of every query.
    """
    parts = list(_parts(asked, refused or {}, apart=apart))
    best = CertainTotal()
    changes = [(1, 0), (0, 1)]
    if neighbourhood.counts == 2:
        changes = [(neighbourhood.votes, neighbourhood.votes)]
    tried = product((False, True) if both_ways else (False,), changes)
    for reverse, change in tried:
        kinds = _costliest(mechanism, parts, change, apart=apart, reverse=reverse)
        found = _total_of(mechanism, kinds, delta, beyond)
        best = max(best, found, key=lambda total: (total.proved, total.epsilon))
        if best.proved > beyond:
            break
    return best


def _total_of(
    mechanism: ClaimedMechanism, kinds: "_Kinds", delta: float, beyond: float
) -> CertainTotal:
    """The cost of all kinds, with a proof by the costliest if it exceeds `beyond`."""
    test = kinds.test(delta)
    if test is None:
        return CertainTotal()
    total = CertainTotal(test.epsilon, 0.0, len(kinds.times), int(kinds.times.sum()))
    number, most = 1, min(len(kinds.times), MOST_PROVED)
    while total.epsilon > _SURE * beyond and number <= most:
        some = kinds.first(number)
        test = some.test(delta)
        if test is not None and test.epsilon > _SURE * beyond:
            proved = some.prove(mechanism, test, delta)
            return CertainTotal(total.epsilon, proved, number, int(some.times.sum()))
        number = number + 1 if number == most else min(2 * number, most)
    return total


class _Kinds(NamedTuple):
    """Histograms (k, c), each with a neighbour (k, c), and how often it was asked (k,).

    p, q: the two sides of D(P || Q); told_apart: labels (k, l) that are not merged; log_p, log_q:
    log-laws (k, l + 1) of these labels and of all others merged.
    """

    p: NDArray[np.int64]
    q: NDArray[np.int64]
    times: NDArray[np.int64]
    told_apart: NDArray[np.int64]
    log_p: Matrix
    log_q: Matrix

    def first(self, number: int) -> "_Kinds":
        """The first `number` kinds."""
        columns: list[Any] = [column[:number] for column in self]
        return _Kinds(*columns)

    def test(self, delta: float) -> SumTest | None:
        """The best test by a threshold on the sum of scores; None without kinds."""
        if not len(self.times):
            return None
        return sum_test(self.log_p, self.log_q, self.times.astype(np.float64), delta)

    def prove(self, mechanism: ClaimedMechanism, test: SumTest, delta: float) -> float:
        """The epsilon that a test proves in ball arithmetic."""
        p, q = (
            [
                _enclose(mechanism if REFUSAL in labels else mechanism.answering, row, labels)
                for row, labels in zip(votes.tolist(), self.told_apart.tolist(), strict=True)
            ]
            for votes in (self.p, self.q)
        )
        return sum_test_epsilon(p, q, self.times.tolist(), delta, test)


def _costliest(
    mechanism: ClaimedMechanism,
    parts: Sequence[_Part],
    change: _Change,
    *,
    apart: bool,
    reverse: bool,
) -> _Kinds:
    """The kinds with the largest total cost, the costliest first."""
    block = partial(_block, mechanism, change, apart=apart, reverse=reverse)
    blocks, costs_of = zip(*(block(*part) for part in parts), strict=True)
    costs = np.concatenate(costs_of)
    order = np.argsort(-costs, kind="stable")[: min(MOST_KINDS, int((costs > 0.0).sum()))]
    columns: list[Any] = [np.concatenate(each)[order] for each in zip(*blocks, strict=True)]
    return _Kinds(*columns)


def _block(
    mechanism: ClaimedMechanism,
    change: _Change,
    votes: NDArray[np.int64],
    times: NDArray[np.int64],
    screened: bool,
    *,
    apart: bool,
    reverse: bool,
) -> tuple[_Kinds, Vector]:
    """The kinds of histograms (k, c), with the costliest of a few neighbours; costs (k,).

    screened: whether only refusals are distinguished, for queries that were refused.
    """
    if apart and not screened:
        mechanism = mechanism.answering
    laws = np.asarray(mechanism.log_probabilities(votes.astype(np.float64)))
    best: tuple[NDArray[Any], ...] = ()
    costs = np.full(len(votes), -1.0)
    end = votes.shape[1] - 1  # votes are sorted, so these moves stand for all
    for source, to in dict.fromkeys([(0, 1), (1, 0), (0, end), (end, 0)]):
        there, possible = _neighbours(votes, source, to, change)
        last = to if apart else REFUSAL  # an answer by itself is no refusal
        labels = [REFUSAL, REFUSAL, REFUSAL] if screened else [source, to, last]
        moved = np.asarray(mechanism.log_probabilities(there.astype(np.float64)))
        sides = [
            (votes, _merge(laws, labels, mechanism.refuses)),
            (there, _merge(moved, labels, mechanism.refuses)),
        ]
        (p, log_p), (q, log_q) = sides[::-1] if reverse else sides
        cost = np.where(possible, renyi_divergence(log_p, log_q, _ORDER)[:, 0] * times, 0.0)
        row = p, q, times, np.tile(labels, (len(votes), 1)), log_p, log_q
        better = cost > costs
        best = tuple(
            np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
            for new, old in zip(row, best or row, strict=True)
        )
        costs = np.maximum(costs, cost)
    return _Kinds(*best), costs


def _parts(
    asked: Mapping[Histogram, int], refused: Mapping[Histogram, int], *, apart: bool
) -> Iterator[_Part]:
    """Blocks of histograms; apart: refused or not, every query was screened.

    Permutations of a histogram are counted together, as they cost the same.
    """
    for screened in (False, True):
        times: Counter[Histogram] = Counter()
        for votes, number in (refused if screened and not apart else asked).items():
            left = number if screened else number - refused.get(votes, 0)
            if left > 0:
                times[tuple(sorted(votes, reverse=True))] += left
        kept = times.most_common(_LOOKED_THROUGH)
        for start in range(0, len(kept), _BLOCK):
            block = kept[start : start + _BLOCK]
            yield np.array([v for v, _ in block]), np.array([n for _, n in block]), screened


def _neighbours(
    votes: NDArray[np.int64], source: int, to: int, change: _Change
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Neighbours (k, c) of histograms (k, c), and whether (k,) there is such a one."""
    there, (leave, come) = votes.copy(), change
    left = np.minimum(votes[:, source], leave)
    there[:, source] -= left
    there[:, to] += left if leave and come else come
    return there, (there != votes).any(1)


def _merge(log_law: Matrix, labels: list[int], refuses: bool) -> Matrix:
    """Log-laws (k, l + 1) of `labels`, and of all others merged, from those of all (k, o).

    A refusal where there is none, and a repeated label, get probability 0.
    """
    never, outcomes = np.full(len(log_law), -np.inf), log_law.shape[1]
    kept = [k for k in dict.fromkeys(labels) if k != REFUSAL or refuses]
    first = {k: labels.index(k) for k in kept}
    columns = [log_law[:, k] if first.get(k) == at else never for at, k in enumerate(labels)]
    left = [k for k in range(outcomes) if k not in {k % outcomes for k in kept}]
    rest = np.logaddexp.reduce(log_law[:, left], -1) if left else never
    return np.stack([*columns, rest], -1)


def _enclose(mechanism: ClaimedMechanism, votes: list[int], labels: list[int]) -> list[arb]:
    """Probabilities of the outcomes of `_merge` as balls."""
    kept = [k for k in dict.fromkeys(labels) if k != REFUSAL or mechanism.refuses]
    *parts, rest = enclosed_parts(votes, mechanism, kept)
    balls = dict(zip(kept, parts, strict=True))
    return [*(balls.pop(label, arb(0)) for label in labels), rest]
