"""The figures of a report on labels: evidence, labels, noise scale, leakage, privacy cost."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...findings.figures import EvidenceTrace, ScaleTrace, drawn_evidence, trace_of
from ...optional_packages import missing_package
from .claim import LabelsClaim
from .mechanism import LabelsMechanism

if TYPE_CHECKING:
    from ....reference.accounting.composition import Bracket

LABEL_CONFIDENCE = 0.95

_MOST_COMPOSED = 2000  # most queries whose exact cost is computed, which takes three seconds


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
class Mitigation:
    """What an attacker would recover under a mitigation.

    kind: `query-limit` (fewer answers per input; one, where answers are kept), `other-noise` (at
    the claimed epsilon), or `near-duplicates` (of an input whose answers are kept); queries:
    answers that the attacker then has, under `noise`; recovered: mean share of votes put on the
    right class, over simulated `attacks`, with its standard `error`.
    """

    kind: str
    queries: int
    noise: str
    recovered: float
    attacks: int
    error: float = 0.0


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
class LabelFigures:
    """See `findings.figures.Figures`."""

    traces: tuple[EvidenceTrace, ...] = ()
    histograms: tuple[AskedHistogram, ...] = ()
    scale: ScaleTrace | None = None
    leakage: Leakage | None = None
    privacy: PrivacyCost | None = None

    template = "page.html"

    def trace(self, check: str) -> EvidenceTrace | None:
        """See `Figures.trace`."""
        return trace_of(self.traces, check)

    def as_json(self, check: str, claim: LabelsClaim) -> dict[str, Any] | None:
        """See `Figures.as_json`."""
        drawn = drawn_evidence(self.trace(check))
        if check == "class-probabilities" and self.histograms:
            drawn["confidence"] = LABEL_CONFIDENCE
            drawn["histograms"] = [_asked(asked) for asked in self.histograms]
        if check == "noise-scale" and self.scale is not None:
            drawn["scale"] = self.scale.as_json()
        if check == "histogram-leakage" and self.leakage is not None:
            own = self.leakage
            drawn["leakage"] = asdict(own) | {"recovered": own.recovered, "guessed": own.guessed}
        if check == "privacy-claim" and self.privacy is not None:
            drawn["cost"] = _cost(self.privacy, claim.mechanism)
        return drawn or None

    def shown(self, claim: LabelsClaim) -> dict[str, Any]:
        """See `Figures.shown`."""
        exact = "" if self.privacy is None else exact_epsilon(self.privacy, claim.mechanism)
        if not isinstance(exact, str):
            exact = f"{exact.low:.4g} to {exact.high:.4g}"
        return {"claim": claim.mechanism, "exact": exact}


@lru_cache(maxsize=8)
def exact_epsilon(cost: PrivacyCost, claim: LabelsMechanism) -> "Bracket | str":
    """Epsilon of the pair, bracketed from both sides, or why it was not computed."""
    if cost.times > _MOST_COMPOSED:
        return "not computed: too many queries"
    try:
        from ....reference.accounting.composition import Repeated, epsilon_bracket
    except ModuleNotFoundError as error:
        return f"not computed: {missing_package(error)} is not installed"
    mechanism = claim.mechanism()
    here, there = (
        mechanism.log_probabilities([float(v) for v in votes]) for votes in (cost.here, cost.there)
    )
    return epsilon_bracket([Repeated(here, there, cost.times)], cost.delta)


def _asked(asked: AskedHistogram) -> dict[str, Any]:
    return {
        "kind": asked.kind,
        "histogram": list(asked.histogram),
        "queries": asked.queries,
        "outcomes": asked.outcomes,
        "labels": [_label(label, asked.queries) for label in asked.labels],
    }


def _label(label: LabelShare, queries: int) -> dict[str, Any]:
    """A label with its counts and probabilities; a refusal is -1, as targets answer it."""
    return {
        "label": -1 if label.label is None else label.label,
        "count": round(label.observed * queries),
        "expected_count": label.expected * queries,
        "observed": label.observed,
        "expected": min(label.expected, 1.0),  # rounding may leave it a hair above
        "interval": [label.low, label.high],
    }


def _cost(cost: PrivacyCost, claim: LabelsMechanism) -> dict[str, Any]:
    exact = exact_epsilon(cost, claim)
    return asdict(cost) | {
        "exact_epsilon": None if isinstance(exact, str) else [exact.low, exact.high]
    }
