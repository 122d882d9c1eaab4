"""Tallies behind masks, through the gate: `python -m benchmarks.tally`."""

import sys

from ..long_runs import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # where the zoo is
