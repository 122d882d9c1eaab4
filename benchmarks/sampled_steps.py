"""How many steps of DP-SGD constant noise pays for: as many as the square of records a batch.

`python -m benchmarks.sampled_steps` prints exact epsilons of c (n/b)^2 steps, where each of n
records is in a batch with probability b/n; `--json` one JSON object. The theorem is that of Abadi
et al. 2016 (arXiv 1607.00133, Theorem 1), as far as it says that noise need not grow; the limit is
a Gaussian mechanism (Bu, Dong, Long and Su 2020, arXiv 1911.11607).
"""

import argparse
import json
import math
from typing import Any

from dpassay.reference.accounting.batches import batches_epsilon
from dpassay.reference.batches import BatchDraws, Batches

MULTIPLIER, DELTA = 1.0, 1e-5
RATIOS = (10, 30, 100, 300)
"""Records for each in a batch, n/b."""

SHARES = (0.01, 0.1, 1.0)
"""Steps in (n/b)^2, c."""


def limit(share: float) -> float:
    """Epsilon of c (n/b)^2 steps as n/b grows: mu is the root of c (exp(1/multiplier^2) - 1)."""
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    mu = math.sqrt(share * math.expm1(1.0 / MULTIPLIER**2))
    return float(PLDAccountant().compose(GaussianDpEvent(1.0 / mu)).get_epsilon(DELTA))


def measured(share: float) -> dict[str, Any]:
    """Brackets of epsilon by n/b, for a record more or less, beside their limit."""
    rows = []
    for ratio in RATIOS:
        steps = round(share * ratio**2)
        batches = Batches(BatchDraws.POISSON, 1.0 / ratio, ratio)
        found = batches_epsilon(batches, MULTIPLIER, steps, DELTA)
        rows.append({"ratio": ratio, "steps": steps, "low": found.low, "high": found.high})
    return {"share": share, "limit": limit(share), "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sampled_steps", description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = [measured(share) for share in SHARES]
    if asked.json:
        print(json.dumps({"multiplier": MULTIPLIER, "delta": DELTA, "shares": found}))
        return
    print(f"epsilon at delta {DELTA:g}, noise multiplier {MULTIPLIER:g}, Poisson sampling")
    for one in found:
        print(f"steps = {one['share']:g} (n/b)^2")
        for row in one["rows"]:
            steps = f"{row['steps']:,} steps"
            print(f"  n/b {row['ratio']:>4}  {steps:>15}  {row['low']:.3f} to {row['high']:.3f}")
        print(f"  n/b without end: {one['limit']:.3f}")


if __name__ == "__main__":
    main()
