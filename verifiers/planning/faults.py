"""Known faults of aggregators, as the laws that they would draw: pointed alternatives.

Sources are named where a fault was seen in public code. A law needs no great precision: any
distribution fixed beforehand makes a fair wager, a close one a good wager.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...reference import ConfidentGNMax, Mechanism, Noise, log_probabilities, probabilities
from ...reference.arrays import Matrix
from ...reference.noise import FAMILIES
from ...reference.probabilities import log_derivatives
from ..claim import MechanismClaim
from ..evidence.pointed import LEAK
from .ladder import ladder

_FEW_CLASSES = 12


@dataclass(frozen=True)
class Fault:
    """One fault: what it is, in words that follow "labels fit", and its law (b, o).

    weight: of the wager on it, in proportion; of_class: (what, k) where it treats class k unlike
    the others, None for a fault that does not depend on how the classes are numbered.
    """

    wording: str
    law: Callable[[Matrix], Matrix]
    weight: float = 1.0
    of_class: tuple[str, int] | None = None


def fault_laws(faults: Sequence[Fault], claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, a, o) of faults on histograms (b, c), each with a leak of the claimed law."""
    with np.errstate(divide="ignore"):  # where a fault and the claim both give a label no chance
        laws = [
            np.logaddexp(np.log1p(-LEAK) + np.log(fault.law(histograms)), np.log(LEAK) + claimed)
            for fault in faults
        ]
    return np.stack(laws, 1)


def turned_rows(faults: Sequence[Fault], turn: int, classes: int) -> NDArray[np.int64]:
    """The place (a,) of the fault that acts on labels numbered back as each does on turned ones.

    A histogram whose classes are numbered on by `turn` has its class k - turn at k. -1 where that
    class's fault is not among `faults`.
    """
    known = {fault.of_class: at for at, fault in enumerate(faults) if fault.of_class is not None}
    rows = []
    for at, fault in enumerate(faults):
        if fault.of_class is None:
            rows.append(at)
        else:
            what, k = fault.of_class
            rows.append(known.get((what, (k - turn) % classes), -1))
    return np.array(rows, dtype=np.int64)


def short(noise: Noise) -> str:
    """The text form with four digits, for people."""
    return f"{noise.family}:{noise.scale:.4g}"


def known_faults(claim: MechanismClaim) -> list[Fault]:
    """The faults that are tried on a deployment that makes this claim, the plainer ones first."""
    noise = claim.noise
    faults = [
        Fault("the plurality without any noise", _finish(claim, _plurality)),
        Fault(
            "the plurality, the first class of a tie, without any noise",
            _finish(claim, _first_plurality),
        ),
        Fault("a uniform draw that ignores the votes", _finish(claim, _uniform)),
        Fault("the smallest noisy count, argmin for argmax", _argmin(claim)),
        Fault("noise missing on classes without votes", _noiseless(claim, _empty)),
        Fault("classes with few votes left out", _left_out(claim)),
        *_bare_classes(claim),
        Fault("the plurality without noise one time in twenty", _now_and_then(claim, _plurality)),
        Fault("a uniform draw one time in twenty", _now_and_then(claim, _uniform)),
        Fault(f"{short(noise)} clipped at twice its scale", _clipped(claim, 2.0)),
        *_scale_faults(claim),
        *_family_faults(claim),
        *_shortcuts(claim),
        *_favoured_classes(claim, _FAVOURS),
    ]
    if claim.classes > 10:  # tensorflow/privacy, pate_2017: ten classes hard-coded
        law = _noiseless(claim, _from_ten)
        faults.append(Fault("noise missing on classes from 10 on", law, of_class=("from ten", 0)))
    mechanism = claim.mechanism()
    if isinstance(mechanism, ConfidentGNMax):
        faults += _screening_faults(mechanism)
    return faults


def cheap_faults(claim: MechanismClaim) -> list[Fault]:
    """Those, other scales left out, whose law costs about as much as the claimed one.

    For logs, where a histogram may come once and never again.
    """
    faults = [
        Fault("the plurality without any noise", _finish(claim, _plurality)),
        Fault("a uniform draw that ignores the votes", _finish(claim, _uniform)),
        Fault("the smallest noisy count, argmin for argmax", _argmin(claim)),
        Fault("the plurality without noise one time in twenty", _now_and_then(claim, _plurality)),
        Fault("a uniform draw one time in twenty", _now_and_then(claim, _uniform)),
        *_family_faults(claim),
        *_shortcuts(claim),
        *_favoured_classes(claim, _FAVOURS[-2:]),
    ]
    mechanism = claim.mechanism()
    if isinstance(mechanism, ConfidentGNMax):
        faults += _screening_faults(mechanism)
    return faults


