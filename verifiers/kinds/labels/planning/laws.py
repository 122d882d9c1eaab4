"""Laws of labels of faulty aggregators: from histograms (b, c) to probabilities (b, o).

Sources are named where a fault was seen in public code. A law need not be precise: any distribution
fixed beforehand makes a fair wager, and a close one makes it grow faster.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Noise, NoisyArgmax, log_probabilities, probabilities
from .....reference.arrays import Matrix
from .....reference.mechanisms import ClaimedMechanism
from .....reference.noise import Rounded
from .....reference.probabilities import log_derivatives
from .....reference.shared_nodes import won
from ..mechanism import LabelsMechanism

Law = Callable[[Matrix], Matrix]

FEW_CLASSES = 12
"""Most classes for which faults of every single class are tried."""


def mechanism_law(mechanism: ClaimedMechanism) -> Law:
    """The law of labels of `mechanism`, in place of the claimed one."""
    return lambda histograms: _law(mechanism, histograms)


def _law(mechanism: ClaimedMechanism, histograms: Matrix) -> Matrix:
    """Probabilities (b, o) of `mechanism`; kept, since several faults share them."""
    return _kept_law(mechanism, np.ascontiguousarray(histograms).tobytes(), histograms.shape)


@lru_cache(maxsize=4)
def _kept_law(mechanism: ClaimedMechanism, votes: bytes, shape: tuple[int, int]) -> Matrix:
    histograms = np.frombuffer(votes).reshape(shape)
    return np.asarray(np.exp(mechanism.log_probabilities(histograms)))


def noise_law(claim: LabelsMechanism, noise: Noise) -> Law:
    """The law of labels of the claimed mechanism with `noise` on the votes."""
    return finish(claim, lambda histograms: np.asarray(probabilities(histograms, noise)))


_EDGES = np.arange(-8.0, 12.0, 0.2)  # scales of the noise about the leader
_RACED = 256  # histograms at a time


def roughly(claim: LabelsMechanism, noise: Noise) -> Law:
    """`noise_law` on a coarse grid, correct to some thousandths: for thousands of histograms."""

    def law(histograms: Matrix) -> Matrix:
        behind = histograms.max(-1, keepdims=True) - histograms
        offsets, place = np.unique(behind, return_inverse=True)
        plain = noise.unrounded
        logs = np.maximum(plain.log_cdf(_EDGES + offsets[:, None] / noise.scale), -600.0)
        middle = np.logaddexp(logs[:, 1:], logs[:, :-1]) - np.log(2.0)
        share = 2.0 * np.tanh(0.5 * np.diff(logs))  # of each cell, over the mean of its cdf
        starts = range(0, len(place), _RACED)
        wins = np.concatenate([won(middle, share, place[i : i + _RACED])[2] for i in starts])
        return np.asarray(wins / wins.sum(-1, keepdims=True))

    return finish(claim, law)


def finish(claim: LabelsMechanism, law: Law) -> Law:
    """The law of what is released of labels with this law: with a threshold, after the screen."""
    mechanism = claim.mechanism()
    if mechanism == mechanism.answering:
        return law

    def released(histograms: Matrix) -> Matrix:
        with np.errstate(divide="ignore"):
            log_answers = np.log(law(histograms))
        return np.asarray(np.exp(mechanism.released(log_answers, histograms)))

    return released


def plurality(histograms: Matrix) -> Matrix:
    """Probabilities (b, c) of the plurality without noise; classes that tie share them equally."""
    leads = histograms == histograms.max(-1, keepdims=True)
    return np.asarray(leads / leads.sum(-1, keepdims=True))


def first_plurality(histograms: Matrix) -> Matrix:
    """Probabilities (b, c) of the plurality without noise; of classes that tie the first wins."""
    first = histograms.argmax(-1)[..., None]
    return np.asarray(np.arange(histograms.shape[-1]) == first, dtype=np.float64)


def uniform(histograms: Matrix) -> Matrix:
    """The uniform law (b, c), whatever the votes."""
    return np.full(histograms.shape, 1.0 / histograms.shape[-1])


def argmin(claim: LabelsMechanism) -> Law:
    """Law of the smallest noisy count (opendp#2912); approximate for asymmetric noise."""
    return finish(claim, lambda histograms: np.asarray(probabilities(-histograms, claim.noise)))


def empty(histogram: Matrix) -> NDArray[np.bool_]:
    """Which classes (c,) have no votes."""
    return np.asarray(histogram == 0)


_FEW_VOTES = 0.016  # of the teachers
_HOPELESS = 60.0  # noise scales behind the leader, from which a class never wins


def left_out(claim: LabelsMechanism) -> Law:
    """Law when classes with few votes never win, as where small counts are suppressed."""
    few = max(1.0, _FEW_VOTES * claim.total)

    def law(histograms: Matrix) -> Matrix:
        hidden = (histograms > 0) & (histograms <= few)
        behind = histograms.max(-1, keepdims=True) - _HOPELESS * claim.noise.scale
        return np.asarray(probabilities(np.where(hidden, behind, histograms), claim.noise))

    return finish(claim, law)


def without(claim: LabelsMechanism, gone: NDArray[np.bool_]) -> Law:
    """Law when the classes in `gone` (c,) never win."""

    def law(histograms: Matrix) -> Matrix:
        behind = histograms[:, ~gone].max(-1, keepdims=True) - _HOPELESS * claim.noise.scale
        return np.asarray(probabilities(np.where(gone, behind, histograms), claim.noise))

    return finish(claim, law)


_STEP = 1e-3  # scales of the noise


def favoured(claim: LabelsMechanism, k: int, votes: float) -> Law:
    """Law when class `k` gets `votes` more: to first order in log Q, close enough for a wager."""

    def law(histograms: Matrix) -> Matrix:
        shape = histograms.shape
        log_q, slopes = _log_derivatives(claim.noise, histograms.tobytes(), shape)
        tilted = log_q + votes * slopes[k]
        return np.asarray(np.exp(tilted - np.logaddexp.reduce(tilted, -1, keepdims=True)))

    return finish(claim, law)


@lru_cache(maxsize=4)
def _log_derivatives(
    noise: Noise, votes: bytes, shape: tuple[int, int]
) -> tuple[Matrix, dict[int, Matrix]]:
    """Log Q (b, o), and by class its derivatives (b, o) by that class's votes.

    votes: the histograms (b, c) as the bytes of an array. With more than `FEW_CLASSES` only the
    first and the last class are differentiated, by finite differences.
    """
    histograms, classes = np.frombuffer(votes).reshape(shape), shape[-1]
    if classes <= FEW_CLASSES:
        log_q, slopes = log_derivatives(histograms, noise.unrounded)
        if isinstance(noise, Rounded):  # a little tilt is much the same
            log_q = log_probabilities(histograms, noise)
        return np.asarray(log_q), {k: slopes[..., k] for k in range(classes)}
    log_q, step = np.asarray(log_probabilities(histograms, noise)), _STEP * noise.scale
    found = {}
    for k in (0, classes - 1):
        moved = np.asarray(log_probabilities(histograms + step * (np.arange(classes) == k), noise))
        found[k] = (moved - log_q) / step
    return log_q, found


def bare_beyond(claim: LabelsMechanism, lead: float) -> Law:
    """Law when a leader more than `lead` votes ahead is released without noise."""

    def law(histograms: Matrix) -> Matrix:
        ranked = np.sort(histograms, -1)
        ahead = ranked[:, -1:] - ranked[:, -2:-1] > lead
        return np.where(ahead, plurality(histograms), _law(NoisyArgmax(claim.noise), histograms))

    return finish(claim, law)


def scaled_to_the_teachers(claim: LabelsMechanism, least: int, below: int | None) -> Law:
    """Law when votes are scaled to the claimed teachers, if least <= total < below (None: any)."""
    right = mechanism_law(claim.mechanism())

    def law(histograms: Matrix) -> Matrix:
        total = histograms.sum(-1, keepdims=True)
        scales = (total >= max(1, least)) & (total < (np.inf if below is None else below))
        factor = np.where(scales, claim.total / np.maximum(total, 1.0), 1.0)
        return right(histograms * factor)

    return law


def screened_by_the_share(claim: LabelsMechanism, least: int, below: int | None) -> Law:
    """Law of Confident-GNMax when `scaled_to_the_teachers` applies to its screen alone."""
    right = mechanism_law(claim.mechanism())
    scaled = scaled_to_the_teachers(claim, least, below)

    def law(histograms: Matrix) -> Matrix:
        answered, refused = right(histograms), scaled(histograms)[:, -1:]
        kept = np.maximum(1.0 - answered[:, -1:], 1e-300)
        return np.concatenate([answered[:, :-1] * (1.0 - refused) / kept, refused], -1)

    return law


def now_and_then(claim: LabelsMechanism, law: Law) -> Law:
    """The claimed law, mixed with `law` for one draw in twenty."""
    right, wrong = mechanism_law(claim.mechanism()), finish(claim, law)
    return lambda histograms: 0.95 * right(histograms) + 0.05 * wrong(histograms)


def from_ten(histogram: Matrix) -> NDArray[np.bool_]:
    """Which classes (c,) come after the first ten."""
    return np.arange(histogram.size) >= 10


def noiseless(claim: LabelsMechanism, where: Callable[[Matrix], NDArray[np.bool_]]) -> Law:
    """Law when the classes that `where` selects get no noise; of tied ones the first wins."""

    def law(histograms: Matrix) -> Matrix:
        plain = claim.noise.unrounded
        return np.array([race_with_bare(plain, h, where(h)) for h in histograms])

    return finish(claim, law)


def race_with_bare(noise: Noise, histogram: Matrix, bare: NDArray[np.bool_]) -> Matrix:
    """Probability (c,) that each class wins where the classes in `bare` (c,) get no noise."""
    if not bare.any() or bare.all():
        return first_plurality(histogram) if bare.all() else probabilities(histogram, noise)
    best = int(np.argmax(np.where(bare, histogram, -np.inf)))
    # classes with the same votes have the same chance
    noisy, alike, times = np.unique(histogram[~bare], return_inverse=True, return_counts=True)
    lead, floor = float(noisy.max()), float(histogram[best])
    low = max(floor, lead - 8.0 * noise.scale)
    edges = np.linspace(low, max(lead, low) + 12.0 * noise.scale, 401)
    logs = np.maximum(noise.log_cdf((edges - noisy[:, None]) / noise.scale), -700.0)
    wins, total = np.zeros(histogram.size), times @ logs
    mass = np.diff(np.exp(logs), axis=-1)
    others = np.exp(total - logs)
    wins[~bare] = (mass * 0.5 * (others[:, 1:] + others[:, :-1])).sum(-1)[alike]
    wins[best] += np.exp(total[0]) if low == floor else 0.0
    return np.asarray(wins / wins.sum())


def clipped(claim: LabelsMechanism, bound: float) -> Law:
    """Law when draws beyond `bound` scales are set to the bound."""
    noise = claim.noise.unrounded

    def cdf(histogram: Matrix, x: Matrix) -> Matrix:
        u = (x - histogram[:, None]) / noise.scale
        return np.where(u >= bound, 1.0, np.where(u < -bound, 0.0, np.exp(noise.log_cdf(u))))

    return finish(claim, lambda histograms: _race(noise, histograms, cdf))


def _race(noise: Noise, histograms: Matrix, cdf: Callable[[Matrix, Matrix], Matrix]) -> Matrix:
    """Probabilities (b, c) of winning where noisy counts have cdfs `cdf(histogram, x)` (c, n)."""
    laws = []
    for histogram in histograms:
        lead = histogram.max()
        edges = np.linspace(lead - 8.0 * noise.scale, lead + 12.0 * noise.scale, 401)
        # classes with the same votes have the same chance
        votes, alike, times = np.unique(histogram, return_inverse=True, return_counts=True)
        values = cdf(votes, edges)
        mass, middle = np.diff(values, axis=-1), 0.5 * (values[:, 1:] + values[:, :-1])
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(middle, 1e-300))
        wins = (mass * np.exp(times @ logs - logs)).sum(-1)[alike]
        laws.append(wins / wins.sum() if wins.sum() > 0 else plurality(histogram[None])[0])
    return np.array(laws)
