"""`[mechanism]` and `[log]` of a claim on labels, as pydantic models."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from ....reference import Gaussian, Noise, Sampling, parse_noise
from ....reference.accounting.adjacency import Adjacency
from ....reference.accounting.neighbourhood import Neighbourhood
from ....reference.mechanisms import ClaimedMechanism
from ....reference.named_mechanisms import MOST_VOTES, described_mechanism, needed_noise
from ....reference.noise import Rounded
from ...claims.mistakes import are_missing
from ...claims.tables import Fitted, Table
from ...inputs.log_names import PLAIN, LogNames, lower
from ...inputs.release_log import ABOUT
from ...targets.replies import shown_repr


def _noise(value: object) -> Noise:
    if isinstance(value, Noise):
        return value
    if not isinstance(value, str):
        raise ValueError("expected a text such as 'gaussian:40'")
    return parse_noise(value)


NoiseText = Annotated[
    Noise,
    BeforeValidator(_noise),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": "^(gaussian|laplace|gumbel|exponential):.+$"}),
]


def _sampling(value: object) -> Sampling:
    if isinstance(value, Sampling):
        return value
    if not isinstance(value, str):
        raise ValueError("expected a text such as 'poisson:0.1'")
    return Sampling.parse(value)


SamplingText = Annotated[
    Sampling,
    BeforeValidator(_sampling),
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
        return self.threshold is not None

    @property
    def ordered(self) -> bool:
        """Whether the law depends on the order of the classes: the first of equal counts wins."""
        return isinstance(self.noise, Rounded)

    @property
    def moved_by_shifts(self) -> bool:
        """Whether the law changes when all classes gain as many votes: counts are cut at zero."""
        return isinstance(self.noise, Rounded) and self.noise.rounding == "cut"

    def mechanism(self, noise: Noise | None = None) -> ClaimedMechanism:
        """The claimed mechanism; noise: of the votes, the claimed one when None."""
        noise = self.noise if noise is None else noise
        return described_mechanism(noise, self.threshold, self.threshold_noise, self.sampled)


def _as_text(name: object) -> object:
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def _as_list(names: object) -> object:
    return names if isinstance(names, list) else [names]


def _columns(names: Any) -> Any:
    listed = isinstance(names, list) and len(names) > 1
    if not all(isinstance(name, str) and name for name in (names if listed else [names])):
        raise ValueError(
            'expected the columns of votes in the order of the classes, as ["votes_cat", '
            '"votes_dog"], or the key of a list of them'
        )
    return names


ColumnName = Annotated[str, Field(min_length=1)]
Columns = Annotated[str | list[str], BeforeValidator(_columns)]
_OWN = ("histogram", "label", *ABOUT)

LabelText = Annotated[str, BeforeValidator(_as_text)]


class LogClaim(Table):
    """`[log]`: what a recorded log of the deployment holds, and what it calls it."""

    refusals: Literal["logged", "left-out"] = "logged"
    label: ColumnName | None = None
    histogram: Columns | None = None
    labels: Annotated[list[LabelText], Field(min_length=2)] | None = None
    refusal_labels: (
        Annotated[list[LabelText], Field(min_length=1), BeforeValidator(_as_list)] | None
    ) = None
    id: ColumnName | None = None
    time: ColumnName | None = None
    worker: ColumnName | None = None
    call: ColumnName | None = None
    client: ColumnName | None = None
    charged: ColumnName | None = None
    columns: Annotated[list[ColumnName], Field(min_length=1, max_length=20)] | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        named = [
            *self.names.columns.items(),
            *(("histogram", name) for name in self.votes),
            *(("columns", name) for name in self.columns or ()),
        ]
        keys: dict[str, str] = {}
        for key, name in named:
            if lower(name) in keys:
                other = keys[lower(name)]
                raise ValueError(
                    f"{key} = {shown_repr(name)}: {other} names that column too: expected each once"
                )
            keys[lower(name)] = key
        own = {name for name in _OWN if getattr(self, name) is None}
        taken = next((name for name in self.columns or () if lower(name) in own), None)
        if taken is not None:
            raise ValueError(
                f"columns: {shown_repr(taken)} is read by itself: expected further columns, known "
                "before the noise was drawn"
            )
        marks = [*(self.labels or ()), *(self.refusal_labels or ())]
        twice = next((name for name in marks if marks.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"labels and refusal_labels: {shown_repr(twice)} stands there twice")
        return self

    @property
    def votes(self) -> tuple[str, ...]:
        """The columns of votes, by class; none where it names none, or one key for all."""
        return tuple(self.histogram) if isinstance(self.histogram, list) else ()

    @property
    def names(self) -> LogNames:
        """What a reader of the log needs to know."""
        given = {name: getattr(self, name) for name in _OWN}
        columns = {name: value for name, value in given.items() if isinstance(value, str)}
        labels, refusals = self.labels or (), self.refusal_labels or ()
        found = LogNames(
            columns, self.votes, tuple(labels), tuple(refusals), tuple(self.columns or ())
        )
        return PLAIN if found == PLAIN else found
