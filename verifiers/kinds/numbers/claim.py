"""What a deployment that releases numbers says of itself, read from TOML and checked."""

import json
import math
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import Field, PrivateAttr, model_validator

from ....reference.numbers.costs import pure_epsilon
from ...claims.claim import Claim, ClaimError
from ...claims.tables import ANY_QUERIES, PrivacyClaim, Table
from ...inputs.people_file import PeopleTable, read_people
from ...targets.numbers import NumberRelease
from .mechanism import NumberMechanism


class LeakageClaim(Table):
    """`[leakage]`: what may be inferred at most from gradients of the vendor's model and data."""

    model: str
    data: str
    label: str
    attribute: str | list[str]
    seen: bool = True
    batch: int = Field(default=16, ge=1, le=10_000)
    releases: int = Field(default=1, ge=1, le=10_000)
    max_advantage: float = Field(default=0.0, ge=0, le=1)
    _people: PeopleTable = PrivateAttr()

    def read(self) -> None:
        """Reads the data, from the working directory. Raises ValueError."""
        self._people = read_people(self.data, self.label, self.columns, seen=self.seen)

    @property
    def people(self) -> PeopleTable:
        """What `read` has read."""
        return self._people

    @property
    def columns(self) -> list[str]:
        """The columns of the data that hold the attribute."""
        return [self.attribute] if isinstance(self.attribute, str) else self.attribute

    @property
    def named(self) -> str:
        """The attribute, as messages name it."""
        return ", ".join(self.columns)


class NumbersPrivacy(PrivacyClaim):
    """`[privacy]` of numbers: a delta of 0 is a claim of pure differential privacy."""

    delta: float = Field(ge=0, lt=1)


class SumsClaim(Claim):
    """The claim of a deployment whose releases are sums with noise, of inputs that a run makes."""

    privacy: NumbersPrivacy | None = None

    @model_validator(mode="after")
    def _of_sums(self) -> Self:
        """Raises ValueError for what no deployment of sums can claim."""
        privacy = self.privacy
        if privacy is not None and privacy.delta == 0:
            self._check_pure()
        if privacy is not None and privacy.scope != ANY_QUERIES:
            raise ValueError(
                f"privacy.scope = {json.dumps(privacy.scope[:60])}: noise costs the same whatever "
                f'is asked, expected "{ANY_QUERIES}"'
            )
        if self.gate.fresh_state is not None:
            raise ValueError("gate.fresh_state: only deployments of labels keep their answers")
        return self

    def _check_pure(self) -> None:
        """Raises ValueError where a delta of 0 cannot hold."""
        raise NotImplementedError

    @property
    def summary(self) -> str:
        found: str = self.mechanism.summary
        return found

    def inputs(self, seed: int) -> Any:
        """The inputs of a run, chosen by its seed, as its kind makes them."""
        return self.kind.inputs(self, seed)


class NumbersClaim(SumsClaim):
    """The claim of a deployment that releases numbers."""

    mechanism: NumberMechanism
    leakage: LeakageClaim | None = None

    @model_validator(mode="after")
    def _of_gradients(self) -> Self:
        if self.leakage is not None and self.mechanism.takes != "tensors":
            raise ValueError(f"leakage: only noisy-gradient takes it, not {self.mechanism.name}")
        return self

    def _check_pure(self) -> None:
        family = self.mechanism.aggregation.noise.family
        if math.isinf(pure_epsilon(self.mechanism.aggregation)):
            raise ValueError(
                f"privacy.delta = 0: {family.family} noise has no finite epsilon there, expected a "
                "delta above 0"
            )

    @cached_property
    def release(self) -> NumberRelease:
        """How values and releases travel."""
        return self.mechanism.release

    @classmethod
    def checked(
        cls, table: dict[str, Any], source: str = "claim", folder: Path | None = None
    ) -> Self:
        """With the data of `[leakage]`, which are read."""
        claim = super().checked(table, source, folder)
        if claim.leakage is not None:
            try:
                claim.leakage.read()
            except ValueError as error:
                raise ClaimError(f"{source}: leakage.data: {error}") from None
        return claim
