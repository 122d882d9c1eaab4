"""What a report draws: evidence over queries, labels, noise scale, leakage, privacy cost."""

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
    """One label of an asked histogram; None is a refusal.

    expected: its probability under the claim; observed: its share of the labels seen; low, high:
    the interval of its probability, which holds with `LABEL_CONFIDENCE` for this label, at
    whatever number of labels the run stopped.
    """

    label: int | None
    expected: float
    observed: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether the claim's probability lies in the interval."""
        return self.low <= self.expected <= self.high


@dataclass(frozen=True)
class AskedHistogram:
    """A histogram asked in depth, or the one of a violation, with its labels.

    outcomes: how many labels there are; `labels` holds the ones that deviate most where there are
    too many to show.
    """

    kind: str
    histogram: tuple[int, ...]
    queries: int
    outcomes: int
    labels: tuple[LabelShare, ...]


@dataclass(frozen=True)
class ScaleTrace:
    """The interval of the noise scale: points (queries, low, high), high possibly infinite.

    emptied: the queries after which no scale of the claimed noise was left, if it came to that.
    """

    noise: str
    claimed: float
    confidence: str
    points: tuple[tuple[int, float, float], ...]
    emptied: int | None = None


@dataclass(frozen=True)
class Mitigation:
    """What an attacker would read if the deployment did something about it.

    kind: `query-limit` (answers to one input; one, where answers are kept), `other-noise` (at the
    claim's epsilon), or `near-duplicates` (of an input whose answers are kept); queries: answers
    that the attacker has then, under `noise`; recovered: mean share of votes on the right class in
    so many simulated attacks.
    """

    kind: str
    queries: int
    noise: str
    recovered: float
    attacks: int


@dataclass(frozen=True)
class Leakage:
    """What `queries` answers to one histogram let an attacker read.

    misplaced: mean share of votes that simulated attacks put on a wrong class, with the shares
    that hold 95 % of the attacks; reading: the votes read from the target's own `labels`, if any;
    mitigations: what could be done, where there is too much leakage or a warning of it.
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
        """The share that even votes have right, which need no label."""
        votes = sum(self.histogram)
        return sum(min(own, votes / len(self.histogram)) for own in self.histogram) / votes


@dataclass(frozen=True)
class PrivacyCost:
    """The claimed cost beside that of telling `here` from `there` in `times` queries.

    test_delta: what a counting test of the pair reaches at the claimed epsilon, in floating
    point; certified_delta: a bound from below in ball arithmetic, 0 where none was needed.
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
    """All figures of one run; what the run did not come to is absent."""

    traces: tuple[EvidenceTrace, ...] = ()
    histograms: tuple[AskedHistogram, ...] = ()
    scale: ScaleTrace | None = None
    leakage: Leakage | None = None
    privacy: PrivacyCost | None = None

    def trace(self, check: str) -> EvidenceTrace | None:
        """The evidence of a check, by its id."""
        return next((trace for trace in self.traces if trace.check == check), None)
