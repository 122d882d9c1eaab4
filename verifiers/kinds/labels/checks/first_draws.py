"""Finds a fixed seed where answers are kept, by the first draws of a new start."""

from collections.abc import Mapping
from itertools import islice

import numpy as np

from .....reference.histograms import neighbours_among
from ....findings.evidence_text import power_of_ten
from ....findings.finding import Finding
from ..claim import LabelsClaim
from .asked_again import AskedAgain

FIRST = 100
"""Most new histograms that are asked after a restart."""


class FirstDraws(AskedAgain):
    """Tests whether the first draws of a new start repeat those of the first start.

    Kept answers are not drawn again, so neighbours of the first start's histograms are asked, in
    its order. With the same noise a neighbour nearly always gets the same label, otherwise a new
    one. answered: the first label of each histogram asked, in order.
    """

    def __init__(self, claim: LabelsClaim, answered: Mapping[tuple[int, ...], int]) -> None:
        self.of = [
            (votes, new, label)
            for (votes, label), new in zip(
                islice(answered.items(), FIRST), _neighbours(answered), strict=False
            )
        ]
        super().__init__(claim, [new for _, new, _ in self.of], [y for _, _, y in self.of])

    def fail_finding(self) -> Finding:
        """The finding where too many labels were repeated."""
        odds = power_of_ten(self.log_e_value / np.log(10.0))
        votes, new, label = self.of[self.same.index(True)]
        return Finding(
            f"after a restart {sum(self.same)} of {self.asked} new histograms, asked in the order "
            "of the run's first ones and one vote from them, gave the label of these, where about "
            f"{self.by_chance:.0f} do by chance (odds {odds} to 1 against the claim): {list(new)} "
            f"gave {label}, as {list(votes)} had",
            "a seed is fixed, and set anew when the deployment starts: noise comes again after "
            "every restart",
            new,
        )


def _neighbours(answered: Mapping[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    """A neighbour of each of the first histograms that was not asked, until one has none."""
    found: dict[tuple[int, ...], None] = {}
    for votes in islice(answered, FIRST):
        smallest = np.argsort(votes, kind="stable").tolist()
        moved = (tuple(v.tolist()) for v in neighbours_among(np.array(votes), smallest))
        new = next((v for v in moved if v not in answered and v not in found), None)
        if new is None:
            break
        found[new] = None
    return list(found)
