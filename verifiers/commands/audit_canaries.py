"""`dpassay audit --canaries` and `--train`: what one training proves of its epsilon."""

import csv
import io
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
from ..inputs.files import ReadingError, read_bytes
from ..inputs.histogram_file import ENCODING
from ..targets.spec import load

CONFIDENCE = 0.95
_COLUMNS = ("score", "in")
_COINS = {"1": True, "0": False, "true": True, "false": False}


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


def read_canaries(path: str) -> tuple[Vector, NDArray[np.bool_]]:
    """Scores (m,) and coins (m,) of a CSV file; see `audit_canaries`."""
    try:
        text = read_bytes(path).decode(ENCODING)
        lines = [(i, row) for i, row in enumerate(csv.reader(io.StringIO(text, "")), 1) if any(row)]
    except ReadingError as error:
        raise ValueError(f"{path}: {error}") from None
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path}: not a CSV file") from None
    names = [name.strip() for name in lines[0][1]] if lines else []
    if any(names.count(column) != 1 for column in _COLUMNS):
        raise ValueError(f"{path}: expected a header with the columns score and in")
    places = [names.index(column) for column in _COLUMNS]
    scores, coins = [], []
    for line, row in lines[1:]:
        if len(row) != len(names):
            raise ValueError(
                f"{path}, line {line}: {len(row)} columns, but {len(names)} in the header"
            )
        score, coin = (row[place].strip() for place in places)
        if coin.lower() not in _COINS:
            raise ValueError(f"{path}, line {line}: in {coin!r}: expected 1 or 0")
        scores.append(_number(score, f"{path}, line {line}"))
        coins.append(_COINS[coin.lower()])
    if len(scores) < 2:
        raise ValueError(f"{path}: {len(scores)} canaries: expected two or more")
    return np.array(scores), np.array(coins)


def _number(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if np.isnan(score):
        raise ValueError(f"{place}: score {text!r}: expected a number")
    return score
