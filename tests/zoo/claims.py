"""What the aggregators of the zoo claim: few claims, since a run's plan is kept for each."""

import shlex
import sys
from pathlib import Path
from typing import Any

LIVES = Path(__file__).parent / "lives.py"

SIGMA = 40.0
"""Noise of GNMAX and its variants, in votes."""

SCALE = 20.0
"""Noise of LNMAX and of report-noisy-max, in votes."""


def mechanism(
    noise: str, name: str = "gnmax", classes: int = 10, teachers: int = 250, **more: Any
) -> dict[str, Any]:
    """A claim without [privacy]."""
    table = {"name": name, "noise": noise, "classes": classes, "teachers": teachers}
    return {"mechanism": table | more}


GNMAX = mechanism("gaussian:40")
FEW_CLASSES = mechanism("gaussian:40", classes=4)
MANY_CLASSES = mechanism("gaussian:40", classes=14)
MUCH_NOISE = mechanism("gaussian:100")
LITTLE_NOISE = mechanism("gaussian:2", classes=4, teachers=20)
FEW_VOTES = mechanism("gaussian:40", classes=3, teachers=20)
MANY_VOTES = mechanism("gaussian:20", classes=4, teachers=2500)
LNMAX = mechanism("laplace:20", "lnmax")
LITTLE_LAPLACE = mechanism("laplace:2", "lnmax", classes=4, teachers=20)
GUMBEL = mechanism("gumbel:20", "report-noisy-max")
EXPONENTIAL = mechanism("exponential:20", "report-noisy-max")
CACHING = mechanism("gaussian:40", caching=True)

EMPTIED = CACHING | {"gate": {"fresh_state": shlex.join([sys.executable, str(LIVES), "empty"])}}
"""The same, with the command that empties the store of the process which runs it."""

THRESHOLD, THRESHOLD_SIGMA = 200.0, 150.0
CONFIDENT = mechanism(
    "gaussian:40", "confident-gnmax", threshold=THRESHOLD, threshold_noise="gaussian:150"
)
SHARP_THRESHOLD = mechanism(
    "gaussian:100", "confident-gnmax", classes=4, threshold=150.0, threshold_noise="gaussian:20"
)

ACCOUNTED = mechanism("gaussian:10", classes=3, teachers=200)
BUDGETED = ACCOUNTED | {"privacy": {"epsilon": 1.0, "delta": 1e-5, "queries": 3}}
SPLIT_VOTES = {"inputs": {"file": str(Path(__file__).parent / "split_votes.csv")}}
"""Forty inputs on which three classes or more share the votes, so that answers cost little."""

METERED = GNMAX | {"privacy": {"epsilon": 2.65, "delta": 1e-5, "queries": 287}}
