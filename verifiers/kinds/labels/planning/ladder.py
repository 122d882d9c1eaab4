"""Histograms with ever clearer winners, where a shortcut may leave out the noise."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .....reference.searches import last_between
from ..mechanism import LabelsMechanism

CHANCES = (0.99, 0.997, 0.998, 0.999)
"""Probability of the winner on each rung. About 20 / (1 - chance) labels show a shortcut; where a
neighbour keeps its noise, the shortcut costs 1 - chance of delta."""

INSTEAD = 0.998
"""Chance of the rung that is asked, for half the labels, where the next is beyond the budget."""


@dataclass(frozen=True)
class Rung:
    """A histogram (c,) with a clear winner and the other votes spread evenly.

    lead: votes between the winner and the next; chance: the winner's probability under the claim;
    instead: whether it is asked only in place of the next rung.
    """

    histogram: tuple[int, ...]
    lead: int
    chance: float
    instead: bool = False


@lru_cache(maxsize=64)
def ladder(claim: LabelsMechanism) -> tuple[Rung, ...]:
    """The rungs that the claimed teachers and noise allow, none where no winner is clear enough.

    For each chance in `CHANCES`, the least clear winner that reaches it.
    """
    found: dict[tuple[int, ...], Rung] = {}
    if claim.sampled is not None:
        return ()  # no shortcut is known of drawn votes, which have a winner of their own
    for chance in CHANCES:
        rung = replace(_least_clear(claim, chance), instead=chance == INSTEAD)
        # a winner far clearer than asked for would take far more labels
        if rung.chance >= chance and 1.0 - rung.chance >= 0.5 * (1.0 - chance) and rung.lead > 0:
            found.setdefault(rung.histogram, rung)
    return tuple(found.values())


def _least_clear(claim: LabelsMechanism, chance: float) -> Rung:
    """The rung whose winner has the fewest votes that give it at least this chance."""

    def is_less_clear(winner: int) -> bool:
        return _rung(claim, winner).chance < chance

    even = claim.teachers // claim.classes
    return _rung(claim, last_between(even, claim.teachers, is_less_clear) + 1)


def _rung(claim: LabelsMechanism, winner: int) -> Rung:
    """A winner with `winner` votes, the others spread evenly, to within one vote."""
    others = claim.teachers - winner
    votes = np.full(claim.classes, others // (claim.classes - 1), dtype=np.int64)
    votes[1 : 1 + others % (claim.classes - 1)] += 1
    votes[0] = winner
    law = np.exp(claim.mechanism().log_probabilities(votes.astype(np.float64)))
    # among answers only: a threshold refuses some queries, whatever the lead
    chance = float(law[0] / max(float(law[: claim.classes].sum()), 1e-300))
    return Rung(tuple(int(v) for v in votes), int(votes[0] - votes[1]), chance)
