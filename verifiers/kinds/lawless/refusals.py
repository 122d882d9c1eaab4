"""`input-contract` without a law: of the inputs of a pair both are answered, or neither.

Whether an input is refused may be drawn once and kept, as `fresh_states.py` says of answers: a
randomised response that is kept refuses the one input for ever, and answers the other, with
probability above one half at epsilon 1. So the calls that prove are each the first of a state,
unless the claim says that each is a fresh draw.
"""

from typing import Any

import numpy as np

from ...evidence.refusals import calls_that_prove, log_fits
from ...findings.finding import Outcome
from ...findings.verdict import Verdict
from ...run.refusals import Asking, told_apart
from ...run.state import RunState
from ...targets import Refused, TargetError, begin_anew
from .claim import AnyClaim
from .fresh_states import DECLARE, MOST, cannot_be_fresh
from .pairs import Pair
from .registry import CHECKS


def ask_both(state: RunState, pair: Pair, name: str, rng: np.random.Generator) -> Outcome | None:
    """Asks both inputs of a pair; the failure where one of them alone is never answered.

    name: of the pair; rng: chooses which one is asked. Raises what an input has ended in where
    neither is answered, or one is not by chance: so there is one pair at most that is judged.
    """
    claim, asking = state.claim, _asking_of(state)
    inputs, ends = [pair.here, pair.there], list[Refused | TargetError | None]()
    left, limit = _calls_left(state)
    try:
        for values in inputs:
            ends.append(asking.end if asking.refused(values) else None)
        if ends.count(None) == 1:
            fits = min(log_fits(line.epsilon, line.delta) for line in claim.privacy.lines)
            budget = CHECKS.shares["input-contract"] * claim.gate.false_alarm
            calls = calls_that_prove(fits, budget)
            told = None
            if calls is not None:
                found = (inputs[0], inputs[1]) if ends[0] else (inputs[1], inputs[0])
                if claim.mechanism.caching is not False:
                    asking.prepare = lambda: begin_anew(state.target, claim.fresh_target)
                told = told_apart(asking, found, calls, left, rng)
            if told is not None and told.proven:
                finding = told.finding(claim.release.input_text, name)
                return Outcome(Verdict.FAIL, finding, asking.queries)
            if told is not None:
                state.warn(told.undecided(claim.release.input_text, name, left, limit))
    finally:
        state.spend(asking.queries)
    for values, end in zip(inputs, ends, strict=True):
        if end is not None:
            raise withheld(claim, values, end) if isinstance(end, Refused) else end
    return None


def _calls_left(state: RunState) -> tuple[int, str]:
    """Calls that may be made to prove it, and what leaves so few, if not the queries, in words."""
    claim: AnyClaim = state.claim
    if claim.mechanism.caching is False:
        return state.left, ""
    why = cannot_be_fresh(state.target, claim)
    if why is not None:
        return 0, f"each in a fresh state, and none can be had: {why}; {DECLARE}"
    if claim.mechanism.caching is None and state.left > MOST:
        return MOST, f"each in a fresh state, of which {MOST} are tried at most; {DECLARE}"
    return state.left, ""


def _asking_of(state: RunState) -> Asking:
    target, release = state.target, state.claim.release
    return Asking(target, lambda values: release.shaped(target.ask(values, 1), values, 1))


def withheld(claim: AnyClaim, values: Any, refusal: Refused) -> Refused:
    """The refusal, with the call that it is of and what would be no refusal."""
    return Refused(
        f"{claim.release.text(values, 1)} was refused: {refusal}; whether there is an answer may "
        "tell inputs apart: a deployment that withholds one returns null"
    )
