"""Queries answered by teachers within a budget, each charged before its label is released."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..accounting.ledger import Ledger
from ..arrays import Matrix
from ..generators import secure_generator
from ..histograms import Histogram
from ..mechanisms import (
    REFUSAL,
    InteractiveGNMax,
    KnownMechanism,
    Labels,
)

Predict = Callable[[Labels], Matrix]
"""Labels so far (n,), -1 where there is none, in; a student's predictions out, (n, c)."""

ROUND = 50
"""Queries between two trainings of an interactive student."""


@dataclass(frozen=True)
class Answers:
    """What a student was told about its records, and what that cost; all of it may be published.

    labels: of each record, -1 where it has none, (n,); asked: whether the teachers were, (n,);
    answered: whether the label is theirs, (n,), which Interactive-GNMax publishes too, as its cost
    depends on it; epsilon: charged, whatever the votes, at delta.
    """

    labels: Labels
    asked: NDArray[np.bool_]
    answered: NDArray[np.bool_]
    epsilon: float
    delta: float


def ask(
    histograms: Histogram,
    mechanism: KnownMechanism,
    ledger: Ledger,
    *,
    queries: int | None = None,
    predict: Predict | None = None,
    rng: np.random.Generator | None = None,
) -> Answers:
    """Asks teachers about records in their order until the budget, or what to ask, is used up.

    histograms: votes on each record (n, c); mechanism: as the ledger's; queries: asked at most,
    refused ones included, all records without it; predict: of Interactive-GNMax alone, trains the
    student on the labels so far (every 50 queries; before the first the student knows nothing, each
    class alike) and is to look at nothing private; rng: of the noise, without one a secure
    generator. Raises ValueError where `predict` is missing, or for a ledger of another mechanism.
    """
    interactive = isinstance(mechanism, InteractiveGNMax)
    if interactive and predict is None:
        raise ValueError("Interactive-GNMax screens what a student predicts: expected `predict`")
    if ledger.mechanism != mechanism:
        raise ValueError(f"a ledger of {ledger.mechanism}: expected one of {mechanism}")
    rng = secure_generator() if rng is None else rng
    n, classes = histograms.shape
    labels, answered = np.full(n, REFUSAL, dtype=np.int64), np.zeros(n, dtype=bool)
    predictions = np.full((n, classes), 1.0 / classes)
    most = n if queries is None else min(queries, n)
    done = 0
    while done < most and (fit := ledger.remaining()) > 0:
        if interactive and predict is not None and done:
            predictions = predict(labels.copy())
        some = range(done, min(done + fit, done + ROUND if interactive else most, most))
        each = [_drawn(histograms[i], mechanism, predictions[i], rng) for i in some]
        theirs = sum(by_teachers for _, by_teachers in each)
        ledger.charge(theirs, len(each) - theirs)
        for i, (label, by_teachers) in zip(some, each, strict=True):
            labels[i], answered[i] = label, by_teachers
        done = some.stop
    return Answers(labels, np.arange(n) < done, answered, ledger.spent, ledger.delta)


def _drawn(
    votes: Histogram, mechanism: KnownMechanism, prediction: Matrix, rng: np.random.Generator
) -> tuple[int, bool]:
    """A label, and whether it is the teachers'."""
    if not isinstance(mechanism, InteractiveGNMax):
        label = int(mechanism.sample(votes, 1, rng)[0])
        return label, label != REFUSAL
    own = replace(mechanism, prediction=tuple(prediction / prediction.sum()))
    # a student that is never confident confirms nothing: what is left are the teachers' labels
    label = int(replace(own, confidence=1.0).sample(votes, 1, rng)[0])
    return (own.confirmed, False) if label == REFUSAL else (label, True)
