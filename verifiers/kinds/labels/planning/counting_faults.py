"""Known faults of how votes are counted: of which teachers, by which weights, for which classes."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference import (
    Noise,
    NoisyArgmax,
    SampledArgmax,
    Sampling,
    log_probabilities,
    probabilities,
)
from .....reference.arrays import Matrix
from .....reference.mechanisms import ClaimedMechanism
from .....reference.sampling import Way
from ....findings.note import Note
from ....targets.labels import FormRelease
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from ..weighted import each_weight
from .class_faults import BARE, noiseless_law
from .laws import LabelFault, Law, mechanism_law, release, rough_noise_law

SHARES_OF_TEACHERS = (0.8, 0.9)
"""Totals of votes that are tried, as shares of the teachers, where other totals are served."""

_FEW_TEACHERS = 30  # for which a cut is looked for where as many classes are counted as votes
_MOST_CUT = 25.0  # largest scale at which counts of other classes are also cut
_SAMPLED_WEIGHT = 2.0
_TEACHERS = 8  # evenly spaced: teachers next to them vote alike nearly everywhere
_TEACHER_WEIGHT = 3.0  # of each wager on teachers: their evidence grows slowly

# -- classes --------------------------------------------------------------------------------------


def counting_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults of classes that are counted by another number."""
    if claim.teachers > claim.classes:
        words = "as many classes counted as there are votes, then modulo the classes"
        cuts = claim.teachers <= _FEW_TEACHERS and claim.noise.scale <= _MOST_CUT
        for cut in (False, True) if cuts else (False,):
            more = ", and noisy counts cut to whole numbers" if cut else ""
            note = Note("classes-counted-by-votes", words + more, {"cut": cut})
            yield LabelFault(note, counting_law(claim, cut=cut), numbered=True)
    if claim.classes > 10:  # tensorflow/privacy, pate_2017: ten classes hard-coded
        note = Note(BARE, "noise missing on classes from 10 on", {"from_class": 10})
        law = noiseless_law(claim, lambda votes: np.arange(votes.size) >= 10)
        yield LabelFault(note, law, of_class=("from ten", 0))


def counting_law(claim: LabelsMechanism, *, cut: bool) -> Law:
    """Law when as many classes are counted as there are votes, and the winner is taken modulo.

    Every class beyond the claimed ones gets noise and no votes; where there are fewer votes than
    classes the last ones never win (PATE-mlp, `add_global_noise`). cut: whether noisy counts are
    cut to whole numbers too.
    """
    noise = claim.noise.unrounded
    return release(
        claim, lambda votes: np.array([_chances_modulo(noise, one, cut) for one in votes])
    )


def _chances_modulo(noise: Noise, histogram: Matrix, cut: bool) -> Matrix:
    """Probabilities (c,) where as many classes race as there are votes."""
    classes = histogram.size
    counted = max(int(histogram.sum()), int(np.flatnonzero(histogram).max(initial=0)) + 1)
    racing, beyond = histogram[:counted], max(0, counted - classes)
    found = np.zeros(classes)
    if racing.size == 1:
        found[0] = 1.0
    elif cut:
        wins = probabilities(np.append(racing, np.zeros(beyond)), noise.rounded("cut"))
        np.add.at(found, np.arange(wins.size) % classes, wins)
    else:
        votes, times = racing, np.ones(racing.size)
        if beyond:
            votes, times = np.append(racing, 0.0), np.append(times, beyond)
        wins = np.exp(np.asarray(log_probabilities(votes, noise, times)))
        found[: racing.size] = wins[: racing.size]
        np.add.at(found, np.arange(classes, counted) % classes, wins[-1])
    return found


# -- totals of votes ------------------------------------------------------------------------------


