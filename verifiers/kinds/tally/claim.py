"""What a deployment that tallies the values of parties says of itself, from TOML and checked."""

import math
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from ....reference.accounting.adjacency import Adjacency
from ....reference.numbers import NumberNoise, Shares
from ....reference.numbers.families import FAMILIES
from ....reference.numbers.tally import Tally
from ...targets.tally import TallyRelease
from ..numbers.claim import NumbersClaim
from ..numbers.mechanism import NumberMechanism

_SURE = -40.0
"""Log-probability of noise that a modulus need not hold: 4e-18."""


_WHOLE = sorted(f"{name}:S" for name, family in FAMILIES.items() if family.whole)


class TallyMechanism(NumberMechanism):
    """`[mechanism]` of a tally.

    parties: who hold values; quorum: fewest who must stay for a tally; modulus: of all numbers;
    released: "residues", from 0 to modulus - 1, or "signed", those from half of it on taken for
    negative; colluders: parties who subtract the noise that they know.
    """

    forms: ClassVar = {"secure-tally": ("rounds", ("dimensions", "lower", "upper"))}

    parties: int = Field(ge=2, le=10_000)
    quorum: int | None = Field(default=None, ge=1, le=10_000)
    modulus: int = Field(ge=2, le=2**64)
    released: Literal["residues", "signed"] = "signed"
    colluders: int = Field(default=0, ge=0, le=10_000)

    @model_validator(mode="after")
    def _of_parties(self) -> Self:
        """Raises ValueError for what no tally can claim."""
        if not self.noise.family.whole:
            raise ValueError(
                f'noise = "{self.noise}": a tally is whole, expected {", ".join(_WHOLE)}'
            )
        if math.isfinite(self.noise.low) or math.isfinite(self.noise.high):
            raise ValueError(f'noise = "{self.noise}": expected no min and max beside a modulus')
        lower, upper = self._bounds
        if not lower < upper or lower != self.lower or upper != self.upper:
            given = f"lower = {self.lower:g}, upper = {self.upper:g}"
            raise ValueError(f"{given}: expected whole numbers, lower below upper")
        if not 1 <= self.fewest <= self.parties:
            raise ValueError(f"quorum = {self.quorum}: expected 1 to {self.parties}, parties")
        self._shares_fit()
        self._sums_fit()
        return self

    def _shares_fit(self) -> None:
        family = self.noise.family
        if self.in_shares and isinstance(family, Shares) and family.present != self.parties:
            raise ValueError(
                f'noise = "{self.noise}": expected shares={self.parties}/N, one of each party, or '
                "sum=K for noise that others add"
            )
        if self.colluders and not self.in_shares:
            raise ValueError(f"colluders = {self.colluders}: expected noise in shares beside it")
        if self.colluders >= self.fewest:
            raise ValueError(
                f"colluders = {self.colluders}: expected fewer than the quorum, {self.fewest}"
            )

    def _sums_fit(self) -> None:
        """Raises ValueError where a sum of largest values with noise wraps around the modulus."""
        lower, upper = (self.parties * bound for bound in self._bounds)
        far = 1.0
        while float(self.noise.family.log_survival(np.array(far))) > _SURE:
            far = math.ceil(1.1 * far)
        sums = upper - lower if self.released == "residues" else 2 * max(abs(lower), abs(upper))
        largest = max(abs(lower), abs(upper)) + far
        if largest > 2**53:
            raise ValueError(
                f"lower = {self.lower:g}, upper = {self.upper:g}: sums of {self.parties} values "
                f"with noise reach {largest:.3g}, expected 2^53 at most"
            )
        least = int(sums + 2 * far + 1)
        if self.modulus < least:
            raise ValueError(
                f"modulus = {self.modulus}: sums of {self.parties} values from {self.lower:g} to "
                f"{self.upper:g} with noise need {least:,} at least"
            )

    @property
    def _bounds(self) -> tuple[int, int]:
        assert self.lower is not None, "needed by the name"
        assert self.upper is not None, "needed by the name"
        return math.floor(self.lower), math.floor(self.upper)

    @property
    def fewest(self) -> int:
        """How many parties must stay for a tally: more than half, where nothing is said."""
        return self.parties // 2 + 1 if self.quorum is None else self.quorum

    @property
    def in_shares(self) -> bool:
        """Whether the parties add the noise, so that who drops out takes a share along."""
        family = self.noise.family
        return isinstance(family, Shares) and (family.parties > 1 or family.of_parties)

    def left(self, present: int) -> NumberNoise:
        """The noise in a tally to which so many parties have sent theirs, at least 1."""
        family = self.noise.family
        if not (isinstance(family, Shares) and self.in_shares):
            return self.noise
        return replace(self.noise, family=replace(family, present=present))

    @cached_property
    def aggregation(self) -> Tally:
        return Tally(self.noise, self.parties, self.width, *self._bounds, Adjacency(self.adjacency))

    @property
    def summary(self) -> str:
        who = f"{self.parties} parties, {self.fewest} of whom must stay"
        colluding = f", {self.colluders} colluding" if self.colluders else ""
        return f"{super().summary}, of {who}{colluding}; modulo {self.modulus}, {self.released}"


class TallyClaim(NumbersClaim):
    """The claim of a deployment that tallies what parties hold."""

    mechanism: TallyMechanism

    @cached_property
    def release(self) -> TallyRelease:
        of = self.mechanism
        return TallyRelease(of.parties, of.width, of.modulus, signed=of.released == "signed")

    @property
    def against_colluders(self) -> "TallyClaim":
        """The claim with the noise of the fewest parties who must stay, less the colluders."""
        mechanism = self.mechanism
        noise = mechanism.left(mechanism.fewest - mechanism.colluders)
        found = mechanism.model_copy(update={"noise": noise})
        found.__dict__.pop("aggregation", None)  # of the other noise
        return self.model_copy(update={"mechanism": found})
