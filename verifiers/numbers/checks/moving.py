"""What the checks of single records share: an altered record, and how far it moves a release."""

import math
from dataclasses import replace

import numpy as np

from ....reference.arrays import Matrix, Vector
from ....reference.numbers import sensitivity
from ....reference.numbers.families import Gaussian
from ...checks.base import Finding, Outcome
from ...error_budget import log_threshold
from ...findings.verdict import Verdict
from ...targets import Refused
from ..claim import NumbersClaim
from ..evidence.moved import MovedTooFar
from ..neighbours import Neighbour, simple_neighbours
from ..plan import NumbersPlan, at_once
from ..shares import SHARES, SIMPLEST_SHARE
from ..standing import NumbersStanding

_CAUSE = "records are not clipped as claimed before they are summed"

_FEWEST = 40  # releases of an input, which show moves by some scales of the noise


class MovingRecords:
    """Asks inputs with one altered record each, so many releases of each.

    Every input has wagers of its own, on each coordinate and, where noise is the same in every
    direction, along the record. A record that no bound is for may be refused.
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
        self.releases = max(_FEWEST, math.ceil(plan.share * self.most))

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """The altered inputs."""
        raise NotImplementedError

    def passed(self, served: int, queries: int) -> str:
        """What to say where nothing has moved too far."""
        raise NotImplementedError

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

    def _released(self, standing: NumbersStanding, neighbour: Neighbour) -> Matrix:
        most, left, found = at_once(self.claim.mechanism.width, self.releases), self.releases, []
        while left:
            size = min(left, most)
            reply = standing.target.ask(neighbour.values, size)
            standing.spend(size)
            shaped = self.claim.release.shaped(reply, neighbour.values, size)
            found.append(shaped[:, self.plan.coordinates])
            left -= size
        return np.concatenate(found)

    def _judged(self, neighbour: Neighbour, released: Matrix) -> Finding | None:
        """The violation, if it is one."""
        finite = np.isfinite(released)
        if not finite.all():
            return Finding(
                f"{neighbour.name} makes the release {released[~finite][0]}: no noise hides it",
                _CAUSE,
                cause=_CAUSE,
            )
        exact = neighbour.exact[self.plan.coordinates]
        found = self._moved(neighbour, released, exact, neighbour.allowed)
        if found is None and self._turns and neighbour.direction is not None:
            along = neighbour.direction[:, None]
            allowed = sensitivity(self.claim.mechanism.aggregation, 2)
            found = self._moved(neighbour, released @ along, exact @ along, allowed)
        return found

    @property
    def _turns(self) -> bool:
        """Whether noise is the same in every direction, and all of a release is looked at."""
        whole = self.plan.coordinates.size == self.claim.mechanism.width
        plain = not self.noise.grid and math.isinf(self.noise.low) and math.isinf(self.noise.high)
        bounded = self.claim.mechanism.clip_norm is not None
        return whole and plain and bounded and isinstance(self.noise.family, Gaussian)

    def _moved(
        self, neighbour: Neighbour, released: Matrix, exact: Vector, allowed: float
    ) -> Finding | None:
        """What to say where a coordinate (k,) of the releases (n, k) has moved too far."""
        evidence = MovedTooFar(self.noise, exact.size)
        evidence.observe(released, exact, allowed, self.noise.half_width(released))
        if evidence.log_e_value < self.log_threshold:
            return None
        place, sign = evidence.worst
        moved = sign * float(np.median(released[:, place] - exact[place]))
        where = "the release along itself"
        if exact.size == self.plan.coordinates.size and exact.size > 1:
            where = f"coordinate {self.plan.coordinates[place]}"
        return Finding(
            f"{neighbour.name} moves {where} by about {moved:.3g}, and the claim allows "
            f"{allowed:.4g}",
            _CAUSE,
            cause=_CAUSE,
        )


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
