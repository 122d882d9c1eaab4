"""A claim without a law: a guarantee of each pair of neighbouring inputs, and pairs."""

import math
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from scipy.special import ndtr

from ....attacks.auditing.coin import Curve, Guarantee
from ....reference.accounting.conversions import ORDERS, to_epsilon
from ...claims.claim import Claim, ClaimError
from ...claims.tables import MOST_EPSILON, Fitted, Table
from ...inputs.audit_files import read_curve
from ...inputs.input_error import RowsError
from ...targets.anything import AnyRelease
from ..numbers.claim import NumbersPrivacy
from .pairs import Control, Pair, with_files
from .search import Form, drawn_pairs, far_apart

_OF_MU = (3.0, 2.0, 1.5, 1.0, 0.6, 0.3, 0.1)  # epsilons of a Gaussian curve, over mu
_DELTAS = (1e-5, 1e-3, 0.01, 0.03, 0.1, 0.3)  # of a curve of Renyi costs
_MOST_PAIRS = 100

FORMS = ("guarantees", "gdp", "zcdp", "rdp", "curve")
"""Other forms of a guarantee than one epsilon and delta."""

_OR_PATH: JsonDict = {"type": ["array", "string"]}
"""Of the schema of a list that a file may hold, whose path stands in its place."""


def _or_forms(schema: dict[str, Any]) -> None:
    """Lets the schema ask for epsilon and delta only where no other form stands."""
    schema["if"] = {"anyOf": [{"required": [form]} for form in FORMS]}
    schema["else"] = {"required": schema.pop("required")}


class AnyMechanism(Table):
    """`[mechanism]`: none that has a law.

    predictor: a Python callable (reply, here, there) -> log-odds that the reply is of `there`;
    caching: whether something is kept of an input that shapes later replies to it; None: not said.
    """

    name: Literal["any"]
    caching: bool | None = None
    predictor: str | None = Field(default=None, min_length=1)
    fitted: Fitted = None


class AnyPrivacy(NumbersPrivacy):
    """`[privacy]`: one epsilon and delta, several, or a curve; of one release.

    gdp: mu; zcdp: rho; rdp: orders and costs, which are judged by the (epsilon, delta) that they
    imply: sound, and not tight; curve: rows of alpha and beta of a trade-off curve (f-DP).
    """

    model_config = ConfigDict(json_schema_extra=_or_forms)

    epsilon: float = Field(ge=0, le=MOST_EPSILON)
    queries: int = Field(default=1, ge=1, le=1)
    guarantees: list[list[float]] | None = None
    gdp: float | None = Field(default=None, gt=0, le=1e4)
    zcdp: float | None = Field(default=None, gt=0, le=1e4)
    rdp: list[list[float]] | None = None
    curve: list[list[float]] | None = Field(default=None, json_schema_extra=_OR_PATH)

    @model_validator(mode="before")
    @classmethod
    def _of_one_form(cls, given: Any) -> Any:
        """Fills epsilon and delta in from another form. Raises ValueError for two forms."""
        if not isinstance(given, dict):
            return given
        forms = [form for form in FORMS if form in given]
        if not forms:
            return given
        if len(forms) > 1 or "epsilon" in given:
            both = [*(["epsilon"] if "epsilon" in given else []), *forms]
            raise ValueError(f"{both[0]} and {both[1]}: expected one form of the guarantee")
        lines = _LINES[forms[0]](given[forms[0]])
        return {**given, "epsilon": lines[0].epsilon, "delta": lines[0].delta}

    @cached_property
    def lines(self) -> list[Guarantee]:
        """The guarantees that are judged, each by itself, that of the smallest delta first."""
        for form in FORMS:
            value = getattr(self, form)
            if value is not None:
                return _LINES[form](value)
        return [Guarantee(self.epsilon, self.delta)]


def _of_pairs(given: Any) -> list[Guarantee]:
    rows = _rows(given, "guarantees", "[epsilon, delta]")
    return [Guarantee(epsilon, delta) for epsilon, delta in sorted(rows, key=lambda row: row[1])]


def _of_gdp(mu: Any) -> list[Guarantee]:
    if not isinstance(mu, int | float) or isinstance(mu, bool) or not 0 < mu <= 1e4:
        raise ValueError(f"gdp = {mu!r}: expected mu, above 0")
    found = []
    for part in _OF_MU:
        e = part * mu
        delta = float(ndtr(-e / mu + mu / 2) - math.exp(min(e, 700.0)) * ndtr(-e / mu - mu / 2))
        if 0.0 < delta < 1.0:
            found.append(Guarantee(e, delta))
    if not found:
        raise ValueError(f"gdp = {mu!r}: it claims nothing: its deltas are 1, up to rounding")
    return found


