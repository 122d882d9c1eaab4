"""`mask-uniformity`: what a party sends is uniform modulo m, and independent of all else.

Ciphertexts are not residues: of them a repeat is looked for.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

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
from ..evidence.masked import BETWEEN, MaskEvidence, Rows
from ..plan import RoundRole
from .masks_over_rounds import KEYS_REPEAT, TEXTS_REPEAT, MasksOverRounds, seen_of

_SPREAD = 5.0  # nats by which evidence on planned values may fall short, as noise differs
_MISSING = "mask-missing"
_ON_VALUES = "the evidence itself, on what the planned values give with noise of the claim"
_BY_BIRTHDAYS = "how often two keys are alike that are drawn from so many"
_CERTAIN = "the same values are encrypted more than once"

_NATIVE = 2**62
"""Moduli up to which residues are taken as int64."""

_OF_NOISE = 6.0
"""Deviations of the noise within which a number lies that has no mask, or one that was there."""


class MaskUniformity(MasksOverRounds):
    """Wagers on what parties send; and keys or ciphertexts of different rounds or parties alike."""

    id = "mask-uniformity"
    phase = Phase.OPENING

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        mechanism, rng = claim.mechanism, np.random.default_rng([seed, 31])
        self.evidence = MaskEvidence(mechanism.modulus, mechanism.parties, rng, self.apart)
        self.shown = self.without = self.with_keys = self.with_texts = 0

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
            return Outcome(Verdict.FAIL, self.comes_again(), self.queries)
        partial = self._partial
        if not (self.shown or self.keys.rounds or self.ciphertexts.rounds):
            message = f"the target does not show what all of its parties send: {partial}"
            nothing = Finding.of(Note("not-shown", message, {"rounds": self.without}))
            return Outcome(Verdict.NOT_APPLICABLE, nothing, self.queries)
        warnings = () if partial is None else (partial,)
        passed = Finding(self.passed(), warnings=warnings, excludes=self._excluded_by_shown)
        passed = replace(passed, message=passed.message + seen_of(passed.excludes))
        return Outcome(Verdict.PASS, passed, self.queries)

    @property
    def log_e_value(self) -> float:
        """Natural log of all wagers together; each has an equal part."""
        again = self.wagers_again.values()
        logs = [self.evidence.log_e_value, *(one.log_e_value for one in again)]
        parts = np.array([len(self.evidence.wagers), *(1 for _ in again)])
        return log_mixture_of(np.array(logs), np.log(parts / parts.sum()))

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
        parts = len(evidence.names) + len(self.wagers_again)
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
            yield self.entry(KEYS_REPEAT, size, [RoundRole.TYPICAL], keys, method=_BY_BIRTHDAYS)

    def _excluded_texts(self) -> Iterator[Excluded]:
        """Encryption without chance, where no share of the noise changes what is encrypted."""
        if self.rounds > len(self.inputs) and not self.claim.mechanism.in_shares:
            rounds = self.rounds * self.claim.mechanism.parties
            yield self.entry(
                TEXTS_REPEAT, {"states": 1}, [RoundRole.TYPICAL], rounds, method=_CERTAIN
            )

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

    def _look(self, given: Asked, seen: ShownRound) -> Finding | None:
        repeat = self.repeat(seen)
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
            parts = 1.0 + len(self.wagers_again) / len(self.evidence.wagers)
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

    def passed(self) -> str:
        """What a pass says of what was looked at."""
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
        rows += f"; {self.said_of_rounds}"
        said = [(self.shown, rows), (self.keys.rounds, keys), (self.ciphertexts.rounds, texts)]
        return "; ".join(text for seen, text in said if seen)


def _cause(name: str) -> Note:
    """What a wager of this name shows."""
    if name.startswith("party"):
        fields = {"party": int(name.removeprefix("party "))}
        return Note(_MISSING, f"{name} sends its values without a mask", fields)
    return BETWEEN.get(name) or Note(_MISSING, "parties send values without a mask")
