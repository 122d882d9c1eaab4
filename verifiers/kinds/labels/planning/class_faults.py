"""Known faults of some classes: they get no noise, or other votes, or win where they lead far."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Noise, NoisyArgmax, log_probabilities, probabilities
from .....reference.arrays import Matrix
from .....reference.noise import Rounded
from .....reference.probabilities import log_derivatives
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from .histograms import ladder
from .laws import LabelFault, Law, first_plurality, mechanism_law, plurality, release

_FEW_CLASSES = 12  # most for which faults of every single class are tried
BARE = "noise-missing-on-classes"
_FEW_VOTES = 0.016  # of the teachers
_HOPELESS = 60.0  # noise scales behind the leader, from which a class never wins
_STEP = 1e-3  # scales of the noise
_LEADS = (0.5, 1.0, 2.0, 3.0)  # in noise scales; the leads of the ladder come on top
_SHORTCUT_WEIGHT = 6.0  # their evidence grows slowest and takes most queries
FAVOURS = (0.1, -0.1, 0.35, -0.35)  # scales of the noise
_FAVOUR_WEIGHT = 0.25  # of each: there are four per class

# -- no noise -------------------------------------------------------------------------------------


def bare_class_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults where classes without votes, with few, or a single one get no noise or never win."""
    words = "noise missing on classes without votes"
    law = noiseless_law(claim, lambda votes: np.asarray(votes == 0))
    yield LabelFault(Note(BARE, words, {"classes": "without votes"}), law)
    note = Note("few-votes-left-out", "classes with few votes left out")
    few = max(1.0, _FEW_VOTES * claim.total)  # as where small counts are suppressed
    law = without(claim, lambda votes: np.asarray((votes > 0) & (votes <= few)))
    yield LabelFault(note, law)
    for k, name in _named_classes(claim).items():
        note = Note(BARE, f"noise missing on {name}", {"class": k})
        law = noiseless_law(claim, lambda votes, k=k: np.arange(votes.size) == k)  # type: ignore[misc]
        yield LabelFault(note, law, of_class=("bare", k))


def _named_classes(claim: LabelsMechanism) -> dict[int, str]:
    """Classes to try one by one, with their names: first and last, or all where there are few."""
    last = claim.classes - 1
    named = {last: "the last class", 0: "the first class"}
    if claim.classes <= _FEW_CLASSES:
        named |= {k: f"class {k}" for k in range(1, last)}
    return named


def noiseless_law(claim: LabelsMechanism, where: Callable[[Matrix], NDArray[np.bool_]]) -> Law:
    """Law when the classes that `where` selects get no noise; of tied ones the first wins."""
    plain = claim.noise.unrounded

    def law(histograms: Matrix) -> Matrix:
        return np.array([race_with_bare(plain, votes, where(votes)) for votes in histograms])

    return release(claim, law)


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


def shortcut_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults where a winner that is far enough ahead is released without noise."""
    leads = [lead * claim.noise.scale for lead in _LEADS]
    for lead in [*leads, *(rung.lead - 0.5 for rung in ladder(claim))]:
        if 0.0 < lead < claim.total:
            words = f"no noise where the leader is more than {lead:.4g} votes ahead"
            note = Note("noise-missing-beyond-lead", words, {"lead": lead})
            yield LabelFault(note, _shortcut_law(claim, lead), _SHORTCUT_WEIGHT)


def _shortcut_law(claim: LabelsMechanism, lead: float) -> Law:
    """Law when a leader more than `lead` votes ahead is released without noise."""
    noisy = mechanism_law(NoisyArgmax(claim.noise))

    def law(histograms: Matrix) -> Matrix:
        ranked = np.sort(histograms, -1)
        ahead = ranked[:, -1:] - ranked[:, -2:-1] > lead
        return np.where(ahead, plurality(histograms), noisy(histograms))

    return release(claim, law)


# -- other votes ---------------------------------------------------------------------------------


def without(claim: LabelsMechanism, gone: Callable[[Matrix], NDArray[np.bool_]]) -> Law:
    """Law when the classes that `gone` selects (b, c), or (c,), never win.

    Where all are gone each wins as often.
    """

    def law(histograms: Matrix) -> Matrix:
        hidden = gone(histograms)
        left = np.where(hidden, 0.0, histograms).max(-1, keepdims=True)  # no votes are below 0
        behind = left - _HOPELESS * claim.noise.scale
        return np.asarray(probabilities(np.where(hidden, behind, histograms), claim.noise))

    return release(claim, law)


def favour_faults(
    claim: LabelsMechanism, favours: Sequence[float] = FAVOURS
) -> Iterator[LabelFault]:
    """Faults where one class gets a fixed number of votes more, or fewer, than were cast for it."""
    for favour in favours:
        votes = favour * claim.noise.scale
        more = f"{abs(votes):.3g} votes {'more' if votes > 0 else 'fewer'} than were cast"
        for k, name in _named_classes(claim).items():
            note = Note("class-favoured", f"{name} given {more}", {"class": k, "votes": votes})
            law, of = _favour_law(claim, k, votes), (f"favour {favour:g}", k)
            yield LabelFault(note, law, _FAVOUR_WEIGHT, of)


def _favour_law(claim: LabelsMechanism, k: int, votes: float) -> Law:
    """Law when class `k` gets `votes` more: to first order in log Q, close enough for a wager."""

    def law(histograms: Matrix) -> Matrix:
        log_q, slopes = _slopes(claim.noise, histograms.tobytes(), histograms.shape)
        tilted = log_q + votes * slopes[k]
        return np.asarray(np.exp(tilted - np.logaddexp.reduce(tilted, -1, keepdims=True)))

    return release(claim, law)


@lru_cache(maxsize=4)
def _slopes(noise: Noise, votes: bytes, shape: tuple[int, int]) -> tuple[Matrix, dict[int, Matrix]]:
    """Log Q (b, o), and by class its derivatives (b, o) by that class's votes.

    votes: the histograms (b, c) as the bytes of an array. With more than `_FEW_CLASSES` only the
    first and the last class are differentiated, by finite differences.
    """
    histograms, classes = np.frombuffer(votes).reshape(shape), shape[-1]
    if classes <= _FEW_CLASSES:
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
