"""`[mechanism]` of a claim of numbers: what is computed, with which noise, for which neighbours."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from ....reference.accounting.adjacency import Adjacency
from ....reference.numbers import (
    Aggregation,
    Clipping,
    NoisyGradient,
    NoisyHistogram,
    NoisySum,
    NumberNoise,
    ThresholdedHistogram,
    parse_number_noise,
)
from ....reference.numbers.families import Tabled
from ....reference.numbers.floats import is_power_of_two
from ...claims.mistakes import are_missing
from ...claims.tables import Fitted, Refuses, Table, add_aliases, check_refuses
from ...targets.numbers import NumberRelease, Values

_MOST = 1_000_000
"""No release has more numbers."""

RECORDS = 192
"""Records of the largest input that a run asks."""

_STEPS = 2.0**43
"""Steps of a grid from 0 at most, or parts of the noise: beyond, too few floats lie in one.

A deployment that adds in floats and then rounds gives some steps more of them than others, one that
rounds a true sum does not. Of a thousand floats, or within `_PART` of the scale, nobody can tell.
"""

_PART, _FINE = 2.0**-8, 2.0**-18
"""Scales of the noise; floats lie on a grid of a power of two that is so fine, or round to it."""

_WHOLE = 1_000_000
"""Scale of whole noise at most: its sums take a gigabyte there."""

_WIDE = 2_000
"""Standard deviation at most of noise whose law is summed for each scale that may be true."""


def _noise(value: object) -> NumberNoise:
    if isinstance(value, NumberNoise):
        return value
    if not isinstance(value, str):
        raise ValueError("expected a text such as 'laplace:2'")
    noise = parse_number_noise(value)
    if noise.family.whole and noise.family.scale > _WHOLE:
        raise ValueError(
            f"noise {value[:60]!r}: expected a scale of at most {_WHOLE:,} of whole noise, whose "
            "law is summed; give numbers in larger units"
        )
    family = noise.family
    if isinstance(family, Tabled) and family.spread > _WIDE:
        raise ValueError(
            f"noise {value[:60]!r}: expected a standard deviation of at most {_WIDE:,}, as its law "
            "is summed; give numbers in larger units"
        )
    return noise


def _shapes(value: object) -> object:
    if isinstance(value, list) and all(
        isinstance(shape, list) and all(type(size) is int for size in shape) for shape in value
    ):
        return value
    given = f"{value!r:.60}: " if isinstance(value, str) else ""
    raise ValueError(
        f"{given}expected a list of lists of whole numbers, one for each tensor, as [[4, 3], [3]]"
    )


NoiseText = Annotated[
    NumberNoise,
    BeforeValidator(_noise),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": "^[^:]+:.+$"}),
]

_FORMS: dict[str, tuple[Values, tuple[str, ...]]] = {
    "noisy-histogram": ("counts", ("cells",)),
    "noisy-count": ("counts", ()),
    "noisy-sum": ("records", ("dimensions",)),
    "noisy-mean": ("records", ("dimensions", "divide_by")),
    "noisy-gradient": ("tensors", ("shapes", "clip_norm", "divide_by")),
}
"""What a mechanism is given, and the keys that it needs beside noise and adjacency."""

OF_NUMBERS = tuple(_FORMS)
"""Mechanisms that release numbers."""

_BOUNDS = ("lower", "upper", "clip_norm", "clip_norm1")

_ALIASES = {"l1_clip_norm": "clip_norm1"}
"""Keys as libraries call them."""


def _add_forms(schema: dict[str, Any], model: "type[NumberMechanism]") -> None:
    """Adds to the schema what each mechanism needs, and other names of keys."""
    add_aliases(schema, _ALIASES)
    schema["properties"]["name"]["enum"] = list(model.forms)
    schema["allOf"] = [
        {"if": {"properties": {"name": {"const": name}}}, "then": {"required": list(needed)}}
        for name, (_, needed) in model.forms.items()
        if needed
    ]


class NumberMechanism(Table):
    """`[mechanism]`: what is computed, which noise is added, and between whom it hides."""

    model_config = ConfigDict(json_schema_extra=_add_forms)

    forms: ClassVar[Mapping[str, tuple[Values, tuple[str, ...]]]] = _FORMS
    """What each mechanism of the kind is given, and the keys that it needs."""

    name: str
    noise: NoiseText
    adjacency: Literal["add-remove", "replace-one"]
    unit: Literal["record", "user"] = "record"
    max_contributions: int | None = Field(default=None, ge=1, le=10**6)
    cells: int | None = Field(default=None, ge=1, le=_MOST)
    dimensions: int | None = Field(default=None, ge=1, le=_MOST)
    shapes: Annotated[list[list[int]] | None, BeforeValidator(_shapes)] = None
    lower: float | None = None
    upper: float | None = None
    clip_norm: float | None = Field(default=None, gt=0)
    clip_norm1: float | None = Field(default=None, gt=0)
    divide_by: float | None = Field(default=None, gt=0)
    threshold: float | None = Field(default=None, ge=-1e12, le=1e12)
    floating_point: Literal["ideal", "exact"] = "ideal"
    refuses: Refuses = None
    fitted: Fitted = None

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, given: Any) -> Any:
        """Takes `l1_clip_norm`, as libraries call it, for `clip_norm1`."""
        if not isinstance(given, dict) or "l1_clip_norm" not in given:
            return given
        if "clip_norm1" in given:
            raise ValueError("l1_clip_norm and clip_norm1 are one key: expected one of them")
        return {_ALIASES.get(key, key): given[key] for key in given}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.name not in self.forms:
            raise ValueError(f"name = {self.name!r}: expected one of {', '.join(self.forms)}")
        _, needed = self.forms[self.name]
        lacking = [key for key in needed if getattr(self, key) is None]
        if self.takes == "records":
            lacking += self._lacking_bounds()
        mistakes = (
            [f"{are_missing(lacking)}: {self.name} needs {_them(lacking)}"] if lacking else []
        )
        if self.unit == "user" and self.max_contributions is None:
            mistakes.append('max_contributions is missing: unit = "user" needs it')
        if mistakes:
            raise ValueError("; ".join(mistakes))
        allowed = {*needed, *(_BOUNDS if self.takes == "records" else ())}
        allowed |= set() if self.takes == "rounds" else {"refuses"}
        keys = ("cells", "dimensions", "shapes", "divide_by", "threshold", "refuses", *_BOUNDS)
        for key in keys:
            if key not in allowed and getattr(self, key) is not None:
                raise ValueError(f"{key} = {getattr(self, key)}: {self.name} does not take it")
        if self.unit == "record" and self.max_contributions not in (None, 1):
            raise ValueError(
                f'max_contributions = {self.max_contributions}: only unit = "user" takes it'
            )
        if self.shapes is not None and not self._sizes_fit():
            raise ValueError(
                f"shapes: expected lists of positive whole numbers, in all {_MOST:,} at most"
            )
        check_refuses(self.refuses, self.adjacency)
        self._clipping()
        self._steps_in_floats()
        return self

    def _steps_in_floats(self) -> None:
        """Raises ValueError where sums are so large that floats decide which step is nearest."""
        step = self.noise.grid
        if self.takes not in ("records", "tensors") or not step:
            return
        scale, farthest = self.aggregation.noise.family.scale, self._farthest
        most = _STEPS * max(step, _PART * scale) / RECORDS
        fine = is_power_of_two(step) and step <= _FINE * scale
        if farthest > most and not fine:
            raise ValueError(
                f"noise = {str(self.noise)!r}: on records as large as {farthest:g}, floats decide "
                f"to which multiple of {step:g} a sum is rounded, expected them below {most:.2g} "
                "or larger steps"
            )

    @property
    def _farthest(self) -> float:
        """The largest number of a clipped record, divided as the sum is."""
        clipping = self._clipping() or Clipping(norm_bound=self.clip_norm)
        return clipping.largest(self.width, math.inf).by / (self.divide_by or 1.0)

    def _lacking_bounds(self) -> list[str]:
        box = [key for key in ("lower", "upper") if getattr(self, key) is None]
        if self.norm is not None:
            return []
        return box if len(box) == 1 else [] if not box else ["lower and upper, or clip_norm"]

    def _sizes_fit(self) -> bool:
        shapes = self.shapes or []
        positive = all(size >= 1 for shape in shapes for size in shape)
        return bool(shapes) and positive and sum(math.prod(s) for s in shapes) <= _MOST

    def _clipping(self) -> Clipping | None:
        """Raises ValueError for bounds that contradict each other."""
        if self.takes != "records":
            return None
        if self.clip_norm is not None and self.clip_norm1 is not None:
            raise ValueError(f"clip_norm1 = {self.clip_norm1}: expected it or clip_norm, not both")
        given = [key for key in _BOUNDS if getattr(self, key) is not None]
        if {*given} & {"lower", "upper"} and {*given} & {"clip_norm", "clip_norm1"}:
            message = ", ".join(f"{key} = {getattr(self, key):g}" for key in given)
            raise ValueError(f"{message}: expected lower and upper, or a norm, not both")
        norm = 1 if self.clip_norm1 is not None else 2
        return Clipping(self.lower, self.upper, self.norm, norm)

    @property
    def norm(self) -> float | None:
        """The bound on a norm of each record; None where none is bounded."""
        return self.clip_norm or self.clip_norm1

    @property
    def width(self) -> int:
        """Numbers in a release."""
        if self.shapes is not None:
            return sum(math.prod(shape) for shape in self.shapes)
        return self.cells or self.dimensions or 1

    @property
    def takes(self) -> Values:
        """What the deployment is given."""
        return self.forms[self.name][0]

    @cached_property
    def release(self) -> NumberRelease:
        """How values and releases travel."""
        return NumberRelease(self.takes, self.width, self.shapes or ())

    @property
    def of_whole_numbers(self) -> bool:
        """Whether all that is summed is whole: counts, and records where noise and bounds are."""
        if self.takes in ("counts", "keys", "rounds"):
            return True
        ends = [end for end in (self.lower, self.upper) if end is not None]
        bounded = len(ends) == 2 and all(end.is_integer() for end in ends)
        return self.noise.family.whole and self.name == "noisy-sum" and bounded

    @property
    def contributions(self) -> int:
        """Records of the unit at most."""
        return self.max_contributions or 1

    @property
    def replaces(self) -> bool:
        """Whether neighbours have a record in another's place, not one more or less."""
        return self.adjacency == "replace-one"

    @cached_property
    def aggregation(self) -> Aggregation:
        """The claimed mechanism."""
        how = (Adjacency(self.adjacency), self.contributions)
        if self.takes == "counts":
            return NoisyHistogram(self.noise, self.width, *how)
        if self.takes == "tensors":
            divide_by = 1.0 if self.divide_by is None else self.divide_by
            shapes = tuple(tuple(shape) for shape in self.shapes or ())
            clip = self.clip_norm or 1.0
            scaled = self.noise.times(clip / divide_by)  # the claim has the noise multiplier
            return NoisyGradient(scaled, shapes, clip, *how, divide_by)
        clipping = self._clipping()
        assert clipping is not None, "records are bounded"
        return NoisySum(self.noise, self.width, clipping, *how, self.divide_by)

    @property
    def law(self) -> Aggregation | ThresholdedHistogram:
        """The claimed mechanism, of numbers or of keys."""
        return self.aggregation

    @property
    def added(self) -> NumberNoise:
        """The noise as it is added to each number, or to the count of each key."""
        return self.law.noise

    @property
    def summary(self) -> str:
        """The claim in a few words, as reports head themselves."""
        what = "key" if self.takes == "keys" else "number"
        of = f"{self.width:,} {what}{'s' * (self.width > 1)}"
        if self.threshold is not None:
            of += f" from a noisy count of {self.threshold:g}"
        unit = self.unit if self.unit == "record" else f"user of {self.contributions} records"
        return f"{self.name} with {self.noise}, {of}, {self.adjacency} of a {unit}"


def _them(keys: list[str]) -> str:
    return "it" if len(keys) == 1 and " and " not in keys[0] else "them"
