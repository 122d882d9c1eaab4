"""What one audited training is held to, an epsilon or a trade-off curve, and what could refute it.

All of this is known before any score is: how the error is divided among the claims, and among the
shares of the canaries that are guessed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from ...attacks.auditing.canary_guesses import Refutes, useful_shares
from ...attacks.auditing.coin import Curve
from ...attacks.auditing.one_run import refutes_point
from ...attacks.auditing.one_run_curve import Least, of_guarantees, refutes_curve
from ...attacks.auditing.one_run_reach import (
    MOST_OF_CURVE,
    Lowest,
    fewest_canaries,
    lowest_error,
    lowest_error_of_point,
    most_of_point,
    several_trainings,
)
from ...reference.accounting.batches import poisson_deltas
from ..findings.document import Document
from ..findings.note import Note
from ..inputs.audit_files import read_curve

_EPSILONS = np.concatenate([[0.0], np.geomspace(0.01, 40.0, 160)])  # lines of a claimed curve
_MOST_MU = 20.0


@dataclass(frozen=True)
class TrainingClaim:
    """A claim of one training, in words, and which guesses refute it.

    point: epsilon and delta, where the claim is these; least: where it is a curve.
    """

    words: str
    refutes: Refutes
    point: tuple[float, float] | None = None
    least: Least | None = None

    @property
    def most(self) -> int:
        """Up to how many canaries are tried."""
        return MOST_OF_CURVE if self.point is None else most_of_point(self.point[0])

    @cached_property
    def lowest(self) -> Lowest | None:
        """The lowest error that any number of canaries reaches; None for a curve."""
        return None if self.point is None else lowest_error_of_point(*self.point)


def epsilon_claim(epsilon: float, delta: float) -> TrainingClaim:
    """The claim of one epsilon and delta."""
    words = f"epsilon {epsilon:g} at delta {delta:g}"
    return TrainingClaim(words, refutes_point(epsilon, delta), point=(epsilon, delta))


def file_claim(path: str) -> TrainingClaim:
    """The claim of a curve in a CSV file, rows of alpha and beta. Raises ValueError for another."""
    rows = np.array(read_curve(Path(path)))
    curve = Curve(rows[:, 0], rows[:, 1])
    least = of_guarantees(_EPSILONS, [curve.delta(float(epsilon)) for epsilon in _EPSILONS])
    return TrainingClaim(f"the curve of {path}", refutes_curve(least), least=least)


def noise_claim(multiplier: float, rate: float, steps: int) -> TrainingClaim:
    """The claim of noisy steps on Poisson samples, for a record more or less.

    multiplier: of the noise, to the clip norm; rate: with which a record is in the batch of a step.
    Raises ValueError for so little noise that the curve claims nothing.
    """
    if rate * math.sqrt(steps) / multiplier > _MOST_MU:
        raise ValueError(
            f"noise multiplier {multiplier:g}, sampling rate {rate:g}, steps {steps:,}: so little "
            "noise claims next to nothing"
        )
    least = of_guarantees(_EPSILONS, poisson_deltas(rate, multiplier, steps, _EPSILONS))
    words = f"the curve of {steps:,} steps at noise multiplier {multiplier:g}"
    words += f" and sampling rate {rate:g}"
    return TrainingClaim(words, refutes_curve(least), least=least)


@dataclass(frozen=True)
class TestedClaim:
    """A claim that is tested; error: its part; shares: of canaries that are guessed, or none."""

    claim: TrainingClaim
    error: float
    shares: tuple[float, ...]


def share_error(claims: Sequence[TrainingClaim], canaries: int, error: float) -> list[TestedClaim]:
    """The claims, each with an equal part of the error and the shares that are guessed."""
    part = error / len(claims) if claims else error
    return [TestedClaim(one, part, useful_shares(one.refutes, canaries, part)) for one in claims]


class Reach(Document):
    """What guesses that are all right could refute of a claim, by a formula: no score was seen."""

    claim: Literal["epsilon", "curve"]
    words: str = Field(description="The claim in words.")
    false_alarm: float = Field(gt=0, lt=1, description="The part of the error that it is given.")
    could_refute: bool = Field(description="Whether so many canaries as there are could.")
    lowest_error: float = Field(gt=0, le=1, description="At which these canaries could refute it.")
    fewest_canaries: int | None = Field(
        description="That could in one training; null where no number does (of a curve, none of "
        "the up to 100,000 that are tried)."
    )
    lowest_error_of_any: float | None = Field(
        description="Of any number of canaries; null for a curve, which has no such floor."
    )
    lowest_error_canaries: int | None = Field(description="With how many that is.")
    trainings: int | None = Field(
        description="Where no number does: how many trainings together could at this error, if "
        "each refutes the claim."
    )
    trainings_canaries: int | None = Field(description="Canaries of each.")
    trainings_false_alarm: float | None = Field(
        description="At which each is audited, fixed beforehand."
    )

    def lines(self, canaries: int) -> list[str]:
        """What so many canaries can refute, in words, the first line after "these canaries"."""
        at = f"at an error of {self.false_alarm:g}"
        if self.could_refute:
            told = [f"could refute {self.words} {at}"]
            if self.fewest_canaries is not None:
                told[0] += f", as {self.fewest_canaries:,} could"
        elif self.fewest_canaries is None:
            told = [f"cannot refute {self.words} {at}, nor can any number that was tried"]
        elif self.fewest_canaries > canaries:
            told = [f"cannot refute {self.words} {at}: {self.fewest_canaries:,} could"]
        else:
            told = [f"cannot refute {self.words} {at}: they are too many. Fewer could, from "]
            told[0] += f"{self.fewest_canaries:,} on"
        told.append(
            f"were all {canaries:,} guessed right, the least error would be {self.lowest_error:.2g}"
        )
        if self.lowest_error_of_any is not None:
            told.append(
                f"the least that any number of canaries reaches is {self.lowest_error_of_any:.2g},"
                f" with {self.lowest_error_canaries:,}"
            )
        if self.trainings is not None:
            told.append(
                f"{self.trainings} trainings could together, if each refutes this claim alone by "
                f"{self.trainings_canaries:,} canaries at --false-alarm "
                f"{self.trainings_false_alarm:.3g}"
            )
        return told

    def note(self, canaries: int) -> Note:
        """Why the claim could not be refuted."""
        sentence = f"these canaries {'; '.join(self.lines(canaries))}"
        if self.fewest_canaries is None or self.fewest_canaries <= canaries:
            return Note("cannot-be-seen-here", sentence, {"canaries": canaries})
        return Note("too-few-queries", sentence, {"canaries": self.fewest_canaries})


def reach_of(held: TestedClaim, canaries: int) -> Reach:
    """What so many canaries could refute of a claim."""
    claim, lowest = held.claim, held.claim.lowest
    best = None if lowest is None else lowest.canaries
    fewest = fewest_canaries(claim.refutes, held.error, claim.most, best)
    many = None if fewest else several_trainings(claim.refutes, held.error, claim.most)
    return Reach(
        claim="curve" if claim.point is None else "epsilon",
        words=claim.words,
        false_alarm=held.error,
        could_refute=bool(held.shares),
        lowest_error=lowest_error(claim.refutes, min(canaries, claim.most)),
        fewest_canaries=fewest,
        lowest_error_of_any=None if lowest is None else lowest.error,
        lowest_error_canaries=None if lowest is None else lowest.canaries,
        trainings=None if many is None else many.number,
        trainings_canaries=None if many is None else many.canaries,
        trainings_false_alarm=None if many is None else many.error,
    )
