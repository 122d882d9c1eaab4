"""`mask-uniformity`: what a party sends is uniform modulo m, and independent of all else.

Ciphertexts are not residues: of them a repeat is looked for.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference.numbers import Shares
from ....evidence.mixture import log_mean_of, log_mixture_of
from ....evidence.power import MISSES
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import RunContext
from ....run.phase import Phase
from ....targets.tally import ShownRound
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.again import MaskHistory, MasksAgain
from ..evidence.alike import MasksOfRun
from ..evidence.ciphertexts import Ciphertexts, Place
from ..evidence.masked import BETWEEN, Keys, MaskEvidence, Rows
from ..plan import RoundRole, asked, drawn_values, patterns
from .base import RoundsCheck

_ROWS, _FEWEST, _MOST = 1_000, 10, 200
"""Rows that are looked at, about; and rounds, at least and at most."""

_SPREAD = 5.0  # nats by which evidence on planned values may fall short, as noise differs
_MISSING, _KEYS, _TEXTS = "mask-missing", "keys-repeat", "ciphertexts-repeat"
_KEPT = "mask-kept-across-rounds"
_ON_VALUES = "the evidence itself, on what the planned values give with noise of the claim"
_BY_BIRTHDAYS = "how often two keys are alike that are drawn from so many"
_CERTAIN = "the same values are encrypted more than once"

_NATIVE = 2**62
"""Moduli up to which residues are taken as int64."""

_OF_NOISE = 6.0
"""Deviations of the noise within which a number lies that has no mask, or one that was there."""

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


class MaskUniformity(RoundsCheck):
    """Wagers on what parties send; and keys or ciphertexts of different rounds or parties alike.

    again: by when, wagers that a round has masks of any round before. The rounds of `recovery` and
    those after restarts come later, and a failure then is told later.
    """

    id = "mask-uniformity"
    phase = Phase.OPENING

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        mechanism, rng = claim.mechanism, np.random.default_rng([seed, 31])
        noise = mechanism.left(2) if mechanism.in_shares else mechanism.noise
        width = math.ceil(_APART * noise.family.standard_deviation) if mechanism.in_shares else 1
        self.evidence = MaskEvidence(mechanism.modulus, mechanism.parties, rng, width)
        self.keys, self.ciphertexts = Keys(), Ciphertexts()
        self.shown = self.without = self.with_keys = self.with_texts = 0
        of = mechanism.aggregation
        drawn = drawn_values(claim, np.random.default_rng([seed, 32]))
        several = (drawn, np.full_like(drawn, of.lower), np.full_like(drawn, of.upper))
        self.inputs = [asked(claim, values, RoundRole.TYPICAL) for values in several]
        # as many full rounds as ways to leave follow one of these
        self._full_after = self._more = len([*patterns(claim)])
        self.history = MaskHistory(mechanism.modulus, mechanism.parties, noise)
        self.of_run = MasksOfRun(mechanism.modulus, width, mechanism.width, self.history.whose)
        most = {"earlier": self.rounds, "dropouts": _MOST + self._more, "restart": _RESTARTED}
        self.again = {when: MasksAgain(rounds) for when, rounds in most.items()}
        self.outcome: Outcome | None = None

    @property
    def asks(self) -> int:
        return self.rounds + self._more

    @property
    def rounds(self) -> int:
        """Rounds to which all parties send, before any restart and before any party leaves."""
        rows = math.ceil(_ROWS / self.claim.mechanism.parties)
        return math.ceil(self.plan.share * min(max(rows, _FEWEST), _MOST))

    def conclude(self, context: RunContext) -> Outcome | None:
        self.outcome = self._conclude(context)
        return self.outcome

    def _conclude(self, context: RunContext) -> Outcome | None:
        for turn in range(self.rounds):
            if context.left < 1:
                context.use_up()
                return None
            given = self.inputs[turn % len(self.inputs)]
            seen = self.ask(context, given)
            if not seen.sent and not seen.keys and not seen.ciphertexts:
                message = "the target does not show what its parties send"
                nothing = Finding.of(Note("not-shown", message))
                return Outcome(Verdict.NOT_APPLICABLE, nothing, self.queries)
            found = self._look(given, seen)
            if found is not None:
                return Outcome(Verdict.FAIL, found, self.queries)
        if self.log_e_value >= self.log_threshold:
            return Outcome(Verdict.FAIL, self._comes_again(), self.queries)
        partial = self._partial
        if not (self.shown or self.keys.rounds or self.ciphertexts.rounds):
            message = f"the target does not show what all of its parties send: {partial}"
            nothing = Finding.of(Note("not-shown", message, {"rounds": self.without}))
            return Outcome(Verdict.NOT_APPLICABLE, nothing, self.queries)
        warnings = () if partial is None else (partial,)
        passed = Finding(self._passed(), warnings=warnings, excludes=self._excluded_by_shown)
        passed = replace(passed, message=passed.message + _seen_of(passed.excludes))
        return Outcome(Verdict.PASS, passed, self.queries)

    def begins_with(self, shown: Sequence[ShownRound]) -> None:
        """Takes the first rounds of the run, with which later ones are compared."""
        values = np.asarray(self.plan.inputs[0].values[0])
        for seen in shown:
            self.history.log_ratio(seen.sent, values)
            self._repeat(seen)

    def after_dropouts(self, context: RunContext, given: Asked, seen: ShownRound) -> None:
        """Takes a round in which parties have left; some full rounds are asked right after.

        Whatever stands in place of what a party did not send any more is not looked at.
        """
        seen = _of_those_there(seen, np.asarray(given.values[1]))
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
        found = self._repeat(seen)
        if seen.sent:
            self.again[when].observe(self.history.log_ratio(seen.sent, values))
        self._judge_again(found)

    def _judge_again(self, found: Finding | None) -> None:
        """Sets the outcome anew; found: a proof, if there is one."""
        assert self.outcome is not None
        if found is None and self.log_e_value >= self.log_threshold:
            found = self._comes_again()
        if found is not None:
            self.outcome = Outcome(Verdict.FAIL, found, self.queries)
            return
        before = self.outcome.finding
        text = self._passed() + _seen_of(before.excludes)
        self.outcome = Outcome(Verdict.PASS, replace(before, message=text), self.queries)

    @property
    def log_e_value(self) -> float:
        """Natural log of all wagers together; each has an equal part."""
        again = self._again.values()
        logs = [self.evidence.log_e_value, *(one.log_e_value for one in again)]
        parts = np.array([len(self.evidence.wagers), *(1 for _ in again)])
        return log_mixture_of(np.array(logs), np.log(parts / parts.sum()))

    @property
    def _again(self) -> dict[str, MasksAgain | MasksOfRun]:
        """By when, wagers that masks were there before."""
        return {**self.again, "run": self.of_run}

    def _comes_again(self) -> Finding:
        again = self._again
        when = max(again, key=lambda name: again[name].log_e_value)
        value = again[when].log_e_value
        message = (
            "less what the values give, what a party sends is that of an earlier round but for its "
            f"noise: e-value 10^{value / math.log(10):.1f}"
        )
        return Finding.caused(message, Note(_KEPT, _WHEN[when], {"of": when}), value)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Where rounds show residues, keys and ciphertexts."""
        return (*self._excluded_masks(), *self._excluded_keys(), *self._excluded_texts())

    @property
    def _excluded_by_shown(self) -> tuple[Excluded, ...]:
        """What a pass excludes by what all rounds have shown: the rest falls out."""
        return (
            *(self._excluded_masks() if self.shown == self.rounds else ()),
            *(self._excluded_keys() if self.with_keys == self.rounds else ()),
            *(self._excluded_texts() if self.with_texts == self.rounds else ()),
        )

    def _excluded_masks(self) -> Iterator[Excluded]:
        """Masks that are missing, or used again in one of the ways that are looked for."""
        family, rng = self.claim.mechanism.noise.family, np.random.default_rng([self.seed, 34])
        evidence = MaskEvidence(self.evidence.modulus, self.claim.mechanism.parties, rng)
        for turn in range(self.rounds):
            values = np.asarray(self.inputs[turn % len(self.inputs)].values[0], dtype=np.int64)
            shares = isinstance(family, Shares) and self.claim.mechanism.in_shares
            noise = family.share(rng, values.shape) if shares else 0  # type: ignore[attr-defined]
            evidence.observe(values + noise, values)
        parts = len(evidence.names) + len(self._again)
        nats = self.log_threshold + math.log(parts) + _SPREAD
        draws = self.rounds * self.claim.mechanism.width
        for name, wager in evidence.wagers.items():
            cause = _cause(name)
            some = cause.fields.get("all") is False  # of which it is not told how many
            if some or log_mean_of(np.array(wager.parts)) < nats:
                continue
            parties = 1 if "party" in cause.fields else self.claim.mechanism.parties
            yield self.entry(
                cause.code, cause.fields, [RoundRole.TYPICAL], draws * parties, method=_ON_VALUES
            )

    def _excluded_keys(self) -> Iterator[Excluded]:
        """Keys from few states: any two may be alike, but those of a party in next rounds."""
        parties, rounds = self.claim.mechanism.parties, self.rounds
        keys = parties * rounds
        pairs = math.comb(keys, 2) - parties * (rounds - 1)
        size: Fields = {"states": math.floor(-pairs / math.log(MISSES))}
        if size["states"]:
            yield self.entry(_KEYS, size, [RoundRole.TYPICAL], keys, method=_BY_BIRTHDAYS)

    def _excluded_texts(self) -> Iterator[Excluded]:
        """Encryption without chance, where no share of the noise changes what is encrypted."""
        if self.rounds > len(self.inputs) and not self.claim.mechanism.in_shares:
            rounds = self.rounds * self.claim.mechanism.parties
            yield self.entry(_TEXTS, {"states": 1}, [RoundRole.TYPICAL], rounds, method=_CERTAIN)

    @property
    def _partial(self) -> Note | None:
        """Of rounds that do not show what is sent by all, although all stay."""
        if not self.without:
            return None
        return Note(
            "not-shown",
            f"in {self.without:,} rounds, in which all parties stay, `sent` is null of some: "
            "their masks were not looked at",
            {"rounds": self.without},
        )

    def _repeat(self, seen: ShownRound) -> Finding | None:
        """A key or a ciphertext that was there before; adds those of the round."""
        again = self.keys.repeated(dict(seen.keys))
        if again is not None:
            cause = Note(_KEYS, "keys come from a generator with few states")
            return _repeated("key", again, cause)
        again = self.ciphertexts.repeated(seen.ciphertexts)
        if again is not None:
            words = "the same values encrypt to the same ciphertext"
            return _repeated("ciphertext", again, Note(_TEXTS, words))
        return None

    def _look(self, given: Asked, seen: ShownRound) -> Finding | None:
        repeat = self._repeat(seen)
        if repeat is not None:
            return repeat
        self.with_keys += bool(seen.keys)
        self.with_texts += bool(seen.ciphertexts)
        self.without += 0 < len(seen.sent) < self.claim.mechanism.parties
        if len(seen.sent) == self.claim.mechanism.parties:
            self.shown += 1
            self.evidence.observe(*self._rows(given, seen))
            held = np.asarray(given.values[0])
            self.again["earlier"].observe(self.history.log_ratio(seen.sent, held))
            self.of_run.observe(seen.sent, held)
            value = self.evidence.log_e_value
            parts = 1.0 + len(self._again) / len(self.evidence.wagers)
            if value - math.log(parts) >= self.log_threshold:
                return self._refuted(value)
        return None

    def _rows(self, given: Asked, seen: ShownRound) -> tuple[Rows, Rows]:
        sent = [seen.sent[n] for n in sorted(seen.sent)]
        if self.claim.mechanism.modulus <= _NATIVE:
            return np.array(sent, dtype=np.int64), np.asarray(given.values[0], dtype=np.int64)
        return np.array(sent, dtype=object), np.asarray(given.values[0]).astype(object)

    def _refuted(self, value: float) -> Finding:
        name = self.evidence.likeliest
        what = "what parties send is not uniform and independent modulo "
        message = f"{what}{self.evidence.modulus}: e-value 10^{value / math.log(10):.1f}"
        return Finding.caused(message, self._too_narrow(name) or _cause(name), value)

    def _too_narrow(self, name: str) -> Note | None:
        """That masks do not fill the modulus, where no reuse or lack of them explains it."""
        mechanism = self.claim.mechanism
        noise = _OF_NOISE * mechanism.noise.family.standard_deviation / mechanism.modulus
        filled = None if name.startswith("party") else self.evidence.narrow(name, noise)
        if filled is None:
            return None
        width = float(f"{filled * mechanism.modulus:.2g}")
        message = (
            f"masks do not fill the modulus: numbers that parties send differ by no more than a "
            f"width of about {width:g} out of {mechanism.modulus}"
        )
        return Note("masks-too-narrow", message, {"width": width, "modulus": mechanism.modulus})

    def _said_of_run(self) -> str:
        """How far masks of the whole run were compared, in words."""
        if not self.of_run.applies:
            return "masks are too short to compare all rounds of the run with each other"
        if self.of_run.rounds < 2:
            return "the other rounds of the run were not compared"
        return (
            f"no mask of {self.of_run.rounds:,} rounds of the run was seen twice, by its first "
            f"{self.of_run.compared} numbers of up to {len(self.history.whose)} parties"
        )

    def _passed(self) -> str:
        parties = self.claim.mechanism.parties
        of = f"{self.shown:,} rounds of {parties} parties"
        rows = (
            f"what parties send in {of} was not seen to differ from uniform numbers modulo "
            f"{self.evidence.modulus}, in differences neither: of a round and the one before or "
            "the first, and of numbers or parties side by side, in their order and in one drawn "
            "for each round; no number of a mask was seen to be one before it in its round oftener "
            "than by chance; sums of three or more were not looked at"
        )
        keys = f"no key of {self.keys.rounds:,} rounds is that of another"
        who = f"{self.ciphertexts.parties:,} of {parties:,} parties"
        texts = f"{self.ciphertexts.number:,} ciphertexts of {who} differ"
        later = "; ".join(
            f"no mask of {self.again[name].rounds:,} rounds {of} was seen in an earlier round, "
            f"by {self.history.compared}"
            for name, of in _LATER.items()
            if self.again[name].rounds
        )
        rows += f"; {later}" if later else ""
        rows += f"; {self._said_of_run()}"
        said = [(self.shown, rows), (self.keys.rounds, keys), (self.ciphertexts.rounds, texts)]
        return "; ".join(text for seen, text in said if seen)


