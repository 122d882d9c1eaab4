"""Follows a run of keys and makes the figures of its report: how often keys were released."""

from typing import Any

import numpy as np

from ....attacks.auditing import anytime_interval
from ...findings.figures import CONFIDENCE, MOST_LABELS, KeyRate
from ..numbers.planning.asked import Draws
from ..numbers.recorder import Recorder
from .claim import KeysClaim
from .evidence.key_faults import claimed_law


class RatesRecorder(Recorder):
    """Counts releases of keys by their count."""

    claim: KeysClaim

    def __init__(self, claim: KeysClaim) -> None:
        super().__init__(claim)
        self._rates: dict[int, tuple[int, int]] = {}

    def _drawn(self) -> dict[str, dict[str, Any]]:
        rates = self._key_rates()
        drawn = {"confidence": CONFIDENCE, "rates": rates, "counts": len(self._rates)}
        return {"partition-release": drawn} if rates else {}

    def _draw(self, draws: Draws) -> None:
        for batch in draws.batches:
            counts, where = np.unique(batch.asked.exact, return_inverse=True)
            came = np.bincount(where.ravel(), (batch.releases > 0).sum(0), counts.size)
            keys = np.bincount(where.ravel(), minlength=counts.size) * len(batch.releases)
            for count, drawn, released in zip(counts, keys, came, strict=True):
                before = self._rates.get(int(count), (0, 0))
                self._rates[int(count)] = (before[0] + int(drawn), before[1] + int(released))

    def _key_rates(self) -> tuple[KeyRate, ...]:
        """The rates of the counts that were drawn most often."""
        most = sorted(self._rates, key=lambda count: -self._rates[count][0])[:MOST_LABELS]
        shown = sorted(most)
        if not shown:
            return ()
        released, _ = claimed_law(self.claim.mechanism.keys)(np.array(shown, dtype=float))
        rates = []
        for count, expected in zip(shown, np.exp(released), strict=True):
            draws, came = self._rates[count]
            rates.append(
                KeyRate(
                    count=count,
                    draws=draws,
                    released=came,
                    observed=came / draws,
                    expected=float(expected),
                    interval=anytime_interval(came, draws, 1.0 - CONFIDENCE),
                )
            )
        return tuple(rates)
