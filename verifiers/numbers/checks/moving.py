"""What the checks of single records share: an altered record, and how far it moves a release."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ....reference.arrays import Matrix, Vector
from ....reference.numbers import sensitivity
from ....reference.numbers.noise import ulp
from ...checks.base import Finding, Outcome
from ...error_budget import log_threshold
from ...findings.verdict import Verdict
from ...targets import Refused
from ..asked import digits_of
from ..claim import NumbersClaim
from ..evidence.moved import MovedTooFar, seen_move
from ..evidence.moved_along import MovedAlong
from ..neighbours import Neighbour, simple_neighbours
from ..other_sums import moved_as
from ..plan import NumbersPlan, at_once
from ..shares import SHARES, SIMPLEST_SHARE
from ..standing import NumbersStanding

_CAUSE = "records are not clipped as claimed before they are summed"

_FEWEST = 40  # releases of an input, which show moves by some scales of the noise
_NUMBERS = 1 << 27  # that travel for an input: as JSON, ten minutes of a million a release
_OTHER_STEPS = 4  # of a sum, beside its additions, that may lose an ulp each


class MovingRecords:
    """Asks inputs with one altered record each, so many releases of each.

    Every input has wagers of its own, on each coordinate that is looked at and, where a norm is
    bounded, on all of them along the record. A record that no bound is for may be refused.
    """

    id: str
    most: int
    """Releases of each input, where a run is not planned for few queries."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        self.claim, self.plan = claim, plan
        self.noise = claim.mechanism.aggregation.noise
        self.asked = self.inputs(claim, seed)
        self.log_threshold = log_threshold(SHARES[self.id], claim.gate.false_alarm)
        self.log_threshold += math.log(2 * max(len(self.asked), 1))
        fit = min(self.most, _NUMBERS // claim.mechanism.width)
        self.releases = max(_FEWEST, math.ceil(plan.share * fit))
        self.lost = 0.0
        """How far floats may have carried a sum, which no release tells from a move."""

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """The altered inputs."""
        raise NotImplementedError

    def passed(self, served: int, queries: int) -> str:
        """What to say where nothing has moved too far."""
        raise NotImplementedError

    @property
    def would_show(self) -> str:
        """What a pass says that it would have seen."""
        coordinates = self.plan.coordinates.size
        seen = seen_move(self.noise, self.releases, coordinates, self.log_threshold) + self.lost
        if math.isinf(seen):
            return f"so few would not have shown a move of ten scales of the noise{self.narrow}"
        return f"a move {seen:.3g} longer would have been seen with probability 0.99{self.narrow}"

    @property
    def narrow(self) -> str:
        """What a pass says where a norm is bounded, and only single numbers were looked at."""
        mechanism = self.claim.mechanism
        bounded = mechanism.clip_norm is not None or mechanism.clip_norm1 is not None
        if not bounded or mechanism.width == 1 or self._sums:
            return ""
        return "; single numbers were looked at, not the norm over all"

    @property
    def axis(self) -> int:
        """Of the number that is altered where one is: one of those that are looked at."""
        return int(self.plan.coordinates[0])

    @property
    def asks(self) -> int:
        """See `AskingCheck.asks`."""
        return self.releases * len(self.asked)

    def conclude(self, standing: NumbersStanding) -> Outcome | None:
        """See `AskingCheck.conclude`."""
        queries, refused = 0, list[tuple[str, str]]()
        for neighbour in self.asked:
            if standing.left < self.releases:
                standing.use_up()
                return None
            try:
                released = self._released(standing, neighbour)
            except Refused as refusal:
                refused.append((neighbour.name, str(refusal)))
                continue
            queries += self.releases
            found = self._judged(neighbour, released)
            if found is not None:
                norm = moved_as(
                    self.claim, neighbour.values, released.numbers, self.plan.coordinates
                )
                if norm is not None:
                    found = replace(found, diagnosis=norm, cause=norm)
                told = self._with_simplest(standing, found)
                return Outcome(Verdict.FAIL, told, queries)
        warning = _said_of(refused)
        if not queries:
            nothing = Finding("every input with an altered record is refused", warning=warning)
            return Outcome(Verdict.NOT_APPLICABLE, nothing, 0)
        message = self.passed(len(self.asked) - len(refused), queries)
        return Outcome(Verdict.PASS, Finding(message, warning=warning), queries)

    def _with_simplest(self, standing: NumbersStanding, found: Finding) -> Finding:
        """The violation, and the simplest record that shows it on fresh releases, if one does."""
        tried = list(simple_neighbours(self.claim)) if standing.explains else []
        # a quarter of the share for each of the two checks, two wagers on each record
        share = SIMPLEST_SHARE / 4 / (2 * max(len(tried), 1))
        self.log_threshold = log_threshold(share, self.claim.gate.false_alarm)
        self.releases = _FEWEST
        for neighbour in tried:
            if standing.left < self.releases:
                break
            try:
                simple = self._judged(neighbour, self._released(standing, neighbour))
            except Refused:
                continue
            if simple is not None:
                return replace(found, message=f"{found.message}; simplest: {simple.message}")
        return found

    def _released(self, standing: NumbersStanding, neighbour: Neighbour) -> "_Asked":
        most, left = at_once(self.claim.mechanism.width, self.releases), self.releases
        found, along = [], []
        while left:
            size = min(left, most)
            reply = standing.target.ask(neighbour.values, size)
            standing.spend(size)
            shaped = self.claim.release.shaped(reply, neighbour.values, size)
            found.append(shaped[:, self.plan.coordinates])
            if self._sums and neighbour.direction is not None:
                unit = neighbour.direction
                with np.errstate(invalid="ignore", over="ignore"):
                    along.append(np.stack([shaped @ unit, np.abs(shaped) @ np.abs(unit)], 1))
            left -= size
        return _Asked(np.concatenate(found), np.concatenate(along) if along else None)

    def _judged(self, neighbour: Neighbour, asked: "_Asked") -> Finding | None:
        """The violation, if it is one."""
        released = asked.numbers
        finite = np.isfinite(released)
        if not finite.all():
            return Finding(
                f"{neighbour.name} makes the release {released[~finite][0]}: no noise hides it",
                _CAUSE,
                cause=_CAUSE,
            )
        exact = neighbour.exact[self.plan.coordinates]
        digits, allowed = digits_of(released), neighbour.allowed
        # whatever is added to it, up to its bound
        lost = self._lost(neighbour, np.abs(exact) + allowed, digits)
        half = self.noise.half_width(released, digits)
        found = self._moved(neighbour, released, exact, allowed, lost=lost, half=half)
        if found is None and asked.along is not None and neighbour.direction is not None:
            found = self._moved_along(neighbour, neighbour.direction, asked.along, digits)
        return found

    def _allowed_along(self, neighbour: Neighbour, direction: Vector) -> float:
        """How far the exact value may move along a direction of length 1 (Hoelder's inequality)."""
        mechanism = self.claim.mechanism
        if mechanism.clip_norm1 is not None:
            most = sensitivity(mechanism.aggregation, 1)
            return neighbour.units * most * float(np.abs(direction).max())
        return neighbour.units * sensitivity(mechanism.aggregation, 2)

    def _moved_along(
        self, neighbour: Neighbour, direction: Vector, along: Matrix, digits: int
    ) -> Finding | None:
        """The violation of releases (n, 2), by the projection of all their numbers."""
        if not np.isfinite(along).all():
            return None
        allowed = self._allowed_along(neighbour, direction)
        lost = self._lost(neighbour, np.abs(neighbour.exact) + neighbour.allowed, digits)
        # of a sum of products the floats lose little more than of its numbers
        apart = 2.0 ** (1 - digits) + direction.size * 2.0**-52
        carried = lost @ np.abs(direction) + apart * along[:, 1]
        moved = along[:, 0] - neighbour.exact @ direction
        evidence = MovedAlong(self.noise, direction)
        evidence.observe(moved, allowed + carried)
        if not evidence.log_e_value >= self.log_threshold:
            return None
        return Finding(
            f"{neighbour.name} moves the release along itself by about {np.median(moved):.3g}, "
            f"and the claim allows {allowed:.4g}",
            _CAUSE,
            cause=_CAUSE,
        )

    def _lost(self, neighbour: Neighbour, largest: Vector, digits: int) -> Vector:
        """How far floats may carry sums (k,) no larger than these: an ulp for each record.

        That is half an ulp for the record itself and half for adding it; some more for clipping and
        dividing. Whole numbers are added without loss as long as floats tell them apart.
        """
        apart = ulp(largest, digits)
        if self.claim.mechanism.of_whole_numbers:
            apart = np.where(apart <= 1.0, 0.0, apart)
        return np.asarray((_records_of(self.claim, neighbour) + _OTHER_STEPS) * apart)

    @property
    def _sums(self) -> bool:
        """Whether all numbers of a release are summed along the record: a norm bounds them."""
        mechanism = self.claim.mechanism
        bounded = mechanism.clip_norm is not None or mechanism.clip_norm1 is not None
        return bounded and math.isinf(self.noise.low) and math.isinf(self.noise.high)

    def _moved(
        self,
        neighbour: Neighbour,
        released: Matrix,
        exact: Vector,
        allowed: float,
        *,
        lost: Vector | Matrix,
        half: Matrix,
    ) -> Finding | None:
        """What to say where a coordinate (k,) of the releases (n, k) has moved too far.

        lost: how far floats may carry it beside; half: half the width of what a release stands for.
        """
        self.lost = max(self.lost, float(lost.max(initial=0.0)))
        evidence = MovedTooFar(self.noise, exact.size)
        evidence.observe(released, exact, allowed + lost, half)
        if not evidence.log_e_value >= self.log_threshold:  # what is no number shows nothing
            return None
        place, sign = evidence.worst
        moved = sign * float(np.median(released[:, place] - exact[place]))
        return Finding(
            f"{neighbour.name} moves coordinate {self.plan.coordinates[place]} by about "
            f"{moved:.3g}, and the claim allows {allowed:.4g}",
            _CAUSE,
            cause=_CAUSE,
        )


@dataclass(frozen=True)
class _Asked:
    """Releases: numbers (n, k) that are looked at; along: of all numbers, the projection (n, 2).

    Its first column is the projection on the record's direction, its second that of the sizes of
    the numbers on the sizes of the direction, which bounds what floats have lost.
    """

    numbers: Matrix
    along: Matrix | None


def _records_of(claim: NumbersClaim, neighbour: Neighbour) -> int:
    """Records in an input, or 1 where it is counts already."""
    values = neighbour.values
    if claim.mechanism.takes == "counts":
        return 1
    return len(values[0] if claim.mechanism.takes == "tensors" else values)


def _said_of(refused: list[tuple[str, str]]) -> str | None:
    """One warning for all altered inputs, by name, and what the target said of them."""
    names: dict[str, list[str]] = {}
    for name, why in refused:
        names.setdefault(why, []).append(name)
    said = [
        f"{each[0]}{f' and {len(each) - 1} like it' if len(each) > 1 else ''} "
        f"{'are' if len(each) > 1 else 'is'} refused: {why}"
        for why, each in names.items()
    ]
    return "; ".join(said) or None
