"""`noise-law`: releases less their exact values follow the claimed law of the noise."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....evidence.parts import Parts
from ....findings.evidence_text import NEAREST
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ..evidence.described import NOT_DESCRIBED
from ..evidence.faults import FaultKind
from ..evidence.noise_law import NoiseLawEvidence, TrueDivisor
from ..evidence.tails import NoiseEnds, Suppressed
from ..planning.asked import Draws
from .at_branches import BRANCHES, BranchInput, NumbersAtBranches, with_branches
from .base import NumberCheck

_SINGLE, _LONG = "calls of one release", "calls of more than 1,000 releases"
"""Groups of draws by the calls that gave them, as messages call them."""

_COORDINATES = 16  # coordinates that are a group of their own
_OTHERWISE = Note("release-impossible", "the release is rounded or bounded otherwise than claimed")
_MEASURED = {FaultKind.SCALE: "noise-scale", FaultKind.OFFSET: "location"}
"""The check that measures a kind of fault."""
_NEARLY = 0.8  # of the evidence for a fault in one input, that another for all of them has
_SURE = 3.0  # nats by which a known fault must be likelier to be named

_DRAWS_TIMES_SQUARE = 24.0
_SURELY, _MORE = 2.33, 1.5  # deviations; of the nats that a stricter error rate wants
CELLS = 8  # of equal probability, over which an effect is meant
MEASURED_ON = "simulated runs of the hardest laws, over the draws of all these inputs together"

_MEASURED_AT = math.log(4e6)
"""Evidence, in nats, that refuted in the runs by which the draws were chosen."""


def wanted(effect: float, nats: float = _MEASURED_AT) -> int:
    """Draws after which a law off by `effect` in total variation shows with probability 0.99.

    The effect is over 8 cells of equal probability; nats: the evidence that refutes. Measured on
    the hardest laws, whose cells are too likely and too rare by turns, for effects from 0.01 to
    0.4: at most 21 over the square, in 24 runs each, at the default error rate.

    For a stricter rate: a draw adds 2 effect^2 nats in the mean, of twice that variance, so that of
    m nats m - 2.33 sqrt(2 m) come at least; half as many again as the rate wants beside those
    measured.
    """
    return math.ceil(_times_square(nats) / effect**2)


def seen_effect(draws: int, nats: float) -> float:
    """The effect that so many draws show where evidence must reach so many nats."""
    return math.sqrt(_times_square(nats) / draws)


def _times_square(nats: float) -> float:
    """Draws, times the square of the effect, where evidence must reach so many nats."""
    spread = _SURELY * math.sqrt(2.0)
    measured = 2.0 * _DRAWS_TIMES_SQUARE
    least = measured - spread * math.sqrt(measured) + _MORE * max(0.0, nats - _MEASURED_AT)
    return 0.5 * (0.5 * spread + math.sqrt(0.25 * spread**2 + least)) ** 2


class OtherLaw(Protocol):
    """A law that is no wager: it names the cause of what wagers have refuted."""

    @property
    def log_odds(self) -> float:
        """Against the claim, on all draws."""

    @property
    def cause(self) -> Note:
        """As findings name it."""

    def observe(self, y: Vector, x: Vector, half: Vector) -> None:
        """Adds releases (n,) of exact numbers (n,), of these half-widths (n,)."""

    def describes(self, uniform: Vector) -> bool:
        """Whether draws may be of this law, by counts (n,) of their transforms in equal cells."""


class NoiseLaw(NumberCheck):
    """Wagers on any deviation from the law, over all draws and in single coordinates or inputs.

    others: laws on which nothing is wagered.
    """

    id = "noise-law"
    evidence: NoiseLawEvidence

    def begin(self) -> None:
        self.wanted_draws = wanted(self.gate.smallest_effect, self.log_threshold)
        some = self.plan.coordinates.size
        places = np.unique(np.linspace(0, some - 1, min(some, _COORDINATES)).astype(int))
        self._alone = [] if some == 1 else [int(place) for place in places]
        groups = len(self._alone) + len(self.plan.inputs) + 5
        divisor = self.law.divide_by
        self.evidence = NoiseLawEvidence(self.noise, groups, divisor)
        self.others: list[OtherLaw] = [NoiseEnds(self.noise), Suppressed(self.noise)]
        self.branches: NumbersAtBranches | None = None
        self._by_records: list[TrueDivisor] = []
        if divisor is not None and not (self.noise.grid or self.noise.family.whole):
            self._by_records = [
                TrueDivisor(self.noise, divisor, noise_too=too) for too in (True, False)
            ]

    def observe(self, draws: Draws) -> None:
        groups = {name: chosen.ravel() for name, chosen in self._groups(draws).items()}
        placed = draws.placed.flat
        self.evidence.observe(placed, groups)
        for other in self.others:
            other.observe(placed.y, placed.x, placed.half)
        self.draws += draws.released.size
        for batch in draws.batches if self._by_records else ():
            chosen = self.plan.coordinates
            y, x = batch.releases[:, chosen], batch.asked.exact[chosen]
            half = self.noise.half_width(y, draws.digits)
            for law in self._by_records:
                law.observe(y, x, half, batch.asked.records)

    def begin_branches(self, inputs: Sequence[BranchInput]) -> None:
        """Is told the inputs that are steered to decisions of the target's code."""
        self.branches = NumbersAtBranches(self.noise, inputs, self.law.divide_by)

    def observe_branch(self, place: int, draws: Draws) -> None:
        """Adds releases of one of these inputs, which no other evidence of the law counts."""
        assert self.branches is not None
        self.branches.observe(place, draws)
        self.draws += draws.released.size

    @property
    def log_e_value(self) -> float:
        return with_branches(self.evidence.log_e_value, self._of_branches)

    @property
    def _of_branches(self) -> float:
        return 0.0 if self.branches is None else self.branches.log_e_value

    @property
    def parts(self) -> Parts:
        """Known faults of all draws, one by one; inputs steered to branches with the rest."""
        planned, branches = self.evidence.parts, self._of_branches
        log_weights, logs = planned.log_weights + math.log1p(-BRANCHES), planned.logs.copy()
        rest = np.logaddexp(log_weights[-1] + logs[-1], math.log(BRANCHES) + branches)
        log_weights[-1] = np.logaddexp(log_weights[-1], math.log(BRANCHES))
        logs[-1] = rest - log_weights[-1]
        return Parts(planned.names, log_weights, logs)

    @property
    def shown_by_branches(self) -> bool:
        """Whether inputs steered to decisions of the code tell more than all others."""
        branches = self.branches
        return branches is not None and branches.log_e_value > self.evidence.log_e_value

    @property
    def shows_singly(self) -> bool:
        """Whether the fault shows most where releases were asked for one by one."""
        return self.evidence.worst()[0] == _SINGLE

    @property
    def measured_by(self) -> str | None:
        """The id of the check that measures the fault found here; None where none does."""
        if self.shown_by_branches:
            return None
        group, fault, nats = self.evidence.worst()
        if group is not None or self._of_all(nats) is not None:
            return None
        return _MEASURED.get(fault.kind)

    def beside(self, measured: Finding) -> Finding:
        """What another check measured, with a known fault that is nearly as likely, if one is."""
        if measured.code is None or measured.log_odds is None or "nearly" in measured.fields:
            return measured
        near = self.evidence.near(None, Note(measured.code, ""), measured.log_odds)
        return measured if near is None else measured.with_near(near)

    def _of_all(self, nats: float) -> tuple[Note, float] | None:
        """The likeliest law that is no wager, with its log-odds, if it is told rather than a fault.

        nats: of the likeliest known fault, which may show in one input alone.
        """
        laws = [(law.cause, law.log_odds) for law in self._by_records]
        laws += [
            (law.cause, law.log_odds)
            for law in self.others
            if law.log_odds > nats and law.describes(self.evidence.all.uniform.counts)
        ]
        found = max(laws, key=lambda law: law[1], default=None)
        return found if found is not None and found[1] > max(_SURE, _NEARLY * nats) else None

    def _groups(self, draws: Draws) -> dict[str, NDArray[np.bool_]]:
        """Which draws (n, k) belong to each group, by name."""
        x, shape = draws.exact, draws.released.shape
        found = {"exact values of 0": x == 0.0}
        found |= {"exact values below 0": x < 0.0, "exact values above 1,000": x > 1000.0}
        for k in self._alone:
            name = f"coordinate {self.plan.coordinates[k]}"
            found[name] = np.broadcast_to(np.arange(shape[1]) == k, shape)
        of_releases = {f"the input {role}": draws.of_role(role) for role in draws.roles}
        of_releases |= {_SINGLE: draws.calls == 1, _LONG: draws.calls > 1_000}
        for name, chosen in of_releases.items():
            found[name] = np.broadcast_to(chosen[:, None], shape)
        return found

    def fail_finding(self) -> Finding:
        if self.branches is not None and self.shown_by_branches:
            return self.branches.finding()
        if self.evidence.forbidden is not None:
            y, x = self.evidence.forbidden
            never = (
                f"{y!r} was released where the exact value is {x:g}: {self.noise} never gives it"
            )
            return Finding.caused(never, _OTHERWISE, math.inf, released=y, exact=x)
        group, fault, nats = self.evidence.worst()
        where = "" if group is None else f", most of all for {group}"
        seen = {} if group is None else {"where": group}
        message = f"releases do not follow {self.noise}{where}"
        of_all = self._of_all(nats)
        if of_all is None and nats < _SURE:
            return Finding(message, code="law-unexplained", fields=seen)
        cause = self.evidence.cause(group, fault)
        if group is not None:
            cause = replace(cause, message=f"{cause} for {group}", fields={**cause.fields, **seen})
        if of_all is not None:
            cause, nats = of_all
        elif not self.evidence.describes(group, fault):
            cause = Note(NOT_DESCRIBED.code, NOT_DESCRIBED.message, seen)
        found = Finding.caused(message, cause, nats)
        if cause.code == NOT_DESCRIBED.code:
            return found
        near = self.evidence.near(group, cause, nats)
        found = replace(found, diagnosis=f"{cause} ({NEAREST})")
        return found if near is None else found.with_near(near)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        effect = seen_effect(self.wanted_draws, self.log_threshold)
        size: Fields = {"total_variation": effect, "cells": CELLS}
        draws = self.wanted_draws
        any_law = self.entry("law-unexplained", size, self.roles, draws, method=MEASURED_ON)
        cut = self.evidence.seen_cut(draws, self.log_threshold - math.log1p(-BRANCHES))
        if cut is None:
            return (any_law,)
        method = "exact: draws without one that far win the wager for certain"
        return any_law, self.entry(cut.code, cut.fields, self.roles, draws, method=method)

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        said = would_show(excludes)
        if self.branches is not None:
            said += f"; {self.branches.words}"
        exact = np.concatenate([asked.exact for asked in self.plan.inputs])
        exact = exact[np.isfinite(exact)]
        if exact.size:
            said += (
                f"; exact numbers from {exact.min():,.10g} to {exact.max():,.10g} are asked: "
                "larger ones, as where a type of the code overflows, may not have been"
            )
        message = f"no departure from {self.noise} was seen in {self.draws:,} draws{said}"
        return Finding(message, excludes=excludes)
