"""`input-contract` without a law: of the inputs of a pair both are answered, or neither."""

from typing import Any

import numpy as np

from ...evidence.refusals import calls_that_prove, log_fits
from ...findings.finding import Outcome
from ...findings.verdict import Verdict
from ...run.refusals import Asking, told_apart
from ...run.state import RunState
from ...targets import Refused, TargetError
from .claim import AnyClaim
from .pairs import Pair
from .registry import CHECKS


def ask_both(state: RunState, pair: Pair, name: str, rng: np.random.Generator) -> Outcome | None:
    """Asks both inputs of a pair; the failure where one of them alone is never answered.

    name: of the pair; rng: chooses which one is asked. Raises what an input has ended in where
    neither is answered, or one is not by chance: so there is one pair at most that is judged.
    """
    claim, asking = state.claim, _asking_of(state)
    inputs, ends, left = [pair.here, pair.there], list[Refused | TargetError | None](), state.left
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
                told = told_apart(asking, found, calls, left, rng)
            if told is not None and told.proven:
                finding = told.finding(claim.release.input_text, name)
                return Outcome(Verdict.FAIL, finding, asking.queries)
            if told is not None:
                state.warn(told.undecided(claim.release.input_text, name, left))
    finally:
        state.spend(asking.queries)
    for values, end in zip(inputs, ends, strict=True):
        if end is not None:
            raise withheld(claim, values, end) if isinstance(end, Refused) else end
    return None


def _asking_of(state: RunState) -> Asking:
    target, release = state.target, state.claim.release
    return Asking(target, lambda values: release.shaped(target.ask(values, 1), values, 1))


def withheld(claim: AnyClaim, values: Any, refusal: Refused) -> Refused:
    """The refusal, with the call that it is of and what would be no refusal."""
    return Refused(
        f"{claim.release.text(values, 1)} was refused: {refusal}; whether there is an answer may "
        "tell inputs apart: a deployment that withholds one returns null"
    )
