"""`fresh-noise` of a deployment that claims `caching`: a repeated histogram repeats its label."""

from collections.abc import Mapping
from itertools import islice

import numpy as np

from ...reference.mechanisms import Labels
from ..shares import SHARES
from ..targets import Target, checked_labels
from .base import Finding

REPEATED = 100
_SIZES = (1, 2)


class CachedAnswers:
    """Asks early histograms again: one other label disproves that answers are kept.

    Each new draw of an answer that should be kept tells an attacker more than the claim admits.
    kept: the first label of each histogram asked.
    """

    id = "fresh-noise"
    assert id in SHARES

    def __init__(self, kept: Mapping[tuple[int, ...], int]) -> None:
        self.kept = dict(islice(kept.items(), REPEATED))
        self.changed: tuple[tuple[int, ...], int, int] | None = None
        self.repeated = 0

    @property
    def queries(self) -> int:
        """Labels that asking again takes at most."""
        return sum(_SIZES) * len(self.kept)

    def run(self, target: Target, refuses: bool) -> None:
        """Asks again, once by one label and once by two. Raises as the target does."""
        for votes, label in self.kept.items():
            asked = np.array(votes, dtype=np.int64)
            for size in _SIZES:
                again: Labels = checked_labels(target.ask(asked, size), asked, size, refuses)
                self.repeated += size
                other = again[again != label]
                if other.size:
                    self.changed = (votes, label, int(other[0]))
                    return

    def finding(self) -> Finding:
        """What was found, once `run` has gone through."""
        if self.changed is None:
            return Finding(
                f"{len(self.kept)} histograms asked again gave the label of their first answer"
            )
        votes, first, other = self.changed
        return Finding(
            f"{list(votes)} was answered {first} at first and {other} when asked again, although "
            "the claim says caching = true",
            "answers are drawn anew: claim caching = false, or keep the first answer",
            votes,
        )
