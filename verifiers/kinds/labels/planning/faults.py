"""Known faults of aggregators: one list for what a run asks, for the causes of a log, for codes.

`known_faults` has those of any mechanism, the plainer ones first; `planned_faults` has all that a
run looks for, `order_faults` what may be wrong in some calls only. Sources are named where a fault
was seen in public code.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Exponential, Laplace, Noise, probabilities
from .....reference.arrays import Matrix
from .....reference.noise import FAMILIES, Rounded
from ....findings.note import Fields, Note
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .class_faults import (
    FAVOURS,
    bare_class_faults,
    favour_faults,
    shortcut_faults,
)
from .counting_faults import (
    counting_faults,
    sampling_faults,
    teacher_faults,
    total_faults,
    weight_faults,
)
from .laws import (
    LabelFault,
    Law,
    ScaledNoise,
    clipped,
    fault_laws,
    first_plurality,
    mechanism_law,
    noise_law,
    now_and_then_law,
    plurality,
    raced,
    release,
    rough_noise_law,
    uniform,
)
from .rounding_faults import rounding_faults

_NOISE_WEIGHT = 2.0  # of a wrong scale or family, the commonest questions
_LEAST_SAMPLED = 0.3  # votes: below, laws of drawn votes take many nodes
_FACTORS_IN_ORDER = (0.5, 0.25, 0.7, 2.0)  # of the claimed noise scale
_BARE_IN_ORDER = 0.97  # share of plurality labels where noise is left out
_NO_NOISE = 1e-3  # of the claimed scale, at which a law can still be computed
_NO_THRESHOLD = -1e12
_MOST_NATS = 50.0  # that one label in order counts

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


def planned_faults(claim: LabelsClaim) -> tuple[LabelFault, ...]:
    """The faults that a run of this claim looks for."""
    of_teachers = weight_faults(claim) or teacher_faults(claim)
    return (*_of_mechanism(claim.mechanism), *of_teachers)


@lru_cache(maxsize=16)  # many plans share them
def _of_mechanism(claim: LabelsMechanism) -> tuple[LabelFault, ...]:
    return (*known_faults(claim), *total_faults(claim), *rounding_faults(claim))


def known_faults(claim: LabelsMechanism, *, cheap: bool = False) -> list[LabelFault]:
    """The faults that are tried on a deployment that makes this claim, the plainer ones first.

    cheap: those alone whose law is as cheap to compute as the claimed one, other scales excepted:
    for logs, in which each histogram may occur only once.
    """
    return [*_general_faults(claim, cheap), *_screening_faults(claim), *sampling_faults(claim)]


def _general_faults(claim: LabelsMechanism, cheap: bool) -> Iterator[LabelFault]:
    drawn = claim.sampled is not None
    whole = not drawn and not cheap
    words = "the plurality without any noise"
    yield LabelFault(Note("noise-missing", words), release(claim, plurality))
    if whole:
        words = "the plurality, the first class of a tie, without any noise"
        note = Note("noise-missing", words, {"tie": "first"})
        yield LabelFault(note, release(claim, first_plurality))
    words = "a uniform draw that ignores the votes"
    yield LabelFault(Note("votes-ignored", words), release(claim, uniform))
    if not drawn:
        words = "the smallest noisy count, argmin for argmax"  # opendp#2912
        law = release(claim, lambda votes: np.asarray(probabilities(-votes, claim.noise)))
        yield LabelFault(Note("smallest-count-released", words), law)
    if whole:
        yield from bare_class_faults(claim)
    words = "the plurality without noise one time in twenty"
    note = Note("noise-missing-at-times", words, {"share": 0.05})
    yield LabelFault(note, now_and_then_law(claim, plurality))
    note = Note("votes-ignored-at-times", "a uniform draw one time in twenty", {"share": 0.05})
    yield LabelFault(note, now_and_then_law(claim, uniform))
    if whole:
        words = f"{short(claim.noise)} clipped at twice its scale"
        yield LabelFault(Note("noise-clipped", words, {"scales": 2.0}), _clipping_law(claim, 2.0))
    if not cheap:
        yield from _scale_faults(claim)
    if not drawn:
        yield from _family_faults(claim, rough_noise_law if cheap else noise_law)
        yield from shortcut_faults(claim)
        yield from favour_faults(claim, FAVOURS[-2:] if cheap else FAVOURS)
    if whole:
        yield from counting_faults(claim)


# -- other noise ----------------------------------------------------------------------------------


def _clipping_law(claim: LabelsMechanism, bound: float) -> Law:
    """Law when draws beyond `bound` scales are set to the bound."""
    noise = claim.noise.unrounded
    log_cdf = clipped(noise, bound)

    def of_one(histogram: Matrix) -> Matrix:
        lead = histogram.max()
        edges = np.linspace(lead - 8.0 * noise.scale, lead + 12.0 * noise.scale, 401)
        wins = raced(histogram, edges, log_cdf)
        if wins.sum() == 0.0:
            return np.asarray(plurality(histogram[None])[0])
        return np.asarray(wins / wins.sum())

    return release(claim, lambda histograms: np.array([of_one(votes) for votes in histograms]))


def _scale_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
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
    least = 0.0 if claim.sampled is None else _LEAST_SAMPLED / scale
    for factor, wording in factors.items():
        if factor >= least:
            yield scale_fault(claim, ScaledNoise.VOTES, factor, wording)


def scale_fault(claim: LabelsMechanism, of: ScaledNoise, factor: float, wording: str) -> LabelFault:
    """The fault that noise, of the votes or of the threshold, has `factor` times its scale.

    wording: that scale in words. Raises ValueError for threshold noise without a threshold.
    """
    if of is ScaledNoise.VOTES:
        noise = claim.noise.times(factor)
        law, note = mechanism_law(claim.mechanism(noise)), scale_note(noise, factor, wording)
        return LabelFault(note, law, _NOISE_WEIGHT, scaled=(of, factor))
    mechanism = claim.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        raise ValueError(f"{claim.name} has no threshold")
    screen = mechanism.threshold_noise.times(factor)
    law = mechanism_law(replace(mechanism, threshold_noise=screen))
    code = "threshold-noise-too-small" if factor < 1.0 else "threshold-noise-too-large"
    words = f"threshold noise {short(screen)}, {wording}"
    words = wording if factor <= _NO_NOISE else words
    note = Note(code, words, {"factor": factor})
    return LabelFault(note, law, scaled=(of, factor))


def scale_note(noise: Noise, factor: float, wording: str) -> Note:
    """That labels fit noise of another scale; wording: of its factor of the claimed one."""
    code = "scale-too-small" if factor < 1.0 else "scale-too-large"
    return Note(code, f"{short(noise)}, {wording}", {"factor": factor})


def short(noise: Noise) -> str:
    """`family:scale` with four significant digits, and the rounding, for messages."""
    rounding = f";{noise.rounding}" if isinstance(noise, Rounded) else ""
    return f"{noise.unrounded.family}:{noise.scale:.4g}{rounding}"


def _family_faults(
    claim: LabelsMechanism, law: Callable[[LabelsMechanism, Noise], Law]
) -> Iterator[LabelFault]:
    claimed = claim.noise.unrounded
    for family in FAMILIES.values():
        if family is type(claimed):
            continue
        same: Noise = family(claimed.scale)
        if isinstance(claim.noise, Rounded):
            same = same.rounded(claim.noise.rounding)
        ratio = claimed.standard_deviation / family.standard_deviation
        found: list[tuple[Noise, str, Fields]] = [(same, "another family at the same scale", {})]
        if abs(math.log(ratio)) > 0.02:
            found.append((same.times(ratio), "another family of the same variance", {}))
        if claim.classes == 2 and isinstance(claimed, Laplace) and family is Exponential:
            words = "the claimed noise on one of two counts"
            found.append((same.times(2.0), words, {"noisy_counts": 1}))
        for noise, words, more in found:
            fields = {"family": noise.unrounded.family, "scale": noise.scale, **more}
            note = Note("noise-family-differs", f"{short(noise)}, {words}", fields)
            yield LabelFault(note, law(claim, noise), _NOISE_WEIGHT)


def _screening_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults of Confident-GNMax's screen: skipped, without noise, or with a wrong noise scale."""
    mechanism = claim.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        return
    note = Note("threshold-not-applied", "an answer to every query: no threshold")
    yield LabelFault(note, mechanism_law(replace(mechanism, threshold=_NO_THRESHOLD)))
    scales = (
        (_NO_NOISE, "a threshold that is compared without noise"),
        (0.5, "half the claim"),
        (2.0, "twice the claim"),
    )
    for factor, wording in scales:
        yield scale_fault(claim, ScaledNoise.THRESHOLD, factor, wording)
    votes = type(mechanism.threshold_noise)(mechanism.noise.scale)
    noise = replace(mechanism.noise, scale=mechanism.threshold_noise.scale)
    swapped = replace(mechanism, noise=noise, threshold_noise=votes)
    note = Note("noise-scales-swapped", "the two noise scales swapped")
    yield LabelFault(note, mechanism_law(swapped))


