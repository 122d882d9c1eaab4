"""Known faults of aggregators, each in words and as a law of labels to wager on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Exponential, Laplace, Noise
from .....reference.arrays import Matrix
from .....reference.noise import FAMILIES, Rounded
from ....evidence.dirichlet import with_leak
from ....findings.note import Fields, Note
from ..mechanism import LabelsMechanism
from .counting_laws import FEW_TEACHERS, counted_by_votes
from .ladder import ladder
from .laws import (
    FEW_CLASSES,
    Law,
    argmin,
    bare_beyond,
    clipped,
    empty,
    favoured,
    finish,
    first_plurality,
    from_ten,
    left_out,
    mechanism_law,
    noise_law,
    noiseless,
    now_and_then,
    plurality,
    roughly,
    uniform,
)
from .sampled_laws import sampling_laws


class Scaled(Enum):
    """Which noise has the wrong scale."""

    VOTES = "votes"
    THRESHOLD = "threshold"


@dataclass(frozen=True)
class Fault:
    """One fault: what it is, its message in words that follow "labels fit", and its law (b, o).

    weight: relative weight of the wager on it; of_class: (fault name, k) where class k is treated
    unlike the others, None where the fault does not depend on class numbers; scaled: which noise
    has another scale, and by which factor, None for other faults; numbered: whether the law
    depends on the class numbers in another way.
    """

    note: Note = field(hash=False)
    law: Law
    weight: float = 1.0
    of_class: tuple[str, int] | None = None
    scaled: tuple["Scaled", float] | None = None
    numbered: bool = False

    @property
    def wording(self) -> str:
        """What it is, in words that follow "labels fit"."""
        return self.note.message


def fault_laws(faults: Sequence[Fault], claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, a, o) of faults on histograms (b, c), mixed with a little of the claim's."""
    with np.errstate(divide="ignore"):  # where a fault and the claim both give a label no chance
        laws = [with_leak(np.log(fault.law(histograms)), claimed) for fault in faults]
    return np.stack(laws, 1)


def divergences(laws: Matrix, claimed: Matrix) -> Matrix:
    """Kullback-Leibler divergences (..., a) of log-laws (..., a, o) from those claimed."""
    with np.errstate(invalid="ignore"):
        terms = np.exp(laws) * (laws - claimed)
    return np.asarray(np.where(np.isfinite(terms), terms, 0.0).sum(-1))


def rotated_rows(faults: Sequence[Fault], rotation: int, classes: int) -> NDArray[np.int64]:
    """For each fault, the index (a,) of the one with its law once labels are rotated back.

    In a histogram rotated by `rotation` places, position k holds class k - rotation: a fault of
    class k acts on that class. -1 where the matching fault is not among `faults`.
    """
    known = {fault.of_class: at for at, fault in enumerate(faults) if fault.of_class is not None}
    rows = []
    for at, fault in enumerate(faults):
        if fault.of_class is None:
            rows.append(at)
        else:
            what, k = fault.of_class
            rows.append(known.get((what, (k - rotation) % classes), -1))
    return np.array(rows, dtype=np.int64)


def short(noise: Noise) -> str:
    """`family:scale` with four significant digits, and the rounding, for messages."""
    rounding = f";{noise.rounding}" if isinstance(noise, Rounded) else ""
    return f"{noise.unrounded.family}:{noise.scale:.4g}{rounding}"


def known_faults(claim: LabelsMechanism) -> list[Fault]:
    """The faults that are tried on a deployment that makes this claim, the plainer ones first."""
    if claim.sampled is not None:
        return _faults_of_sampled(claim)
    noise = claim.noise
    first = "the plurality, the first class of a tie, without any noise"
    without_votes = {"classes": "without votes"}
    faults = [
        Fault(_NO_NOISE, finish(claim, plurality)),
        Fault(Note("noise-missing", first, {"tie": "first"}), finish(claim, first_plurality)),
        Fault(_UNIFORM, finish(claim, uniform)),
        Fault(_ARGMIN, argmin(claim)),
        Fault(
            Note(_BARE_CLASSES, "noise missing on classes without votes", without_votes),
            noiseless(claim, empty),
        ),
        Fault(Note("few-votes-left-out", "classes with few votes left out"), left_out(claim)),
        *_bare_classes(claim),
        Fault(_SOMETIMES_BARE, now_and_then(claim, plurality)),
        Fault(_SOMETIMES_UNIFORM, now_and_then(claim, uniform)),
        Fault(
            Note("noise-clipped", f"{short(noise)} clipped at twice its scale", {"scales": 2.0}),
            clipped(claim, 2.0),
        ),
        *_scale_faults(claim),
        *_family_faults(claim),
        *_shortcuts(claim),
        *_favoured_classes(claim, _FAVOURS),
        *_counting_faults(claim),
    ]
    if claim.classes > 10:  # tensorflow/privacy, pate_2017: ten classes hard-coded
        law = noiseless(claim, from_ten)
        note = Note(_BARE_CLASSES, "noise missing on classes from 10 on", {"from_class": 10})
        faults.append(Fault(note, law, of_class=("from ten", 0)))
    return faults + _screening_faults(claim)


