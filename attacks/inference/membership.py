"""Who was a teacher's training record, by the likelihood-ratio attack with shadow ensembles.

Carlini et al. 2022 (arXiv 2112.03570), online: for each record models are trained with it and
without it, and the target's answer is judged by how likely it is under either. Here a model is an
ensemble of PATE: the record is asked, and the attacker sees its votes, or labels that the
aggregator released. Every ensemble is the target once, with all others as its shadows.

What the privacy of released labels bounds is in `attack_cost`; **the votes are not private**.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ...reference.arrays import Flags, Integers, Matrix, Vector
from ...reference.ensembles.records import Task
from ...reference.parallel.workers import carried_out, stream
from ..private_prediction.trainings import Ensemble, trained_votes

_FEWEST = 4  # shadows with a record, and without it


@dataclass(frozen=True)
class Shadows:
    """Ensembles that were trained on random records of a pool, and how they vote on each of them.

    histograms (e, r, c) of the votes of e ensembles on r records; members (e, r) of bool: which
    were trained on; labels (r,). Raises ValueError for shapes that do not fit, votes that are not
    equally many, and a record of which too few other ensembles have, or lack, it.
    """

    histograms: Integers
    members: Flags
    labels: Integers

    def __post_init__(self) -> None:
        e, r, c = self.histograms.shape if self.histograms.ndim == 3 else (0, 0, 0)
        if not e or self.members.shape != (e, r) or self.labels.shape != (r,):
            raise ValueError(
                f"histograms {self.histograms.shape}, members {self.members.shape}, labels "
                f"{self.labels.shape}: expected (e, r, c), (e, r) and (r,)"
            )
        if not (self.labels.min() >= 0 and self.labels.max() < c):
            raise ValueError(f"label {self.labels.max()}: expected 0 to {c - 1}")
        if np.ptp(self.histograms.sum(2)) != 0:
            raise ValueError("histograms of different numbers of votes: expected as many teachers")
        having = self.members.sum(0)
        if min(having.min(), e - having.max()) <= _FEWEST:
            raise ValueError(
                f"{e} ensembles: expected more than {_FEWEST} with each record, and without it"
            )

    @property
    def teachers(self) -> int:
        """Votes in each histogram."""
        return int(self.histograms[0, 0].sum())

    @property
    def right(self) -> Integers:
        """Votes (e, r) for the true label of each record."""
        return np.take_along_axis(self.histograms, self.labels[None, :, None], 2)[..., 0]

    def of(self, records: slice | Integers) -> "Shadows":
        """These ensembles, on some of the records."""
        return Shadows(self.histograms[:, records], self.members[:, records], self.labels[records])


def shadow_ensembles(
    task: Task,
    learner: str,
    teachers: int,
    ensembles: int,
    *,
    seed: int,
    cache: Path | None,
    executor: Executor,
) -> Shadows:
    """Ensembles, each on a random half of the task's records, which its teachers share.

    All records of the task are asked, its queries are not. learner: one of `LEARNERS`; cache: a
    folder in which votes are kept as they come; executor: who trains. What is left over of a half
    that does not split evenly trains nobody. Raises ValueError for more teachers than half the
    records.
    """
    size = len(task.records) // 2 // teachers
    if size < 1:
        raise ValueError(
            f"{teachers} teachers: expected at most {len(task.records) // 2}, half the records of "
            f"{task.name}"
        )
    asked = replace(task, queries=task.records, truths=task.labels)
    drawn = [stream([seed, 3], e).permutation(len(task.records)) for e in range(ensembles)]
    subsets = np.array(drawn)[:, : size * teachers].reshape(-1, size)
    seeds = np.array(np.random.SeedSequence([seed, 4]).generate_state(len(subsets)), dtype=np.int64)
    votes = trained_votes(Ensemble(asked, learner, subsets, seeds), None, cache, executor)
    of_ensemble = votes.reshape(ensembles, teachers, -1)
    histograms = (of_ensemble[..., None] == np.arange(task.classes)).sum(1)
    members = np.zeros((ensembles, len(task.records)), dtype=np.bool_)
    np.put_along_axis(members, subsets.reshape(ensembles, -1), True, 1)
    return Shadows(histograms, members, task.labels)


def by_votes(shadows: Shadows) -> Matrix:
    """Scores (e, r), higher for members, of an attacker who sees the votes on each record.

    By a binomial law of the votes for the true label, fitted to the other ensembles: one chance of
    a right vote for each record, which training on it raises in one teacher (`memorised`).
    """
    votes = shadows.right.astype(np.float64)
    ratio = _ratio(votes, shadows.teachers, _chance(shadows), memorised(shadows)[:, None])
    scores: Matrix = np.log(np.maximum(ratio, 1e-300))
    return scores


def memorised(shadows: Shadows) -> Vector:
    """How often (e,) a teacher labels a record rightly because it was trained on it.

    Of those that it would get wrong otherwise, over all records, by the ensembles other than each.
    """
    votes = shadows.right.astype(np.float64)
    inside, outside = (
        means_of_others(votes, shadows.members),
        means_of_others(votes, ~shadows.members),
    )
    wrong = (1.0 - _chance(shadows)).sum(1)
    found: Vector = np.clip((inside - outside).sum(1) / wrong, 0.0, 1.0)
    return found


class Answering(Protocol):
    """A mechanism whose answers have known probabilities, as `NoisyArgmax`."""

    def log_probabilities(self, histograms: Matrix) -> Matrix:
        """Log-probabilities (..., c) of each answer to histograms (..., c)."""
        ...


@dataclass(frozen=True)
class Released:
    """Laws of a released label on each record by each ensemble's votes: logarithms (e, r, c)."""

    shadows: Shadows
    laws: Matrix

    def drawn(self, queries: int, seed: int) -> Integers:
        """How often (e, r, c) each label comes when each record is asked so many times."""
        laws = np.exp(self.laws)
        laws /= laws.sum(-1, keepdims=True)
        return np.random.default_rng(seed).multinomial(queries, laws)

    def scores(self, labels: Integers) -> Matrix:
        """Scores (e, r), higher for members, of an attacker who sees labels (e, r, c) alone.

        The likelihood of the labels with the record, over that without it, each summed over the
        votes of the other ensembles, which weigh by their binomial laws: so shadows with and
        without a record tell of both worlds.
        """
        shadows = self.shadows
        chance, rise = _chance(shadows), memorised(shadows)[:, None]
        found = np.empty(shadows.members.shape)
        for r, of_record in enumerate(np.moveaxis(labels, 1, 0).astype(np.float64)):
            # of each target (rows), the shadows (columns), of which it is none itself
            likelihood = of_record @ self.laws[:, r].T
            np.fill_diagonal(likelihood, -np.inf)
            votes = shadows.right[None, :, r].astype(np.float64)
            ratio = _ratio(votes, shadows.teachers, chance[:, r, None], rise)
            others = shadows.members[:, r].sum() - shadows.members[:, r]
            having = others[:, None] / (len(others) - 1.0)
            without = 1.0 / (1.0 - having + having * ratio)
            np.fill_diagonal(without, 0.0)
            seen = without * np.exp(likelihood - likelihood.max(1, keepdims=True))
            inside = (seen * ratio).sum(1) / (without * ratio).sum(1)
            found[:, r] = np.log(inside) - np.log(seen.sum(1) / without.sum(1))
        return found