def _seen_of(excludes: Sequence[Excluded]) -> str:
    """What a pass says of the faults that it excludes."""
    if not excludes:
        return ""
    sure = min(one.probability for one in excludes)
    return f"; {len(excludes)} known faults would have been seen with probability {sure:g}"


def _cause(name: str) -> Note:
    """What a wager of this name shows."""
    if name.startswith("party"):
        fields = {"party": int(name.removeprefix("party "))}
        return Note(_MISSING, f"{name} sends its values without a mask", fields)
    return BETWEEN.get(name) or Note(_MISSING, "parties send values without a mask")


def _repeated(what: str, again: tuple[str, Place, Place], cause: Note) -> Finding:
    """A proof: what is drawn anew was seen twice."""
    text, (one, first), (other, last) = again
    where = f"of party {one} in round {first} is that of party {other} in round {last}"
    message = f"{what} {text[:16]} {where}: new {what}s are never alike"
    fields: Fields = {"party": other, "round": last, "first_party": one, "first_round": first}
    return replace(Finding.caused(message, cause, math.inf), fields=fields)


def _of_those_there(seen: ShownRound, leaves: NDArray[np.int64]) -> ShownRound:
    """What a round shows of parties that had not left; leaves (parties,): when each leaves."""
    keyed = {number for number, when in enumerate(leaves.tolist(), 1) if when != 1}
    sending = {number for number, when in enumerate(leaves.tolist(), 1) if when in (0, 3)}
    return replace(
        seen,
        sent={number: row for number, row in seen.sent.items() if number in sending},
        keys={number: key for number, key in seen.keys.items() if number in keyed},
        ciphertexts={k: texts for k, texts in seen.ciphertexts.items() if k in sending},
    )
