"""`independence` and `fresh-noise` of keys: whether one is released says nothing of another."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....run.checks import Reason
from ...numbers.checks.base import ForeseenCheck
from ...numbers.opening import NumbersOpening
from ...numbers.planning.asked import Asked, Batch, Draws
from ..claim import KeysClaim
from ..evidence.key_faults import claimed_law
from ..evidence.released import EveryTwo, TogetherEvidence, foreseen, seen_correlation, tells
from ..plan import KeysRole

_WANTED = 3_000
"""Fours that can tell, for a correlation of `_SEEN`; of others in inverse proportion to squares."""

_SEEN, _TIMES, _COARSEST = 0.1, 5.0, 0.5
"""Correlation that a pass would have seen: so many times the smallest effect, from .1 to .5."""

_SPARE = 4.0  # deviations, about, of how much a number of fours tells

_BY_NORMAL = (
    "mean and variance of the evidence, taken to be normal, of keys that are each released half of "
    "the time; others count by what they can tell"
)

_STREAM = 512  # releases of an input that are compared with another's
_IN_TURN = (
    "a key's releases, one after the other,",
    Note(
        "noise-reused",
        "noise is drawn once for several releases, or every call, or start, begins alike",
    ),
)
_ACROSS = Note(
    "noise-shared-across-inputs", "noise is drawn once for several inputs, or they have one seed"
)
_ACROSS_KEYS = Note("noise-shared-within-release", "one draw of noise serves several keys")

Released = NDArray[np.bool_]


class KeysTogether(ForeseenCheck):
    """Judges whether two draws of a pair tell of each other; subclasses make the pairs.

    kinds: of pairs, each as messages call its draws, and the cause where they tell of each other.
    """

    kinds: tuple[tuple[str, Note], ...]
    evidence: list[TogetherEvidence | EveryTwo]

    def begin(self) -> None:
        self._law = claimed_law(self.law)
        self.among = [TogetherEvidence() for _ in self.kinds]
        self.evidence = [*self.among]
        telling = [tells(self._rates(asked.exact)).sum() for asked in self.plan.inputs]
        seen = float(np.clip(_TIMES * self.gate.smallest_effect, _SEEN, _COARSEST))
        wanted = math.ceil(_WANTED * (_SEEN / seen) ** 2)
        self._wanted = wanted if max(telling) > 1 else 0  # noise may be too small to tell

    def _rates(self, counts: Vector) -> Vector:
        return np.exp(self._law(counts)[0])

    @property
    def log_e_value(self) -> float:
        """The average over kinds of pairs."""
        logs = [found.log_e_value for found in self.evidence]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    def samples_needed(self) -> int:
        return max(0, self._wanted - self.among[0].telling)

    def fail_finding(self) -> Finding:
        logs = [found.log_e_value for found in self.evidence]
        kind = int(np.argmax(logs))
        pairs, cause = self.kinds[kind]
        pairs = self.evidence[kind].pair or pairs
        message = (
            f"{pairs} tell of each other: a correlation of about {self.evidence[kind].best:g} "
            "where both are released half of the time"
        )
        # it holds whatever the rates are, which look wrong where keys are not independent
        return Finding.caused(message, cause, math.inf, correlation=self.evidence[kind].best)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Of the first kind of pairs, of which a pass needs so many."""
        seen = seen_correlation(self._wanted, self.log_threshold + math.log(len(self.kinds)))
        where = [
            asked.role
            for asked in self.plan.inputs
            if asked.role in self.roles and tells(self._rates(asked.exact)).any()
        ]
        if seen is None or not where:
            return ()
        size: Fields = {"correlation": seen}
        fours, code = 4 * self._wanted, self.kinds[0][1].code
        return (self.entry(code, size, where, fours, method=_BY_NORMAL),)

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        return Finding(
            f"{self.among[0].telling:,} times two of {self.kinds[0][0]} could have told of each "
            f"other, and no dependence was seen{would_show(excludes)}",
            excludes=excludes,
        )

    @property
    def wanted(self) -> Vector:
        """Fours, with what chance may take from them."""
        return np.array([self._wanted + _SPARE * math.sqrt(self._wanted)])


