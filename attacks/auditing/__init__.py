"""What labels alone prove of the divergence of two neighbouring worlds: lower bounds.

An audit draws labels of one query in two worlds that differ in one person, and bounds from below
how far their laws differ (Chadha et al. 2024, arXiv 2402.09403). `counts` draws the labels and
holds them, of many queries too; every other file is a way to bound: Rényi's divergence from one
event or all labels at once (`two_cut`, `region`), or by the bootstrap, which is wrong near zero and
is there to be compared; (epsilon, delta) and the trade-off curve (`approximate`). Where votes are
drawn anew, `vote_laws` has the exact law of the label, to hold the bounds against.
"""

from .approximate import TradeOff, epsilon_lower, trade_off
from .bootstrap import bootstrap_k_cut, bootstrap_two_cut
from .counts import (
    Counts,
    composed,
    counts_of_laws,
    counts_of_runs,
    epsilon_if_the_bounds_were_exact,
    share_of,
)
from .proportions import anytime_interval, clopper_pearson, simultaneous
from .region import in_region, region
from .two_cut import k_cut, printed_two_cut, two_cut, variational
from .vote_laws import laws_with_one_vote_fixed, laws_with_shifts

__all__ = [
    "Counts",
    "TradeOff",
    "anytime_interval",
    "bootstrap_k_cut",
    "bootstrap_two_cut",
    "clopper_pearson",
    "composed",
    "counts_of_laws",
    "counts_of_runs",
    "epsilon_if_the_bounds_were_exact",
    "epsilon_lower",
    "in_region",
    "k_cut",
    "laws_with_one_vote_fixed",
    "laws_with_shifts",
    "printed_two_cut",
    "region",
    "share_of",
    "simultaneous",
    "trade_off",
    "two_cut",
    "variational",
]
