"""`dpassay audit --canaries` and `--train`: what one training proves of its epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import click
import numpy as np
from pydantic import Field

from ...attacks.auditing.canary_guesses import SHARES
from ...attacks.auditing.one_run import one_run_bound
from ...attacks.auditing.one_run_curve import curve_refuted, one_run_mu
from ...reference.arrays import Flags, Vector
from ...reference.numbers import families
from ...reference.numbers.moves import move_epsilon
from ..cli.exit_statuses import fail, print_and_exit
from ..findings.document import Document
from ..findings.note import Note
from ..findings.verdict import Verdict, verdict_of
from ..inputs.audit_files import read_canaries
from ..targets import TargetError
from ..targets.spec import load
from .training_claims import (
    Reach,
    TestedClaim,
    TrainingClaim,
    epsilon_claim,
    file_claim,
    noise_claim,
    reach_of,
    share_error,
)

FALSE_ALARM = 0.05
_UNFAIR, _UNFAIR_CODE = 1e-3, "coins-look-unfair"  # the probability below which coins do


@dataclass(frozen=True)
class TrainingOptions:
    """What the command line says of one training that is audited.

    Attributes:
        curve: a file.
        noise_multiplier, sampling_rate, steps: of its noisy steps, all three or none.
    """

    delta: float
    epsilon: float | None = None
    curve: str | None = None
    noise_multiplier: float | None = None
    sampling_rate: float | None = None
    steps: int | None = None
    false_alarm: float = FALSE_ALARM

    def claims(self) -> list[TrainingClaim]:
        """What the training is held to. Raises ValueError for options that do not go together."""
        found = [] if self.epsilon is None else [epsilon_claim(self.epsilon, self.delta)]
        given = (self.noise_multiplier, self.sampling_rate, self.steps)
        if self.curve is not None and given != (None, None, None):
            raise ValueError("--curve stands for --noise-multiplier and its kin: give either")
        if self.curve is not None:
            return [*found, file_claim(self.curve)]
        if given == (None, None, None):
            return found
        if self.noise_multiplier is None or self.sampling_rate is None or self.steps is None:
            raise ValueError("give --noise-multiplier, --sampling-rate and --steps together")
        return [*found, noise_claim(self.noise_multiplier, self.sampling_rate, self.steps)]


def audit_one_training(
    canaries: str | None,
    train: str | None,
    count: int,
    seed: int,
    options: TrainingOptions,
    *,
    as_json: bool,
) -> NoReturn:
    """Audits one training by its canaries, prints what was found, and exits."""
    try:
        if canaries is not None:
            found = audit_canaries(canaries, options)
        else:
            assert train is not None
            found = audit_training(train, count, seed, options)
    except (TargetError, ValueError) as error:
        fail(error)
    print_and_exit(found, as_json)


class CanaryAudit(Document):
    """The bounds of one training, at `delta` and of its trade-off curve."""

    epsilon_lower: float = Field(ge=0, description="Of the training, at delta.")
    delta: float = Field(ge=0, lt=1)
    claimed: float | None = Field(gt=0, description="The epsilon that it is held to, if any.")
    claimed_curve: str | None = Field(description="The curve that it is held to, in words, if any.")
    curve_refuted: bool | None = Field(description="Whether it is; null without a claimed curve.")
    confidence: float = Field(
        gt=0, lt=1, description="Of each bound: where two claims are tested, each has half."
    )
    canaries: int = Field(ge=2)
    guesses: int = Field(ge=0, description="Of who was in, which epsilon_lower is by.")
    right: int = Field(ge=0)
    mu_lower: float = Field(ge=0, description="Mu of Gaussian differential privacy at least.")
    mu_guesses: int = Field(ge=0)
    mu_right: int = Field(ge=0)
    epsilon_if_gaussian: float = Field(
        ge=0, description="Epsilon at delta of the Gaussian curve of mu_lower."
    )
    reach: tuple[Reach, ...] = Field(description="What could be refuted, of each claim.")
    notes: tuple[Note, ...] = Field(
        description="Why a claim could not be refuted, and warnings, each with its code."
    )
    verdict: Verdict = Field(
        description="Fail where a claim is refuted; inconclusive where nothing is told, or no "
        "claim could have been refuted."
    )

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        point = self.claimed is not None and self.epsilon_lower > self.claimed
        lines = [
            f"{self.verdict.value.upper()}: {self._meaning(point)}",
            f"epsilon of the training at least {self.epsilon_lower:.4g} at delta "
            f"{self.delta:g}, of {self.guesses:,} guesses {self.right:,} right",
            f"mu of Gaussian differential privacy at least {self.mu_lower:.4g}, of "
            f"{self.mu_guesses:,} guesses {self.mu_right:,} right",
            f"were the curve Gaussian, epsilon at least {self.epsilon_if_gaussian:.4g}",
            f"confidence {self.confidence:g} of each bound, {self.canaries:,} canaries",
        ]
        if self.curve_refuted is not None:
            said = "refuted" if self.curve_refuted else "not refuted"
            lines.append(f"{self.claimed_curve}: {said}")
        for reach in self.reach:
            what, *more = reach.lines(self.canaries)
            lines += [f"these canaries {what}", *(f"  {line}" for line in more)]
        lines += [f"warning: {note}" for note in self.notes if note.code == _UNFAIR_CODE]
        return "\n".join(lines)

    def _meaning(self, point: bool) -> str:
        """The verdict in words; point: whether the claimed epsilon is refuted."""
        if self.verdict is Verdict.FAIL:
            refuted = [f"the claimed epsilon {self.claimed}"] if point else []
            refuted += ["the claimed curve"] if self.curve_refuted else []
            return f"{' and '.join(refuted)} cannot hold"
        if self.verdict is Verdict.INCONCLUSIVE:
            if self.reach and not any(reach.could_refute for reach in self.reach):
                codes = " and ".join(
                    dict.fromkeys(note.code for note in self.notes if note.code != _UNFAIR_CODE)
                )
                return f"no scores of these canaries could have refuted the claim ({codes})"
            return "the scores do not tell who was in"
        meaning = "the scores tell canaries that were in from those that were not"
        return meaning + (", and refute no claim" if self.reach else "")


def audit_canaries(path: str, options: TrainingOptions) -> CanaryAudit:
    """Bounds the epsilon of a training by a CSV file with the columns `score` and `in`.

    Raises ValueError that names the file, the line and what is allowed.
    """
    scores, coins = read_canaries(path)
    held = share_error(options.claims(), len(scores), options.false_alarm)
    return _bounds(scores, coins, options, held, warned=_unfair(coins))


def audit_training(spec: str, canaries: int, seed: int, options: TrainingOptions) -> CanaryAudit:
    """Draws coins, has `spec`, a callable (included) -> scores, train once; bounds its epsilon.

    Says on stderr, before the training, what could be refuted. included: bool (canaries,), which of
    them are to be in the training data; scores (canaries,), higher where one seems to have been.
    Raises ValueError, of one line, as the callable does, and TargetError where there is none.
    """
    train = load(spec)
    if not callable(train):
        raise ValueError(f"{spec}: expected a callable (included) -> scores")
    held = share_error(options.claims(), canaries, options.false_alarm)
    for reach in (reach_of(one, canaries) for one in held):
        what, *more = reach.lines(canaries)
        click.echo(f"dpassay: before the training: {canaries:,} canaries {what}", err=True)
        click.echo("".join(f"  {line}\n" for line in more), err=True, nl=False)
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
    return _bounds(scores, coins, options, held)


def _unfair(coins: Flags) -> list[Note]:
    """A warning where so many, or so few, canaries in are not what a fair coin gives."""
    from scipy.stats import binomtest

    included = int(coins.sum())
    if binomtest(included, coins.size).pvalue >= _UNFAIR:
        return []
    message = (
        f"of {coins.size:,} canaries {included:,} were in: was the coin fair? The bounds hold only "
        "if a fair coin of its own put each canary in or left it out"
    )
    return [Note(_UNFAIR_CODE, message, {"canaries": coins.size, "included": included})]


def _bounds(
    scores: Vector,
    coins: Flags,
    options: TrainingOptions,
    held: Sequence[TestedClaim],
    *,
    warned: Sequence[Note] = (),
) -> CanaryAudit:
    reaches = [reach_of(one, len(scores)) for one in held]
    error = held[0].error if held else options.false_alarm
    shares = next((one.shares for one in held if one.claim.point is not None), ()) or SHARES
    bound = one_run_bound(scores, coins, options.delta, error, shares)
    mu = one_run_mu(scores, coins, error)
    curve = next((one for one in held if one.claim.least is not None), None)
    curve_fails = curve is not None and _refutes_curve(curve, scores, coins)
    refuted = curve_fails or (options.epsilon is not None and bound.epsilon > options.epsilon)
    told = bound.epsilon > 0.0 or mu.mu > 0.0
    able = not held or any(one.shares for one in held)
    unable = [one.note(len(scores)) for one in reaches if not one.could_refute]
    return CanaryAudit(
        epsilon_lower=bound.epsilon,
        delta=options.delta,
        claimed=options.epsilon,
        claimed_curve=None if curve is None else curve.claim.words,
        curve_refuted=None if curve is None else curve_fails,
        confidence=1.0 - error,
        canaries=len(scores),
        guesses=bound.guesses,
        right=bound.right,
        mu_lower=mu.mu,
        mu_guesses=mu.guesses,
        mu_right=mu.right,
        epsilon_if_gaussian=move_epsilon(families.Gaussian(1.0), mu.mu, options.delta),
        reach=tuple(reaches),
        notes=(*unable, *warned),
        verdict=verdict_of(refuted, told and able),
    )


def _refutes_curve(held: TestedClaim, scores: Vector, coins: Flags) -> bool:
    """Whether the scores refute a claimed curve; never where they could not."""
    assert held.claim.least is not None
    return bool(held.shares) and curve_refuted(
        held.claim.least, scores, coins, held.error, held.shares
    )
