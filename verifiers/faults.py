"""Known faults of aggregators, as the laws that they would draw: pointed alternatives.

Sources are named where a fault was seen in public code. A law needs no great precision: any
distribution fixed beforehand makes a fair wager, a close one a good wager.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..reference import ConfidentGNMax, Mechanism, Noise, probabilities
from ..reference.noise import FAMILIES
from .claim import MechanismClaim

Matrix = NDArray[np.float64]

_FEW_CLASSES = 12
_LEAK = 1e-3
"""Share of the claimed law in every alternative, so that none is ruled out by a single label."""


@dataclass(frozen=True)
class Fault:
    """One fault: what it is, in words that follow "labels fit", and its law (b, o)."""

    wording: str
    law: Callable[[Matrix], Matrix]


def fault_laws(faults: Sequence[Fault], claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, a, o) of faults on histograms (b, c), each with a leak of the claimed law."""
    with np.errstate(divide="ignore"):  # where a fault and the claim both give a label no chance
        laws = [
            np.logaddexp(np.log1p(-_LEAK) + np.log(fault.law(histograms)), np.log(_LEAK) + claimed)
            for fault in faults
        ]
    return np.stack(laws, 1)


def short(noise: Noise) -> str:
    """The text form with four digits, for people."""
    return f"{noise.family}:{noise.scale:.4g}"


def known_faults(claim: MechanismClaim) -> list[Fault]:
    """The faults that are tried on a deployment that makes this claim, the plainer ones first."""
    noise = claim.noise
    faults = [
        Fault("the plurality without any noise", _finish(claim, _plurality)),
        Fault("a uniform draw that ignores the votes", _finish(claim, _uniform)),
        Fault("the smallest noisy count, argmin for argmax", _argmin(claim)),
        Fault("noise missing on classes without votes", _noiseless(claim, _empty)),
        *_bare_classes(claim),
        Fault("the plurality without noise one time in twenty", _now_and_then(claim, _plurality)),
        Fault("a uniform draw one time in twenty", _now_and_then(claim, _uniform)),
        Fault(f"{short(noise)} clipped at twice its scale", _clipped(claim, 2.0)),
        *_scale_faults(claim),
        *_family_faults(claim),
    ]
    if claim.classes > 10:  # tensorflow/privacy, pate_2017: ten classes hard-coded
        faults.append(Fault("noise missing on classes from 10 on", _noiseless(claim, _from_ten)))
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


def _uniform(histograms: Matrix) -> Matrix:
    return np.full(histograms.shape, 1.0 / histograms.shape[-1])


def _argmin(claim: MechanismClaim) -> Callable[[Matrix], Matrix]:
    """Least noisy count (opendp#2912); for noise that is not symmetric, roughly."""

    def law(histograms: Matrix) -> Matrix:
        return np.asarray(probabilities(-histograms, claim.noise))

    return _finish(claim, law)


def _empty(histogram: Matrix) -> NDArray[np.bool_]:
    return np.asarray(histogram == 0)


def _bare_classes(claim: MechanismClaim) -> list[Fault]:
    """Noise missing on a single class: on the first and the last, and on any of few."""
    last = claim.classes - 1
    named = {last: "the last class", 0: "the first class"}
    if claim.classes <= _FEW_CLASSES:
        named |= {k: f"class {k}" for k in range(1, last)}
    return [
        Fault(
            f"noise missing on {wording}",
            _noiseless(claim, lambda histogram, k=k: np.arange(histogram.size) == k),  # type: ignore[misc]
        )
        for k, wording in named.items()
    ]


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
    """Law when the classes that `where` selects get no noise."""

    def cdf(histogram: Matrix, x: Matrix) -> Matrix:
        u = (x - histogram[:, None]) / claim.noise.scale
        return np.where(where(histogram)[:, None], u >= 0, np.exp(claim.noise.log_cdf(u)))

    return _finish(claim, lambda histograms: _race(claim.noise, histograms, cdf))


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