def total_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults that only totals other than the claimed teachers show, where no votes are drawn."""
    if claim.sampled is not None:
        return
    teachers, fewest = claim.total, round(min(SHARES_OF_TEACHERS) * claim.total)
    words = f"votes scaled to {teachers} in all, whatever their total"
    note = Note("votes-rescaled", words, {"to": teachers})
    yield LabelFault(note, _rescaling_law(claim, 0, None))
    words = f"votes of {fewest} to {teachers} in all scaled up to {teachers}"
    note = Note("votes-rescaled", words, {"to": teachers, "from_votes": fewest})
    yield LabelFault(note, _rescaling_law(claim, fewest, teachers))
    if claim.refuses:
        words = "the threshold compared with the share of the votes, not with their number"
        note = Note("threshold-of-the-share", words)
        yield LabelFault(note, _share_screen_law(claim, 0, None))
        words += f", where there are {fewest} to {teachers}"
        note = Note("threshold-of-the-share", words, {"from_votes": fewest})
        yield LabelFault(note, _share_screen_law(claim, fewest, teachers))


def _rescaling_law(claim: LabelsMechanism, least: int, below: int | None) -> Law:
    """Law when votes are scaled to the claimed teachers, if least <= total < below (None: any)."""
    right = mechanism_law(claim.mechanism())

    def law(histograms: Matrix) -> Matrix:
        total = histograms.sum(-1, keepdims=True)
        scales = (total >= max(1, least)) & (total < (np.inf if below is None else below))
        return right(histograms * np.where(scales, claim.total / np.maximum(total, 1.0), 1.0))

    return law


def _share_screen_law(claim: LabelsMechanism, least: int, below: int | None) -> Law:
    """Law of Confident-GNMax when votes are scaled to the teachers for its screen alone."""
    right = mechanism_law(claim.mechanism())
    scaled = _rescaling_law(claim, least, below)

    def law(histograms: Matrix) -> Matrix:
        answered, refused = right(histograms), scaled(histograms)[:, -1:]
        kept = np.maximum(1.0 - answered[:, -1:], 1e-300)
        return np.concatenate([answered[:, :-1] * (1.0 - refused) / kept, refused], -1)

    return law


def scaled_up_in_order(claim: LabelsMechanism) -> LabelFault:
    """The fault that fewer votes than teachers are scaled up before noise is added."""
    law = rough_noise_law(claim, claim.noise)

    def scaled(histograms: Matrix) -> Matrix:
        totals = histograms.sum(-1, keepdims=True)
        return law(histograms * np.maximum(1.0, claim.total / np.maximum(totals, 1.0)))

    note = Note("votes-rescaled", "votes scaled up to the number of teachers", {"to": claim.total})
    return LabelFault(note, scaled)


# -- teachers that are drawn, or weigh more than others -------------------------------------------


def sampling_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """Faults of a claim with `sampled`: other teachers drawn, or noise that goes with others."""
    mechanism = claim.mechanism()
    if not isinstance(mechanism, SampledArgmax):
        return
    sampling, noise, teachers = mechanism.sampling, mechanism.noise, claim.teachers
    share = sampling.amount if sampling.drawn is None else sampling.amount / teachers
    none, scaling = "teachers-not-sampled", "noise-scaled-by-sampling"
    words = "the votes of all teachers, of whom none were drawn"
    found: list[tuple[Note, ClaimedMechanism]] = [(Note(none, words), NoisyArgmax(noise))]
    words = "the votes of all teachers, scaled down to as many as are drawn"
    found.append((Note(none, words, {"scaled_by": share}), NoisyArgmax(noise.times(1.0 / share))))
    for factor, words in (
        (share, "drawn votes scaled up to all teachers before the noise"),
        (share**0.5, "noise that shrinks with the square root of the share drawn"),
    ):
        note = Note(scaling, words, {"factor": factor})
        found.append((note, SampledArgmax(noise.times(factor), sampling)))
    words = "the teachers who were not drawn, in place of those drawn"
    others = [(Note("other-teachers-sampled", words), sampling.way, 1.0 - share)]
    for factor, words in ((0.5, "half as many teachers drawn"), (2.0, "twice as many drawn")):
        note = Note("sampling-share-differs", words, {"factor": factor})
        others.append((note, sampling.way, factor * share))
    for way, words in (
        (Way.POISSON, "each teacher drawn apart from the others"),
        (Way.FIXED, "a fixed number of different teachers drawn"),
        (Way.WITH_REPLACEMENT, "teachers drawn with replacement"),
    ):
        others.append((Note("sampling-way-differs", words, {"way": way.value}), way, share))
    for note, way, drawn in others:
        amount = drawn if way is Way.POISSON else round(drawn * teachers)
        possible = 0.0 < amount < 1.0 if way is Way.POISSON else 1 <= amount <= teachers
        if possible and (other := Sampling(way, amount)) != sampling:
            named = replace(note, message=f"{note.message}, {other}")
            found.append((named, SampledArgmax(noise, other)))
    for note, wrong in found:
        yield LabelFault(note, mechanism_law(wrong), _SAMPLED_WEIGHT)


def weight_faults(claim: LabelsClaim) -> list[LabelFault]:
    """Ways to get the claimed weights wrong; none where no weights are claimed."""
    weights = claim.mechanism.weights
    if weights is None:
        return []
    right = each_weight(weights).astype(np.float64)
    swapped = np.repeat([float(w) for _, w in weights[::-1]], [n for n, _ in weights])
    turned = each_weight(weights[::-1]).astype(np.float64)
    to_one, to_teachers = "so that they sum to 1", "so that they sum to the teachers"
    ways = {
        "left out": ("weights left out: each teacher's vote counted once", np.ones(right.size)),
        "squared": ("weights applied twice", right**2),
        "over their mean": (f"weights divided by their mean, {to_teachers}", right / right.mean()),
        "over their sum": (f"weights divided by their sum, {to_one}", right / right.sum()),
        "groups reversed": ("weights of the groups in the reverse order", swapped),
        "teachers reversed": ("weights given to the teachers in the reverse order", turned),
        "inverse": ("the inverse of the weights", 1.0 / right),
    }
    return [
        LabelFault(
            Note("weights-differ", words, {"weights": how}),
            _weighing_law(claim, w),
            _TEACHER_WEIGHT,
        )
        for how, (words, w) in ways.items()
        if not np.array_equal(w, right)
    ]


def _weighing_law(claim: LabelsClaim, weight: NDArray[np.float64]) -> Law:
    """The law where the teachers have these weights (teachers,)."""
    assert claim.inputs is not None
    right, asked = mechanism_law(claim.mechanism.mechanism()), claim.inputs.asked

    def law(histograms: Matrix) -> Matrix:
        found = np.zeros_like(histograms)
        for row, histogram in zip(found, histograms.astype(np.int64), strict=True):
            votes = np.array(asked[tuple(histogram.tolist())].votes, dtype=np.int64)
            np.add.at(row, votes, weight)
        return right(found)

    return law


def teacher_faults(claim: LabelsClaim) -> list[LabelFault]:
    """Faults where one teacher's vote counts three times; none where votes are not sent singly."""
    form, teachers = claim.release, claim.mechanism.teachers
    if not isinstance(form, FormRelease) or form.form == "query":
        return []
    faults = []
    for teacher in sorted({place * teachers // _TEACHERS for place in range(_TEACHERS)}):
        words = f"the vote of teacher {teacher}, or of one who votes alike, counted three times"
        note = Note("teacher-counted-often", words, {"teacher": teacher, "times": 3})
        law = _triple_vote_law(claim.mechanism, form, teacher)
        faults.append(LabelFault(note, law, _TEACHER_WEIGHT, numbered=True))
    return faults


def _triple_vote_law(claim: LabelsMechanism, form: FormRelease, teacher: int) -> Law:
    """The law where the vote of teacher number `teacher` has weight 3."""
    right = mechanism_law(claim.mechanism())

    def law(histograms: Matrix) -> Matrix:
        weighed = histograms.astype(np.float64)
        for row, histogram in zip(weighed, histograms.astype(np.int64), strict=True):
            votes = form.votes(histogram)
            if teacher < votes.size:  # smaller totals lack some teachers
                row[votes[teacher]] += 2.0
        return right(weighed)

    return law
