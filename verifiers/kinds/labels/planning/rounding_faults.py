"""Roundings of noisy counts that a claim does not have, each a known fault.

Equal counts are common once counts are whole, and the first class wins them (numpy's `argmax`), or
the last.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from .....reference import probabilities
from .....reference.arrays import Matrix
from .....reference.noise import Rounded, Rounding
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from .histograms import leaders_together
from .laws import LabelFault, Law, noise_law, release

_MOST_WHOLE = 60.0
"""Largest scale at which a rounding is looked for: beyond, it moves no law by .005."""

_WEIGHT, _WEIGHT_OF_LAST = 6.0, 1.0  # of wagers: their evidence grows slowest
_ALIKE = 1e-7  # nats by which the laws of two roundings differ at most where they count as one

_ROUNDINGS: dict[Rounding, tuple[str, str]] = {
    "cut": ("noisy counts cut to whole numbers, towards zero", "cut"),
    "floor": ("noisy counts rounded down to whole numbers", "rounded down"),
    "round": ("noisy counts rounded to the nearest whole numbers", "rounded"),
    "cut-noise": ("noise cut to whole numbers, towards zero", "noise cut"),
}
"""What each is called alone, and beside others that have its law."""


def rounding_faults(claim: LabelsMechanism) -> Iterator[LabelFault]:
    """The roundings that `claim` does not have, and those whose last of equal counts wins."""
    yield from unclaimed_roundings(claim)
    for alike in _roundings_by_law(claim):
        law = _last_wins_law(claim, alike[0])
        note = _note(alike, f"{_words(alike)}, the last of equal counts", "last")
        yield LabelFault(note, law, _WEIGHT_OF_LAST, numbered=True)


@lru_cache(maxsize=16)
def unclaimed_roundings(claim: LabelsMechanism) -> tuple[LabelFault, ...]:
    """The roundings that `claim` does not have, those with one law of labels together."""
    found, groups, plain = [], _roundings_by_law(claim), claim.noise.unrounded
    own = claim.noise.rounding if isinstance(claim.noise, Rounded) else None
    if groups and own is not None:
        words = "noisy counts that are not rounded to whole numbers"
        note = Note("rounding-differs", f'{words}, as noise = "{plain}" claims', {"rounding": None})
        found.append(LabelFault(note, noise_law(claim, plain), _WEIGHT, numbered=True))
    for alike in groups:
        if own not in alike:
            noise = plain.rounded(alike[0])
            words = f'{_words(alike)}, the first of equal counts, as noise = "{noise}" claims'
            note, law = _note(alike, words, "first"), noise_law(claim, noise)
            found.append(LabelFault(note, law, _WEIGHT, numbered=True))
    return tuple(found)


def _note(alike: tuple[Rounding, ...], words: str, wins: str) -> Note:
    """Any of roundings that have one law; wins: which of equal counts does."""
    return Note("rounding-differs", words, {"rounding": " or ".join(alike), "tie": wins})


def _words(alike: tuple[Rounding, ...]) -> str:
    if len(alike) == 1:
        return _ROUNDINGS[alike[0]][0]
    ways = ", ".join(_ROUNDINGS[how][1] for how in alike)
    return f"noisy counts made whole numbers ({ways}, with the same labels here)"


def _last_wins_law(claim: LabelsMechanism, how: Rounding) -> Law:
    noise = claim.noise.unrounded.rounded(how)

    def law(histograms: Matrix) -> Matrix:
        return np.asarray(probabilities(histograms[:, ::-1], noise)[:, ::-1])

    return release(claim, law)


@lru_cache(maxsize=16)
def _roundings_by_law(claim: LabelsMechanism) -> tuple[tuple[Rounding, ...], ...]:
    """The roundings, those together whose laws differ on no histogram of the claimed teachers.

    None where no rounding could show; of teachers who are drawn no law with one is known.
    """
    if claim.noise.scale > _MOST_WHOLE or claim.sampled is not None:
        return ()
    votes = leaders_together(claim, claim.teachers).astype(np.float64)
    logs: dict[Rounding, Matrix] = {}
    groups: list[list[Rounding]] = []
    for how in _ROUNDINGS:
        chances = probabilities(votes, claim.noise.unrounded.rounded(how))
        logs[how] = np.log(np.maximum(chances, 1e-300))
        for group in groups:
            law = logs[group[0]]
            if float((np.exp(law) * (law - logs[how])).sum(-1).max()) < _ALIKE:
                group.append(how)
                break
        else:
            groups.append([how])
    return tuple(map(tuple, groups))
