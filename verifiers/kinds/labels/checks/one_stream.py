"""Evidence of `fresh-noise` on one stream of numbers that serves two noises."""

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Noise, NoisyArgmax
from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.outcomes import as_outcomes
from ....evidence.shared_draws import Chances, SharedDraws
from ....findings.finding import Finding
from ....findings.note import Fields
from ..planning.plan import Plan

_QUANTILES = 24
_SCALES = np.linspace(-40.0, 40.0, 80_001)
_WORK = 500_000  # most inputs times classes squared whose laws are computed

_SCREENING = (
    "the screening's noise is noise that votes have had: a query is refused as the draw of one "
    "class, in an earlier query, would have it",
    "the generators of the screening and of the votes begin with the same numbers, as where both "
    "have one seed: use one generator for both, or spawn them (numpy: SeedSequence.spawn)",
)
_WORDS = {
    "stride": (
        "a query's noise is in part that of the query before, under other class numbers",
        "a buffer of noise goes on by fewer numbers than an answer takes: draw anew for each class "
        "of each answer",
    ),
    "workers": (
        "calls that {by} generators answer in turn have the same noise, place by place",
        "generators that take turns begin with the same numbers: give each one a seed of its own "
        "(numpy: SeedSequence.spawn)",
    ),
}
_CODES = {"stride": "noise-overlaps", "workers": "generators-in-step"}


class OneStream:
    """An e-process on draws that two queries share, by the calls of a start in their order.

    It ends with the first restart, after which all generators begin anew.
    """

    def __init__(self, plan: Plan) -> None:
        self._mechanism = plan.claim.mechanism.mechanism()
        classes = plan.claim.mechanism.classes
        self._outcomes = plan.log_q.shape[1]
        drawn = isinstance(self._mechanism, NoisyArgmax | ConfidentGNMax)
        self.draws = SharedDraws(
            classes,
            self._laws,
            refuses=plan.claim.mechanism.refuses,
            most=_WORK // classes**2 if drawn else 0,
        )
        self.ended = False

    def observe(self, histogram: NDArray[np.int64], labels: Labels) -> None:
        """Adds the labels (n,) of a call, numbered as they came."""
        if not self.ended:
            self.draws.observe(np.asarray(histogram), as_outcomes(labels, self._outcomes))

    def end(self) -> None:
        """Judges what was seen of this start; what comes later is of another."""
        self.draws.judge()
        self.ended = True

    def found(self) -> Finding:
        """The finding on the likeliest pairing of draws."""
        heaviest = self.draws.heaviest
        if heaviest.kind.startswith("screening"):
            fields: Fields = {"pairing": heaviest.kind, "offset": heaviest.by}
            return Finding(*_SCREENING, code="screening-shares-draws", fields=fields)
        message, diagnosis = _WORDS[heaviest.kind]
        name = "stride" if heaviest.kind == "stride" else "generators"
        return Finding(
            message.format(by=heaviest.by),
            diagnosis,
            code=_CODES[heaviest.kind],
            fields={name: heaviest.by},
        )

    def _laws(self, histograms: NDArray[np.int64]) -> Chances:
        """The laws of histograms (n, c), where rounded noise counts as it is before."""
        noise = self._mechanism.answering.noise.unrounded
        places = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        quantiles = np.interp(places, np.exp(noise.log_cdf(_SCALES)), _SCALES)
        of_class = np.array([_of_classes(votes, noise, quantiles) for votes in histograms])
        log_q = np.asarray(self._mechanism.log_probabilities(histograms.astype(np.float64)))
        refused = np.zeros((len(histograms), _QUANTILES))
        if isinstance(self._mechanism, ConfidentGNMax):
            below = _QUANTILES * np.exp(log_q[:, -1:])
            refused = np.clip(below - np.arange(_QUANTILES), 0.0, 1.0)
        return Chances(log_q, of_class, refused)


def _of_classes(votes: NDArray[np.int64], noise: Noise, quantiles: Vector) -> NDArray[np.float64]:
    """The chance (c, g) that each class wins, given that its noise is a quantile (g,)."""
    leads = (votes[:, None] - votes) / noise.scale
    log_below = noise.log_cdf(leads[:, :, None] + quantiles)
    own = np.arange(votes.size)
    log_below[own, own] = 0.0
    return np.asarray(np.exp(log_below.sum(1)))
