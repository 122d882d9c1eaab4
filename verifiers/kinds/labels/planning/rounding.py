"""Roundings of noisy counts that a claim does not have: their laws, and where they show soonest.

Equal counts are common once counts are whole, and the first class wins them (numpy's `argmax`), or
the last. A rounding shows where many classes lead together, and the more the smaller the noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .....reference import Histogram, Noise, probabilities
from .....reference.arrays import Matrix
from .....reference.clock import step
from .....reference.noise import ROUNDINGS, Rounded, Rounding
from ....evidence.dirichlet import FROM_THE_START
from ....evidence.power import small_ratios_to_see
from ....findings.note import Note
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from ..registry import SHARES
from .extent import FULL
from .faults import Fault, divergences, fault_laws
from .kinds import sizes
from .laws import Law, finish
from .plan import POOLED, Plan
from .roles import Role
from .stream_planner import StreamPlanner

MOST_WHOLE = 60.0
"""Largest scale at which a rounding is looked for: beyond, it moves no law by .005."""

_FINER = 3.0  # smallest effect over the least total variation that is looked for
_NAMED = 20.0  # and over the least that is named where it was not excluded
_WEIGHT, _WEIGHT_OF_LAST = 6.0, 1.0  # of wagers: their evidence grows slowest
_ALIKE = 1e-7  # nats by which the laws of two roundings differ at most where they count as one
_LEADS = (0.0, 0.4, 1.0, 2.0)  # of the leading classes, in scales of the noise
_SURELY_ANSWERED = 4.0  # scales of the threshold's noise

_FIRST, _LAST = "the first of equal counts", "the last of equal counts"
_WORDS: dict[Rounding, str] = {
    "cut": "noisy counts cut to whole numbers, towards zero",
    "cut-noise": "noise cut to whole numbers, towards zero",
    "round": "noisy counts rounded to the nearest whole numbers",
    "floor": "noisy counts rounded down to whole numbers",
}
_UNROUNDED = "noisy counts that are not rounded to whole numbers"
_ANY = "noisy counts made whole numbers ({}, with the same labels here)"
_WAYS: dict[Rounding, str] = {
    "cut": "cut",
    "cut-noise": "noise cut",
    "round": "rounded",
    "floor": "rounded down",
}


def rounding_faults(claim: LabelsMechanism) -> list[Fault]:
    """The roundings that `claim` does not have, and those whose last of equal counts wins."""
    return [*unclaimed_roundings(claim), *_won_by_the_last(claim)]


@lru_cache(maxsize=16)
def unclaimed_roundings(claim: LabelsMechanism) -> tuple[Fault, ...]:
    """The roundings that `claim` does not have, those with one law of labels together."""
    if not _is_looked_for(claim):
        return ()
    found, own = [], claim.noise.rounding if isinstance(claim.noise, Rounded) else None
    if own is not None:
        plain = claim.noise.unrounded
        law = finish(claim, lambda histograms: np.asarray(probabilities(histograms, plain)))
        words = f"{_UNROUNDED}, {_claimed_as(plain)}"
        note = Note("rounding-differs", words, {"rounding": None})
        found.append(Fault(note, law, _WEIGHT, numbered=True))
    for together in _alike(claim):
        if own not in together:
            noise = claim.noise.unrounded.rounded(together[0])
            words = f"{_words(together)}, {_FIRST}, {_claimed_as(noise)}"
            note = _note(together, words, "first")
            found.append(Fault(note, _law(claim, noise), _WEIGHT, numbered=True))
    return tuple(found)


def _is_looked_for(claim: LabelsMechanism) -> bool:
    """Whether a rounding could show; of teachers who are drawn no law with one is known."""
    return claim.noise.scale <= MOST_WHOLE and claim.sampled is None


def _won_by_the_last(claim: LabelsMechanism) -> Iterator[Fault]:
    """Every rounding, where the last of equal counts wins."""
    for together in _alike(claim) if _is_looked_for(claim) else ():
        law = _law(claim, claim.noise.unrounded.rounded(together[0]), last=True)
        note = _note(together, f"{_words(together)}, {_LAST}", "last")
        yield Fault(note, law, _WEIGHT_OF_LAST, numbered=True)


def _note(together: tuple[Rounding, ...], words: str, wins: str) -> Note:
    """Any of roundings that have one law; wins: which of equal counts does."""
    return Note("rounding-differs", words, {"rounding": " or ".join(together), "tie": wins})


def _words(together: tuple[Rounding, ...]) -> str:
    if len(together) == 1:
        return _WORDS[together[0]]
    return _ANY.format(", ".join(_WAYS[how] for how in together))


def _claimed_as(noise: Noise) -> str:
    return f'as noise = "{noise}" claims'


def _law(claim: LabelsMechanism, noise: Noise, *, last: bool = False) -> Law:
    """The law of labels with this noise; last: where the last of equal counts wins."""

    def law(histograms: Matrix) -> Matrix:
        if last:
            return np.asarray(probabilities(histograms[:, ::-1], noise)[:, ::-1])
        return np.asarray(probabilities(histograms, noise))

    return finish(claim, law)


@lru_cache(maxsize=16)
def _alike(claim: LabelsMechanism) -> tuple[tuple[Rounding, ...], ...]:
    """The roundings, those together whose laws differ on no histogram of the claimed teachers."""
    votes = _candidates(claim, claim.teachers).astype(np.float64)
    plain = claim.noise.unrounded
    laws = {how: np.log(_some(plain.rounded(how), votes)) for how in ROUNDINGS}
    groups: list[list[Rounding]] = []
    for how in ("cut", "floor", "round", "cut-noise"):
        for group in groups:
            law, other = laws[group[0]], laws[how]
            if float((np.exp(law) * (law - other)).sum(-1).max()) < _ALIKE:
                group.append(how)
                break
        else:
            groups.append([how])
    return tuple(map(tuple, groups))


def _some(noise: Noise, votes: Matrix) -> Matrix:
    return np.asarray(np.maximum(probabilities(votes, noise), 1e-300))


def _candidates(claim: LabelsMechanism, total: int) -> Histogram:
    """Histograms (n, c): some classes lead together, one, all or none of the others close behind.

    The leaders are the first classes, or the last.
    """
    classes, found = claim.classes, set()
    for leaders in sizes(classes):
        for others in {0, min(1, classes - leaders), classes - leaders}:
            for lead in _LEADS if others else (0.0,):
                ahead = round(lead * claim.noise.scale)
                behind = (total - leaders * ahead) // (leaders + others)
                if behind < 0:
                    continue
                votes = np.zeros(classes, dtype=np.int64)
                votes[: leaders + others] = behind
                votes[:leaders] += ahead
                votes[0] += total - votes.sum()
                found |= {tuple(votes.tolist()), tuple(votes[::-1].tolist())}
    return np.array(sorted(found), dtype=np.int64)


@dataclass(frozen=True)
class ToSee:
    """A fault, the histogram (c,) where it shows soonest, and the labels that it takes there.

    moves: total variation by which it moves the law there.
    """

    fault: Fault
    histogram: tuple[int, ...]
    queries: int
    moves: float


def to_see(
    claim: LabelsClaim, faults: tuple[Fault, ...], other_totals: bool, given: Histogram | None
) -> Iterator[ToSee]:
    """For each of `faults` that is a rounding, what it takes to see it.

    faults: all that a plan knows; given: the histograms (n, c) that alone are asked, if so.
    """
    mechanism = claim.mechanism
    roundings = unclaimed_roundings(mechanism)
    if not roundings:
        return
    pool = _candidates(mechanism, mechanism.teachers) if given is None else given
    if other_totals and given is None:
        pool = np.concatenate([pool, pool + _raise(mechanism)])
    votes = pool.astype(np.float64)
    log_q = np.asarray(mechanism.mechanism().log_probabilities(votes))
    total = sum(fault.weight for fault in faults)
    wanted = log_threshold(SHARES["class-probabilities"], claim.gate.false_alarm)
    for fault in roundings:
        step("roundings")
        laws = fault_laws((fault,), log_q, votes)
        best = int(np.argmax(divergences(laws, log_q[:, None, :])[:, 0]))
        law = laws[best, 0]
        share = POOLED * fault.weight / total * FROM_THE_START
        queries = small_ratios_to_see(law, log_q[best], float(wanted - np.log(share)))
        moves = 0.5 * float(np.abs(np.exp(law) - np.exp(log_q[best])).sum())
        yield ToSee(fault, tuple(pool[best].tolist()), queries, moves)


def _raise(mechanism: LabelsMechanism) -> int:
    """Votes for every class with which all queries are answered; 0 where all are anyway."""
    if mechanism.threshold is None or mechanism.threshold_noise is None:
        return 0
    even = mechanism.teachers // mechanism.classes
    wanted = mechanism.threshold + _SURELY_ANSWERED * mechanism.threshold_noise.scale
    most = (max(10 * mechanism.teachers, 10_000) - mechanism.teachers) // mechanism.classes
    return int(np.clip(wanted - even, 0, most))


def add_roundings(planner: StreamPlanner, seen: tuple[ToSee, ...], explored: int) -> None:
    """Adds the histograms that show roundings, those that take fewest labels first.

    One that shows several is added once, with as many labels as the largest of them needs. Left out
    are roundings that move the labels by less than a third of the smallest effect, and those beyond
    the budget. explored: how many streams are still to come.
    """
    if planner.claim.mechanism.caching or planner.extent != FULL:
        return
    asked: dict[tuple[int, ...], int] = {}
    least = planner.claim.gate.smallest_effect / _FINER
    for one in sorted((one for one in seen if one.moves >= least), key=lambda one: one.queries):
        room = planner.room(explored) - sum(asked.values()) + asked.get(one.histogram, 0)
        if one.queries <= room:
            asked[one.histogram] = one.queries
    for histogram, queries in asked.items():
        planner.add(Role.ROUNDED, np.array(histogram, dtype=np.int64), queries, shuffle=False)


def not_excluded(plan: Plan) -> Note | None:
    """The roundings that the labels of the plan may leave unseen; None where none."""
    least, asked = plan.claim.gate.smallest_effect / _NAMED, dict[tuple[int, ...], int]()
    for stream in plan.streams:
        asked[stream.histogram] = asked.get(stream.histogram, 0) + stream.queries
    left = [
        one
        for one in plan.roundings
        if one.moves >= least and asked.get(one.histogram, 0) < one.queries
    ]
    if not left:
        return None
    words = (
        f"{one.fault.wording} (it changes {100 * one.moves:.2g} % of the labels of "
        f"{list(one.histogram)}; {one.queries:,} labels of that histogram would show it)"
        for one in left
    )
    return Note(
        "rounding-not-excluded",
        f"this run may have missed a rounding: {'; or '.join(words)}",
        {"roundings": len(left), "moves": left[0].moves, "queries": left[0].queries},
    )
