"""What a deployment's own votes, or the answers that it gave, say of the people asked about.

Wang et al. 2022, section 2 and appendix E, for an auditor who trains nothing: the votes, or a log
of answers, and a column that says who has the attribute. Histograms (n, c) are those of n people;
`positive` (n,) of bool: who has the attribute.
"""

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.accounting.analyses import CountedCost
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.executors import Here
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import carried_out
from ..answers import Answers
from ..reconstruct import misplaced
from .attribute import AttributeScore, by_consensus, disagreement
from .measures import Estimate, auc
from .through_answers import TOGETHER, Inferred, inferred, read


@dataclass(frozen=True)
class FromVotes:
    """What votes say.

    attacks: by name; within: the area among people of one label, what consensus tells beyond the
    label itself; None if no label has both kinds.
    """

    attacks: dict[str, AttributeScore]
    within: Estimate | None


@dataclass(frozen=True)
class FromAnswers:
    """What a log says of the people in it.

    people, positive: in the log, and those of them with the attribute; fewest, most: answers about
    one of them; misplaced: share of the votes, None where these are not known; epsilon: of the most
    answers, whatever the votes.
    """

    people: int
    positive: int
    answers: int
    fewest: int
    most: int
    found: Inferred
    misplaced: float | None
    epsilon: float


def from_votes(histograms: ArrayLike, positive: ArrayLike) -> FromVotes:
    """Attribute inference by who sees the votes: the paper's threshold, and a calibrated one.

    Raises ValueError for what are no histograms, and for people of one kind alone.
    """
    votes, truth = np.asarray(histograms), np.asarray(positive)
    labels = votes.argmax(1)
    both = any(truth[labels == k].any() and not truth[labels == k].all() for k in set(labels))
    within = auc(disagreement(votes), truth, strata=labels) if both else None
    return FromVotes(by_consensus(votes, truth), within)


def from_answers(
    counts: ArrayLike,
    mechanism: ClaimedMechanism,
    teachers: int,
    positive: ArrayLike,
    *,
    delta: float = 1e-5,
    histograms: NDArray[np.int64] | None = None,
    executor: Executor | None = None,
) -> FromAnswers:
    """Reads votes from counts (n, o) of the outcomes about n people, and infers who has it.

    teachers: votes in all; histograms: the votes themselves, if known, for the share misplaced;
    executor: whose workers read them, this process when None. Raises ValueError for people without
    an answer, and for people of one kind alone.
    """
    seen, truth = np.asarray(counts, dtype=np.float64), np.asarray(positive)
    totals = seen.sum(1).astype(np.int64)
    if not totals.all():
        raise ValueError(f"person {int((totals == 0).argmax())}: expected an answer or more")
    refuses = Answers(seen, mechanism).refuses
    # of two classes all are read at once, as `TOGETHER` says
    size = len(seen) if seen.shape[1] == 2 + refuses else TOGETHER
    starts = range(0, len(seen), size)
    parts = ((seen[k : k + size], mechanism, teachers, "briefly") for k in starts)
    done = shown(carried_out(read, parts, executor or Here()), len(starts), "people")
    in_order = [part for _, part in sorted(done, key=lambda one: one[0])]
    votes, scores = (np.concatenate(part) for part in zip(*in_order, strict=True))
    most = int(totals.max())
    refused = int(seen[totals.argmax(), -1]) if refuses else 0
    return FromAnswers(
        len(seen),
        int(truth.sum()),
        int(totals.sum()),
        int(totals.min()),
        most,
        inferred(scores, truth),
        None if histograms is None else float(misplaced(votes, histograms).mean()),
        CountedCost(mechanism).least_epsilon(most - refused, refused, delta),
    )
