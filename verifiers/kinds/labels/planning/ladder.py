"""Clear winners, each clearer than the one before: where a shortcut may leave out the noise."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .....reference.searches import last_between
from ..mechanism import LabelsMechanism

CHANCES = (0.99, 0.997, 0.998, 0.999)
"""Probability of the winner on each rung: what is left of it says how many labels show a shortcut
(20 over it), and a neighbour that keeps its noise makes that much of delta."""

INSTEAD = 0.998
"""Of the rung that is asked where the budget does not hold the next, for half its labels."""


@dataclass(frozen=True)
class Rung:
    """A histogram (c,), its votes but the winner's even over the other classes.

    lead: votes between the winner and the next; chance: of the winner under the claim; instead:
    whether it is asked in place of the next rung alone.
    """

    histogram: tuple[int, ...]
    lead: int
    chance: float
    instead: bool = False


@lru_cache(maxsize=64)
def ladder(claim: LabelsMechanism) -> tuple[Rung, ...]:
    """The rungs that the claimed teachers and noise allow; none where no winner is so clear.

    Each is the least clear winner that has at least its chance.
    """
    found: dict[tuple[int, ...], Rung] = {}
    for chance in CHANCES:
        rung = replace(_least_clear(claim, chance), instead=chance == INSTEAD)
        # a winner far clearer than asked for would take far more labels
        if rung.chance >= chance and 1.0 - rung.chance >= 0.5 * (1.0 - chance) and rung.lead > 0:
            found.setdefault(rung.histogram, rung)
    return tuple(found.values())


def _least_clear(claim: LabelsMechanism, chance: float) -> Rung:
    """The winner of fewest votes that has this chance, which grows with them."""

    def is_less_clear(winner: int) -> bool:
        return _rung(claim, winner).chance < chance

    even = claim.teachers // claim.classes
    return _rung(claim, last_between(even, claim.teachers, is_less_clear) + 1)


def _rung(claim: LabelsMechanism, winner: int) -> Rung:
    """A winner of so many votes, the others even to a vote."""
    others = claim.teachers - winner
    votes = np.full(claim.classes, others // (claim.classes - 1), dtype=np.int64)
    votes[1 : 1 + others % (claim.classes - 1)] += 1
    votes[0] = winner
    law = np.exp(claim.mechanism().log_probabilities(votes.astype(np.float64)))
    # of the answers: a threshold refuses some queries, whatever the lead
    chance = float(law[0] / max(float(law[: claim.classes].sum()), 1e-300))
    return Rung(tuple(int(v) for v in votes), int(votes[0] - votes[1]), chance)
