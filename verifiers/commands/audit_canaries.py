"""`dpassay audit --canaries` and `--train`: what one training proves of its epsilon."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...attacks.auditing.one_run import one_run_bound
from ...attacks.auditing.one_run_curve import one_run_mu
from ...reference.arrays import Vector
from ...reference.numbers import families
from ...reference.numbers.moves import move_epsilon
from ..cli.ending import print_and_exit
from ..cli.exit_statuses import fail
from ..findings.document import Document
from ..findings.verdict import Verdict, verdict_of
from ..inputs.canary_file import read_canaries
from ..targets import TargetError
from ..targets.spec import load

CONFIDENCE = 0.95


def audit_one_training(
    canaries: str | None,
    train: str | None,
    count: int,
    options: dict[str, Any],
    epsilon: float | None,
    *,
    as_json: bool,
) -> NoReturn:
    """Audits one training by its canaries, prints what was found, and exits."""
    try:
        if canaries is not None:
            found = audit_canaries(canaries, options["delta"], epsilon)
        else:
            assert train is not None
            found = audit_training(train, count, options["seed"], options["delta"], epsilon)
    except (TargetError, ValueError) as error:
        fail(error)
    print_and_exit(found, as_json)


class CanaryAudit(Document):
    """The bounds of one training, at `delta` and of its trade-off curve."""

    epsilon_lower: float = Field(ge=0, description="Of the training, at delta.")
    delta: float = Field(ge=0, lt=1)
    claimed: float | None = Field(gt=0, description="The epsilon that it is held to, if any.")
    confidence: float = Field(gt=0, lt=1, description="Of each bound.")
    canaries: int = Field(ge=2)
    guesses: int = Field(ge=0, description="Of who was in, which epsilon_lower is by.")
    right: int = Field(ge=0)
    mu_lower: float = Field(ge=0, description="Mu of Gaussian differential privacy at least.")
    mu_guesses: int = Field(ge=0)
    mu_right: int = Field(ge=0)
    epsilon_if_gaussian: float = Field(
        ge=0, description="Epsilon at delta of the Gaussian curve of mu_lower."
    )
    verdict: Verdict = Field(
        description="Fail where the claimed epsilon is refuted; inconclusive where nothing is told."
    )

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: f"the claimed epsilon {self.claimed} cannot hold",
            Verdict.PASS: "the scores tell canaries that were in from those that were not",
            Verdict.INCONCLUSIVE: "the scores do not tell who was in",
        }[self.verdict]
        if self.claimed is not None and self.verdict is Verdict.PASS:
            meaning += ", and the claim is not refuted by it"
        return (
            f"{self.verdict.value.upper()}: {meaning}\n"
            f"epsilon of the training at least {self.epsilon_lower:.4g} at delta "
            f"{self.delta:g}, of {self.guesses:,} guesses {self.right:,} right\n"
            f"mu of Gaussian differential privacy at least {self.mu_lower:.4g}, of "
            f"{self.mu_guesses:,} guesses {self.mu_right:,} right\n"
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
    refuted = claimed is not None and bound.epsilon > claimed
    return CanaryAudit(
        epsilon_lower=bound.epsilon,
        delta=delta,
        claimed=claimed,
        confidence=CONFIDENCE,
        canaries=len(scores),
        guesses=bound.guesses,
        right=bound.right,
        mu_lower=curve.mu,
        mu_guesses=curve.guesses,
        mu_right=curve.right,
        epsilon_if_gaussian=move_epsilon(families.Gaussian(1.0), curve.mu, delta),
        verdict=verdict_of(refuted, bound.epsilon > 0.0 or curve.mu > 0.0),
    )
