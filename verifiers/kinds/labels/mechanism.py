"""`[mechanism]` of a claim on labels, as a pydantic model."""

from collections.abc import Callable
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from ....reference import Gaussian, Noise, Sampling, parse_noise
from ....reference.accounting.adjacency import Adjacency
from ....reference.accounting.neighbourhood import Neighbourhood
from ....reference.mechanisms import (
    ClaimedMechanism,
    ConfidentGNMax,
    NoisyArgmax,
    SampledArgmax,
)
from ....reference.noise import Laplace, Rounded
from ...claims.mistakes import are_missing
from ...claims.tables import Fitted, Table


def _parsed(of: type, parse: Callable[[str], object], example: str) -> BeforeValidator:
    """Reads what is not there yet as text."""

    def read(value: object) -> object:
        if isinstance(value, of):
            return value
        if not isinstance(value, str):
            raise ValueError(f"expected a text such as '{example}'")
        return parse(value)

    return BeforeValidator(read)


NoiseText = Annotated[
    Noise,
    _parsed(Noise, parse_noise, "gaussian:40"),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": "^(gaussian|laplace|gumbel|exponential):.+$"}),
]

SamplingText = Annotated[
    Sampling,
    _parsed(Sampling, Sampling.parse, "poisson:0.1"),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": "^(poisson|fixed|with-replacement):.+$"}),
]

MOST_SAMPLED = 1000
"""Most teachers of whom some are drawn: the law of an answer takes time with their number."""


def _groups(value: object) -> object:
    def is_group(group: object) -> bool:
        return isinstance(group, list | tuple) and len(group) == 2 and all(map(is_whole, group))

    def is_whole(number: object) -> bool:
        return isinstance(number, int) and not isinstance(number, bool) and number >= 1

    if not isinstance(value, list | tuple) or not value or not all(map(is_group, value)):
        raise ValueError(
            "expected [[teachers, weight], ...] in whole numbers from 1: weights and noise may be "
            "multiplied by one number, which leaves labels as they are"
        )
    return tuple((number, weight) for number, weight in value)


Groups = Annotated[
    tuple[tuple[int, int], ...],
    BeforeValidator(_groups),
    PlainSerializer(lambda groups: [list(group) for group in groups]),
]
"""So many teachers, in their order, each of such a weight, in votes."""

MOST_WEIGHED, MOST_VOTING = 10**7, 10_000
"""Most votes of all teachers together, and most teachers: each vote is kept by itself."""

LabelName = Literal["gnmax", "lnmax", "confident-gnmax", "report-noisy-max"]
OF_LABELS: tuple[str, ...] = get_args(LabelName)
"""Mechanisms that release labels."""

_NOISE_OF: dict[str | None, type[Noise]] = {
    "gnmax": Gaussian,
    "confident-gnmax": Gaussian,
    "lnmax": Laplace,
}
"""The only noise of the mechanisms whose names say it; the others take any."""

MOST_VOTES: Final = 1e9
"""No threshold is further from 0."""

_SHOWN = 3  # groups of teachers in the summary


def needed_noise(name: str | None, noise: Noise) -> str | None:
    """The family that the mechanism of this name takes, where the noise is of another one."""
    needed = _NOISE_OF.get(name)
    return None if needed is None or isinstance(noise.unrounded, needed) else needed.family