_NAMED_FACTORS = {
    0.5: "half the claimed scale",
    2.0: "twice the claimed scale",
    math.sqrt(0.5): "the claimed scale over the square root of 2",
    0.8: "0.8 of the claimed scale",
    0.9: "0.9 of the claimed scale",
    0.95: "0.95 of the claimed scale",
    1.05: "1.05 times the claimed scale",
    1.1: "1.1 times the claimed scale",
    1.25: "1.25 times the claimed scale",
    math.sqrt(2.0): "the square root of 2 times the claimed scale",
    0.25: "a quarter of the claimed scale",
    4.0: "four times the claimed scale",
}


def _scale_faults(claim: MechanismClaim) -> list[Fault]:
    scale = claim.noise.scale
    factors = dict(_NAMED_FACTORS)
    for value, wording in (
        (math.sqrt(scale), "the square root of the claimed scale"),
        (scale**2, "the square of the claimed scale"),
        (1.0 / scale, "the inverse of the claimed scale"),  # PATE-GAN
        (1.0, "scale 1 whatever is claimed"),  # CaPC, csp.py
    ):
        if all(abs(math.log(value / scale / known)) > 0.02 for known in (*factors, 1.0)):
            factors[value / scale] = wording
    return [
        Fault(
            f"{short(claim.noise.times(factor))}, {wording}",
            _mechanism_law(claim.mechanism(claim.noise.times(factor))),
        )
        for factor, wording in factors.items()
    ]


def _family_faults(claim: MechanismClaim) -> list[Fault]:
    faults = []
    for family in FAMILIES.values():
        if family is type(claim.noise):
            continue
        same = family(claim.noise.scale)
        ratio = claim.noise.standard_deviation / family.standard_deviation
        faults.append(
            Fault(f"{short(same)}, another family at the same scale", _noise_law(claim, same))
        )
        if abs(math.log(ratio)) > 0.02:
            equal = same.times(ratio)
            faults.append(
                Fault(
                    f"{short(equal)}, another family of the same variance", _noise_law(claim, equal)
                )
            )
    return faults


def _screening_faults(mechanism: ConfidentGNMax) -> list[Fault]:
    """Confident-GNMax: the check skipped, without noise, or with noise of another scale."""
    variants = [
        ("an answer to every query: no threshold", replace(mechanism, threshold=-1e12)),
    ]
    variants += [
        (f"threshold noise {short(noise)}, {wording}", replace(mechanism, threshold_noise=noise))
        for factor, wording in (
            (1e-3, "none at all"),
            (0.5, "half the claim"),
            (2.0, "twice the claim"),
        )
        for noise in [mechanism.threshold_noise.times(factor)]
    ]
    swapped = replace(mechanism, noise=mechanism.threshold_noise, threshold_noise=mechanism.noise)
    variants.append(("the two noise scales swapped", swapped))
    return [Fault(wording, _mechanism_law(variant)) for wording, variant in variants]


def _mechanism_law(mechanism: Mechanism) -> Callable[[Matrix], Matrix]:
    def law(histograms: Matrix) -> Matrix:
        return np.asarray(np.exp(mechanism.log_probabilities(histograms)))

    return law


def _noise_law(claim: MechanismClaim, noise: Noise) -> Callable[[Matrix], Matrix]:
    def law(histograms: Matrix) -> Matrix:
        return np.asarray(probabilities(histograms, noise))

    return _finish(claim, law)


def _finish(claim: MechanismClaim, law: Callable[[Matrix], Matrix]) -> Callable[[Matrix], Matrix]:
    """The law of released labels: with a threshold, after the claimed screening."""
    mechanism = claim.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        return law

    def screened(histograms: Matrix) -> Matrix:
        refused = np.exp(mechanism.log_probabilities(histograms)[:, -1:])
        return np.concatenate([law(histograms) * (1.0 - refused), refused], -1)

    return screened


def _plurality(histograms: Matrix) -> Matrix:
    leads = histograms == histograms.max(-1, keepdims=True)
    return np.asarray(leads / leads.sum(-1, keepdims=True))


def _first_plurality(histograms: Matrix) -> Matrix:
    first = histograms.argmax(-1)[..., None]
    return np.asarray(np.arange(histograms.shape[-1]) == first, dtype=np.float64)


