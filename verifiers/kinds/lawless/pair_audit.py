"""The draws of one pair of inputs, and the evidence that their replies tell them apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....attacks.auditing.coin import CoinAudit, Guarantee, epsilon_lower
from ....reference.arrays import Matrix, Vector
from .features import Features
from .halving import FIRST
from .pairs import Pair
from .predictor import Predictor


class PairAudit:
    """The draws of one pair, and the evidence on each guarantee.

    predictor: the vendor's own, which is given replies and no coin.
    """

    def __init__(
        self, guarantees: list[Guarantee], pair: Pair, predictor: Predictor | None
    ) -> None:
        self.guarantees, self.pair, self.predictor = guarantees, pair, predictor
        self.replies: list[Any] = []
        self.coins = np.zeros(0, dtype=np.bool_)
        self.odds: Vector | None = None if predictor is None else np.zeros(0)
        self.features: Features | None = None
        self.outputs: Matrix = np.zeros((0, 0))
        self.audit: CoinAudit | None = None
        self._against: dict[tuple[float, float, int], float] = {}

    def observe(self, replies: list[Any], coins: NDArray[np.bool_]) -> None:
        """Adds draws: replies (n), and whether each is of `there` (n,)."""
        self.coins = np.concatenate([self.coins, coins])
        if self.predictor is not None and self.odds is not None:
            given = [self.predictor(reply, self.pair) for reply in replies]
            self.odds = np.concatenate([self.odds, given])
        if self.features is None:
            self.replies += replies
            if len(self.replies) < FIRST:
                return
            self.features, replies = Features(self.replies, self.coins), self.replies
            self.audit = self._audit(self.guarantees)
            self.outputs = np.zeros((0, len(self.features.paths)))
            if self.features.chosen_by_coins:
                return
        made = self.features.of(replies)
        self.outputs = np.concatenate([self.outputs, made])
        assert self.audit is not None
        self._show(self.audit, len(made))

    def _audit(self, guarantees: list[Guarantee]) -> CoinAudit:
        assert self.features is not None
        return CoinAudit(guarantees, len(self.features.paths), predicted=self.odds is not None)

    def _show(self, audit: CoinAudit, last: int) -> None:
        """The last draws of all that are evidence."""
        if last:
            odds = None if self.odds is None else self.odds[-last:]
            audit.observe(self.outputs[-last:], self.coins[-last:], odds)

    def numbers_of(self, reply: Any) -> tuple[Matrix, Vector | None]:
        """What an audit is shown of one more reply: its numbers (1, features), and given odds."""
        assert self.features is not None
        odds = None if self.predictor is None else np.array([self.predictor(reply, self.pair)])
        return self.features.of([reply]), odds

    @property
    def log_e_value(self) -> float:
        """The average over guarantees."""
        return 0.0 if self.audit is None else self.audit.log_e_value

    @property
    def log_e_values(self) -> Vector:
        """Against each guarantee."""
        return np.zeros(len(self.guarantees)) if self.audit is None else self.audit.log_e_values

    def evidence(self, epsilons: Sequence[float], delta: float) -> list[float]:
        """Natural logs of the evidence of all draws against other guarantees."""
        if self.features is None:
            return [0.0] * len(epsilons)
        draws = len(self.outputs)
        new = [epsilon for epsilon in epsilons if (epsilon, delta, draws) not in self._against]
        if new:
            audit = self.audit_of([Guarantee(epsilon, delta) for epsilon in new])
            for epsilon, log in zip(new, audit.log_e_values, strict=True):
                self._against[epsilon, delta, draws] = float(log)
        return [self._against[epsilon, delta, draws] for epsilon in epsilons]

    def audit_of(self, guarantees: list[Guarantee]) -> CoinAudit:
        """An audit of other guarantees that was shown all draws."""
        audit = self._audit(guarantees)
        self._show(audit, len(self.outputs))
        return audit

    def least_epsilon(self, delta: float, error: float) -> float:
        """The largest epsilon that these draws refute at this delta, but for `error`; 0 if none."""
        return epsilon_lower(lambda epsilons: self.evidence(epsilons, delta), error)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The parts of a reply that are looked at, such as `.rows[].age`; none before there are."""
        paths = () if self.features is None else self.features.paths
        return tuple(dict.fromkeys(path.split(" ")[0] or "the reply" for path in paths))
