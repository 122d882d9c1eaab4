"""Two models of `benchmarks.memorisation`, one without and one with DP-SGD, as a JSON object.

`python -m benchmarks.memorisation.parts --json` in a clone trains them, and prints what canaries
inserted once and ten times are exposed by, exactly.
"""

import argparse
import json
from typing import Any

import numpy as np

from .costs import epsilon
from .models import DELTA, exposed, training

SEED = 0
TIMES = (1, 10)
COMPARED = ("none", "sigma 2")


def told(defence: str) -> dict[str, Any]:
    """A model under a defence: epsilon of a line, loss in bits a character, exposures in bits.

    low, high: of the single canaries, all of one model; no interval for the mean.
    """
    found = exposed(defence, SEED, TIMES)
    spent = None if defence == "none" else epsilon(training(defence, SEED), DELTA).high
    rows = [
        {"times": n, "mean": float(np.mean(bits)), "low": min(bits), "high": max(bits)}
        for n, bits in found["bits"].items()
    ]
    return {"defence": defence, "epsilon": spent, "loss": found["test"], "exposures": rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memorisation.parts", description=__doc__
    )
    parser.add_argument("--json", action="store_true", required=True)
    parser.parse_args()
    print(json.dumps({"delta": DELTA, "seed": SEED, "models": [told(name) for name in COMPARED]}))


if __name__ == "__main__":
    main()