def released_laws(shadows: Shadows, mechanism: Answering, executor: Executor) -> Released:
    """Laws of the labels that a mechanism releases of the votes, by ensemble over an executor."""
    parts = ((mechanism, histograms) for histograms in shadows.histograms)
    found = dict(carried_out(_laws_of_one, parts, executor))
    return Released(shadows, np.array([found[e] for e in range(len(found))]))


def _laws_of_one(mechanism: Answering, histograms: Integers) -> Matrix:
    return mechanism.log_probabilities(histograms.astype(np.float64))


def _ratio(votes: Matrix, teachers: int, chance: Matrix, rise: Matrix) -> Matrix:
    """The chance of so many right votes with a teacher of the record's own, over that without.

    Binomial laws: each teacher is right with `chance`, that one with more by a share `rise` of what
    is missing.
    """
    own = chance + rise * (1.0 - chance)
    right = own * votes / (teachers * chance)
    wrong = (1.0 - own) * (teachers - votes) / (teachers * (1.0 - chance))
    return np.asarray(right + wrong)


def _chance(shadows: Shadows) -> Matrix:
    """The chance (e, r) of a right vote of a teacher without the record, by the other ensembles.

    Half a vote is added to either side, so that none is 0 or 1.
    """
    outside = ~shadows.members
    votes = shadows.right * outside
    right = votes.sum(0) - votes
    asked = shadows.teachers * (outside.sum(0) - outside)
    found: Matrix = (right + 0.5) / (asked + 1.0)
    return found


def means_of_others(votes: Matrix, which: Flags) -> Matrix:
    """Means (e, r) of votes over the ensembles in question other than each itself."""
    kept = votes * which
    return np.asarray((kept.sum(0) - kept) / (which.sum(0) - which))