def cheap_faults(claim: LabelsMechanism) -> list[Fault]:
    """Known faults, other scales excepted, whose law is as cheap to compute as the claimed one.

    For logs, in which each histogram may occur only once.
    """
    if claim.sampled is not None:
        return [fault for fault in _faults_of_sampled(claim) if fault.scaled is None]
    faults = [
        Fault(_NO_NOISE, finish(claim, plurality)),
        Fault(_UNIFORM, finish(claim, uniform)),
        Fault(_ARGMIN, argmin(claim)),
        Fault(_SOMETIMES_BARE, now_and_then(claim, plurality)),
        Fault(_SOMETIMES_UNIFORM, now_and_then(claim, uniform)),
        *_family_faults(claim, roughly),
        *_shortcuts(claim),
        *_favoured_classes(claim, _FAVOURS[-2:]),
    ]
    return faults + _screening_faults(claim)


def _faults_of_sampled(claim: LabelsMechanism) -> list[Fault]:
    """Faults where a part of the teachers is drawn: of the noise's scale, and of what is drawn."""
    least = _LEAST_SAMPLED / claim.noise.scale
    scales = [f for f in _scale_faults(claim) if f.scaled is not None and f.scaled[1] >= least]
    return [
        Fault(_NO_NOISE, finish(claim, plurality)),
        Fault(_UNIFORM, finish(claim, uniform)),
        Fault(_SOMETIMES_BARE, now_and_then(claim, plurality)),
        Fault(_SOMETIMES_UNIFORM, now_and_then(claim, uniform)),
        *scales,
        *(Fault(note, law, _NOISE_WEIGHT) for note, law in sampling_laws(claim)),
    ]


_NO_NOISE = Note("noise-missing", "the plurality without any noise")
_UNIFORM = Note("votes-ignored", "a uniform draw that ignores the votes")
_ARGMIN = Note("smallest-count-released", "the smallest noisy count, argmin for argmax")
_SOMETIMES_BARE = Note(
    "noise-missing-at-times", "the plurality without noise one time in twenty", {"share": 0.05}
)
_SOMETIMES_UNIFORM = Note(
    "votes-ignored-at-times", "a uniform draw one time in twenty", {"share": 0.05}
)
_BARE_CLASSES = "noise-missing-on-classes"


_LEAST_SAMPLED = 0.3  # votes: below, laws of drawn votes take many nodes
_NOISE_WEIGHT = 2.0  # of a wrong scale or family, the commonest questions

