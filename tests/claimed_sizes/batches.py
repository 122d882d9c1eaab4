"""Wrong samplers of batches, and replies that tell their input."""

from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    """See `wrong_by`, of Poisson sampling."""
    law, size = planned.claim.mechanism.batches, entry.size

    def make(rng: np.random.Generator) -> Any:
        before = np.zeros(law.records, dtype=bool)

        def batch() -> Any:
            rates = np.full(law.records, law.rate)
            if entry.code == "sampling-rate-differs":
                rates *= 1.0 + times * (float(size["factor"]) - 1.0)
            elif entry.code == "draws-follow-numbers":
                odds = np.exp(times * np.log(float(size["odds"])))
                first = np.arange(law.records) < (law.records + 1) // 2
                tilted = rates / (1.0 - rates) * np.where(first, odds**0.5, odds**-0.5)
                rates = tilted / (1.0 + tilted)
            elif entry.code == "end-record-rate-differs":
                end = (0, 1, 2, -3, -2, -1)[seed % 6]
                rates[end] = min(1.0, law.rate + times * (float(size["rate"]) - law.rate))
            elif entry.code == "records-drawn-too-often":
                one = 3 + seed % max(1, law.records - 6)
                rates[one] = min(1.0, law.rate + times * (float(size["rate"]) - law.rate))
            drawn = rng.random(law.records) < rates
            if entry.code == "shuffled-not-sampled":
                waiting = np.flatnonzero(~before)
                some = rng.choice(waiting, min(drawn.sum(), waiting.size), replace=False)
                drawn = np.isin(np.arange(law.records), some)
                before[:] = drawn
            found = np.flatnonzero(drawn).tolist()
            if entry.code == "drawn-with-replacement" and found:
                share = times * float(size["share"])
                found += found[:1] * (rng.random() < share)
            return found

        return batch

    return make


def wrong_reply(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    """See `wrong_by`, of pairs of numbers that are one apart.

    Noise of a larger epsilon, or a share of the replies to one input that the other never has.
    """
    pair, size = planned.claim.pairs[0], entry.size
    told = (pair.here, pair.there)[seed % 2]

    def noisy(rng: np.random.Generator) -> Any:
        epsilon = float(size["epsilon"]) * (1.0 + times * (float(size["factor"]) - 1.0))
        return lambda given, n: (given["n"] + rng.laplace(0.0, 1.0 / epsilon, n)).tolist()

    def telling(rng: np.random.Generator) -> Any:
        share = times * float(size["share"])
        return lambda given, n: np.where(
            (rng.random(n) < share) & (given == told), 1.0, 0.0
        ).tolist()

    return noisy if "factor" in size else telling
