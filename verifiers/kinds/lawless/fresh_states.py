"""Draws each from a fresh state: what a deployment keeps of an input is no evidence against it.

Permanent randomised response, as of RAPPOR (Erlingsson, Pihur and Korolova 2014, arXiv 1407.6981),
draws a noisy answer once for each input, and replies from it for ever. Its replies to two inputs
are soon told apart, by the two answers that it happened to draw, although all of them together keep
epsilon: given the answers they are draws of laws that are far apart. No number of calls in one
state tells it from a mechanism of these laws; in a fresh state the answers are drawn anew.
"""

from collections.abc import Sequence

import numpy as np

from ....attacks.auditing.coin import Guarantee, epsilon_lower
from ....reference.arrays import Matrix, Vector
from ...findings.note import Note
from ...targets import Target, TargetError
from .claim import AnyClaim
from .pair_audit import PairAudit

MOST = 512
"""Fresh states in which a pair is asked at most, before its replies are held to be kept."""

_HOPELESS_FROM = 64  # states from which it is looked at whether MOST of them will do
DECLARE = (
    "say caching = false in [mechanism] if each call is a fresh draw, or caching = true, beside "
    "fresh_state or restart in [gate], if replies depend on what is kept of an input "
    "(docs/how-to/kept-without-a-law.md)"
)
"""What a claim may say of what is kept."""


def cannot_be_fresh(target: Target, claim: AnyClaim) -> str | None:
    """Why no call can be made in a fresh state, in words; None where it can."""
    return target.no_restart if claim.gate.fresh_state is None else None


def check_fresh(target: Target, claim: AnyClaim) -> None:
    """Raises TargetError where the claim says that something is kept, and no state is fresh."""
    why = cannot_be_fresh(target, claim)
    if claim.mechanism.caching and why is not None:
        message = f"caching = true: each draw needs a fresh state, and none can be had: {why}"
        raise TargetError(f"{message}; or name fresh_state in [gate]", code="options-do-not-fit")


class FreshStates:
    """Evidence of replies that are each the first of a state, on the line of a pair refuted most.

    Its predictions are those that the draws so far have taught. place: of the pair among `each`;
    line: the guarantee that is held against these replies.
    """

    def __init__(self, each: list[PairAudit], log_threshold: float) -> None:
        self.place = int(np.argmax([pair.log_e_value for pair in each]))
        self.pair, self.log_threshold, self.states = each[self.place], log_threshold, 0
        assert self.pair.audit is not None
        self.line = self.pair.guarantees[int(np.argmax(self.pair.log_e_values))]
        self._audit = self.pair.audit.of_what_follows()
        self._seen: list[tuple[Matrix, bool, Vector | None]] = []

    @property
    def log_e_value(self) -> float:
        """Natural log of the evidence of these replies alone."""
        return float(self._audit.log_e_values[self.pair.guarantees.index(self.line)])

    @property
    def refuted(self) -> bool:
        """Whether these replies refute the claim by themselves."""
        return self.log_e_value >= self.log_threshold

    @property
    def goes_on(self) -> bool:
        """Whether further states may decide it; that the evidence grows too slowly ends it too."""
        if self.refuted or self.states >= MOST:
            return False
        foreseen = self.log_e_value * MOST / max(1, self.states)
        return self.states < _HOPELESS_FROM or foreseen >= self.log_threshold

    def observe(self, reply: object, coin: bool) -> None:
        """Adds the first reply of a state; coin: whether it is of `there`."""
        numbers, odds = self.pair.numbers_of(reply)
        self._audit.observe(numbers, np.array([coin]), odds)
        self._seen.append((numbers, coin, odds))
        self.states += 1

    def least_epsilon(self, error: float) -> float:
        """The largest epsilon that these replies refute at the line's delta, but for `error`."""

        def against(epsilons: Sequence[float]) -> list[float]:
            guarantees = [Guarantee(epsilon, self.line.delta) for epsilon in epsilons]
            audit = self.pair.audit_of(guarantees).of_what_follows()
            for numbers, coin, odds in self._seen:
                audit.observe(numbers, np.array([coin]), odds)
            return [float(log) for log in audit.log_e_values]

        return epsilon_lower(against, error)


def perhaps_kept(named: str, draws: int, states: int, why: str | None) -> Note:
    """Why a pair is not accused; why: no fresh state can be had."""
    if why is None:
        found = f"as first replies of {states} fresh states they do not refute it"
        if states < MOST:
            found += f", and at that pace {MOST} would not"
    else:
        found = f"no call can be made in a fresh state: {why}"
    return Note(
        "replies-may-be-kept",
        f"{draws:,} draws tell the inputs of {named} apart, which is no fault where something is "
        f"kept of each input: {found}; {DECLARE}",
        {"draws": draws, "states": states},
    )
