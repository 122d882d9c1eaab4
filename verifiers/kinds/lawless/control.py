"""A positive control: whether replies say anything that can be read, on two inputs far apart."""

import math
from collections.abc import Sequence

from ....attacks.auditing.coin import Guarantee, response_nats, response_told
from ...findings.note import Note
from .claim import AnyClaim
from .pair_audit import PairAudit
from .pairs import Control
from .predictor import Predictor

LEVEL = 0.05
"""Probability, at most, with which inputs are told apart whose replies are of one law."""

_SAME_LAW = Guarantee(0.0)
_SHOWN = 5  # parts of a reply that a message names


def tell_apart(pairs: Sequence[PairAudit]) -> bool:
    """Whether the draws of any pair refute epsilon 0 at the smallest claimed delta."""
    wanted = math.log(len(pairs) / LEVEL)
    return any(pair.evidence([0.0], pair.guarantees[0].delta)[0] >= wanted for pair in pairs)


class PositiveControl:
    """Draws of two inputs far apart, asked for until they are told apart, up to `wanted`.

    No failure comes of them: they decide whether a pass has anything to say.
    """

    def __init__(self, control: Control, predictor: Predictor | None, wanted: int) -> None:
        self.control, self.wanted = control, wanted
        self.audit = PairAudit([_SAME_LAW], control, predictor)

    @property
    def told(self) -> bool:
        """Whether the draws so far tell the inputs apart; to ask is to look."""
        return self.audit.log_e_value >= -math.log(LEVEL)

    @property
    def left(self) -> int:
        """Draws that are still to be asked for."""
        return self.wanted - len(self.audit.coins)


def too_little_to_tell(
    claim: AnyClaim, audit: PairAudit, distance: float | None, pairs: int = 1
) -> str | None:
    """That even randomised response would not surely have been told, in words; None where it would.

    At the claimed epsilon times the distance of the two inputs, in as many draws, looked at by as
    many numbers; pairs: so many were looked at alike.
    """
    epsilon, draws = claim.privacy.lines[0].epsilon, len(audit.coins)
    paths = 1 if audit.features is None else len(audit.features.paths)
    spread = (math.log(2.0 * paths) if paths > 1 else 0.0) + (audit.odds is not None) * math.log(2)
    wanted = math.log(pairs / LEVEL) + spread
    if distance is None or response_told(epsilon * distance, draws, wanted):
        return None
    times = "" if distance == 1 else f" x {distance:.3g}, the distance of the two inputs of control"
    nats = response_nats(epsilon * distance, draws)
    return (
        f"no inputs were told apart, nor would randomised response at epsilon {epsilon:.4g}{times} "
        f"surely have been in {draws:,} draws ({nats:.2g} nats)"
    )


def nothing_learned(audit: PairAudit, *, far: bool) -> Note:
    """Why a pass would say nothing; audit: of the control; far: whether it is of inputs far apart.

    Where there is no control the pairs of the claim stand for one.
    """
    parts, draws = audit.looked_at, len(audit.coins)
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    which = "two inputs that are far apart" if far else "the inputs of any pair"
    mend = (
        "name a predictor in [mechanism] that can read them, or other inputs in [[control]]"
        if far
        else "name two inputs far apart in [[control]], or a predictor in [mechanism]"
    )
    return Note(
        "nothing-learned",
        f"nothing was learnt: {draws:,} draws do not tell apart {which}, so that no fault would "
        f"have shown; nothing could be made of {', '.join(parts[:_SHOWN])}{more}: {mend} "
        "(docs/how-to/without-a-law.md)",
        {"draws": draws, "parts": ", ".join(parts), "far": far},
    )
