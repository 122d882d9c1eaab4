"""`dpassay audit --canaries` and `--train`: what one training proves of its epsilon."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...attacks.auditing.one_run import OneRunBound, one_run_bound
from ...attacks.auditing.one_run_curve import MuBound, one_run_mu
from ...reference.arrays import Vector
from ...reference.numbers import families
from ...reference.numbers.moves import move_epsilon
from ..findings.verdict import Verdict
from ..inputs.canary_file import read_canaries
from ..targets.spec import load

CONFIDENCE = 0.95


@dataclass(frozen=True)
class CanaryAudit:
    """The bounds of one training, at `delta` and of its trade-off curve.

    claimed: the epsilon that it is held to, if any.
    """

    bound: OneRunBound
    curve: MuBound
    canaries: int
    delta: float
    claimed: float | None

    @property
    def verdict(self) -> Verdict:
        """Fail where the claimed epsilon is refuted; inconclusive where nothing is."""
        if self.claimed is not None and self.bound.epsilon > self.claimed:
            return Verdict.FAIL
        told = self.bound.epsilon > 0.0 or self.curve.mu > 0.0
        return Verdict.PASS if told else Verdict.INCONCLUSIVE

    @property
    def epsilon_if_gaussian(self) -> float:
        """Epsilon at `delta` of the Gaussian curve of the bound of mu."""
        return move_epsilon(families.Gaussian(1.0), self.curve.mu, self.delta)

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "epsilon_lower": self.bound.epsilon,
            "delta": self.delta,
            "claimed": self.claimed,
            "confidence": CONFIDENCE,
            "canaries": self.canaries,
            "guesses": self.bound.guesses,
            "right": self.bound.right,
            "mu_lower": self.curve.mu,
            "mu_guesses": self.curve.guesses,
            "mu_right": self.curve.right,
            "epsilon_if_gaussian": self.epsilon_if_gaussian,
            "verdict": self.verdict.value,
        }

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: f"the claimed epsilon {self.claimed} cannot hold",
            Verdict.PASS: "the scores tell canaries that were in from those that were not",
            Verdict.INCONCLUSIVE: "the scores do not tell who was in",
        }[self.verdict]
        if self.claimed is not None and self.verdict is Verdict.PASS:
            meaning += ", and the claim is not refuted by it"
        bound, curve = self.bound, self.curve
        return (
            f"{self.verdict.value.upper()}: {meaning}\n"
            f"epsilon of the training at least {bound.epsilon:.4g} at delta {self.delta:g}, "
            f"of {bound.guesses:,} guesses {bound.right:,} right\n"
            f"mu of Gaussian differential privacy at least {curve.mu:.4g}, of {curve.guesses:,} "
            f"guesses {curve.right:,} right\n"
            f"were the curve Gaussian, epsilon at least {self.epsilon_if_gaussian:.4g}\n"
            f"confidence {CONFIDENCE:g} of each bound, {self.canaries:,} canaries"
        )


def audit_canaries(path: str, delta: float, claimed: float | None = None) -> CanaryAudit:
    """Bounds the epsilon of a training by a CSV file with the columns `score` and `in`.

    claimed: an epsilon to hold it to. Raises ValueError that names the file, the line and what is
    allowed.
    """
    return _held(*read_canaries(path), delta, claimed)


def audit_training(
    spec: str, canaries: int, seed: int, delta: float, claimed: float | None = None
) -> CanaryAudit:
    """Draws coins, has `spec`, a callable (included) -> scores, train once; bounds its epsilon.

    included: bool (canaries,), which of them are to be in the training data; scores (canaries,),
    higher where one seems to have been. Raises ValueError, of one line, as the callable does, and
    TargetError where there is none.
    """
    train = load(spec)
    if not callable(train):
        raise ValueError(f"{spec}: expected a callable (included) -> scores")
    coins = np.random.default_rng([seed, 11]).random(canaries) < 0.5
    try:
        scores = np.asarray(train(coins.copy()), dtype=np.float64)
    except Exception as error:
        raise ValueError(f"{spec} raised {type(error).__name__}: {error}") from None
    if scores.shape != coins.shape or np.isnan(scores).any():
        raise ValueError(
            f"{spec} returned an array of shape {scores.shape}: expected {canaries} scores, of "
            "which none is missing"
        )
    return _held(scores, coins, delta, claimed)


def _held(
    scores: Vector, coins: NDArray[np.bool_], delta: float, claimed: float | None
) -> CanaryAudit:
    error = 1.0 - CONFIDENCE
    bound, curve = one_run_bound(scores, coins, delta, error), one_run_mu(scores, coins, error)
    return CanaryAudit(bound, curve, len(scores), delta, claimed)
