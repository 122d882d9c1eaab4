"""The histograms that a run asks where any may be asked, and those that open it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.clock import step
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .given_inputs import given_inputs
from .histograms import (
    even,
    even_pair,
    simple_histograms,
    tied_pair,
    typical,
    unanimous,
)
from .laws import LabelFault, log_laws
from .pool import CLEAR, candidates, least_predictable, probes
from .streams import Role

_OTHER_TOTALS = (3, 9)  # factors of the claimed teachers at which other totals are tried
_EXPLORERS = 26


def probe(claim: LabelsClaim) -> tuple[Any, int | None]:
    """An input that shows the pace of a target, and the largest call of it that a run makes."""
    return opening_histogram(claim), claim.gate.largest_call


def opening_histogram(claim: LabelsClaim) -> Histogram:
    """The histogram of the first call: that with the least predictable labels.

    Among the claim's inputs, or else among those even over the first k classes.
    """
    if claim.given:
        return given_inputs(claim).least_predictable()
    classes, teachers = claim.mechanism.classes, claim.mechanism.teachers
    found = np.array([even(classes, teachers, k) for k in range(1, classes + 1)])
    best: Histogram = found[least_predictable(claim.mechanism, found)]
    return best


def clearest_histogram(claim: LabelsClaim) -> Histogram:
    """The claim's input with the most predictable label; without inputs, all votes on one class."""
    if claim.given:
        return given_inputs(claim).clearest()
    return unanimous(claim.mechanism.classes, claim.mechanism.teachers)[::-1].copy()


def asked_of_any(
    claim: LabelsClaim,
    seed: int,
    faults: tuple[LabelFault, ...],
    *,
    other_totals: bool,
    symmetries: bool,
) -> dict[Role, Sequence[Histogram]]:
    """What a plan asks by roles, where any histogram may be asked; symmetries: whether of twins."""
    mechanism, effect = claim.mechanism, claim.gate.smallest_effect
    classes, teachers = mechanism.classes, mechanism.teachers
    step("candidates")
    pool = candidates(mechanism, teachers, seed)
    step("probes")
    asked: dict[Role, Sequence[Histogram]] = {
        Role.PROBE: probes(mechanism, seed, faults),
        Role.INFORMATIVE: [pool.most_informative(effect)],
        Role.NEAR_TIE: [pool.near_tie(effect)],
        Role.FRESH: [opening_histogram(claim)],
        Role.EXPLORER: _explorers(classes, teachers, seed, other_totals),
        Role.TYPICAL: list(typical(mechanism, other_totals)),
        Role.HIGH_CONSENSUS: [unanimous(classes, teachers)],
        Role.SIMPLE: simple_histograms(classes, teachers),
    }
    if not symmetries:
        asked[Role.LATE] = asked[Role.NEAR_TIE]
    elif other_totals:
        asked[Role.SMALLER_TOTAL] = [_smaller_total(mechanism)]
        asked[Role.OTHER_TOTAL] = [_clear_winner_of_other_total(mechanism, seed)]
    else:
        asked[Role.CLEAR_WINNER] = [pool.clear_winner()[0]]
    if not mechanism.caching:
        asked[Role.EVEN] = even_pair(mechanism)
        if other_totals or mechanism.adjacency == "replace-one":
            asked[Role.PAIR] = tied_pair(mechanism)
    return asked


def _smaller_total(claim: LabelsMechanism) -> Histogram:
    """The smallest unanimous histogram with a clear winner; all teachers where none has one."""
    totals = np.unique(np.linspace(1, claim.teachers, 100).astype(np.int64))
    found = np.zeros((totals.size, claim.classes), dtype=np.int64)
    found[:, 0] = totals
    clear = np.exp(log_laws(claim, found)[:, 0]) >= CLEAR
    smallest: Histogram = found[int(np.argmax(clear)) if clear.any() else -1]
    return smallest


@lru_cache(maxsize=16)
def _clear_winner_of_other_total(claim: LabelsMechanism, seed: int) -> Histogram:
    """A clear winner at the smallest of the other totals that allow one, else at the largest."""
    for factor in _OTHER_TOTALS:
        step("candidates of other totals")
        histogram, chance = candidates(claim, factor * claim.teachers, seed).clear_winner()
        if chance > CLEAR:
            break
    return histogram


def _explorers(classes: int, teachers: int, seed: int, other_totals: bool) -> list[Histogram]:
    """Distinct histograms of the claimed total, and a few of other totals, from Hypothesis."""
    from ..strategies import drawn_votes

    step("explorers")
    few = _EXPLORERS // 5 if other_totals else 0
    found: list[NDArray[np.int64]] = []
    for least, most, count in (teachers, teachers, _EXPLORERS - few), (1, 10 * teachers, few):
        drawn = drawn_votes(classes, least, most, 2 * count, seed) if count else ()
        found += [np.array(votes, dtype=np.int64) for votes in list(dict.fromkeys(drawn))[:count]]
    # explorer i is rotated so that class i leads: every class leads somewhere
    return [np.roll(votes, place - int(votes.argmax())) for place, votes in enumerate(found)]
