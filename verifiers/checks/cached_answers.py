"""`fresh-noise` of a deployment that claims `caching`: a repeated histogram repeats its label."""

from collections.abc import Mapping
from itertools import islice

import numpy as np

from ...reference.mechanisms import Labels
from ..error_budget import SHARES
from ..targets import Refused, Target, TargetError, checked_labels
from .base import Finding

REPEATED = 100
_SIZES = (1, 2)
_AFTER_RESTART = (1,)


class CachedAnswers:
    """Asks histograms again, after a restart too: one other label disproves that answers are kept.

    Each new draw of an answer that should be kept tells an attacker more than the claim admits.
    kept: the first label of each histogram asked, in order. The earliest are asked again; after a
    restart half of them, and as many of the latest, which may not have been written down yet.
    """

    id = "fresh-noise"
    assert id in SHARES

    def __init__(self, kept: Mapping[tuple[int, ...], int]) -> None:
        self.kept = dict(islice(kept.items(), REPEATED))
        asked, half = list(kept.items()), REPEATED // 2
        self.ends = dict([*asked[:half], *asked[-half:]])
        self.changed: tuple[tuple[int, ...], int, int] | None = None
        self.repeated = 0
        self.restarted = False

    @property
    def queries(self) -> int:
        """Labels that asking again takes at most."""
        return sum(_SIZES) * len(self.kept)

    @property
    def queries_after_restart(self) -> int:
        """Labels that asking after a restart takes at most."""
        return sum(_AFTER_RESTART) * len(self.ends)

    def run(self, target: Target, refuses: bool) -> None:
        """Asks again, once by one label and once by two. Raises as the target does."""
        self._ask(target, refuses, self.kept, _SIZES)

    def run_after_restart(self, target: Target, refuses: bool) -> None:
        """Asks a target that has been restarted. Raises as it does."""
        self.restarted = True
        self._ask(target, refuses, self.ends, _AFTER_RESTART)

    def _ask(
        self,
        target: Target,
        refuses: bool,
        kept: Mapping[tuple[int, ...], int],
        sizes: tuple[int, ...],
    ) -> None:
        for votes, label in kept.items():
            asked = np.array(votes, dtype=np.int64)
            for size in sizes:
                try:
                    reply = target.ask(asked, size)
                except Refused as refusal:
                    raise TargetError(
                        f"{list(votes)} is refused, but was answered: {refusal}"
                    ) from None
                again: Labels = checked_labels(reply, asked, size, refuses)
                self.repeated += size
                other = again[again != label]
                if other.size:
                    self.changed = (votes, label, int(other[0]))
                    return

    def finding(self) -> Finding:
        """What was found, once all has gone through."""
        if self.changed is None:
            again = "asked again gave the label of their first answer"
            if not self.restarted:
                seen = "; the target was not restarted, so answers kept in memory would not show"
                return Finding(f"{len(self.kept)} histograms {again}{seen}")
            return Finding(
                f"{len(self.kept)} histograms {again}, and after a restart {len(self.ends)} did"
            )
        votes, first, other = self.changed
        when = "after a restart" if self.restarted else "when asked again"
        return Finding(
            f"{list(votes)} was answered {first} at first and {other} {when}, although "
            "the claim says caching = true",
            "answers are kept in memory, and lost in a restart: keep them on disk"
            if self.restarted
            else "answers are drawn anew: claim caching = false, or keep the first answer",
            votes,
        )