def _of_zcdp(rho: Any) -> list[Guarantee]:
    if not isinstance(rho, int | float) or isinstance(rho, bool) or not 0 < rho <= 1e4:
        raise ValueError(f"zcdp = {rho!r}: expected rho, above 0")
    return [Guarantee(to_epsilon(ORDERS, rho * ORDERS, d).epsilon, d) for d in _DELTAS]


def _of_rdp(given: Any) -> list[Guarantee]:
    rows = np.array(_rows(given, "rdp", "[order, cost]"))
    if rows[:, 0].min() <= 1.0 or rows[:, 1].min() < 0.0:
        raise ValueError("rdp: expected orders above 1, and costs from 0")
    return [Guarantee(to_epsilon(rows[:, 0], rows[:, 1], d).epsilon, d) for d in _DELTAS]


def _of_curve(given: Any) -> list[Guarantee]:
    rows = np.array(_rows(given, "curve", "[alpha, beta]"))
    try:
        return Curve(rows[:, 0], rows[:, 1]).lines
    except ValueError as error:
        raise ValueError(f"curve: {error}") from None


def _rows(given: Any, name: str, wanted: str) -> list[tuple[float, float]]:
    if not isinstance(given, list) or not given:
        raise ValueError(f"{name}: expected a list of {wanted}")
    for row in given:
        two = isinstance(row, list | tuple) and len(row) == 2
        if not two or not all(type(x) in (int, float) and math.isfinite(x) for x in row):
            raise ValueError(f"{name}: {row!r}: expected {wanted}")
    return [(float(a), float(b)) for a, b in given]


_LINES = {
    "guarantees": _of_pairs,
    "gdp": _of_gdp,
    "zcdp": _of_zcdp,
    "rdp": _of_rdp,
    "curve": _of_curve,
}


class AnyClaim(Claim):
    """The claim of a deployment without a law.

    search: of what form inputs are, where further pairs are to be drawn; control: two inputs far
    apart, by which it is told whether replies say anything that can be read.
    """

    mechanism: AnyMechanism
    privacy: AnyPrivacy
    pairs: list[Pair] = Field(min_length=1, max_length=_MOST_PAIRS, json_schema_extra=_OR_PATH)
    search: Form | None = None
    control: list[Control] = Field(default=[], max_length=1)

    @model_validator(mode="after")
    def _of_any(self) -> Self:
        """Raises ValueError for what such a claim cannot say."""
        for number, pair in enumerate(self.pairs, 1):
            pair.check(f"pairs, {number}")
        for control in self.control:
            control.check("control")
        _ = self.drawn
        if self.accountant is not None:
            raise ValueError("[accountant]: charges are held to a law, and the claim names none")
        return self

    @cached_property
    def drawn(self) -> list[Pair]:
        """Pairs that a search looks at after those of the claim."""
        return [] if self.search is None else drawn_pairs(self.pairs, self.search)

    @cached_property
    def controls(self) -> list[Control]:
        """Two inputs far apart: those of the claim, or several that are made, the first best."""
        return self.control or far_apart(self.pairs, self.search)

    @property
    def summary(self) -> str:
        lines = self.privacy.lines
        first = f"epsilon {lines[0].epsilon:.4g} at delta {lines[0].delta:.3g}"
        more = "" if len(lines) == 1 else f", and {len(lines) - 1} more"
        count = len(self.pairs)
        pairs = "a pair of inputs" if count == 1 else f"{count} pairs of inputs"
        drawn = f", and of {len(self.drawn)} drawn" if self.drawn else ""
        return f"no law, {first}{more}, of {pairs}{drawn}"

    @cached_property
    def release(self) -> AnyRelease:
        """How inputs and replies travel."""
        return AnyRelease()

    @classmethod
    def checked(
        cls, table: dict[str, Any], source: str = "claim", folder: Path | None = None
    ) -> Self:
        """With the rows of the files that it names."""
        if "privacy" not in table:
            raise ClaimError(
                f'{source}: [privacy] is missing: name = "any" claims no law, so that nothing else '
                "could be judged",
                code="missing-key",
            )
        if "pairs" not in table:
            raise ClaimError(
                f"{source}: pairs is missing: expected [[pairs]] with here and there, or the path "
                "of a file of JSON Lines, CSV or Parquet with them",
                code="missing-key",
            )
        within, place = folder or Path(), "privacy.curve: "
        try:
            table = _with_curve(table, within)
            place = "pairs"
            table["pairs"] = with_files(table["pairs"], within)
            place = "control"
            if isinstance(table.get(place), list):
                table[place] = with_files(table[place], within)
        except RowsError as error:
            raise ClaimError(f"{source}: {place}{error}") from None
        return super().checked(table, source, folder)


def _with_curve(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A copy of the table, with the rows of the file that `curve` names. Raises RowsError."""
    privacy = table["privacy"]
    if isinstance(privacy, dict) and isinstance(privacy.get("curve"), str):
        privacy = {**privacy, "curve": read_curve(folder / privacy["curve"])}
    return {**table, "privacy": privacy}
