"""The releases that a pass takes, check by check, and the sharpest pass that a budget allows."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ....reference.arrays import Vector
from ...findings.excluded import Excluded
from ...findings.note import Note
from ...run.checks import Check, Setting
from ...run.phase import Phase
from ...run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    coarser,
    dearer,
    gate_for,
    is_default,
    sharpest_within,
)
from ...run.request import PlanRequest
from ...run.restarts import OPENINGS
from ...run.selection import ALWAYS, Selection
from .checks.base import ForeseenCheck, NumberCheck, tell_least
from .checks.fresh_noise import FreshNoise
from .checks.input_contract import InputContract
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .checks.noise_scale import NoiseScale
from .claim import NumbersClaim
from .planning.plan import turns
from .steering.asking import most_steered, steers

_STEPS = 12  # of the search
_FINEST = 1e-3  # of a share, the least that is searched for
_ENDLESS = 10_000_000  # releases, of a check that never has enough


@dataclass(frozen=True)
class PlannedReleases(ABC):
    """What a pass of the chosen checks takes, of numbers and of tables; see `Planned`.

    extent: of what is asked for breadth, the share that is asked; fitted: whether the claim and the
    extent were made to fit a number of queries.
    """

    claim: Any
    seed: int
    chosen: Selection = field(default_factory=Selection)
    extent: float = 1.0
    fitted: bool = False

    least_extent: ClassVar[float] = 0.0
    """Of a pass at its coarsest."""

    @cached_property
    def plan(self) -> Any:
        """The inputs, and how they are asked."""
        return self.claim.inputs(self.seed).in_part(self.extent)

    @property
    @abstractmethod
    def queries(self) -> int:
        """Releases of a pass, in all."""

    @property
    @abstractmethod
    def _in_part(self) -> str:
        """What a smaller extent leaves out, in words."""

    @abstractmethod
    def _tell_least(self, made: Iterable[object]) -> None:
        """Tells checks how many releases a run takes at least."""

    @property
    def _opening(self) -> int:
        """How many releases the first calls ask for."""
        return InputContract(self.claim, self.plan).opens_with + len(self.plan.inputs) - 1

    @property
    def of_restarts(self) -> int:
        """Releases that a comparison of starts asks for at most."""
        return OPENINGS * InputContract(self.claim, self.plan).opens_with

    @property
    def calls(self) -> int:
        """Calls of a pass."""
        released = self._opening
        calls = len(InputContract(self.claim, self.plan).sizes) + len(self.plan.inputs) - 1
        for _, size, _ in self.plan.paced(self.seed, released):
            if released >= self.queries:
                break
            calls, released = calls + 1, released + size
        return calls

    def dearer(self, *, planned: bool) -> Note:
        """The warning that a run's queries ended before a pass, with what a pass takes.

        planned: whether the run was planned for its queries.
        """
        most, needed, coarse = self.claim.gate.max_queries, self.queries, ""
        if not planned and needed > most:
            claim = self.claim.with_gate(gate_for(self.claim.gate, most, COARSEST_EFFECT))
            least = replace(self, claim=claim, extent=self.least_extent).queries
            coarse = f", --queries {most} plans the sharpest pass that {most:,} queries allow"
            if least > most:
                coarse = f"; with --queries, a coarser one takes about {least:,} at least"
        return dearer(most, needed, needed, coarse=coarse)

    @property
    def coarser(self) -> Note | None:
        gate, whole = self.claim.gate, self.extent == 1.0
        if not self.fitted or (is_default(gate) and whole):
            return None
        return coarser(gate, "" if whole else f"; {self._in_part}")

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        setting = Setting(self.claim, self.seed, self.plan)
        made = [check.make(setting) for check in self._there]
        self._tell_least(made)
        return {check.id: check.excluded for check in made}

    @property
    def lacking(self) -> Mapping[str, Note]:
        return {**self.claim.kind.checks.lacking(self.claim), **self.chosen.left_out}

    @property
    def _there(self) -> list[type[Check]]:
        """The chosen checks that the claim has room for."""
        there = self.claim.kind.checks.applicable(self.claim)
        return [check for check in there if self.chosen.keeps(check.id)]


@dataclass(frozen=True)
class PlannedNumbers(PlannedReleases):
    """Of numbers; extent: of the releases that checks ask for themselves."""

    claim: NumbersClaim

    @property
    def _in_part(self) -> str:
        return f"checks with inputs of their own ask {self.extent:.1%} of what they ask alone"

    def _tell_least(self, made: Iterable[object]) -> None:
        tell_least(made)

    @property
    def queries(self) -> int:
        return self._releases[0]

    @property
    def looked_at(self) -> Mapping[str, int]:
        """Checks that see every release look at the same ones."""
        ids = self.claim.kind.checks.ids
        return {check: self._releases[1].get(check, 0) for check in ids}

    @cached_property
    def _releases(self) -> tuple[int, Mapping[str, int]]:
        """Releases of a pass: in all, and those that each check looks at."""
        claim, plan = self.claim, self.plan
        setting = Setting(claim, self.seed, plan)
        shared = (check for check in self._there if check.phase is Phase.SHARED)
        seen: list[Any] = [check.make(setting) for check in shared]
        by_check = {check.id: self._releases_for(check) for check in seen}
        together = math.ceil(plan.margin * max(by_check.values(), default=0))
        own = (check for check in self._there if check.phase is not Phase.SHARED)
        later = (check for check in own if check.id != InputContract.id)
        asked = {check.id: check.make(setting).asks for check in later}
        queries = max(together, self._opening) + sum(asked.values())
        if NoiseLaw.id in by_check and steers(claim, plan):
            queries += most_steered(claim)
        if FreshNoise.id in by_check:
            queries += self.of_restarts + turns(claim, plan)
        return queries, {ALWAYS: self._opening, **by_check, **asked}

    def _releases_for(self, check: NumberCheck) -> int:
        """Releases that a check needs for a pass."""
        if isinstance(check, ForeseenCheck):
            return self._releases_call_by_call(check)
        draws = float(check.samples_needed())
        if isinstance(check, NoiseScale | Location):
            draws = check.expected_draws
        width: int = max(1, self.plan.coordinates.size)
        return math.ceil(draws / width)

    def _releases_call_by_call(self, check: ForeseenCheck) -> int:
        """Releases until a look at which a check has seen enough, in the calls of a run."""
        released: int = self._opening
        seen = np.zeros(check.wanted.size)
        by_call: dict[tuple[str, int], Vector] = {}
        for asked, size, look in self.plan.paced(self.seed, released):
            call = asked.role, size
            if call not in by_call:
                by_call[call] = check.foreseen(asked, size)
            released, seen = released + size, seen + by_call[call]
            if released > _ENDLESS or (look and (seen >= check.wanted).all()):
                return released
        raise AssertionError("calls never end")


def planned_numbers(claim: NumbersClaim, asked: PlanRequest) -> PlannedNumbers:
    """The plan of a claim, or the smallest effect and tolerance whose pass the queries allow.

    An effect or tolerance that the claim states is kept. At most half of the queries go to checks
    that ask for releases of their own. Raises TooFewError.
    """
    queries = asked.queries
    if queries is None:
        return PlannedNumbers(claim, asked.seed, asked.chosen)

    def at(effect: float, share: float) -> PlannedNumbers:
        fitting = claim.with_gate(gate_for(claim.gate, queries, effect))
        return PlannedNumbers(fitting, asked.seed, asked.chosen, share, fitted=True)

    least = claim.gate.smallest_effect
    full = at(least, 1.0)
    if full.queries <= queries:
        return full
    own = full.queries - at(least, 0.0).queries
    share = min(1.0, max(_FINEST, 0.5 * queries / own)) if own else 1.0
    found = at(COARSEST_EFFECT, share)
    while found.queries > queries and share:
        share = 0.5 * share if share > _FINEST else 0.0
        found = at(COARSEST_EFFECT, share)
    if found.queries > queries:
        looked_at = found.looked_at
        most = max(looked_at, key=looked_at.__getitem__)
        raise TooFewError(
            f"{queries:,} queries are too few for a pass of this claim, which takes about "
            f"{found.queries:,} at its coarsest: each check needs some releases at least, {most} "
            f"{looked_at[most]:,} of them; --max-queries {queries} without --queries looks "
            "for faults all the same, and many show far sooner",
            found.queries,
        )
    coarsest = max(COARSEST_EFFECT, least)
    return sharpest_within(lambda e: at(e, share), (least, coarsest), found, queries, _STEPS)