NAMED_FACTORS = {
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
"""Factors of the claimed noise scale that are looked for, each in words."""


def _scale_faults(claim: LabelsMechanism) -> list[Fault]:
    scale = claim.noise.scale
    factors = dict(NAMED_FACTORS)
    for value, wording in (
        (math.sqrt(scale), "the square root of the claimed scale"),
        (scale**2, "the square of the claimed scale"),
        (1.0 / scale, "the inverse of the claimed scale"),  # PATE-GAN
        (1.0, "scale 1 whatever is claimed"),  # CaPC, csp.py
    ):
        if all(abs(math.log(value / scale / known)) > 0.02 for known in (*factors, 1.0)):
            factors[value / scale] = wording
    return [
        scale_fault(claim, Scaled.VOTES, factor, wording) for factor, wording in factors.items()
    ]


def scale_fault(claim: LabelsMechanism, of: Scaled, factor: float, wording: str) -> Fault:
    """The fault that noise, of the votes or of the threshold, has `factor` times its scale.

    wording: that scale in words. Raises ValueError for threshold noise without a threshold.
    """
    if of is Scaled.VOTES:
        noise = claim.noise.times(factor)
        law, note = mechanism_law(claim.mechanism(noise)), scale_note(noise, factor, wording)
        return Fault(note, law, weight=_NOISE_WEIGHT, scaled=(of, factor))
    mechanism = claim.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        raise ValueError(f"{claim.name} has no threshold")
    screen = mechanism.threshold_noise.times(factor)
    law = mechanism_law(replace(mechanism, threshold_noise=screen))
    code = "threshold-noise-too-small" if factor < 1.0 else "threshold-noise-too-large"
    note = Note(code, f"threshold noise {short(screen)}, {wording}", {"factor": factor})
    return Fault(note, law, scaled=(of, factor))


def scale_note(noise: Noise, factor: float, wording: str) -> Note:
    """That labels fit noise of another scale; wording: of its factor of the claimed one."""
    code = "scale-too-small" if factor < 1.0 else "scale-too-large"
    return Note(code, f"{short(noise)}, {wording}", {"factor": factor})


def _family_faults(
    claim: LabelsMechanism, law: Callable[[LabelsMechanism, Noise], Law] = noise_law
) -> list[Fault]:
    faults, claimed = [], claim.noise.unrounded
    for family in FAMILIES.values():
        if family is type(claimed):
            continue
        same: Noise = family(claimed.scale)
        if isinstance(claim.noise, Rounded):
            same = same.rounded(claim.noise.rounding)
        ratio = claimed.standard_deviation / family.standard_deviation
        found: dict[str, tuple[Noise, Fields]] = {
            f"{short(same)}, another family at the same scale": (same, {})
        }
        if abs(math.log(ratio)) > 0.02:
            equal = same.times(ratio)
            found[f"{short(equal)}, another family of the same variance"] = equal, {}
        if claim.classes == 2 and isinstance(claimed, Laplace) and family is Exponential:
            twice = same.times(2.0)
            of_one = {"noisy_counts": 1}
            found[f"{short(twice)}, the claimed noise on one of two counts"] = twice, of_one
        for wording, (noise, fields) in found.items():
            of = {"family": noise.unrounded.family, "scale": noise.scale, **fields}
            note = Note("noise-family-differs", wording, of)
            faults.append(Fault(note, law(claim, noise), weight=_NOISE_WEIGHT))
    return faults


_MOST_CUT = 25.0  # largest scale at which counts of other classes are also cut


def _counting_faults(claim: LabelsMechanism) -> list[Fault]:
    """Faults of classes that are counted by another number."""
    found = []
    if claim.teachers > claim.classes:
        by_votes = "as many classes counted as there are votes, then modulo the classes"
        note = Note("classes-counted-by-votes", by_votes, {"cut": False})
        found.append(Fault(note, counted_by_votes(claim, cut=False), numbered=True))
        if claim.teachers <= FEW_TEACHERS and claim.noise.scale <= _MOST_CUT:
            both = f"{by_votes}, and noisy counts cut to whole numbers"
            note = Note("classes-counted-by-votes", both, {"cut": True})
            found.append(Fault(note, counted_by_votes(claim, cut=True), numbered=True))
    return found


def _screening_faults(claim: LabelsMechanism) -> list[Fault]:
    """Faults of Confident-GNMax's screen: skipped, without noise, or with a wrong noise scale."""
    mechanism = claim.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        return []
    skipped = replace(mechanism, threshold=-1e12)
    votes = type(mechanism.threshold_noise)(mechanism.noise.scale)
    noise = replace(mechanism.noise, scale=mechanism.threshold_noise.scale)
    swapped = replace(mechanism, noise=noise, threshold_noise=votes)
    scales = ((1e-3, "none at all"), (0.5, "half the claim"), (2.0, "twice the claim"))
    return [
        Fault(
            Note("threshold-not-applied", "an answer to every query: no threshold"),
            mechanism_law(skipped),
        ),
        *(scale_fault(claim, Scaled.THRESHOLD, factor, wording) for factor, wording in scales),
        Fault(Note("noise-scales-swapped", "the two noise scales swapped"), mechanism_law(swapped)),
    ]


def _bare_classes(claim: LabelsMechanism) -> list[Fault]:
    """Faults where one class gets no noise: the first or last, or any where classes are few."""
    return [
        Fault(
            Note(_BARE_CLASSES, f"noise missing on {wording}", {"class": k}),
            noiseless(claim, lambda histogram, k=k: np.arange(histogram.size) == k),  # type: ignore[misc]
            of_class=("bare", k),
        )
        for k, wording in _named_classes(claim).items()
    ]


def _named_classes(claim: LabelsMechanism) -> dict[int, str]:
    """Classes to try one by one, with their names: first and last, or all where there are few."""
    last = claim.classes - 1
    named = {last: "the last class", 0: "the first class"}
    if claim.classes <= FEW_CLASSES:
        named |= {k: f"class {k}" for k in range(1, last)}
    return named


_FAVOURS = (0.1, -0.1, 0.35, -0.35)  # scales of the noise
_FAVOUR_WEIGHT = 0.25  # of each: there are four per class


def _favoured_classes(claim: LabelsMechanism, favours: Sequence[float]) -> list[Fault]:
    """Faults where one class gets a fixed number of votes more, or fewer, than were cast for it."""
    faults = []
    for favour in favours:
        votes = favour * claim.noise.scale
        more = f"{abs(votes):.3g} votes {'more' if votes > 0 else 'fewer'} than were cast"
        for k, wording in _named_classes(claim).items():
            law = favoured(claim, k, votes)
            what = (f"favour {favour:g}", k)
            note = Note("class-favoured", f"{wording} given {more}", {"class": k, "votes": votes})
            faults.append(Fault(note, law, _FAVOUR_WEIGHT, what))
    return faults


_LEADS = (0.5, 1.0, 2.0, 3.0)  # in noise scales; the leads of the ladder come on top
_SHORTCUT_WEIGHT = 6.0  # their evidence grows slowest and takes most queries


def _shortcuts(claim: LabelsMechanism) -> list[Fault]:
    """Faults where a winner that is far enough ahead is released without noise."""
    leads = [lead * claim.noise.scale for lead in _LEADS]
    leads += [rung.lead - 0.5 for rung in ladder(claim)]
    return [
        Fault(
            Note(
                "noise-missing-beyond-lead",
                f"no noise where the leader is more than {lead:.4g} votes ahead",
                {"lead": lead},
            ),
            bare_beyond(claim, lead),
            _SHORTCUT_WEIGHT,
        )
        for lead in leads
        if 0.0 < lead < claim.total
    ]
