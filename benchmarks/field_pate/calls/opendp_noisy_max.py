"""opendp: `make_noisy_max`, or before it `make_report_noisy_max_gumbel`, of one count per class."""

import sys
from pathlib import Path

import opendp.prelude as dp

sys.path.insert(0, str(Path(__file__).parents[2] / "field" / "calls"))

from served import serve_labels

dp.enable_features("contrib")
counts = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)


def made(measure):
    if measure == "gumbel":
        return dp.m.make_report_noisy_max_gumbel(*counts, 20.0)
    measures = {"pure": dp.max_divergence, "zcdp": dp.zero_concentrated_divergence}
    return dp.m.make_noisy_max(*counts, measures[measure](), 20.0)


label = made(sys.argv[1])
serve_labels(lambda histogram, size: [label(histogram) for _ in range(size)])
