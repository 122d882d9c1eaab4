"""The histograms where faults that are confined to some of them show, and after how many labels."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.clock import step
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.power import small_ratios_to_see
from ....findings.note import Note
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from ..registry import SHARES
from .counting_faults import SHARES_OF_TEACHERS, total_faults
from .histograms import leaders_together, of_support, sizes
from .laws import LabelFault, divergences, fault_laws, log_laws, mechanism_law
from .plan import POOLED, FaultToSee, Plan
from .rounding_faults import unclaimed_roundings
from .streams import Role

_SURELY_ANSWERED = 4.0  # scales of the threshold's noise
_ONE_LAW = 1e-11  # nats, below which two laws are one
_NAMED = 20.0  # smallest effect over the least total variation of a rounding that is named


TellingHistogram = tuple[Histogram, tuple[LabelFault, ...]]
"""A histogram (c,), and the faults that it should show."""


def telling_histograms(
    claim: LabelsMechanism,
    given: NDArray[np.int64] | None,
    other_totals: bool,
    near: tuple[int, ...],
) -> dict[Role, Iterable[TellingHistogram]]:
    """By roles, the histograms where half the noise shows on each support, or faults of totals.

    given: the histograms (n, c) that alone are asked, if so; near: totals that are served where
    others are refused.
    """
    if given is not None:
        return {Role.SUPPORT: telling_supports(claim, given)}
    found: dict[Role, Iterable[TellingHistogram]] = {Role.SUPPORT: _supports_of_any(claim)}
    if other_totals:
        fewer = (round(share * claim.teachers) for share in SHARES_OF_TEACHERS)
        found[Role.FEWER_VOTES] = _telling_totals(
            claim, tuple(total for total in fewer if 0 < total < claim.teachers)
        )
    elif near:
        found[Role.NEAR_TOTAL] = _telling_totals(claim, near)
    return found


@lru_cache(maxsize=16)  # for other plans of the mechanism
def _supports_of_any(claim: LabelsMechanism) -> tuple[TellingHistogram, ...]:
    return tuple(telling_supports(claim))


def telling_supports(
    claim: LabelsMechanism, pool: NDArray[np.int64] | None = None
) -> Iterator[TellingHistogram]:
    """For each number of classes with votes, where half the noise shows soonest.

    pool: histograms (n, c) to choose from; None for any of the claimed total.
    """
    for size in sizes(claim.classes):
        if pool is None:
            candidates = of_support(claim, claim.teachers, size)
        else:
            candidates = pool[np.count_nonzero(pool, axis=-1) == size]
        if len(candidates):
            yield _most_telling(claim, candidates, _half_the_noise(claim))


@lru_cache(maxsize=16)
def _telling_totals(
    claim: LabelsMechanism, totals: tuple[int, ...]
) -> tuple[TellingHistogram, ...]:
    """For each total of votes, where its own faults and half the noise show."""
    found = []
    for total in totals:
        few = sizes(claim.classes)[1:]
        candidates = np.concatenate([of_support(claim, total, size) for size in few])
        for faults in (tuple(total_faults(claim)), _half_the_noise(claim)):
            if faults and len(candidates):
                found.append(_most_telling(claim, candidates, faults))
    return tuple(found)


def _half_the_noise(claim: LabelsMechanism) -> tuple[LabelFault]:
    note = Note("scale-too-small", "half the claimed scale", {"factor": 0.5})
    return (LabelFault(note, mechanism_law(claim.mechanism(claim.noise.times(0.5)))),)


def _most_telling(
    claim: LabelsMechanism, candidates: NDArray[np.int64], faults: tuple[LabelFault, ...]
) -> TellingHistogram:
    """The candidate (n, c) with the largest divergence of its least visible fault."""
    log_q = log_laws(claim, candidates)
    laws = fault_laws(faults, log_q, candidates.astype(np.float64))
    divergence = divergences(laws, log_q[:, None, :]).min(-1)
    return candidates[int(np.argmax(divergence))], faults


def roundings_to_see(
    claim: LabelsClaim,
    faults: tuple[LabelFault, ...],
    other_totals: bool,
    given: NDArray[np.int64] | None,
) -> Iterator[FaultToSee]:
    """For each rounding that is not claimed, where it shows soonest, and after how many labels.

    faults: all that a plan knows; given: the histograms (n, c) that alone are asked, if so.
    """
    mechanism = claim.mechanism
    if not unclaimed_roundings(mechanism):
        return
    if given is None:
        shown: Iterable[_ShownRounding] = _shown_roundings_of_any(mechanism, other_totals)
    else:
        shown = _shown_roundings(mechanism, given)
    for fault, histogram, law, claimed in shown:
        seen = _labels_to_see(claim, faults, fault, law, claimed)
        yield FaultToSee(fault, histogram, *seen)


def _labels_to_see(
    claim: LabelsClaim,
    faults: tuple[LabelFault, ...],
    fault: LabelFault,
    law: NDArray[np.float64],
    claimed: NDArray[np.float64],
) -> tuple[int, float]:
    """How many labels of a histogram show a small fault of all that are known; what it moves there.

    law, claimed: log-laws (o,) of the fault and of the claim on that histogram.
    """
    wanted = log_threshold(SHARES["class-probabilities"], claim.gate.false_alarm)
    share = POOLED * fault.weight / sum(each.weight for each in faults) * FROM_THE_START
    queries = small_ratios_to_see(law, claimed, float(wanted - np.log(share)))
    return queries, 0.5 * float(np.abs(np.exp(law) - np.exp(claimed)).sum())


_ShownRounding = tuple[LabelFault, tuple[int, ...], NDArray[np.float64], NDArray[np.float64]]
"""A rounding, the histogram on which it shows soonest, its log-law (o,) there, and the claimed."""


@lru_cache(maxsize=16)  # for other plans of the mechanism
def _shown_roundings_of_any(
    claim: LabelsMechanism, other_totals: bool
) -> tuple[_ShownRounding, ...]:
    pool = leaders_together(claim, claim.teachers)
    if other_totals:
        pool = np.concatenate([pool, pool + _more_for_each(claim)])
    return tuple(_shown_roundings(claim, pool))


def _shown_roundings(claim: LabelsMechanism, pool: NDArray[np.int64]) -> Iterator[_ShownRounding]:
    """Of each rounding that is not claimed, where it shows soonest among the histograms (n, c)."""
    votes, log_q = pool.astype(np.float64), log_laws(claim, pool)
    for fault in unclaimed_roundings(claim):
        step("roundings")
        laws = fault_laws((fault,), log_q, votes)
        best = int(np.argmax(divergences(laws, log_q[:, None, :])[:, 0]))
        yield fault, tuple(pool[best].tolist()), laws[best, 0], log_q[best]


def _more_for_each(claim: LabelsMechanism) -> int:
    """Votes for every class with which all queries are answered; 0 where all are anyway."""
    if claim.threshold is None or claim.threshold_noise is None:
        return 0
    each = claim.teachers // claim.classes
    wanted = claim.threshold + _SURELY_ANSWERED * claim.threshold_noise.scale
    most = (max(10 * claim.teachers, 10_000) - claim.teachers) // claim.classes
    return int(np.clip(wanted - each, 0, most))


def roundings_not_excluded(plan: Plan) -> Note | None:
    """The roundings that the labels of the plan may leave unseen; None where none."""
    least, asked = plan.claim.gate.smallest_effect / _NAMED, dict[tuple[int, ...], int]()
    for stream in plan.streams:
        asked[stream.histogram] = asked.get(stream.histogram, 0) + stream.queries
    left = [
        one
        for one in plan.roundings
        if one.moves >= least and asked.get(one.histogram, 0) < one.queries
    ]
    return _not_excluded("rounding-not-excluded", "roundings", "a rounding", left)


def samplings_not_excluded(plan: Plan) -> Note | None:
    """Other ways to draw teachers that the labels of the plan may leave unseen; None where none.

    They are wagered on as other faults are: nothing is asked for them alone. See
    `counting_faults.sampling_faults`.
    """
    votes, left = plan.histograms.astype(np.float64), []
    for fault in plan.faults:
        if fault.note.code != "sampling-way-differs":
            continue
        laws = fault_laws((fault,), plan.log_q, votes)
        apart = divergences(laws, plan.log_q[:, None, :])[:, 0]
        best = int(np.argmax(apart))
        if apart[best] < _ONE_LAW:
            continue  # the same law under another name, as one teacher drawn with replacement
        law, claimed = laws[best, 0], plan.log_q[best]
        queries, moves = _labels_to_see(plan.claim, plan.faults, fault, law, claimed)
        if float(apart @ plan.queries_of_streams) / apart[best] < queries:
            left.append(FaultToSee(fault, plan.streams[best].histogram, queries, moves))
    what = "another way to draw teachers"
    return _not_excluded("sampling-not-excluded", "samplings", what, left)


def _not_excluded(code: str, counted: str, what: str, left: list[FaultToSee]) -> Note | None:
    if not left:
        return None
    words = (
        f"{one.fault.wording} (it changes {100 * one.moves:.2g} % of the labels of "
        f"{list(one.histogram)}; {one.queries:,} labels of that histogram would show it)"
        for one in left
    )
    return Note(
        code,
        f"this run may have missed {what}: {'; or '.join(words)}",
        {counted: len(left), "moves": left[0].moves, "queries": left[0].queries},
    )
