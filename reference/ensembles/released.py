"""Queries answered within a budget, and their cost at the votes cast, released with noise.

Papernot et al. 2018 (arXiv 1802.08908v1), appendix B. It stands beside what the ledger charges,
and may be lower where teachers agree; at few teachers the noise alone is as large.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ..accounting.analyses import release_costs
from ..accounting.conversions import ORDERS, to_epsilon
from ..accounting.gnmax import (
    gnmax_data_dependent,
    threshold_data_dependent,
    threshold_data_independent,
)
from ..accounting.ledger import Ledger
from ..accounting.pure import lnmax_data_dependent
from ..accounting.smooth_sensitivity import (
    conditions_hold,
    gnmax_local_sensitivity,
    lnmax_local_sensitivity,
    release,
    release_cost,
    smooth_sensitivity,
    threshold_local_sensitivity,
)
from ..arrays import Flags, Matrix
from ..generators import secure_generator
from ..histograms import Histogram
from ..mechanisms import (
    REFUSAL,
    ConfidentGNMax,
    InteractiveGNMax,
    KnownMechanism,
    Labels,
    UnknownMechanismError,
)
from ..noise import Gaussian, Laplace

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
    asked: Flags
    answered: Flags
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


_BETA = 0.3  # times 1/order: within (0, 1/2), see `release_cost`
_SHARE = 0.15  # of the data-independent cost: what the release may cost
_OF_SENSITIVITY = 0.05  # the same, for how large the noise was
_EXPECTED = 0.3  # of the data-independent cost: what the order is chosen for, without a look
CONFIDENCE = 0.99


@dataclass(frozen=True)
class ReleasedCost:
    """Epsilon at the votes and at `delta`, released at one order that was chosen beforehand.

    epsilon: with noise around the truth, as the paper releases it: an estimate, above or below;
    upper: above the truth in 99 of 100 releases, over their noise; independent: what answers and
    this release cost together whatever the votes, which is above what the ledger has charged, for
    the answers alone. All three may be published. dependent: the truth of the answers, sensitive:
    to compare on public data alone; order: of the Rényi costs; charge: the Rényi cost of this
    release at that order, in all three. What a ledger was charged before these queries is in none.
    """

    epsilon: float
    upper: float
    independent: float
    dependent: float
    order: float
    charge: float


def released_cost(
    histograms: Histogram,
    answers: Answers,
    mechanism: KnownMechanism,
    rng: np.random.Generator | None = None,
) -> ReleasedCost:
    """What the queries asked cost at these votes (n, c), released; rng: of the noise, else secure.

    Which were asked and answered is public. The threshold's test of Confident-GNMax is charged at
    the votes, the screen of Interactive-GNMax whatever they are. The noise is in proportion to the
    smooth sensitivity, which is sensitive itself; its logarithm moves by at most beta with a vote,
    so that Gaussian noise of s beta on it costs order / (2 s^2), and bounds it. Raises
    UnknownMechanismError for other noise than Gaussian and Laplace.
    """
    rng = secure_generator() if rng is None else rng
    order = _order(answers, mechanism, histograms.shape[1])
    cost, local = _at_votes(histograms, answers, mechanism, order)
    beta = _BETA / order
    smooth = smooth_sensitivity(local, beta)
    most = _independent(answers, mechanism, np.array([order]))[0]
    scale = _scale(beta, order, _SHARE * most)
    spread = float(np.sqrt(order / (2.0 * _OF_SENSITIVITY * most)))
    charge = release_cost(beta, scale, order) + _OF_SENSITIVITY * most
    noisy = release(cost, smooth, scale, rng)
    far = -float(ndtri((1.0 - CONFIDENCE) / 2.0))  # either may fail in half as many releases
    smooth_told = smooth * float(np.exp(spread * beta * (rng.standard_normal() + far)))

    def epsilon(renyi: float) -> float:
        return to_epsilon(np.array([order]), np.array([max(renyi, 0.0)]), answers.delta).epsilon

    return ReleasedCost(
        epsilon=epsilon(max(noisy, 0.0) + charge),
        upper=epsilon(max(noisy + far * scale * smooth_told, 0.0) + charge),
        independent=_with_release(answers, mechanism, beta, scale, spread),
        dependent=epsilon(cost),
        order=order,
        charge=charge,
    )


def _with_release(
    answers: Answers, mechanism: KnownMechanism, beta: float, scale: float, spread: float
) -> float:
    """Epsilon of the answers, whatever the votes, and of the release: at the best order it has."""
    finite = 2.0 * beta * ORDERS < 1.0  # see `release_cost`
    orders = ORDERS[finite]
    releases = [release_cost(beta, scale, float(a)) + a / (2.0 * spread**2) for a in orders]
    costs = _independent(answers, mechanism, orders) + np.array(releases)
    return to_epsilon(orders, costs, answers.delta).epsilon


def _scale(beta: float, order: float, cost: float) -> float:
    """Noise, in smooth sensitivities, that costs so much more than what no noise would spare."""
    spreads = release_cost(beta, 1e9, order)  # of another spread alone
    return float(np.sqrt((release_cost(beta, 1.0, order) - spreads) / cost))


def _independent(answers: Answers, mechanism: KnownMechanism, orders: Matrix) -> Matrix:
    """The Rényi cost (n,) of what was asked and answered, whatever the votes."""
    test, answer = release_costs(mechanism, orders)
    return np.asarray(answers.asked.sum() * test + answers.answered.sum() * answer)


def _order(answers: Answers, mechanism: KnownMechanism, classes: int) -> float:
    """The best one for a share of the data-independent cost, of those where the analysis holds.

    By numbers that are public alone.
    """
    total = _independent(answers, mechanism, ORDERS)
    order = to_epsilon(ORDERS, _EXPECTED * total, answers.delta).order
    noise = mechanism.noise
    while isinstance(noise, Gaussian) and not all(conditions_hold(noise, classes, order)):
        order = 1.0 + (order - 1.0) / 1.5
    return order


def _at_votes(
    histograms: Histogram, answers: Answers, mechanism: KnownMechanism, order: float
) -> tuple[float, Matrix]:
    """The Rényi cost at the votes, and its local sensitivities by distance (N,)."""
    orders, noise = np.array([order]), mechanism.noise
    cost, local = 0.0, np.zeros(max(int(histograms[0].sum()), 1))
    if isinstance(mechanism, InteractiveGNMax):
        screen = threshold_data_independent(mechanism.threshold_noise.scale, orders)
        cost += float(answers.asked.sum() * screen[0])
    if isinstance(mechanism, ConfidentGNMax):
        for votes, times in _counted(histograms[answers.asked]):
            cost += times * float(threshold_data_dependent(votes, mechanism, orders)[0])
            local += times * _within(threshold_local_sensitivity(mechanism, votes, order))
    for votes, times in _counted(histograms[answers.answered]):
        if isinstance(noise, Gaussian):
            cost += times * float(gnmax_data_dependent(votes, noise.scale, orders)[0])
            local += times * _within(gnmax_local_sensitivity(votes, noise, order))
        elif isinstance(noise, Laplace):
            gamma = 1.0 / noise.scale
            cost += times * float(lnmax_data_dependent(votes, gamma, orders)[0])
            local += times * lnmax_local_sensitivity(votes, gamma, order)
        else:
            raise UnknownMechanismError(mechanism, "a released cost")
    return cost, local


def _within(local: Matrix) -> Matrix:
    """The largest local sensitivity up to each distance, of those at each (N,).

    A teacher who votes otherwise need not do so on every query: while one histogram moves another
    may stay where its sensitivity is largest, so that only these add up.
    """
    return np.asarray(np.maximum.accumulate(local))


def _counted(histograms: Histogram) -> list[tuple[Histogram, int]]:
    """Each kind once, with how often it is there: sorted, as no cost depends on the order."""
    if not len(histograms):
        return []
    kinds, times = np.unique(-np.sort(-histograms, axis=-1), axis=0, return_counts=True)
    return list(zip(kinds, times.tolist(), strict=True))
