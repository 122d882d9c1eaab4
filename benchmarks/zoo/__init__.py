"""The gate on zoos of aggregators, broken and correct, over many seeds."""

import sys

from ..long_runs import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # where the zoos are