def _uniform(histograms: Matrix) -> Matrix:
    return np.full(histograms.shape, 1.0 / histograms.shape[-1])


def _argmin(claim: MechanismClaim) -> Callable[[Matrix], Matrix]:
    """Least noisy count (opendp#2912); for noise that is not symmetric, roughly."""

    def law(histograms: Matrix) -> Matrix:
        return np.asarray(probabilities(-histograms, claim.noise))

    return _finish(claim, law)


def _empty(histogram: Matrix) -> NDArray[np.bool_]:
    return np.asarray(histogram == 0)


_FEW_VOTES = 0.016  # of the teachers


def _left_out(claim: MechanismClaim) -> Callable[[Matrix], Matrix]:
    """Law when classes with one vote to a few can never win, as where small counts are hidden."""
    few = max(1.0, _FEW_VOTES * claim.teachers)

    def law(histograms: Matrix) -> Matrix:
        hidden = (histograms > 0) & (histograms <= few)
        behind = histograms.max(-1, keepdims=True) - 60.0 * claim.noise.scale
        return np.asarray(probabilities(np.where(hidden, behind, histograms), claim.noise))

    return _finish(claim, law)


def _bare_classes(claim: MechanismClaim) -> list[Fault]:
    """Noise missing on a single class: on the first and the last, and on any of few."""
    return [
        Fault(
            f"noise missing on {wording}",
            _noiseless(claim, lambda histogram, k=k: np.arange(histogram.size) == k),  # type: ignore[misc]
            of_class=("bare", k),
        )
        for k, wording in _named_classes(claim).items()
    ]


def _named_classes(claim: MechanismClaim) -> dict[int, str]:
    """The first and the last class, and any of few, in words."""
    last = claim.classes - 1
    named = {last: "the last class", 0: "the first class"}
    if claim.classes <= _FEW_CLASSES:
        named |= {k: f"class {k}" for k in range(1, last)}
    return named


_FAVOURS = (0.1, -0.1, 0.35, -0.35)  # scales of the noise
_STEP = 1e-3  # scales of the noise
_FAVOUR_WEIGHT = 0.25  # of the wager on each: there are four a class


def _favoured_classes(claim: MechanismClaim, favours: Sequence[float]) -> list[Fault]:
    """A class that has so many votes more, or fewer, than were cast for it."""
    faults = []
    for favour in favours:
        votes = favour * claim.noise.scale
        more = f"{abs(votes):.3g} votes {'more' if votes > 0 else 'fewer'} than were cast"
        for k, wording in _named_classes(claim).items():
            law = _favoured(claim, k, votes)
            what = (f"favour {favour:g}", k)
            faults.append(Fault(f"{wording} given {more}", law, _FAVOUR_WEIGHT, what))
    return faults


def _favoured(claim: MechanismClaim, k: int, votes: float) -> Callable[[Matrix], Matrix]:
    """To first order in log Q, which is close enough for a wager and costs one evaluation."""

    def law(histograms: Matrix) -> Matrix:
        shape = histograms.shape
        log_q, slopes = _log_derivatives(claim.noise, histograms.tobytes(), shape)
        tilted = log_q + votes * slopes[k]
        return np.asarray(np.exp(tilted - np.logaddexp.reduce(tilted, -1, keepdims=True)))

    return _finish(claim, law)


@lru_cache(maxsize=4)
def _log_derivatives(
    noise: Noise, votes: bytes, shape: tuple[int, int]
) -> tuple[Matrix, dict[int, Matrix]]:
    """Log Q (b, o), and by class its derivatives (b, o) by that class's votes.

    votes: of the histograms, (b, c), as the bytes of an array. Of many classes the first and the
    last alone are looked at, by a difference each.
    """
    histograms, classes = np.frombuffer(votes).reshape(shape), shape[-1]
    if classes <= _FEW_CLASSES:
        log_q, slopes = log_derivatives(histograms, noise)
        return np.asarray(log_q), {k: slopes[..., k] for k in range(classes)}
    log_q, step = np.asarray(log_probabilities(histograms, noise)), _STEP * noise.scale
    found = {}
    for k in (0, classes - 1):
        moved = np.asarray(log_probabilities(histograms + step * (np.arange(classes) == k), noise))
        found[k] = (moved - log_q) / step
    return log_q, found


