"""Wagers that partitions come in the order of their exact counts.

Inputs differ in which partitions have more users, and nothing else. Under the claim the order of a
release follows its names, its numbers and chance, so that of as many releases, one of each input,
the claim says exactly how likely each belongs to each input by its numbers, whatever their orders.
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from ....evidence.mixture import EvenMixture

_SURE = 0.99  # of what is wagered on the inputs that the orders name


class ListingOrder(EvenMixture):
    """Evidence of releases, one of each input at a time: of ascending and of descending order.

    counts: by input, the exact counts (k,) of the partitions whose order is looked at. Releases of
    which the orders do not name each input once are no evidence.
    """

    def __init__(self, counts: Mapping[str, NDArray[np.int64]]) -> None:
        self.roles = tuple(counts)
        each = [np.argsort(counts[role], kind="stable") for role in self.roles]
        self._named = [
            {tuple(order[::sign].tolist()): place for place, order in enumerate(each)}
            for sign in (1, -1)
        ]
        self.gains = np.zeros(2)
        self.rounds = self.named = 0
        self._tau = list(itertools.permutations(range(len(self.roles))))

    def observe(self, orders: list[tuple[int, ...]], log_laws: Matrix) -> None:
        """Takes a release of each input, in their order.

        orders: places of the partitions (k,) in each release; log_laws (inputs, releases): of the
        numbers of each release under each input, up to what is the same for all inputs.
        """
        self.rounds += 1
        for sign, named in enumerate(self._named):
            of = [named.get(order, -1) for order in orders]
            if sorted(of) != list(range(len(of))):
                continue
            self.named += 1
            each = np.array([sum(log_laws[i, k] for k, i in enumerate(tau)) for tau in self._tau])
            own = float(np.trace(log_laws))
            if not math.isfinite(own):
                continue  # what the claim rules out is for other checks
            log_chance = min(own - float(np.logaddexp.reduce(each)), 0.0)
            hit = math.log(_SURE) if of == list(range(len(of))) else -math.inf
            self.gains[sign] += np.logaddexp(math.log1p(-_SURE), hit - log_chance)