def order_faults(claim: LabelsMechanism) -> list[LabelFault]:
    """What may be wrong in some calls only: scales (half first), no noise and no screening."""
    mechanism = claim.mechanism()
    right, bare = rough_noise_law(claim, claim.noise), release(claim, plurality)
    faults = []
    for factor in _FACTORS_IN_ORDER:
        noise = claim.noise.times(factor)
        words = _NAMED_FACTORS.get(factor, f"{factor} of the claimed scale")
        faults.append(LabelFault(scale_note(noise, factor, words), rough_noise_law(claim, noise)))

    def mostly_bare(histograms: Matrix) -> Matrix:
        return _BARE_IN_ORDER * bare(histograms) + (1.0 - _BARE_IN_ORDER) * right(histograms)

    faults.append(LabelFault(Note("noise-missing", "the plurality without noise"), mostly_bare))
    if isinstance(mechanism, ConfidentGNMax):
        note = Note("threshold-not-applied", "an answer to every query")
        law = mechanism_law(replace(mechanism, threshold=_NO_THRESHOLD))
        faults.append(LabelFault(note, law))
    return faults


def log_ratios_in_order(
    faults: Sequence[LabelFault], log_q: Matrix, histograms: Matrix
) -> NDArray[np.float64]:
    """Log-ratios (n, a, o) of faults against the claimed log-laws (n, o), at most `_MOST_NATS`.

    A label that is impossible under the claim counts nothing here: other checks see it.
    """
    with np.errstate(invalid="ignore"):
        ratios = fault_laws(faults, log_q, histograms) - log_q[:, None, :]
    return np.minimum(np.nan_to_num(ratios, nan=0.0, posinf=_MOST_NATS), _MOST_NATS)
