"""How unlikely a claim makes a refusal beside an answered neighbour, and what is said of some."""

import numpy as np

from .....reference.numbers.costs import epsilon_bracket, pure_epsilon
from ....evidence.refusals import log_fits
from ....findings.note import Note
from ....run.refusals import Asking
from ....targets import Target
from ....text import counted
from ..claim import NumbersClaim
from ..planning.asked import finite

_DELTAS = (0.01, 0.03, 0.1, 0.3)
"""Deltas at which noise that has no pure epsilon is charged: the best of them counts."""


def claimed_fits(claim: NumbersClaim) -> float:
    """By what a release may cost under the claim; 0 where that is not said.

    By `[privacy]`, else by what the claimed noise of numbers costs, where that is known: of whole
    noise on numbers that move by a fraction it is not.
    """
    if claim.privacy is not None:
        return log_fits(claim.privacy.epsilon, claim.privacy.delta, claim.privacy.queries)
    if claim.kind.name != "numbers":
        return 0.0
    aggregation = claim.mechanism.aggregation
    pure = pure_epsilon(aggregation)
    if np.isfinite(pure):
        return log_fits(pure, 0.0)
    family = aggregation.noise.family
    fraction = family.whole and aggregation.farthest(family.norm).by % 1.0 != 0.0
    if not family.accounted or fraction:
        return 0.0
    return min(log_fits(epsilon_bracket(aggregation, delta).high, delta) for delta in _DELTAS)


def asking_of(claim: NumbersClaim, target: Target) -> Asking:
    """Asks for one release of an input at a time, which must be as the kind has it."""
    release = claim.release
    return Asking(target, lambda values: finite(release, target.ask(values, 1), values, 1))


def _others(count: int) -> str:
    inputs = counted(count, "other input", "other inputs")
    return f" and {inputs} like it" if count else ""


def said_of(refused: list[tuple[str, Note]]) -> tuple[Note, ...]:
    """Warnings of altered inputs, by name, one for each thing that the target said of them."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, why in refused:
        names.setdefault((why.code, why.message), []).append(name)
    return tuple(
        Note(
            code,
            f"{each[0]}{_others(len(each) - 1)} {'are' if len(each) > 1 else 'is'} refused: {why}",
            {"inputs": len(each)},
        )
        for (code, why), each in names.items()
    )
