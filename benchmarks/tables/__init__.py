"""Engines that release tables, through the gate: `python -m benchmarks.tables`."""

import sys

from ..long_runs import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # where the zoo is
