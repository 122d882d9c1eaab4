"""From answers to people: histograms read from noisy answers, an attribute inferred from them.

Wang et al. 2022, appendix E, over a grid of noise and queries: what is lost against an attacker who
sees the histograms themselves, beside what the answers cost. The grid is worked out in parts of a
fixed size, each with random numbers of its own: who does them changes no figure.
"""

import hashlib
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.accounting.analyses import CountedCost
from ...reference.arrays import Matrix, Vector
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.kept import kept_arrays, kept_folder
from ...reference.parallel.workers import stream
from ..answers import Answers, Likelihood
from ..posterior import sample_posterior
from ..reconstruct import Method, best_points, misplaced, reconstruct
from .attribute import PUBLISHED
from .measures import Estimate, auc, false_positive_rate, recall, tpr_at_fpr
from .two_classes import Belief, posterior

Reading = Literal["mle", "alone", "together", "briefly"]
"""How histograms are read: the likeliest votes; from the posterior, each query by itself; from the
posterior of all queries of a part, which fit its prior together; the same from fewer draws. Of 128
histograms of ten classes the last two misplaced 0.197 of the votes, the last in a seventh of the
time."""

TOGETHER = 256
"""Queries of more than two classes in a part, which are attacked together. With two classes a part
is all of them: it is quick, and parts that fit priors of their own would break ties by part."""

_FPR = 0.01
_SHUFFLE = 2**32 - 1  # the stream that shuffles; parts have the others


def low_consensus(histograms: Matrix) -> Matrix:
    """Less the share of the largest class, as minorities make teachers disagree (section 2)."""
    votes = np.asarray(histograms, dtype=np.float64)
    return np.asarray(-votes.max(-1) / votes.sum(-1))


@dataclass(frozen=True)
class Cell:
    """One place of the grid: what answers, how often each query is asked, and how it is read."""

    mechanism: ClaimedMechanism
    queries: int
    reading: Reading = "together"

    def __post_init__(self) -> None:
        known = get_args(Reading)
        if self.reading not in known:
            raise ValueError(f"reading {self.reading!r}: expected one of {', '.join(known)}")
        if self.queries < 1:
            raise ValueError(f"queries {self.queries}: expected at least 1")


@dataclass(frozen=True)
class Inferred:
    """How well an attribute is inferred: by the score, and by a threshold of it.

    tpr: at 1 % false positives; recall, false: the rates of the threshold.
    """

    auc: Estimate
    tpr: Estimate
    recall: Estimate
    false: Estimate


@dataclass(frozen=True)
class EndToEnd:
    """A cell's outcome: share of votes misplaced, inference through answers and directly, cost.

    The intervals are over who is asked; direct and through answers they are of the same people.
    epsilon: of all answers to one query, data-independent.
    """

    cell: Cell
    misplaced: float
    through: Inferred
    direct: Inferred
    epsilon: float


def through_answers(
    histograms: ArrayLike,
    positive: ArrayLike,
    cells: Iterable[Cell],
    executor: Executor,
    *,
    delta: float = 1e-5,
    seed: int = 0,
    kept: Path | None = None,
) -> list[EndToEnd]:
    """Infers who is positive (m,) from simulated answers on the histograms (m, c), cell by cell.

    kept: a folder for the parts that are done, from which a run that was stopped goes on. Raises
    ValueError for histograms of different totals, and what `measures` does.
    """
    votes = np.asarray(histograms, dtype=np.int64)
    hidden = np.asarray(positive)
    grid = list(cells)
    direct = inferred(low_consensus(votes.astype(np.float64)), hidden)
    read = read_people(votes, grid, executor, seed=seed, kept=kept)
    return [
        EndToEnd(
            cell,
            float(misplaced(found, votes).mean()),
            inferred(scores, hidden),
            direct,
            CountedCost(cell.mechanism).least_epsilon(cell.queries, 0, delta),
        )
        for cell, (found, scores) in zip(grid, read, strict=True)
    ]


