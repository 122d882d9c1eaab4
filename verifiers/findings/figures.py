"""The figures of a report, in numbers: evidence, noise, labels, rates of keys, leakage, cost."""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import ConfigDict, Field, computed_field

from .document import Count, Document, Probability

MOST_POINTS = 200
"""Points of a curve at most."""

MOST_LABELS = 30
"""Labels, classes or counts of a table at most."""

CONFIDENCE = 0.95
"""Of the interval of a label's probability, or of a key's rate, each for itself."""

Point = TypeVar("Point")


Interval = Annotated[
    tuple[Probability, Probability],
    Field(description="Of the probability, from the draws alone, whenever the run stopped."),
]
Votes = Annotated[tuple[Count, ...], Field(min_length=2)]
NoiseSpec = Annotated[str, Field(pattern="^[a-z-]+:.+$")]


class Share(Document):
    """A share of draws: observed, and expected under the claim."""

    observed: Probability
    expected: Probability


class InInterval(Share):
    """A share with an anytime-valid interval of its probability, with `CONFIDENCE` for it alone."""

    interval: Interval

    @property
    def low(self) -> float:
        """The lower end."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end."""
        return self.interval[1]

    @property
    def inside(self) -> bool:
        """Whether the claimed probability lies in the interval."""
        return self.low <= self.expected <= self.high


class LabelShare(InInterval):
    """One label of an asked histogram."""

    label: int = Field(ge=-1, description="The class, or -1 for a refusal.")
    count: Count
    expected_count: float = Field(ge=0.0)


class AskedHistogram(Document):
    """A histogram asked often, or the one of a violation, with its labels."""

    kind: str = Field(description="Why it was asked.")
    histogram: Votes
    queries: Count
    outcomes: int = Field(
        ge=2, description="Labels there are; of more than 30, `labels` has those that deviate most."
    )
    labels: tuple[LabelShare, ...] = Field(min_length=1)


class KeyRate(InInterval):
    """How often keys of one count were released."""

    count: Count = Field(description="Of a key.")
    draws: Count = Field(description="Keys of this count, release after release.")
    released: Count


class NoiseCell(Share):
    """Draws whose noise lies in [low, high)."""

    low: float
    high: float = Field(description="Not in the cell itself.")


class NoiseBelow(Share):
    """Draws whose noise lies below `high`."""

    high: float


class NoiseAbove(Share):
    """Draws whose noise is `low` or more."""

    low: float


class NoiseQuantile(Document):
    """The quantile of the noise at a share of the draws, at or below."""

    share: Probability
    observed: float
    expected: float


class NoiseShape(Document):
    """What was released less the exact value, beside its law with its rounding and range."""

    noise: NoiseSpec
    draws: Count
    kept: Count = Field(description="Draws of which the quantiles are.")
    cells: tuple[NoiseCell, ...] = Field(min_length=1)
    below: NoiseBelow = Field(description="What lies below the cells.")
    above: NoiseAbove = Field(description="What lies above them.")
    quantiles: tuple[NoiseQuantile, ...] = Field(min_length=1)


class ScaleTrace(Document):
    """How the interval of the noise scale narrowed."""

    noise: NoiseSpec
    claimed: float = Field(gt=0.0, description="In votes, or as the numbers are.")
    confidence: str = Field(description="That the interval holds at all points together.")
    points: tuple[
        tuple[Count, Annotated[float, Field(ge=0.0)], Annotated[float, Field(ge=0.0)] | None], ...
    ] = Field(
        description="Draws seen, the lower and the upper end; null where no scale was too large."
    )
    emptied: int | None = Field(
        description="Draws after which every scale was refuted, if it came to that."
    )


class Mitigation(Document):
    """What an attacker would recover if something were done about it."""

    kind: str = Field(
        description="query-limit: fewer answers to one input, one where answers are kept; "
        "near-duplicates: of an input whose answers are kept; other-noise: with the queries that "
        "cost the same epsilon. Later versions may add kinds."
    )
    queries: Count = Field(description="Answers that an attacker has then.")
    noise: NoiseSpec
    recovered: float = Field(description="Mean share of votes put on the right class.")
    attacks: Count = Field(description="Simulated.")
    error: float = Field(default=0.0, ge=0.0, description="Standard error of recovered.")


