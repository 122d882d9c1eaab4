"""What the queries of a growing log cost so far, and whether that is more than is claimed."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Set
from functools import partial

import numpy as np

from .....reference import Gaussian, NoisyArgmax
from .....reference.accounting.analyses import Analysis, query_cost
from .....reference.accounting.conversions import ORDERS, best_epsilon, to_epsilon
from .....reference.accounting.gnmax import gnmax_data_dependent, gnmax_data_independent
from .....reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from .....reference.accounting.pure import pure_epsilon
from .....reference.arrays import Vector
from .....reference.mechanisms import ClaimedMechanism
from ..checks.privacy_claim import PrivacyClaimCheck
from ..claim import LabelsClaim
from .costs import CHARGES, PRIVACY, AskedTimes, charges_cost, queries_cost
from .laws import Histogram

GRID = ORDERS[::8]
"""Some of the orders: each gives a valid epsilon, and the best is nearly that of all orders."""

ANALYSES: tuple[Analysis, ...] = ("data-independent", "data-dependent", "exact")

_EXACT = 2_000  # most histograms whose exact cost is computed, in some milliseconds each
_EXACT_CLASSES = 16  # most classes for that, as its work grows with their cube
_KEPT = 50_000

_HISTOGRAMS = 20_000  # most that a watch looks at, the most frequent ones
_GROWN = 1.25  # rows over those at the last look from which costs are computed again
_IDLE = 1.01  # as `_GROWN`, while no rows are waiting


class RunningCost:
    """Sums of Rényi costs at `GRID`, for the claimed neighbours.

    Data-dependent and exact costs are not private themselves; the exact one is given up for very
    many histograms, or where several votes move. followed: distinct histograms so far; charged:
    epsilon that rows charge in total; charging: how many rows do.
    """

    SAVED = ("followed", "charged", "charging", "totals")

    def __init__(
        self, mechanism: ClaimedMechanism, classes: int, neighbourhood: Neighbourhood = MOVED_VOTE
    ) -> None:
        self.mechanism, self.classes, self.neighbourhood = mechanism, classes, neighbourhood
        self.totals: dict[Analysis, Vector] = {name: np.zeros(len(GRID)) for name in ANALYSES}
        self.followed, self.charged, self.charging = 0, 0.0, 0
        self._known: dict[Histogram, dict[Analysis, Vector]] = {}

    def add(self, times: Mapping[Histogram, int], known: Container[Histogram]) -> None:
        """Adds queries: how often each histogram was asked; known: histograms asked before."""
        if not times:
            return
        self.followed += sum(votes not in known for votes in times)
        self._learn(times)
        number = np.array(list(times.values()), dtype=np.float64)
        for name in self._analyses:
            costs = np.array([self._known[votes][name] for votes in times])
            self.totals[name] = self.totals[name] + (number[:, None] * costs).sum(0)

    def add_charges(self, charges: Iterable[float]) -> None:
        """Adds epsilons that rows charge, which compose by their sum."""
        for charge in charges:
            self.charged += charge
            self.charging += 1

    def epsilon(self, analysis: Analysis, delta: float) -> float | None:
        """Epsilon at delta of all queries so far; None if it was given up."""
        if analysis not in self._analyses:
            return None
        if not self.totals[analysis].any():  # a conversion would give more than 0
            return 0.0
        return to_epsilon(GRID, self.totals[analysis], delta).epsilon

    def least_epsilon(
        self, analysis: Analysis, delta: float, times: Mapping[Histogram, int]
    ) -> float:
        """As `epsilon`, over all orders, as `dpassay account` gives it.

        times: how often each histogram was asked, of all that were.
        """
        votes, number = np.array(list(times)), np.array(list(times.values()), dtype=np.float64)
        near = self.neighbourhood
        costs = partial(query_cost, votes, self.mechanism, analysis=analysis, neighbourhood=near)
        most = float(number.sum()) * pure_epsilon(self.mechanism.noise, near)
        return best_epsilon(lambda orders: number @ costs(orders=orders), delta, pure=most).epsilon

    @property
    def _analyses(self) -> tuple[Analysis, ...]:
        """Those that are followed."""
        few = self.followed <= _EXACT and self.classes <= _EXACT_CLASSES
        return ANALYSES if few and self.neighbourhood.votes == 1 else ANALYSES[:2]

    def _learn(self, asked: Iterable[Histogram]) -> None:
        """Computes the costs of histograms that are not known yet."""
        new = [votes for votes in asked if votes not in self._known]
        if len(self._known) + len(new) > _KEPT:
            self._known.clear()
            new = list(asked)
        if isinstance(self.mechanism, NoisyArgmax) and isinstance(self.mechanism.noise, Gaussian):
            sigma = self.mechanism.noise.scale  # thousands of histograms at once
            votes_asked = np.array(new).reshape(-1, self.classes)
            dependent = gnmax_data_dependent(votes_asked, sigma, GRID, self.neighbourhood)
            independent = gnmax_data_independent(sigma, GRID, self.neighbourhood)
            for votes, cost in zip(new, dependent, strict=True):
                self._known[votes] = {"data-independent": independent, "data-dependent": cost}
        for votes in new:
            found = self._known.setdefault(votes, {})
            for name in self._analyses:
                if name not in found:
                    found[name] = query_cost(
                        votes, self.mechanism, GRID, name, neighbourhood=self.neighbourhood
                    )


class CostWatch:
    """Checks the claim once, and the cost of rows once an upper bound of it exceeds the claim.

    It looks now and then, as proofs take seconds. looked: rows when costs were last computed.
    """

    SAVED = ("looked", "claim_judged")

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim
        self.looked = 0
        self.claim_judged = False

    def look(
        self,
        rows: int,
        charged: float | None,
        most: float | None,
        raised: Set[str],
        answered: Callable[[int], Mapping[Histogram, Vector]],
        *,
        idle: bool,
    ) -> list[str]:
        """The checks that newly fail.

        rows: so far; charged: epsilon charged by all rows, None if some do not say; most: upper
        bound of their cost; raised: checks that failed before; answered: gives so many of the most
        frequent histograms, with counts (o,) of outcomes; idle: whether no rows are waiting.
        """
        privacy, found = self.claim.privacy, []
        if privacy is None or rows == 0:
            return []
        if not self.claim_judged:
            self.claim_judged = True
            refuted = PrivacyClaimCheck(self.claim).refuted
            found += [PRIVACY] if refuted and PRIVACY not in raised else []
        if rows < (_IDLE if idle else _GROWN) * self.looked or most is None:
            return found
        over = PRIVACY not in raised and not found and most > privacy.epsilon
        under = CHARGES not in raised and charged is not None and most > charged
        if not (over or under):
            return found
        self.looked = rows
        asked = self._times_asked(answered(_HISTOGRAMS))
        if over and queries_cost(self.claim, privacy, asked.times).proved > privacy.epsilon:
            found.append(PRIVACY)
        if under and charged is not None:
            proved = charges_cost(self.claim, privacy, asked, charged).proved
            found += [CHARGES] if proved > charged else []
        return found

    def _times_asked(self, answered: Mapping[Histogram, Vector]) -> AskedTimes:
        """How often each histogram was asked and refused; under caching, once at most."""
        mechanism = self.claim.mechanism
        asked = AskedTimes(Counter(), Counter())
        for votes, counts in answered.items():
            asked.times[votes] = 1 if mechanism.caching else int(counts.sum())
            if mechanism.refuses:
                asked.refused[votes] = min(int(counts[-1]), asked.times[votes])
        return asked
