"""Whether a target of numbers answers one of two neighbours, and never the other.

That one is refused and the other answered with the same draws is no fault: a noisy count may decide
it. Runs with fresh draws tell, as calls do in a run of `dpassay verify`.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..claims.claim import Claim
from ..evidence.refusals import calls_that_prove
from ..findings.note import Note
from ..kinds.numbers.checks.refusals import claimed_fits
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.planning.bounds import Bounds
from ..kinds.numbers.planning.steps import steps_between
from ..run.refusals import TRIED, Asking, Told, neighbours, told_apart
from ..targets.replies import Refused, TargetError
from .frozen import FrozenTarget, NoReleaseError
from .number_pairs import records_of
from .pairs import PairFault, ReplayPair

REFUSED = Note("input-refused", "the target refuses these inputs")

_MOST = 2_000
"""Runs that prove a pair at most: each may load the target for a second."""


Judge = Callable[[ReplayPair, Refused | NoReleaseError], tuple[PairFault, ReplayPair] | Note]
"""The fault of a pair of which a run ended without a release, or why there is none."""


def judge_of(target: FrozenTarget, claim: Claim, seed: int) -> Judge:
    """What judges refusals under a claim: of labels none, as which totals are served is public."""
    return _Refusals(target, claim, seed).judged if isinstance(claim, NumbersClaim) else _excuse


def _excuse(pair: ReplayPair, end: Refused | NoReleaseError) -> Note:
    """Raises what is an error, and no refusal."""
    if isinstance(end, TargetError):
        raise end
    return REFUSED


class _Refusals:
    """Judges pairs of numbers, but for records beyond the claimed bounds.

    seed: of the coins, and of the typical input.
    """

    def __init__(self, target: FrozenTarget, claim: NumbersClaim, seed: int) -> None:
        self._target, self._claim, self._seed = target, claim, seed
        self._rng = np.random.default_rng([seed, 47])
        self._tried = 0
        self._results: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def judged(
        self, pair: ReplayPair, end: Refused | NoReleaseError
    ) -> tuple[PairFault, ReplayPair] | Note:
        """With the neighbours that show it. Raises `end` where it is an error."""
        told, text = self._find_apart(pair), self._claim.release.input_text
        where = f"a pair with {pair.words}"
        if told is not None and told.proven:
            found = told.finding(text, where)
            code = "refusal-tells-inputs-apart"
            fault = PairFault("refusal", found.message, code=code, fields=found.fields)
            return fault, replace(pair, one=told.refused, other=told.answered)
        excused = _excuse(pair, end)
        return (
            told.undecided(text, where, _MOST, f"and replay makes {_MOST:,} at most")
            if told
            else excused
        )

    def _find_apart(self, pair: ReplayPair) -> Told | None:
        """What is told apart: the pair, or neighbours between it and the typical input."""
        if self._tried == TRIED or self._calls is None:
            return None
        claim, asking = self._claim, Asking(None, self._run)
        ends = (pair.one, pair.other), (pair.other, pair.one), (pair.one, self._typical)
        for refused, answered in ends:
            if not (_covers(claim, refused) and _covers(claim, answered)):
                continue
            steps = steps_between(claim.mechanism, refused, answered)
            apart = None if steps is None else neighbours(asking, steps)
            if apart is not None:
                self._tried += 1
                self._results.clear()
                told = told_apart(asking, apart, self._calls, asking.queries + _MOST, self._rng)
                fresh = all(len(results) > 1 for results in self._results.values())
                return told if fresh else None
        return None

    @cached_property
    def _calls(self) -> int | None:
        return calls_that_prove(claimed_fits(self._claim), self._claim.gate.false_alarm / TRIED)

    @cached_property
    def _typical(self) -> Any:
        """An input that any target of the claim answers."""
        return self._claim.inputs(self._seed).inputs[0].values

    def _run(self, values: Any) -> None:
        """Keeps what is drawn and released: what has a seed of its own draws the same again."""
        ran = self._target.run(values)
        drawn = defaultdict(list)
        for draw in ran.draws:
            if draw.of_value and np.size(draw.result):
                drawn[draw.line, draw.function].append(draw.result)
        for place, results in {**drawn, ("", "release"): [ran.row]}.items():
            self._results[place].add(repr(results))


def _covers(claim: NumbersClaim, values: Any) -> bool:
    """Whether the claim covers an input: counts, or records within its bounds."""
    if claim.mechanism.takes == "counts":
        return True
    bounds = Bounds.of(claim.mechanism)
    return bounds.hold(records_of(values, bounds.width))
