"""`shift-invariance` and `permutation-equivariance`: the noise has one law, whatever the input.

The noise of two inputs is compared with each other, not with the claim, so that a scale that is
wrong everywhere alike passes here.
"""

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from .....reference.numbers import NoisyHistogram
from ....evidence.power import pairs_to_see
from ....evidence.same_law import SameLawEvidence
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....run.checks import Reason
from ..claim import NumbersClaim
from ..planning.asked import Draws, InputRole
from .base import NumberCheck

_CELLS = 16  # of equal probability under the claim; under another law, cells all the same
_MOST = 32  # coordinates that are looked at
_WANTED, _FEWEST = 2_000, 200  # pairs of the first comparison that a pass needs
_BY_BOUND = "the evidence of so many pairs, approximated (verifiers/evidence/power.py)"
_EFFECTS = np.round(np.arange(0.02, 1.0, 0.01), 2)


class _Comparison:
    """The noise of the same coordinates under two inputs, compared in pairs as draws come.

    one, other: the roles of the inputs; part: of the coordinates; reversed_: whether the second
    input has them in the opposite order.
    """

    def __init__(
        self, one: str, other: str, part: slice = slice(None), *, reversed_: bool = False
    ) -> None:
        self.one, self.other, self.part, self.reversed = one, other, part, reversed_
        self.evidence = SameLawEvidence(_CELLS)
        self._waiting: dict[str, NDArray[np.int64]] = {}

    def add(self, role: str, cells: NDArray[np.int64]) -> None:
        """Adds cells (n, k) of the noise of either input, which wait for cells of the other."""
        if self.reversed and role == self.other:
            cells = cells[:, ::-1]
        new = cells[:, self.part]
        self._waiting[role] = np.vstack([self._waiting.get(role, new[:0]), new])
        first, second = self._waiting.get(self.one), self._waiting.get(self.other)
        if first is None or second is None:
            return
        pairs = min(len(first), len(second))
        self.evidence.observe(first[:pairs].ravel(), second[:pairs].ravel())
        self._waiting = {self.one: first[pairs:], self.other: second[pairs:]}


class _OneLaw(NumberCheck):
    """Compares the noise of inputs; subclasses say which, and the words of a violation."""

    cause: Note
    words: str

    def begin(self) -> None:
        width = self.plan.coordinates.size
        # both ends alike, so that the reverse of the places are places again
        half = np.unique(np.linspace(0, (width - 1) // 2, min((width + 1) // 2, _MOST // 2)))
        low = half.astype(int)
        self._places = np.unique(np.concatenate([low, width - 1 - low]))
        self.comparisons = self.compared(self._places.size)

    def answered(self, roles: Collection[str]) -> None:
        """A pass needs both inputs of the first comparison."""
        super().answered(roles)
        first = self.comparisons[0]
        refused = [role for role in (first.one, first.other) if role not in roles]
        if refused:
            why = f"the target refuses the input {refused[0]}"
            self.not_applicable = Note("input-refused", why, {"input": str(refused[0])})

    def compared(self, places: int) -> list[_Comparison]:
        """The pairs of inputs that are compared; a pass needs both inputs of the first."""
        raise NotImplementedError

    def observe(self, draws: Draws) -> None:
        uniform = draws.placed.uniform[:, self._places]
        cells = np.clip((uniform * _CELLS).astype(np.int64), 0, _CELLS - 1)
        for role in draws.roles:
            for comparison in self.comparisons:
                if role in (comparison.one, comparison.other):
                    comparison.add(role, cells[draws.of_role(role)])
        self.draws += uniform.size

    @property
    def log_e_value(self) -> float:
        """The mean over comparisons."""
        logs = [comparison.evidence.log_e_value for comparison in self.comparisons]
        return float(np.logaddexp.reduce(logs)) - math.log(len(logs))

    @property
    def _wanted(self) -> int:
        """Pairs of the first comparison that a pass needs."""
        return max(_FEWEST, math.ceil(self.plan.share * _WANTED))

    def samples_needed(self) -> int:
        """Of draws, of which so many inputs take an even part."""
        lacking = self._wanted - self.comparisons[0].evidence.pairs
        return 0 if self.not_applicable else max(0, lacking) * len(self.plan.inputs)

    def fail_finding(self) -> Finding:
        worst = max(self.comparisons, key=lambda found: found.evidence.log_e_value)
        message = (
            f"{self.words}: of the inputs {worst.one} and {worst.other}, "
            f"{worst.evidence.pairs:,} pairs of draws have two laws"
        )
        inputs = {"one": str(worst.one), "other": str(worst.other)}
        return Finding.caused(message, self.cause, pairs=worst.evidence.pairs, **inputs)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """With as many pairs as a pass needs, if both are answered."""
        first = self.comparisons[0]
        inputs = first.one, first.other
        if not set(inputs) <= set(self.roles):
            return ()
        nats = self.log_threshold + math.log(len(self.comparisons))
        even = np.full(_CELLS, -math.log(_CELLS))
        effects = (float(e) for e in _EFFECTS)
        least = next((e for e in effects if pairs_to_see(even, e, nats) <= self._wanted), None)
        if least is None:
            return ()
        size: Fields = {"total_variation": least, "cells": _CELLS}
        return (self.entry(self.cause.code, size, inputs, 2 * self._wanted, method=_BY_BOUND),)

    def pass_finding(self) -> Finding:
        pairs, excludes = self.comparisons[0].evidence.pairs, self.excluded
        seen = f"no difference of laws was seen in {pairs:,} pairs of draws of two inputs"
        return Finding(seen + would_show(excludes), excludes=excludes)


class ShiftInvariance(_OneLaw):
    """The noise of larger counts, and of more records, is that of smaller and fewer ones."""

    id = "shift-invariance"
    words = "the noise depends on how large the values are"
    cause = Note(
        "noise-depends-on-size",
        "noise is made for the size of the input: its total, its largest value, its records",
    )

    def compared(self, places: int) -> list[_Comparison]:
        pairs = [
            (InputRole.TYPICAL, InputRole.MANY),
            (InputRole.ONE_RECORD, InputRole.AT_THE_BOUNDS),
        ]
        if isinstance(self.law, NoisyHistogram):
            pairs = [
                (InputRole.TYPICAL, InputRole.MOVED),
                (InputRole.EMPTY, InputRole.ONE_LARGE_COUNT),
            ]
        return [_Comparison(one, other) for one, other in pairs]


class PermutationEquivariance(_OneLaw):
    """Noise belongs to a place: reordered counts, or records, do not change its law."""

    id = "permutation-equivariance"

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        alone = claim.mechanism.takes == "counts" and claim.mechanism.width == 1
        return Note("single-value", "the deployment releases a single number") if alone else None

    words = "the noise depends on the order"
    cause = Note(
        "noise-depends-on-order",
        "some cells, or the first records, are treated otherwise than the rest",
    )

    def compared(self, places: int) -> list[_Comparison]:
        """Each half of the cells alone.

        Reordering leaves all cells together as they are.
        """
        if not isinstance(self.law, NoisyHistogram):
            return [_Comparison(InputRole.TYPICAL, InputRole.REORDERED)]
        both, half = (InputRole.TYPICAL, InputRole.REVERSED), places // 2
        parts = slice(0, half), slice(places - half, None)
        return [_Comparison(*both, part, reversed_=True) for part in parts]