_LEADS = (0.5, 1.0, 2.0, 3.0)  # scales of the noise, beside those of the ladder
_SHORTCUT_WEIGHT = 6.0  # their evidence grows slowly, and costs most queries


def _shortcuts(claim: MechanismClaim) -> list[Fault]:
    """The winner told without noise once it is far ahead."""
    leads = [lead * claim.noise.scale for lead in _LEADS]
    leads += [rung.lead - 0.5 for rung in ladder(claim)]
    return [
        Fault(
            f"no noise where the leader is more than {lead:.4g} votes ahead",
            _bare_beyond(claim, lead),
            _SHORTCUT_WEIGHT,
        )
        for lead in leads
        if 0.0 < lead < claim.teachers
    ]


def _bare_beyond(claim: MechanismClaim, lead: float) -> Callable[[Matrix], Matrix]:
    def law(histograms: Matrix) -> Matrix:
        ranked = np.sort(histograms, -1)
        ahead = ranked[:, -1:] - ranked[:, -2:-1] > lead
        return np.where(ahead, _plurality(histograms), probabilities(histograms, claim.noise))

    return _finish(claim, law)


def _now_and_then(
    claim: MechanismClaim, law: Callable[[Matrix], Matrix]
) -> Callable[[Matrix], Matrix]:
    """The claimed law, but for one draw in twenty."""
    right, wrong = _mechanism_law(claim.mechanism()), _finish(claim, law)
    return lambda histograms: 0.95 * right(histograms) + 0.05 * wrong(histograms)


def _from_ten(histogram: Matrix) -> NDArray[np.bool_]:
    return np.arange(histogram.size) >= 10


def _noiseless(
    claim: MechanismClaim, where: Callable[[Matrix], NDArray[np.bool_]]
) -> Callable[[Matrix], Matrix]:
    """Law when the classes that `where` selects get no noise; of those that tie the first wins."""

    def law(histograms: Matrix) -> Matrix:
        return np.array([_race_with_bare(claim.noise, h, where(h)) for h in histograms])

    return _finish(claim, law)


def _race_with_bare(noise: Noise, histogram: Matrix, bare: NDArray[np.bool_]) -> Matrix:
    """Who wins (c,) where the classes `bare` (c,) have no noise: the best of them, or another."""
    if not bare.any() or bare.all():
        return _first_plurality(histogram) if bare.all() else probabilities(histogram, noise)
    best = int(np.argmax(np.where(bare, histogram, -np.inf)))
    noisy = histogram[~bare]
    lead, floor = float(noisy.max()), float(histogram[best])
    low = max(floor, lead - 8.0 * noise.scale)
    edges = np.linspace(low, max(lead, low) + 12.0 * noise.scale, 401)
    logs = np.maximum(noise.log_cdf((edges - noisy[:, None]) / noise.scale), -700.0)
    wins, total = np.zeros(histogram.size), logs.sum(0)
    mass = np.diff(np.exp(logs), axis=-1)
    others = np.exp(total - logs)
    wins[~bare] = (mass * 0.5 * (others[:, 1:] + others[:, :-1])).sum(-1)
    wins[best] += np.exp(total[0]) if low == floor else 0.0
    return np.asarray(wins / wins.sum())


def _clipped(claim: MechanismClaim, bound: float) -> Callable[[Matrix], Matrix]:
    """Law when draws beyond `bound` scales are set to the bound."""

    def cdf(histogram: Matrix, x: Matrix) -> Matrix:
        u = (x - histogram[:, None]) / claim.noise.scale
        return np.where(u >= bound, 1.0, np.where(u < -bound, 0.0, np.exp(claim.noise.log_cdf(u))))

    return _finish(claim, lambda histograms: _race(claim.noise, histograms, cdf))


def _race(noise: Noise, histograms: Matrix, cdf: Callable[[Matrix, Matrix], Matrix]) -> Matrix:
    """Who wins when noisy counts have the cdfs `cdf(histogram, x)` (c, n), cell by cell."""
    laws = []
    for histogram in histograms:
        lead = histogram.max()
        edges = np.linspace(lead - 8.0 * noise.scale, lead + 12.0 * noise.scale, 401)
        values = cdf(histogram, edges)
        mass, middle = np.diff(values, axis=-1), 0.5 * (values[:, 1:] + values[:, :-1])
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(middle, 1e-300))
        wins = (mass * np.exp(logs.sum(0) - logs)).sum(-1)
        laws.append(wins / wins.sum() if wins.sum() > 0 else _plurality(histogram[None])[0])
    return np.array(laws)
