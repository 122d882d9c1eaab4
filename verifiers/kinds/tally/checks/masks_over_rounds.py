"""What `mask-uniformity` finds over rounds: masks, keys and ciphertexts that were there before."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import RunContext
from ....targets.tally import ShownRound
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.again import MaskHistory, MasksAgain
from ..evidence.alike import MasksOfRun, cells_of
from ..evidence.ciphertexts import Ciphertexts, Place
from ..evidence.masked import Keys
from ..plan import RoundRole, asked, drawn_values, patterns
from .base import RoundsCheck

KEYS_REPEAT, TEXTS_REPEAT = "keys-repeat", "ciphertexts-repeat"
_KEPT = "mask-kept-across-rounds"

_ROWS, _FEWEST, _MOST = 1_000, 10, 200
"""Rows that are looked at, about; and rounds, at least and at most."""

_APART = 4.0
"""Deviations of the noise of two parties within which numbers are taken for those of one mask."""

_RESTARTED = 8
"""Rounds after restarts, at most: two of each start."""

_WHEN = {
    "earlier": "a party's masks are those of one of its earlier rounds",
    "dropouts": "once parties have left, a party's masks are those of one of its earlier rounds",
    "restart": "after a restart a party's masks are those of one of its earlier rounds",
    "run": "masks of a party are those that it, or another, had in an earlier round of the run",
}
"""When a mask may be there again, of any round before, and the cause that it shows."""

_LATER = {"dropouts": "in or right after which parties left", "restart": "that began a start"}


class MasksOverRounds(RoundsCheck):
    """Compares what parties send with what they sent in any round of the run before.

    again: by when, wagers that a round has masks of any round before. The rounds of `recovery` and
    those after restarts come later, and a failure then is told later. outcome: of all so far.
    """

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        mechanism = claim.mechanism
        noise = mechanism.left(2) if mechanism.in_shares else mechanism.noise
        apart = math.ceil(_APART * noise.family.standard_deviation)
        self.apart = apart if mechanism.in_shares else 1
        self.keys, self.ciphertexts = Keys(), Ciphertexts()
        of = mechanism.aggregation
        drawn = drawn_values(claim, np.random.default_rng([seed, 32]))
        several = (drawn, np.full_like(drawn, of.lower), np.full_like(drawn, of.upper))
        self.inputs = [asked(claim, values, RoundRole.TYPICAL) for values in several]
        # as many full rounds as ways to leave follow one of these
        self._full_after = self._more = len([*patterns(claim)])
        self.history = MaskHistory(mechanism.modulus, mechanism.parties, noise)
        modulus, numbers = mechanism.modulus, mechanism.width
        cells = cells_of(noise, modulus, numbers) if mechanism.in_shares else (1, 1.0)
        self.of_run = MasksOfRun(modulus, cells[0], numbers, self.history.whose)
        self._chance = cells[1]  # that a mask of the run is seen where it comes again
        most = {"earlier": self.rounds, "dropouts": _MOST + self._more, "restart": _RESTARTED}
        self.again = {when: MasksAgain(rounds) for when, rounds in most.items()}
        self.outcome: Outcome | None = None

    @property
    @abstractmethod
    def log_e_value(self) -> float:
        """Natural log of all wagers together."""

    @abstractmethod
    def passed(self) -> str:
        """What a pass says of what was looked at."""

    @property
    def asks(self) -> int:
        return self.rounds + self._more

    @property
    def rounds(self) -> int:
        """Rounds to which all parties send, before any restart and before any party leaves."""
        rows = math.ceil(_ROWS / self.claim.mechanism.parties)
        return math.ceil(self.plan.share * min(max(rows, _FEWEST), _MOST))

    def begins_with(self, shown: Sequence[ShownRound]) -> None:
        """Takes the first rounds of the run, with which later ones are compared."""
        values = np.asarray(self.plan.inputs[0].values[0])
        for seen in shown:
            self.history.log_ratio(seen.sent, values)
            self.repeat(seen)

    def after_dropouts(self, context: RunContext, given: Asked, seen: ShownRound) -> None:
        """Takes a round in which parties have left; some full rounds are asked right after.

        Whatever stands in place of what a party did not send any more is not looked at.
        """
        seen = of_those_there(seen, np.asarray(given.values[1]))
        if self._passes and (seen.sent or seen.keys or seen.ciphertexts):
            self._compare("dropouts", np.asarray(given.values[0]), seen)
            self.among_all(given, [seen])
        if self._passes and self._full_after and context.left > 0:
            full = self.inputs[self._full_after % len(self.inputs)]
            self._full_after -= 1
            shown = self.ask(context, full)
            self.among_all(full, [shown])
            self._compare("dropouts", np.asarray(full.values[0]), shown)

    def after_restart(self, shown: Sequence[ShownRound]) -> None:
        """Takes the first rounds of another start."""
        self.keys.start_anew()
        for seen in shown:
            if self._passes:
                self._compare("restart", np.asarray(self.plan.inputs[0].values[0]), seen)

    def among_all(self, given: Asked, shown: Sequence[ShownRound]) -> None:
        """Takes rounds of an input of any check, whose masks are compared with all before."""
        held = np.asarray(given.values[0])
        for seen in shown:
            self.of_run.observe(seen.sent, held)

    def after_all(self) -> None:
        """Judges once more by all rounds of the run."""
        if self._passes:
            self._judge_again(None)

    @property
    def _passes(self) -> bool:
        return self.outcome is not None and self.outcome.verdict is Verdict.PASS

    def _compare(self, when: str, values: NDArray[np.int64], seen: ShownRound) -> None:
        """Compares a round with all before; the outcome follows."""
        found = self.repeat(seen)
        if seen.sent:
            self.again[when].observe(self.history.log_ratio(seen.sent, values))
        self._judge_again(found)

    def _judge_again(self, found: Finding | None) -> None:
        """Sets the outcome anew; found: a proof, if there is one."""
        assert self.outcome is not None
        if found is None and self.log_e_value >= self.log_threshold:
            found = self.comes_again()
        if found is not None:
            self.outcome = Outcome(Verdict.FAIL, found, self.queries)
            return
        before = self.outcome.finding
        text = self.passed() + seen_of(before.excludes)
        self.outcome = Outcome(Verdict.PASS, replace(before, message=text), self.queries)

    @property
    def wagers_again(self) -> dict[str, MasksAgain | MasksOfRun]:
        """By when, wagers that masks were there before."""
        return {**self.again, "run": self.of_run}

    def comes_again(self) -> Finding:
        """That masks are those of an earlier round, by the wager that gained most."""
        again = self.wagers_again
        when = max(again, key=lambda name: again[name].log_e_value)
        value = again[when].log_e_value
        message = (
            "less what the values give, what a party sends is that of an earlier round but for its "
            f"noise: e-value 10^{value / math.log(10):.1f}"
        )
        return Finding.caused(message, Note(_KEPT, _WHEN[when], {"of": when}), value)

    def repeat(self, seen: ShownRound) -> Finding | None:
        """A key or a ciphertext that was there before; adds those of the round."""
        again = self.keys.repeated(dict(seen.keys))
        if again is not None:
            cause = Note(KEYS_REPEAT, "keys come from a generator with few states")
            return _repeated("key", again, cause)
        again = self.ciphertexts.repeated(seen.ciphertexts)
        if again is not None:
            words = "the same values encrypt to the same ciphertext"
            return _repeated("ciphertext", again, Note(TEXTS_REPEAT, words))
        return None

    @property
    def said_of_rounds(self) -> str:
        """How far masks were compared with those of earlier rounds, in words."""
        later = "; ".join(
            f"no mask of {self.again[name].rounds:,} rounds {of} was seen in an earlier round, "
            f"by {self.history.compared}"
            for name, of in _LATER.items()
            if self.again[name].rounds
        )
        return f"{later}; {self._said_of_run()}" if later else self._said_of_run()

    def _said_of_run(self) -> str:
        """How far masks of the whole run were compared, in words."""
        if not self.of_run.applies:
            return "masks are too short to compare all rounds of the run with each other"
        if self.of_run.rounds < 2:
            return "the other rounds of the run were not compared"
        said = (
            f"no mask of {self.of_run.rounds:,} rounds of the run was seen twice, by its first "
            f"{self.of_run.compared} numbers of up to {len(self.of_run.parties)} parties: the last "
            "of those who send in a round was not compared"
        )
        if not self.claim.mechanism.in_shares:
            return said
        again = "a mask that comes again with new noise would have been seen with probability"
        return f"{said}, and {again} {self._chance:.2g}"


def seen_of(excludes: Sequence[Excluded]) -> str:
    """What a pass says of the faults that it excludes."""
    if not excludes:
        return ""
    sure = min(one.probability for one in excludes)
    return f"; {len(excludes)} known faults would have been seen with probability {sure:g}"


def _repeated(what: str, again: tuple[str, Place, Place], cause: Note) -> Finding:
    """A proof: what is drawn anew was seen twice."""
    text, (one, first), (other, last) = again
    where = f"of party {one} in round {first} is that of party {other} in round {last}"
    message = f"{what} {text[:16]} {where}: new {what}s are never alike"
    fields: Fields = {"party": other, "round": last, "first_party": one, "first_round": first}
    return replace(Finding.caused(message, cause, math.inf), fields=fields)


def of_those_there(seen: ShownRound, leaves: NDArray[np.int64]) -> ShownRound:
    """What a round shows of parties that had not left; leaves (parties,): when each leaves."""
    keyed = {number for number, when in enumerate(leaves.tolist(), 1) if when != 1}
    sending = {number for number, when in enumerate(leaves.tolist(), 1) if when in (0, 3)}
    return replace(
        seen,
        sent={number: row for number, row in seen.sent.items() if number in sending},
        keys={number: key for number, key in seen.keys.items() if number in keyed},
        ciphertexts={k: texts for k, texts in seen.ciphertexts.items() if k in sending},
    )
