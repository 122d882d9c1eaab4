"""The figures of a report: evidence over queries, labels, noise scale, leakage, privacy cost."""

from dataclasses import dataclass

LABEL_CONFIDENCE = 0.95


@dataclass(frozen=True)
class EvidenceTrace:
    """How a check's evidence grew: points (queries it saw, log10 e-value), oldest first."""

    check: str
    threshold_log10: float
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class LabelShare:
    """One label of an asked histogram; label None is a refusal.

    expected: its probability under the claim; observed: its share of the labels seen; low, high:
    anytime-valid interval of its probability, with `LABEL_CONFIDENCE` for this label alone.
    """

    label: int | None
    expected: float
    observed: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether the claimed probability lies in the interval."""
        return self.low <= self.expected <= self.high


@dataclass(frozen=True)
class AskedHistogram:
    """A histogram asked often, or the one of a violation, with its labels.

    kind: its role; outcomes: how many different labels there are, of which `labels` holds those
    that deviate most where there are too many to show.
    """

    kind: str
    histogram: tuple[int, ...]
    queries: int
    outcomes: int
    labels: tuple[LabelShare, ...]


@dataclass(frozen=True)
class ScaleTrace:
    """The interval of the noise scale: points (queries, low, high), high possibly infinite.

    emptied: queries after which every scale was refuted, None if that did not happen.
    """

    noise: str
    claimed: float
    confidence: str
    points: tuple[tuple[int, float, float], ...]
    emptied: int | None = None


@dataclass(frozen=True)
class Mitigation:
    """What an attacker would recover under a mitigation.

    kind: `query-limit` (fewer answers per input; one, where answers are kept), `other-noise` (at
    the claimed epsilon), or `near-duplicates` (of an input whose answers are kept); queries:
    answers that the attacker then has, under `noise`; recovered: mean share of votes put on the
    right class, over simulated `attacks`.
    """

    kind: str
    queries: int
    noise: str
    recovered: float
    attacks: int


@dataclass(frozen=True)
class Leakage:
    """What an attacker recovers of one histogram (c,) from `queries` answers.

    misplaced: mean share of votes put on a wrong class, over simulated `attacks`; low, high: range
    of 95 % of them; reading: votes (c,) read from `labels` labels of the target itself, if any;
    limit: recovered share that the claim allows; mitigations: given where leakage is too large.
    """

    histogram: tuple[int, ...]
    queries: int
    attacks: int
    misplaced: float
    low: float
    high: float
    labels: int
    reading: tuple[float, ...] | None
    limit: float
    mitigations: tuple[Mitigation, ...] = ()

    @property
    def recovered(self) -> float:
        """Mean share of votes on the right class."""
        return 1.0 - self.misplaced

    @property
    def guessed(self) -> float:
        """Share of votes right if they are guessed to be even, without any label."""
        votes = sum(self.histogram)
        return sum(min(own, votes / len(self.histogram)) for own in self.histogram) / votes


@dataclass(frozen=True)
class PrivacyCost:
    """The claimed privacy beside the cost of distinguishing `here` from `there`.

    epsilon, delta, queries: as claimed; times: queries on the pair; test_delta: delta that a
    counting test of the pair needs at the claimed epsilon, in floating point; certified_delta: a
    lower bound in ball arithmetic, 0 where none was needed.
    """

    epsilon: float
    delta: float
    queries: int
    here: tuple[int, ...]
    there: tuple[int, ...]
    times: int
    test_delta: float
    certified_delta: float


@dataclass(frozen=True)
class Figures:
    """The figures of one run; those that it did not get to are absent."""

    traces: tuple[EvidenceTrace, ...] = ()
    histograms: tuple[AskedHistogram, ...] = ()
    scale: ScaleTrace | None = None
    leakage: Leakage | None = None
    privacy: PrivacyCost | None = None

    def trace(self, check: str) -> EvidenceTrace | None:
        """The evidence of a check, by its id."""
        return next((trace for trace in self.traces if trace.check == check), None)