class LabelsMechanism(Table):
    """`[mechanism]`: the claimed mechanism of labels."""

    name: LabelName
    noise: NoiseText
    classes: int = Field(ge=2, le=1000)
    teachers: int = Field(ge=1, le=10**7)
    caching: bool = False
    threshold: float | None = Field(default=None, ge=-MOST_VOTES, le=MOST_VOTES)
    threshold_noise: NoiseText | None = None
    adjacency: Literal["replace-one", "add-remove"] = "replace-one"
    unit: Literal["teacher", "record"] = "teacher"
    max_teachers: int | None = Field(default=None, ge=1)
    sampled: SamplingText | None = None
    weights: Groups | None = None
    fitted: Fitted = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        needed = needed_noise(self.name, self.noise)
        if needed is not None:
            raise ValueError(f"noise = '{self.noise}': {self.name} takes {needed} noise")
        screened = self.name == "confident-gnmax"
        screen = {"threshold": self.threshold, "threshold_noise": self.threshold_noise}
        lacking = [key for key, value in screen.items() if value is None]
        it = "it" if len(lacking) == 1 else "them"
        if screened and lacking:
            raise ValueError(f"{are_missing(lacking)}: confident-gnmax needs {it}")
        for key, value in screen.items():
            if not screened and value is not None:
                raise ValueError(f"{key} = {value}: only confident-gnmax takes it, not {self.name}")
        if screened and isinstance(self.threshold_noise, Rounded):
            raise ValueError(
                f"threshold_noise = '{self.threshold_noise}': expected gaussian noise without a "
                "rounding: a noisy maximum cut to whole numbers is above T where it is T + 1 or "
                "more before, so say that of threshold"
            )
        if screened and not isinstance(self.threshold_noise, Gaussian):
            raise ValueError(f"threshold_noise = '{self.threshold_noise}': expected gaussian noise")
        return self

    @model_validator(mode="after")
    def _unit_fits(self) -> Self:
        if self.unit == "record" and self.adjacency == "add-remove":
            raise ValueError(
                'adjacency = "add-remove": a record more or less changes votes, not their number: '
                'unit = "record" takes "replace-one"'
            )
        if self.max_teachers is not None and self.unit != "record":
            raise ValueError(f'max_teachers = {self.max_teachers}: only unit = "record" takes it')
        if self.max_teachers is not None and self.max_teachers > self.teachers:
            raise ValueError(
                f"max_teachers = {self.max_teachers}: expected at most teachers = {self.teachers}"
            )
        return self

    @model_validator(mode="after")
    def _drawn(self) -> Self:
        if self.sampled is None:
            return self
        if self.threshold is not None or not isinstance(self.noise, Gaussian):
            raise ValueError(
                f"sampled = '{self.sampled}': only gnmax and report-noisy-max with gaussian noise "
                f"take it, not {self.name} with {self.noise}"
            )
        if self.teachers > MOST_SAMPLED:
            raise ValueError(
                f"teachers = {self.teachers}: with sampled, expected at most {MOST_SAMPLED}"
            )
        if (self.sampled.drawn or 0) > self.teachers:
            raise ValueError(f"sampled = '{self.sampled}': more than the {self.teachers} teachers")
        if self.protected != "replace-one of a teacher":
            raise ValueError(
                f"sampled = '{self.sampled}': what it costs is known of teachers who vote "
                f"otherwise, not of {self.protected}"
            )
        return self

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        if self.weights is None:
            return self
        if self.sampled is not None or self.caching:
            raise ValueError("weights: sampled and caching = true do not go with them")
        if self.protected != "replace-one of a teacher":
            raise ValueError(f"weights: of teachers who vote otherwise, not {self.protected}")
        counted = sum(number for number, _ in self.weights)
        if counted != self.teachers:
            raise ValueError(f"weights: of {counted} teachers, but teachers = {self.teachers}")
        if self.teachers > MOST_VOTING:
            raise ValueError(f"weights: teachers = {self.teachers}, expected at most {MOST_VOTING}")
        if self.total > MOST_WEIGHED:
            raise ValueError(f"weights: {self.total} in all, expected at most {MOST_WEIGHED}")
        return self

    @property
    def _groups(self) -> tuple[tuple[int, int], ...]:
        return self.weights or ((self.teachers, 1),)

    @property
    def total(self) -> int:
        """The votes of all teachers: by their weights, where there are any."""
        return sum(number * weight for number, weight in self._groups)

    @property
    def heaviest(self) -> int:
        """The most votes that one teacher has."""
        return max(weight for _, weight in self._groups)

    @property
    def neighbourhood(self) -> Neighbourhood:
        """Which histograms the claimed privacy is between."""
        return Neighbourhood(Adjacency(self.adjacency), self.max_teachers or 1)

    @property
    def protected(self) -> str:
        """Whom the claimed privacy protects, and against which change, in words."""
        many = f" of at most {self.max_teachers} teachers" if self.neighbourhood.votes > 1 else ""
        return f"{self.adjacency} of a {self.unit}{many}"

    @property
    def refuses(self) -> bool:
        """Whether the mechanism may answer -1."""
        return self.mechanism().refuses

    @property
    def ordered(self) -> bool:
        """Whether the law depends on the order of the classes: the first of equal counts wins."""
        return self.mechanism().ordered

    @property
    def moved_by_shifts(self) -> bool:
        """Whether the law changes when all classes gain as many votes: counts are cut at zero."""
        return isinstance(self.noise, Rounded) and self.noise.rounding == "cut"

    def mechanism(self, noise: Noise | None = None) -> ClaimedMechanism:
        """The claimed mechanism; noise: of the votes, the claimed one when None."""
        noise = self.noise if noise is None else noise
        if self.sampled is not None:
            assert isinstance(noise, Gaussian)
            return SampledArgmax(noise, self.sampled)
        if self.threshold is None:
            return NoisyArgmax(noise)
        assert isinstance(noise, Gaussian | Rounded)
        assert isinstance(self.threshold_noise, Gaussian)
        return ConfidentGNMax(noise, self.threshold, self.threshold_noise)

    @property
    def summary(self) -> str:
        """It in a few words, as reports head themselves."""
        drawn = "" if self.sampled is None else f", sampled {self.sampled}"
        screen = self.threshold_noise
        screened = "" if screen is None else f", threshold {self.threshold:g} with {screen}"
        groups = [f"{number} of weight {weight}" for number, weight in self.weights or ()]
        more = ", ..." if len(groups) > _SHOWN else ""
        weighed = f" ({', '.join(groups[:_SHOWN])}{more})" if groups else ""
        return (
            f"{self.name} with {self.noise}{screened}, {self.classes} classes, "
            f"{self.teachers} teachers{weighed}{drawn}, {self.protected}"
        )
