"""Evidence that labels at the same place of two histograms, inputs or totals share noise."""

import numpy as np

from ....evidence import Outcomes, Places, SharedNoise
from ..planning.plan import CommonNoise, Plan
from ..planning.streams import Role

_PLACES = 1 << 15  # labels of a histogram, or of a total, that are compared


class SamePlaces:
    """Three e-processes: on pairs of histograms, on totals, and on inputs with one histogram.

    same: for each stream of the plan, the first stream of its input. The n-th label of an input is
    compared with the n-th of its partner, and that of another total with the n-th of the claimed
    total. parts: the e-processes by their names in `FreshNoise`.
    """

    def __init__(self, plan: Plan, same: list[int]) -> None:
        self.plan, self._same = plan, same
        joint = CommonNoise(plan).counts
        names = ("neighbours", "totals", "same votes")
        self.parts = {name: SharedNoise(plan.log_q, joint) for name in names}
        self._partners = _partners(plan, same)
        self._by_histogram, self._by_total = Places(_PLACES), Places(_PLACES)

    def observe(self, stream: int, outcomes: Outcomes, rotation: int) -> None:
        """Adds outcomes (n,) of a stream, asked under class numbers rotated by `rotation`."""
        total = sum(self.plan.streams[stream].histogram)
        claimed = self.plan.claim.mechanism.total
        followed = not rotation and stream < self.plan.deep
        places = self._by_total.add(total, stream if followed else -1, outcomes)
        if total != claimed and followed:
            known = self._by_total.at(claimed, places)
            self._wager("totals", stream, outcomes, known)
        same = self._same[stream]
        if not rotation and same in self._partners:
            places = self._by_histogram.add(same, same, outcomes)
            partner = self._partners[same]
            known = self._by_histogram.at(partner, places)
            second = self.plan.streams[same].second or self.plan.streams[partner].second
            self._wager("same votes" if second else "neighbours", same, outcomes, known)

    def pass_over(self, total: int, labels: int) -> None:
        """Counts labels of a total that were asked outside the plan, without a wager on them."""
        self._by_total.add(total, -1, np.zeros(labels, dtype=np.int64))

    def _wager(
        self, part: str, stream: int, outcomes: Outcomes, known: tuple[Outcomes, Outcomes]
    ) -> None:
        earlier, theirs = known
        ours = outcomes[: earlier.size]
        for other in np.unique(earlier[earlier >= 0]):
            at = earlier == other
            self.parts[part].observe(int(other), theirs[at], stream, ours[at])


def _partners(plan: Plan, same: list[int]) -> dict[int, int]:
    """The partner of each stream that is compared: neighbours, shifted twins, two anchors.

    Inputs with the same votes come first. same: for each stream, the first stream of its input.
    Each has one partner, since a label can be wagered on once.
    """
    pairs = [pair.streams for pair in plan.pairs]
    pairs.sort(key=lambda pair: not plan.streams[pair[1]].second)
    pairs.append((plan.first(Role.INFORMATIVE), plan.first(Role.NEAR_TIE)))
    if (shifted := plan.compared_streams.get("shift-invariance")) is not None:
        pairs.append((shifted.base, shifted.other))
    found: dict[int, int] = {}
    for pair in pairs:
        both = {same[i] for i in pair}
        if len(both) == 2 and not both & found.keys():
            one, other = both
            found |= {one: other, other: one}
    return found
