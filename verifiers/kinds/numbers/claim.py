"""What a deployment that releases numbers says of itself, read from TOML and checked."""

import json
from functools import cached_property
from typing import Any, Self

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from ....reference.numbers import DiscreteLaplace
from ....reference.numbers.families import Laplace
from ...claims.mistakes import mistakes
from ...inputs.people_file import People, read_people
from ...targets.http_options import HttpOptions
from ...targets.numbers import NumberRelease
from ..labels.claim import ANY_QUERIES, ClaimError, Gate, HttpClaim, PrivacyClaim, Table
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
    _people: People = PrivateAttr()

    def read(self) -> None:
        """Reads the data, from the working directory. Raises ValueError."""
        self._people = read_people(self.data, self.label, self.columns, seen=self.seen)

    @property
    def people(self) -> People:
        """What `read` has read."""
        return self._people

    @property
    def columns(self) -> list[str]:
        """That hold the attribute."""
        return [self.attribute] if isinstance(self.attribute, str) else self.attribute

    @property
    def named(self) -> str:
        """The attribute, as messages name it."""
        return ", ".join(self.columns)


class NumbersPrivacy(PrivacyClaim):
    """`[privacy]` of numbers: a delta of 0 is a claim of pure differential privacy."""

    delta: float = Field(ge=0, lt=1)


class NumbersClaim(Table):
    """A claim of numbers; `[gate]`, `[privacy]` and `[http]` are those of a claim of labels."""

    mechanism: NumberMechanism
    privacy: NumbersPrivacy | None = None
    gate: Gate = Gate()
    http: HttpClaim | None = None
    leakage: LeakageClaim | None = None

    @model_validator(mode="after")
    def _leakage_of_gradients(self) -> Self:
        if self.leakage is not None and self.mechanism.takes != "tensors":
            raise ValueError(f"leakage: only noisy-gradient takes it, not {self.mechanism.name}")
        return self

    @model_validator(mode="after")
    def _pure_where_noise_is(self) -> Self:
        if self.privacy is None or self.privacy.delta > 0:
            return self
        if self.mechanism.takes == "keys":
            raise ValueError(
                "privacy.delta = 0: a key that one unit alone has may be released, expected a "
                "delta above 0"
            )
        family = self.mechanism.aggregation.noise.family
        if not isinstance(family, Laplace | DiscreteLaplace):
            raise ValueError(
                f"privacy.delta = 0: {family.family} noise has no finite epsilon there, expected a "
                "delta above 0"
            )
        return self

    @model_validator(mode="after")
    def _whatever_is_asked(self) -> Self:
        if self.privacy is not None and self.privacy.scope != ANY_QUERIES:
            raise ValueError(
                f"privacy.scope = {json.dumps(self.privacy.scope[:60])}: noise of numbers "
                f'costs the same whatever is asked, expected "{ANY_QUERIES}"'
            )
        return self

    @model_validator(mode="after")
    def _keeps_no_answers(self) -> Self:
        if self.gate.fresh_state is not None:
            raise ValueError("gate.fresh_state: only deployments of labels keep their answers")
        return self

    @property
    def said(self) -> str:
        """The mechanism in a few words, as reports head themselves."""
        return self.mechanism.said

    @property
    def releases(self) -> str:
        """What the deployment releases, in a word."""
        return "numbers" if self.mechanism.takes != "keys" else "keys"

    @cached_property
    def release(self) -> NumberRelease:
        """How values and releases travel."""
        return NumberRelease(
            self.mechanism.takes, self.mechanism.width, self.mechanism.shapes or ()
        )

    @property
    def http_options(self) -> HttpOptions:
        """How a server is spoken to, `[http]` or its defaults."""
        http = self.http or HttpClaim()
        return HttpOptions(http.headers, tuple(http.refusal_status), http.retry_503)

    def with_limits(self, max_queries: int | None, run_timeout: float | None) -> "NumbersClaim":
        """The same claim under other limits of a run, where they are given."""
        given = {"max_queries": max_queries, "run_timeout": run_timeout}
        changed = {key: value for key, value in given.items() if value is not None}
        return self.model_copy(update={"gate": self.gate.model_copy(update=changed)})


def parse_numbers_claim(table: dict[str, Any], source: str = "claim") -> NumbersClaim:
    """The claim in `table` (parsed TOML). Raises ClaimError."""
    try:
        claim = NumbersClaim.model_validate(table)
    except ValidationError as error:
        lines = mistakes(error, NumbersClaim)
        raise ClaimError(*(f"{source}: {line}" for line in lines)) from None
    if claim.leakage is not None:
        try:
            claim.leakage.read()
        except ValueError as error:
            raise ClaimError(f"{source}: leakage.data: {error}") from None
    return claim
