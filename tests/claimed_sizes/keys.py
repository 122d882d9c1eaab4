"""Wrong deployments of keys: their releases depend on each other, or come too often."""

from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.keys.evidence.key_faults import claimed_law
from dpassay.verifiers.kinds.keys.plan import Role

from .numbers import alike


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    """See `wrong_by`; a key is released where a uniform number is below its rate."""
    law = claimed_law(planned.claim.mechanism.keys)
    near = next(asked.values for asked in planned.plan.inputs if asked.role == Role.NEAR)
    size = entry.size
    share = times * float(size.get("correlation", 0.0))

    def rates(counts: Any) -> Any:
        found = np.exp(law(np.asarray(counts, dtype=float))[0])
        if entry.code == "released-too-often":
            more = float(size["rate"]) - float(size["claimed"])
            found = np.where(counts == 1, found + times * more, found)
        elif entry.code == "law-unexplained" and alike(counts, near):
            found = found + (-1) ** seed * times * float(size["rate_off"])
        return found

    def make(rng: np.random.Generator) -> Any:
        last = list[Any]()

        def answer(counts: Any, release_count: int) -> Any:
            drawn = rng.random((release_count, len(counts)))
            copied = rng.random(drawn.shape) < share
            if entry.code == "noise-shared-within-release":
                for place in range(1, drawn.shape[1]):
                    drawn[:, place] = np.where(
                        copied[:, place], drawn[:, place - 1], drawn[:, place]
                    )
            elif entry.code == "noise-reused":
                for row, again in zip(drawn, copied, strict=True):
                    if last:
                        row[again] = last[0][again]
                    last[:] = [row]
            came = drawn < rates(counts)
            return [[{"key": int(key)} for key in np.flatnonzero(row)] for row in came]

        return answer

    return make
