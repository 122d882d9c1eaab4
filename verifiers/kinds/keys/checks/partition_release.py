"""`partition-release`: keys are released as often as noise and threshold give, empty ones never."""

import math
from dataclasses import replace

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import ThresholdedHistogram
from ....evidence.power import MISSES
from ....findings.evidence_text import NEAREST
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Fields
from ....text import four_digits
from ...numbers.checks.base import ForeseenCheck
from ...numbers.planning.asked import Asked, Draws
from ..evidence.key_faults import bare_from, claimed_law, named_selection
from ..evidence.released import KeyEvidence, draws_to_see, seen_rate
from ..plan import KeysRole

_PLACES = 16  # keys that are a group of their own
_TOO_OFTEN, _OTHERWISE = "released-too-often", "law-unexplained"
_BY_NORMAL = "mean and variance of the evidence, taken to be normal, of all these inputs together"
_SURE = 3.0  # nats by which a known fault must be likelier to be named
_MORE = 1.25  # times delta, that a pass would have seen where the budget allows
_BUDGET = 0.4  # of the queries, that may go to keys of one unit


class PartitionRelease(ForeseenCheck):
    """Wagers on the rates at which keys are released: over all draws, and over groups of them.

    A group is a key, an input, or the calls of one release.
    """

    id = "partition-release"
    evidence: KeyEvidence

    def begin(self) -> None:
        self.keys: ThresholdedHistogram = self.law
        width = self.keys.cells
        places = np.unique(np.linspace(0, width - 1, min(width, _PLACES)).astype(int))
        self._places = {f"key {place}": int(place) for place in places} if width > 1 else {}
        self.evidence = KeyEvidence(self.keys, len(self.plan.inputs) + len(self._places) + 1)
        self.rate = float(np.exp(claimed_law(self.keys)(np.ones(1))[0][0]))
        self.alone = self.released = self.near = self.empty = 0
        nats = self.log_threshold + self.evidence.handicap
        self._nats, effect = nats, self.gate.smallest_effect
        self._effect = min(effect, 0.49)
        self._wanted_near = draws_to_see(0.5, 0.5 + self._effect, nats)
        ones = -(-width // self.keys.contributions)
        self._wanted_alone = self.plan.share * _BUDGET * self.gate.max_queries * ones
        if self.rate < 0.5:
            most, more = min(_MORE * self.rate, 0.9), 0.0
            if self.rate:
                more = draws_to_see(self.rate, most, nats, alone=True)
            self._wanted_alone = min(self._wanted_alone, self.plan.share * more)

    def observe(self, draws: Draws) -> None:
        for batch in draws.batches:
            counts, n = batch.asked.exact, len(batch.releases)
            came = (batch.releases > 0).sum(0)
            names = [f"the input {batch.asked.role}"]
            if set(batch.calls) == {1}:
                names.append("calls of one release")
            self.evidence.observe(counts, (came, n - came), names, self._places)
            self.draws += n * counts.size
            ones = counts == 1.0
            self.alone += n * int(ones.sum())
            self.released += int(came[ones].sum())
            self.empty += n * int((counts == 0.0).sum())
            self.near += n * counts.size * (batch.asked.role == KeysRole.NEAR)

    def samples_needed(self) -> int:
        lacking = max(self._wanted_near - self.near, self._wanted_alone - self.alone)
        return max(0, int(np.ceil(lacking)))

    @property
    def wanted(self) -> Vector:
        """Keys near the threshold, and keys of one unit."""
        return np.array([self._wanted_near, self._wanted_alone])

    def foreseen(self, asked: Asked, size: int) -> Vector:
        near = asked.exact.size if asked.role == KeysRole.NEAR else 0
        return size * np.array([near, (asked.exact == 1.0).sum()], dtype=np.float64)

    def fail_finding(self) -> Finding:
        if self.evidence.forbidden is not None:
            return replace(
                Finding.of(self.evidence.forbidden), diagnosis="keys are released that nobody has"
            )
        group, fault, nats = self.evidence.worst()
        where = "" if group is None else f", most of all for {group}"
        count, came, seen, expected = self.evidence.oddest(group)
        message = (
            f"keys are not released as {self._law} gives{where}: of {seen:,} keys of count "
            f"{count:,g} there, {came:,} were released ({came / seen:.3g}), and "
            f"{four_digits(expected)} expected ({expected / seen:.3g})"
        )
        tallied: dict[str, str | float] = {} if group is None else {"where": group}
        tallied |= {"count": count, "released": came, "seen": seen, "expected": expected}
        if nats < _SURE:
            return Finding(message, code="law-unexplained", fields=tallied)
        cause = fault.cause
        if fault.selects:
            cause = named_selection(self.keys, cause, *self.evidence.rates(group))
        found = Finding.caused(message, cause, **tallied)
        told = f"{cause}{where and f' for {group}'} ({NEAREST})"
        return replace(found, diagnosis=told)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By as many keys as a pass needs, of one unit and near."""
        seen = seen_rate(self.rate, self._wanted_alone, self._nats) if self.rate else None
        inputs = [asked for asked in self.plan.inputs if asked.role in self.roles]
        alone = [asked.role for asked in inputs if (asked.exact == 1.0).any()]
        found, sure = [], 1.0 - MISSES
        if seen is not None and alone:
            size: Fields = {"rate": seen, "claimed": self.rate}
            keys = math.ceil(self._wanted_alone)
            found.append(
                self.entry(_TOO_OFTEN, size, alone, keys, method=_BY_NORMAL, probability=sure)
            )
        if KeysRole.NEAR in self.roles:
            size, keys = {"rate_off": self._effect}, math.ceil(self._wanted_near)
            found.append(
                self.entry(
                    _OTHERWISE, size, [KeysRole.NEAR], keys, method=_BY_NORMAL, probability=sure
                )
            )
        return tuple(found)

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        said = {one.code: one for one in excludes}
        alone, near = said.get(_TOO_OFTEN), said.get(_OTHERWISE)
        text = "no other rate of theirs would have been seen"
        if alone is not None:
            seen = float(alone.size["rate"] or 0.0)
            text = (
                f"a rate from {seen:.2g}, {seen / self.rate:.3g} times the claimed one, would have "
                f"been seen with probability {alone.probability:g}"
            )
        if near is not None:
            off = near.size["rate_off"]
            text += f"; near the threshold a rate off by {off:g} would have been"
        return Finding(
            f"no departure from {self._law} was seen in {self.draws:,} keys; {self._counted}: "
            f"{text}; {self._sure}; {self._never}",
            excludes=excludes,
        )

    @property
    def _sure(self) -> str:
        """Of which keys that are hardly ever held back noise left out would have shown, in words.

        Each that is released gains the wager on such noise, so that no chance is in it.
        """
        counts, seen = self.evidence.rates(None)
        seen_from = [
            count
            for count in bare_from(self.keys)
            if self.evidence.gained_if_bare(count, counts, seen.sum(1)) >= self._nats
        ]
        if not seen_from:
            return "noise left out of keys far above it would not have been seen"
        return (
            f"noise left out of all keys from a count of {max(seen_from):,g} on, or from a lower "
            "one, would have been, of higher ones alone it would not"
        )

    @property
    def _never(self) -> str:
        """What was seen of empty keys, in words; a single one that is released refutes."""
        if not self.empty:
            return "no empty keys were looked at"
        rate = -math.expm1(math.log(MISSES) / self.empty)
        return (
            f"none of {self.empty:,} empty keys was, where a rate from {rate:.2g} would have shown "
            f"with probability {1.0 - MISSES:g}"
        )

    @property
    def _law(self) -> str:
        return f"{self.noise} at a threshold of {self.keys.threshold:g}"

    @property
    def _counted(self) -> str:
        expected = self.rate * self.alone
        return (
            f"{self.released:,} of {self.alone:,} keys of one record were released, "
            f"{four_digits(expected)} expected"
        )
