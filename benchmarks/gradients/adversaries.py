"""Adversaries who read a sensitive variable from gradients: Li et al. 2024, section 4.

An adversary has public records, the training algorithm and the model's parameters of the rounds
that it observes, so that it computes gradients of shadow batches of its own, with known a. An
adaptive one puts the learner's defence on them.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.posteriors import (
    GradientFeatures,
    Logs,
    MaxPooled,
    by_forest,
)
from dpassay.reference.parallel.workers import stream

from .data import Floats, Records
from .learner import released
from .models import Model
from .ordered import by_thresholds
from .sensitive import Sensitive, balanced


@dataclass(frozen=True)
class Observation:
    """What a round shows an adversary.

    number: of the round, from 0; model: before its step; released (t, p): for the batches
    of t trials; defence: the learner's, as fitted in this round, of which a static adversary knows
    nothing; candidates: in user inference, public records of the candidates in each trial, with
    their rows (t, m, k).
    """

    number: int
    model: Model
    released: Floats
    defence: Defence
    candidates: tuple[Records, NDArray[np.int64]] | None = None


class GradientAdversary(Protocol):
    """An adversary who infers the sensitive value of a batch."""

    @property
    def name(self) -> str:
        """The kind of adversary, as tables name it."""

    def log_posteriors(self, seen: Observation, public: Records, seed: int) -> Logs:
        """Log-posteriors (t, m) by one round, under a uniform prior."""


@dataclass(frozen=True)
class Forest:
    """A random forest on a few features of gradients, fresh in each round (section 5.1.3).

    inferred: what; size: records a batch; adaptive: whether it knows the defence; shadow_batches:
    equally many for each value; shadow_records: how many public records it has, equally many of
    each class, all of them by default.
    """

    inferred: Sensitive
    size: int
    adaptive: bool = False
    features: GradientFeatures = field(default_factory=MaxPooled)
    shadow_batches: int = 1_000
    shadow_records: int | None = None

    @property
    def name(self) -> str:
        """Static or adaptive."""
        return "adaptive" if self.adaptive else "static"

    def log_posteriors(self, seen: Observation, public: Records, seed: int) -> Logs:
        """Log-posteriors (t, m) of each trial's release, learned from new shadow batches."""
        known = _some(public, self.shadow_records)
        batches = balanced(
            self.inferred, known, self.shadow_batches, self.size, stream([seed, 10], seen.number)
        )
        defence = seen.defence if self.adaptive else Defence()
        keys = (seed, 11, seen.number)
        shadow = released(seen.model, known, batches, defence, keys)
        ours, theirs = self.features.of(shadow, seen.released, seed)
        learn = by_thresholds if self.inferred.ordered else by_forest
        return learn(ours, batches.sensitive, theirs, self.inferred.classes, seed + seen.number)


def _some(public: Records, count: int | None) -> Records:
    """The first public records of each class, so that fewer are among more."""
    if count is None:
        return public
    each = count // len(public.names)
    rows = [np.flatnonzero(public.sensitive == a)[:each] for a in range(len(public.names))]
    return public.take(np.concatenate(rows))
