"""`privacy-claim`: the claimed epsilon, delta and queries, compared with exact costs."""

from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import cached_property
from typing import Self

import numpy as np

from .....reference import Histogram
from .....reference.accounting.certified import delta_lower, epsilon_lower
from .....reference.accounting.counting import MOST, best_count, costliest_count
from .....reference.accounting.neighbourhood import MOVED_VOTE, ONE_MORE_OR_LESS, Neighbourhood
from .....reference.accounting.pairs import worst_neighbours
from .....reference.accounting.worst_pair import worst_pair
from ....claims.tables import ANY_QUERIES
from ....findings.excluded import Excluded
from ....findings.figures import PrivacyCost
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields
from ....findings.report import Verdict
from ....inputs.histogram_file import read_histograms
from ....run.checks import Reason, RunContext, Setting
from ....run.phase import Phase
from ....text import counted, rounded_down
from ..claim import LabelsClaim
from ..exact_cost import MOST_COMPOSED, exact_epsilon, proven_epsilon
from .base import LabelsCheck, refuting
from .certain_cost import LikelierLabels

SEARCHED_ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0)  # at which the costliest pairs are searched
_LEAST = 1e-12  # a smaller delta is claimed by nobody, so that nothing is said of it
_BY_BALLS = "the tail of a count of labels, in ball arithmetic; nothing is asked"
MOST_ROWS = 20  # most histograms of a scope file, the most frequent ones


@dataclass(frozen=True)
class DistinguishingTest:
    """A test of a pair by counting: at least `least` of `times` labels are among `of`.

    delta: that it shows at the claimed epsilon; from_count, epsilon: from which count on the same
    labels show most epsilon at the claimed delta, and how much, in floats.
    """

    of: LikelierLabels
    times: int
    least: int
    delta: float
    from_count: int
    epsilon: float