class Leakage(Document):
    """What an attacker recovers of one histogram from answers under the claim."""

    histogram: Votes
    queries: Count = Field(description="Answers that an attacker has.")
    attacks: Count = Field(description="Simulated under the claim.")
    misplaced: float = Field(description="Mean share of votes put on a wrong class.")
    low: float = Field(description="95 % of the attacks misplace from this share ...")
    high: float = Field(description="... to this one.")
    labels: Count = Field(description="Of the target itself, that were attacked.")
    reading: tuple[float, ...] | None = Field(description="Votes of each class, read from them.")
    limit: float = Field(ge=0.0, le=1.0, description="max_recoverable; 0 where there is none.")
    mitigations: tuple[Mitigation, ...] = Field(
        default=(),
        description="Simulated for this claim; empty where leakage is within max_recoverable.",
    )

    @computed_field(description="Mean share of votes put on the right class.")  # type: ignore[prop-decorator]
    @property
    def recovered(self) -> float:
        """Mean share of votes on the right class."""
        return 1.0 - self.misplaced

    @computed_field(description="Share that even votes have right, without any label.")  # type: ignore[prop-decorator]
    @property
    def guessed(self) -> Probability:
        """Share of votes right if they are guessed to be even, without any label."""
        votes = sum(self.histogram)
        return sum(min(own, votes / len(self.histogram)) for own in self.histogram) / votes


class PrivacyCost(Document):
    """The claimed privacy beside the cost of telling a histogram from its neighbour."""

    epsilon: float = Field(gt=0.0, description="Claimed.")
    delta: float = Field(ge=0.0, description="Claimed.")
    queries: Count = Field(description="Claimed.")
    here: Votes
    there: Votes = Field(description="Its neighbour.")
    times: Count = Field(description="Queries of the pair.")
    test_delta: float = Field(
        ge=0.0, description="Of a counting test at the claimed epsilon, in floating point."
    )
    certified_delta: float = Field(
        ge=0.0, description="A bound from below in ball arithmetic, 0 where none was needed."
    )
    exact_epsilon: tuple[float, float] | None = Field(
        default=None,
        description="Of the pair at the claimed delta, bracketed; null where not computed.",
    )
    not_computed: str | None = Field(
        default=None,
        description="Why there is no exact_epsilon, if so; in reports of earlier versions.",
    )
    refuted_below: Annotated[float, Field(ge=0.0)] | None = Field(
        default=None,
        description="A claimed epsilon below it is refuted by counting labels of the pair, "
        "certified in ball arithmetic; null in reports of earlier versions.",
    )
    proven_from: Annotated[float, Field(ge=0.0)] | None = Field(
        default=None,
        description="From this epsilon on, the claim is proven whatever the votes; null where no "
        "such bound is known.",
    )


class LogCost(Document):
    """What the queries of a log cost, by one analysis and one charging."""

    analysis: str = Field(
        description="data-independent; certain: of the best test found between these votes and "
        "their neighbours; charged: the sum that the rows say. Later versions may add some."
    )
    charging: str | None = Field(
        description="How refused queries count: all, as answered; null where they say themselves."
    )
    epsilon: float = Field(ge=0.0)
    bound: Literal["above", "below"] | None = Field(
        description="From which side it bounds the cost; null of what the deployment says itself."
    )
    depends_on_votes: bool = Field(description="If so it is itself not private.")


class BudgetEnd(Document):
    """The last row of a log within the claimed budget."""

    by: Literal["queries", "data-independent"] = Field(
        description="What is used up: the claimed queries, or the claimed epsilon by this analysis."
    )
    last_row: Count
    last_time: str | None = Field(default=None, description="Of that row, where rows have times.")


