"""Samplers of batches through the gate: `python -m benchmarks.samplers`."""

import sys

from ..long_runs import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # where the zoo is