class KeysIndependence(KeysTogether):
    """Neighbouring keys of one release: (0, 1), (2, 3), ..., and any two of them by themselves."""

    id = "independence"

    @classmethod
    def not_applicable_to(cls, claim: KeysClaim) -> Reason:
        single = claim.mechanism.width == 1
        return Note("single-value", "the deployment has a single key") if single else None

    kinds = (("neighbouring keys", _ACROSS_KEYS), ("two keys of a release", _ACROSS_KEYS))

    def begin(self) -> None:
        super().begin()
        self.any_two = EveryTwo(self.law.cells)
        self.evidence = [self.among[0], self.any_two]

    def foreseen(self, asked: Asked, size: int) -> Vector:
        rates = self._rates(asked.exact)
        even = 2 * (rates.size // 2)
        return np.array([foreseen(rates[0:even:2], rates[1:even:2], size)])

    def observe(self, draws: Draws) -> None:
        for batch in draws.batches:
            there = batch.releases > 0
            even = 2 * (there.shape[1] // 2)
            self.among[0].observe(there[:, 0:even:2], there[:, 1:even:2])
            self.any_two.observe(there, self._rates(batch.asked.exact))
            self.draws += there.size

    def pass_finding(self) -> Finding:
        found, pairs = super().pass_finding(), self.any_two.pairs
        rest = (
            f"; any two of {self.any_two.keys.size:,} keys were compared by themselves, {pairs:,} "
            "pairs, for the same noise, of no stated size"
        )
        return replace(found, message=found.message + rest)


class KeysFreshNoise(KeysTogether):
    """A key in two releases of one call, in a call and the next, and in the openings of two runs.

    The first finds draws used twice in turn, the others a seed that calls or starts set. Noise that
    is drawn once for a whole call looks like other rates there: `partition-release` finds it. Of
    two inputs, a call is compared with that before, and a release with that of the same number.
    """

    id = "fresh-noise"
    kinds = (
        _IN_TURN,
        _IN_TURN,
        _IN_TURN,
        ("a key in a call and in the one before, of another input,", _ACROSS),
        ("a key in as many releases of two inputs", _ACROSS),
    )

    def begin(self) -> None:
        super().begin()
        self._waiting: dict[str, Released] = {}
        self._before: tuple[str, Released] | None = None
        self._streams: dict[str, list[Released]] = {KeysRole.NEAR: [], KeysRole.REVERSED: []}

    def before_restarts(self) -> None:
        """Does nothing: what a restart changes is compared alone."""

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: str) -> None:
        """Takes the first releases of an earlier start, and those of the same calls in this one.

        way: as messages of numbers say how the starts differ; of keys they do not.
        """
        before, after = earlier.as_releases > 0, now.as_releases > 0
        rows = min(len(before), len(after))
        self.among[2].observe(before[:rows], after[:rows])

    def foreseen(self, asked: Asked, size: int) -> Vector:
        rates = self._rates(asked.exact)
        return np.array([foreseen(rates, rates, size // 2)])

    def observe(self, draws: Draws) -> None:
        for role, there in _calls(draws.batches):
            self.draws += there.size
            even = 2 * (len(there) // 2)
            self.among[0].observe(there[0:even:2], there[1:even:2])
            before = self._waiting.pop(role, None)
            if before is None:
                self._waiting[role] = there.copy()
            else:
                both = min(len(before), len(there))
                self.among[1].observe(before[:both], there[:both])
            self._compare_inputs(role, there)

    def _compare_inputs(self, role: str, there: Released) -> None:
        """Compares a call with that before, of another input, and with releases of its number.

        What it is compared with is older: these draws are new, given all that was seen.
        """
        if self._before is not None and self._before[0] != role:
            both = min(len(self._before[1]), len(there))
            self.among[3].observe(self._before[1][:both], there[:both])
        self._before = role, there.copy()
        if role not in self._streams:
            return
        own = self._streams[role]
        other = next(rows for name, rows in self._streams.items() if name != role)
        older = other[len(own) : len(own) + len(there)]
        if older:
            self.among[4].observe(np.array(older), there[: len(older)])
        own += list(there[: max(0, _STREAM - len(own))].copy())


def _calls(batches: tuple[Batch, ...]) -> Iterator[tuple[str, Released]]:
    """Each call's input, by its role, and whether keys were released in it (n, k)."""
    for batch in batches:
        ends = np.cumsum(batch.calls)
        for there in np.split(batch.releases > 0, ends[:-1]):
            yield batch.asked.role, there