class PrivacyClaimCheck(LabelsCheck):
    """Searches for a test that distinguishes a pair of histograms better than the claim allows.

    The test merges labels into two events and counts them over the claimed queries. It refutes by a
    lower bound of delta, a binomial tail in ball arithmetic. Finding none does not prove the claim.
    """

    id = "privacy-claim"
    phase = Phase.CLAIM

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.claim)

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        return claim.uncounted

    def __init__(self, claim: LabelsClaim, neighbourhood: Neighbourhood | None = None) -> None:
        self.claim, self.privacy = claim, claim.private
        self.mechanism = claim.mechanism.mechanism()
        self.neighbourhood = neighbourhood or claim.mechanism.neighbourhood

    def conclude(self, context: RunContext) -> Outcome:
        try:
            refuted = self.refuted
        except ValueError as error:
            found = Finding(f"privacy.scope: {error}", code="file-unreadable")
            return Outcome(Verdict.ERROR, found)
        return Outcome(refuting(refuted), self.finding())

    @cached_property
    def best(self) -> DistinguishingTest | None:
        """The best test of the costliest pairs, in floating point.

        Raises ValueError for a scope that cannot be read.
        """
        tests = [self._best_test(*pair) for pair in self._pairs()]
        return max(tests, key=lambda test: (test.delta, test.epsilon), default=None)

    @cached_property
    def certified(self) -> float:
        """A number that delta at the claimed epsilon is certainly at least. Raises as `best`."""
        if self.best is None:
            return 0.0
        test, balls = self.best, self.best.of.enclosed(self.mechanism)
        return delta_lower(*balls, test.times, test.least, self.privacy.epsilon)

    @property
    def refuted(self) -> bool:
        """Whether the claim is disproved. Raises as `best`."""
        return self.certified > self.privacy.delta

    def _pairs(self) -> list[tuple[Histogram, Histogram, int]]:
        """Pairs (here, there) of histograms (c,), and how often each may be asked."""
        claim = self.claim.mechanism
        queries = 1 if claim.caching else self.privacy.queries
        if self.privacy.scope == ANY_QUERIES:
            worst = worst_pair(
                self.mechanism, claim.classes, claim.teachers, SEARCHED_ORDERS, self.neighbourhood
            )
            pairs = {
                (tuple(h.tolist()), tuple(t.tolist()))
                for h, t in zip(worst.here, worst.there, strict=True)
            }
            both = [*pairs, *((there, here) for here, there in pairs)]
            return [(np.array(h), np.array(t), queries) for h, t in both]
        found = []
        rows = Counter(row.histogram for row in read_histograms(self.privacy.scope))
        for votes, asked in rows.most_common(MOST_ROWS):
            times = 1 if claim.caching else min(asked, queries)
            here = np.array(votes)
            others = np.array(list(self.neighbourhood.among(here, range(here.size))))
            worst_of = worst_neighbours(here, self.mechanism, SEARCHED_ORDERS, among=others)
            for side in (worst_of.neighbours_from, worst_of.neighbours_towards):
                for other in {tuple(n.tolist()) for n in side}:
                    found += [(np.array(votes), np.array(other), times)]
                    found += [(np.array(other), np.array(votes), times)]
        return found

    def _best_test(self, here: Histogram, there: Histogram, times: int) -> DistinguishingTest:
        """The test by the labels likelier at `here`, with the threshold of the largest delta."""
        of, times = LikelierLabels.of(self.mechanism, here, there), min(times, MOST)
        least, delta = best_count(of.at_here, of.at_there, times, self.privacy.epsilon)
        most = costliest_count(of.at_here, of.at_there, times, self.privacy.delta)
        return DistinguishingTest(of, times, least, delta, *most)

    def finding(self) -> Finding:
        """The finding. Raises as `best`."""
        claim = self.privacy
        what = f"({claim.epsilon:g}, {claim.delta:g}) for "
        what += counted(claim.queries, "query", "queries")
        test = self.best
        if test is None or not self.refuted:
            known = "" if test is None else f": the best test found has delta {test.delta:.3g}"
            text = f"{what} is not refuted{known}{self._between}"
            return Finding(text, figure=self.figure(), excludes=self.excluded)
        holds_for, others = self._of_others()
        return Finding(
            f"{what} is refuted: asked {test.times:,} times, {list(test.of.here)} and its "
            f"neighbour {list(test.of.there)} are told apart by counting labels "
            f"{list(test.of.labels)} ({test.least} or more) with delta at least "
            f"{self.certified:.4g} at that epsilon (certified in ball arithmetic)",
            f"the accountant charges too little, or the claim allows too many queries{others}"
            f"{rounded_down(claim.epsilon, self.refuted_below)}",
            test.of.here,
            self.figure(),
            code="cost-above-claim",
            fields={
                "delta": self.certified,
                "epsilon": claim.epsilon,
                "queries": test.times,
                "least": test.least,
                "holds_for": holds_for,
            },
        )

    @cached_property
    def refuted_below(self) -> float:
        """Epsilon below which a claim would be refuted, by counting labels of the pair found."""
        if self.best is None:
            return 0.0
        test = self.best
        return epsilon_lower(
            *test.of.enclosed(self.mechanism), test.times, test.from_count, self.privacy.delta
        )

    @cached_property
    def proven_from(self) -> float | None:
        """Epsilon from which on a claim is proven, whatever the votes; None where none is."""
        return proven_epsilon(self.claim.mechanism, self.privacy)

    @property
    def _between(self) -> str:
        """Between what is refuted and what is proven, in words."""
        told = f"; an epsilon below {round_away(self.refuted_below, up=False)} would be refuted"
        most = self.proven_from
        if most is None:
            return told
        proven = f"from {round_away(most, up=True)} on it is proven"
        if most <= self.privacy.epsilon:
            return f"{told}, and {proven}, as this one is"
        return f"{told}, {proven}, and this one lies between"

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """A smaller delta, by the claim alone."""
        try:
            test, least = self.best, self.certified
        except ValueError:
            return ()  # the run says that the scope cannot be read
        if test is None or self.refuted or least < _LEAST:
            return ()
        epsilon, named = self.privacy.epsilon, self.claim.named
        size: Fields = {"delta": least, "epsilon": epsilon, "queries": test.times}
        where = named(test.of.here), named(test.of.there)
        return (self.entry("cost-above-claim", size, where, 0, method=_BY_BALLS),)

    def _of_others(self) -> tuple[str | None, str]:
        """Of which neighbours by fewer votes the claim is not refuted, and in words, if of any."""
        other, words = ONE_MORE_OR_LESS, 'a teacher more or less, which is adjacency = "add-remove"'
        name = "one vote more or less"
        if self.claim.mechanism.unit == "record":
            most, name = self.neighbourhood.votes, "one moved vote"
            other, words = MOVED_VOTE, f"one moved vote, where a record moves {most}"
        if other == self.neighbourhood:
            return None, ""
        best = PrivacyClaimCheck(self.claim, other).best
        if best is not None and best.delta > self.privacy.delta:
            return None, ""
        return name, f"; it is not refuted for {words}"

    def figure(self) -> PrivacyCost | None:
        """What the page draws. None where there is no pair."""
        if self.best is None:
            return None
        return PrivacyCost(
            epsilon=self.privacy.epsilon,
            delta=self.privacy.delta,
            queries=self.privacy.queries,
            here=self.best.of.here,
            there=self.best.of.there,
            times=self.best.times,
            test_delta=self.best.delta,
            certified_delta=self.certified,
            refuted_below=self.refuted_below,
            proven_from=self.proven_from,
        )


def cost_at(claim: LabelsClaim, scale: float) -> tuple[float, float] | None:
    """Of the pair found, exactly, or by counting, and at most."""
    of = claim.mechanism
    noise = of.noise.times(scale / of.noise.scale)
    there = claim.model_copy(update={"mechanism": of.model_copy(update={"noise": noise})})
    check = PrivacyClaimCheck(there)
    figure = check.figure()
    if figure is None:
        return None
    if figure.times <= MOST_COMPOSED:
        return exact_epsilon(figure, there.mechanism)
    most = check.proven_from
    return None if most is None else (check.refuted_below, most)


def round_away(epsilon: float, *, up: bool) -> str:
    """An epsilon in four digits, rounded away from what is not shown."""
    towards = ROUND_CEILING if up else ROUND_FLOOR
    return f"{float(Context(4, towards).create_decimal(epsilon)):g}"
