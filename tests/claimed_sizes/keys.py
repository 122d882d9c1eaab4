"""Wrong deployments of keys: their releases depend on each other, or come too often."""

from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.keys.evidence.key_faults import claimed_law
from dpassay.verifiers.kinds.keys.plan import KeysRole

from .numbers import alike


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    """See `wrong_by`; keys that depend on each other have an odds ratio."""
    law = claimed_law(planned.claim.mechanism.keys)
    near = next(asked.values for asked in planned.plan.inputs if asked.role == KeysRole.NEAR)
    size = entry.size
    share = min(0.95, times * float(size.get("correlation", 0.0)))

    def rates(counts: Any) -> Any:
        found = np.exp(law(np.asarray(counts, dtype=float))[0])
        if entry.code == "released-too-often":
            more = float(size["rate"]) - float(size["claimed"])
            found = np.where(counts == 1, found + times * more, found)
        elif entry.code == "law-unexplained" and alike(counts, near):
            found = found + (-1) ** seed * times * float(size["rate_off"])
        return found

    def make(rng: np.random.Generator) -> Any:
        def after(before: Any, of_before: Any, rate: Any) -> Any:
            """The rate (...) of a key beside another, given whether (...) that was released."""
            both = released_both(of_before, rate, share)
            return np.where(before, both / of_before, (rate - both) / (1.0 - of_before))

        def answer(counts: Any, size: int) -> Any:
            rate = np.clip(rates(counts), 1e-12, 1.0 - 1e-12)
            drawn = rng.random((size, len(counts)))
            came = (drawn < rate) & (counts > 0)
            if entry.code == "noise-shared-within-release":
                for at in range(1, len(counts)):
                    came[:, at] = drawn[:, at] < after(came[:, at - 1], rate[at - 1], rate[at])
            elif entry.code == "noise-reused":
                for row in range(1, size, 2):  # a chain would tie the pairs to each other too
                    came[row] = drawn[row] < after(came[row - 1], rate, rate)
            came &= counts > 0
            return [[{"key": int(key)} for key in np.flatnonzero(row)] for row in came]

        return answer

    return make


def released_both(one: Any, other: Any, correlation: float) -> Any:
    """The rate (...) of both of two keys, of these rates, at an odds ratio (Plackett 1965).

    It is that of keys which are each released half of the time, and correlate so.
    """
    ratio = ((1.0 + correlation) / (1.0 - correlation)) ** 2
    if ratio == 1.0:
        return one * other
    sums = 1.0 + (one + other) * (ratio - 1.0)
    root = np.sqrt(sums**2 - 4.0 * ratio * (ratio - 1.0) * one * other)
    return (sums - root) / (2.0 * (ratio - 1.0))
