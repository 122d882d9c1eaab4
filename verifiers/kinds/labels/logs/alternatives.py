"""The laws other than the claimed one that are wagered on for a log.

They are fewer than for a target, as a log may hold a new histogram in every row, whose law under
every alternative must be computed. The noise scales among them also give the interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.shared_nodes import REACHES
from ....evidence.pointed import LEAK
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from ..planning.faults import known_faults, scale_note
from ..planning.laws import LabelFault, fault_laws

_NEAR = (0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.3)
_WIDE = (1.5, 2.0, 4.0, 20.0)

SCALES = 0.5
"""Weight of the wagers on other scales; the rest is on other faults."""

_LEFT_OUT = {0.03: "3 %", 0.1: "10 %", 0.3: "30 %"}
"""Shares of the labels other than the plurality's that are missing, with their words."""


@dataclass(frozen=True)
class Alternatives:
    """Laws other than the claimed one: noise scales, known faults, then selected rows.

    factors: of the noise scale (f,), with 1 among them; answered: whether laws are conditional on
    an answer, for logs that leave out refusals.
    """

    claim: LabelsMechanism
    factors: Vector
    faults: Sequence[LabelFault]
    answered: bool

    @classmethod
    def of(cls, claim: LabelsMechanism, tolerance: float, answered: bool) -> "Alternatives":
        """The alternatives of a claim; 1 +- tolerance are among the factors."""
        up = np.array([1.0 + near for near in (*_NEAR, tolerance)] + list(_WIDE))
        factors = np.unique(np.concatenate([1.0 / up, up, [1.0, 1.0 - tolerance]]))
        return cls(claim, factors, known_faults(claim, cheap=True), answered)

    @property
    def claimed(self) -> int:
        """The index of the claimed scale among the factors."""
        return int(np.argmin(np.abs(self.factors - 1.0)))

    @property
    def bare(self) -> int:
        """The index among all alternatives of noise that is missing."""
        return self.factors.size - 1  # the first fault, after the scales other than the claimed

    @property
    def causes(self) -> list[Note]:
        """Each alternative in words to follow "labels fit": scales, faults, selected rows."""
        noise = self.claim.noise
        scales = [
            scale_note(noise.times(factor), factor, f"{factor:.3g} times the claimed scale")
            for factor in self.factors.tolist()
        ]
        del scales[self.claimed]
        selected = (
            Note(
                "other-labels-missing",
                f"{rate} fewer labels other than the plurality's (rows left out by their label, or "
                "noise that is at times too small)",
                {"share": share},
            )
            for share, rate in _LEFT_OUT.items()
        )
        return [*scales, *(fault.note for fault in self.faults), *selected]

    @property
    def wordings(self) -> list[str]:
        """The alternatives in words."""
        return [cause.message for cause in self.causes]

    @property
    def weights(self) -> Vector:
        """Weights (a,) of the wagers, in the order of `wordings`; they sum to 1."""
        others = np.array([fault.weight for fault in self.faults] + [1.0] * len(_LEFT_OUT))
        scales = np.full(self.factors.size - 1, SCALES / (self.factors.size - 1))
        return np.concatenate([scales, (1.0 - SCALES) * others / others.sum()])

    def scale_laws(self, histograms: Matrix, factors: Vector) -> Matrix:
        """Log-laws (b, f, o) of histograms (b, c) under any factors (f,) of the claimed scale."""
        found = self._of_scales(histograms, factors)
        return _answered(found) if self.answered and self.claim.refuses else found

    def _of_scales(self, histograms: Matrix, factors: Vector) -> Matrix:
        noises = [self.claim.noise.times(factor) for factor in factors.tolist()]
        each = [
            self.claim.mechanism(noise).log_probabilities(_near(histograms, noise.scale))
            for noise in noises
        ]
        return np.stack([np.asarray(one) for one in each], 1)

    def laws(self, histograms: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """For histograms (b, c): log Q (b, o), log-laws of scales (b, f, o), log-ratios (b, a, o).

        Each alternative is mixed with a little of the claimed law, so that no label rules it out.
        """
        near = _near(histograms, self.claim.noise.scale)
        scales = self._of_scales(histograms, self.factors)
        faults = fault_laws(self.faults, scales[:, self.claimed], near)
        if self.answered and self.claim.refuses:
            scales, faults = _answered(scales), _answered(faults)
        claimed = scales[:, self.claimed]
        others = np.delete(scales, self.claimed, 1)
        leaked = np.logaddexp(np.log1p(-LEAK) + others, np.log(LEAK) + claimed[:, None])
        with np.errstate(invalid="ignore"):
            laws = [leaked, faults, _selected(claimed, histograms)]
            ratios = np.concatenate(laws, 1) - claimed[:, None]
        return claimed, scales, np.where(np.isnan(ratios), 0.0, ratios)


_FAR = REACHES[-1]


def _near(histograms: Matrix, scale: float) -> Matrix:
    """Histograms (b, c) with classes moved to within `_FAR` noise scales of the leader.

    A class at that distance wins with probability below 1e-140, more than further behind. So the
    evidence only loses by it, and all laws can use shared quadrature nodes.
    """
    return np.asarray(np.maximum(histograms, histograms.max(-1, keepdims=True) - _FAR * scale))


def _selected(claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, s, o) of the rows that remain where some were left out by their labels.

    claimed: the claimed log-laws (b, o), a little of which is mixed in; histograms: (b, c);
    refusals all remain.
    """
    classes = histograms.shape[1]
    minority = np.zeros(claimed.shape, dtype=bool)
    minority[:, :classes] = np.arange(classes) != histograms.argmax(-1)[:, None]
    found = []
    for rate in _LEFT_OUT:
        left = claimed + np.where(minority, np.log1p(-rate), 0.0)
        left = left - np.logaddexp.reduce(left, -1, keepdims=True)
        found.append(np.logaddexp(np.log1p(-LEAK) + left, np.log(LEAK) + claimed))
    return np.stack(found, 1)


def _answered(log_laws: Matrix) -> Matrix:
    """Log-laws (..., o) conditional on an answer, without the last outcome, a refusal."""
    found = log_laws.copy()
    found[..., -1] = -np.inf
    return np.asarray(found - np.logaddexp.reduce(found, -1, keepdims=True))