def read_people(
    histograms: ArrayLike,
    cells: Iterable[Cell],
    executor: Executor,
    *,
    seed: int = 0,
    kept: Path | None = None,
) -> list[tuple[Matrix, Vector]]:
    """Histograms (m, c) as read from simulated answers, and their scores (m,), for each cell.

    Cells of one mechanism and as many queries read the same answers. Raises ValueError for
    histograms of different totals.
    """
    votes = np.asarray(histograms, dtype=np.int64)
    if votes.ndim != 2 or np.unique(votes.sum(1)).size != 1:
        raise ValueError(f"histograms of shape {votes.shape}: expected (m, c) of one total")
    grid = list(cells)
    order = stream(seed, _SHUFFLE).permutation(len(votes))
    size = TOGETHER if votes.shape[1] > 2 else len(votes)
    blocks = [order[i : i + size] for i in range(0, len(votes), size)]
    parts = [_Queries(cell, votes[rows], seed, n) for cell in grid for n, rows in enumerate(blocks)]
    if kept is not None:
        kept_folder(kept)
    paths = [None if kept is None else kept / f"{part.fingerprint}.npy" for part in parts]
    done = kept_arrays(_read_part, parts.__getitem__, paths, executor, "answers")
    results = []
    for c in range(len(grid)):
        found = np.concatenate([done[c * len(blocks) + n] for n in range(len(blocks))])
        placed = np.empty_like(found)
        placed[order] = found
        results.append((placed[:, :-1], placed[:, -1]))
    return results


class _Queries(NamedTuple):
    """Some queries' histograms (b, c), of one cell of the grid."""

    cell: Cell
    votes: NDArray[np.int64]
    seed: int
    number: int

    @property
    def fingerprint(self) -> str:
        """A hash of all that determines the votes read."""
        named = f"{self.cell!r} {self.seed} {self.number} {self.votes.shape}"
        digest = hashlib.sha256(named.encode() + np.ascontiguousarray(self.votes).tobytes())
        return digest.hexdigest()[:24]


def _read_part(part: _Queries) -> Matrix:
    """Histograms read from answers of its own, with their scores as a last column (b, c + 1)."""
    mechanism, votes = part.cell.mechanism, part.votes
    own = [part.seed, part.cell.queries, int(1000 * mechanism.noise.scale)]
    law = np.exp(mechanism.log_probabilities(votes.astype(np.float64)))
    counts = stream(own, part.number).multinomial(
        part.cell.queries, law / law.sum(-1, keepdims=True)
    )
    total = int(votes[0].sum())
    found, scores = read(counts, mechanism, total, part.cell.reading)
    return np.column_stack([found, scores])


def read(
    counts: ArrayLike, mechanism: ClaimedMechanism, teachers: int, reading: Reading
) -> tuple[Matrix, Vector]:
    """Histograms (b, c) and scores (b,) from counts (b, o) of outcomes, queries attacked together.

    Of two classes the posterior is exact (`two_classes`) and the score its expectation; of more,
    its chains give the histograms (`reconstruct`), of which the score is taken.
    """
    seen = np.asarray(counts, dtype=np.float64)
    classes = seen.shape[1] - Answers(seen, mechanism).refuses
    if reading != "mle" and classes == 2:
        first = np.arange(teachers + 1.0)
        table = np.stack([first, teachers - first], -1)
        belief: Belief = "alone" if reading == "alone" else "together"
        found = posterior(seen, mechanism.log_probabilities(table), belief)
        return found.histograms.astype(np.float64), found.mean(low_consensus(table))
    if reading == "alone":
        each = [reconstruct(Answers(row[None], mechanism), teachers, "posterior") for row in seen]
        votes = np.concatenate([one.histogram for one in each])
    elif reading == "briefly":
        likelihood = Likelihood((Answers(seen, mechanism),))
        drawn = sample_posterior(likelihood, teachers, np.random.default_rng(0), brief=True)
        votes = best_points(drawn.votes).astype(np.float64)
    else:
        method: Method = "mle" if reading == "mle" else "posterior"
        votes = reconstruct(Answers(seen, mechanism), teachers, method).histogram
    return votes, np.round(low_consensus(votes), 9)


def inferred(scores: Vector, positive: NDArray[np.bool_]) -> Inferred:
    """How well scores (n,) tell who is positive (n,); flagged is less than 75 % consensus."""
    flagged = scores > -PUBLISHED
    return Inferred(
        auc(scores, positive),
        tpr_at_fpr(scores, positive, _FPR),
        recall(flagged, positive),
        false_positive_rate(flagged, positive),
    )