class Spending(Document):
    """What the queries of a log cost beside the claim, and when the claimed budget ended."""

    epsilon: float = Field(gt=0.0, description="Claimed.")
    delta: float = Field(ge=0.0, description="Claimed.")
    costs: tuple[LogCost, ...]
    ends: tuple[BudgetEnd, ...] = Field(
        default=(),
        description="Empty where the budget did not end in this log, or where kept answers leave "
        "rows uncounted.",
    )


def _is_none(value: Any) -> bool:
    return value is None


def _if_any(description: str | None = None, **bounds: Any) -> Any:
    """A field that JSON leaves out where there is none."""
    return Field(default=None, exclude_if=_is_none, description=description, **bounds)


class CheckFigures(Document):
    """What the page draws of a check, in numbers; what it did not get to is absent."""

    model_config = ConfigDict(
        json_schema_serialization_defaults_required=False, json_schema_extra={"minProperties": 1}
    )

    evidence: tuple[tuple[Count, float], ...] | None = _if_any(
        "How the evidence grew, oldest first: what the check had seen, and log10 of the e-value, "
        "1e308 where it is infinite.",
        min_length=1,
    )
    confidence: float | None = _if_any(
        "Of the interval of each label in `histograms`, or count in `rates`, for itself, whenever "
        "the run stopped."
    )
    histograms: tuple[AskedHistogram, ...] | None = _if_any(
        "Histograms of violations, then those asked in depth, with their labels.", min_length=1
    )
    scale: ScaleTrace | None = _if_any()
    leakage: Leakage | None = _if_any()
    cost: PrivacyCost | None = _if_any()
    spending: Spending | None = _if_any("Of a log.")
    noise: NoiseShape | None = _if_any()
    rates: tuple[KeyRate, ...] | None = _if_any(
        "How often keys were released, by their count; of more than 30 counts those asked most "
        "often.",
        min_length=1,
    )
    counts: Count | None = _if_any("How many counts of keys there were.")


class LedgerOfCheck(Document):
    """The evidence of a check over the runs of a ledger."""

    id: str = Field(pattern="^[a-z][a-z0-9-]*$", description="Of the check.")
    runs: Annotated[int, Field(ge=1)] = Field(
        description="That its evidence is of, this one among them: from a fresh start on."
    )
    log10_of_run: float = Field(description="Evidence of this run alone, as it ended.")
    log10_e_value: float = Field(
        description="Evidence of all of them, as this run ended; 1e308 where the claim of this "
        "build was refuted before."
    )
    threshold_log10: float = Field(gt=0.0, description="Evidence of all of them that refutes.")
    since: int | None = _if_any("The run before that has refuted the claim of this build.", ge=1)


class LedgerScale(Document):
    """The scales of the noise that the runs of one build leave, all of them together."""

    runs: Annotated[int, Field(ge=1)]
    low: float | None = Field(
        ge=0.0, description="Over the claimed scale; null where every scale is refuted."
    )
    high: float | None = Field(
        ge=0.0, description="Over the claimed scale; null where none is too large, or as for low."
    )
    confidence: Probability = Field(
        description="That one scale of these runs lies between them, whenever it is looked at."
    )


class LedgerRun(Document):
    """A run of a ledger: what it has added, and what all runs have come to."""

    file: str = Field(description="Its name, without the folder.")
    seal: str = Field(pattern="^[0-9a-f]{64}$", description="Of the last line of this run.")
    run: Annotated[int, Field(ge=1)] = Field(description="Its number in the file.")
    build: str = Field(description="Of the target: --build, or the digest of its files.")
    builds: Annotated[int, Field(ge=1)] = Field(description="That the file knows of.")
    told: tuple[str, ...] = Field(
        default=(), description="What a reader should know of the file: begun, copied, cut."
    )
    checks: tuple[LedgerOfCheck, ...] = Field(
        description="The checks whose evidence adds up; all others are judged run by run."
    )
    scale: LedgerScale | None = None


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """At most `most` of the points, evenly spread, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    kept = np.unique(np.linspace(0, len(points) - 1, most).round().astype(int))
    return tuple(points[i] for i in kept)


def finite(end: float) -> float | None:
    """An end of an interval, None where it is infinite, which JSON does not have."""
    return end if math.isfinite(end) else None
