"""`mask-uniformity`: what a party sends is uniform modulo m, and independent of all else.

Ciphertexts are not residues: of them a repeat is looked for.
"""

import math
from dataclasses import replace

import numpy as np

from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import RunContext
from ....run.phase import Phase
from ....targets.tally import Seen
from ...numbers.checks.base import spec_of
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.ciphertexts import Ciphertexts, Place
from ..evidence.masked import BETWEEN, Keys, MaskEvidence, Rows
from ..plan import Role, asked, drawn_values
from .base import RoundsCheck

_ROWS, _FEWEST, _MOST = 1_000, 10, 200
"""Rows that are looked at, about; and rounds, at least and at most."""

_NATIVE = 2**62
"""Moduli up to which residues are taken as int64."""


class MaskUniformity(RoundsCheck):
    """Wagers on what parties send; and keys or ciphertexts of different rounds or parties alike."""

    id = "mask-uniformity"

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        mechanism, rng = claim.mechanism, np.random.default_rng([seed, 31])
        self.evidence = MaskEvidence(mechanism.modulus, mechanism.parties, rng)
        self.keys, self.ciphertexts, self.shown, self.without = Keys(), Ciphertexts(), 0, 0
        of = mechanism.aggregation
        drawn = drawn_values(claim, np.random.default_rng([seed, 32]))
        several = (drawn, np.full_like(drawn, of.lower), np.full_like(drawn, of.upper))
        self.inputs = [asked(claim, values, Role.TYPICAL) for values in several]

    @property
    def asks(self) -> int:
        """See `AskingCheck.asks`."""
        rows = math.ceil(_ROWS / self.claim.mechanism.parties)
        return math.ceil(self.plan.share * min(max(rows, _FEWEST), _MOST))

    def conclude(self, context: RunContext) -> Outcome | None:
        """See `Running.conclude`."""
        for turn in range(self.asks):
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
        partial = self._partial
        if not (self.shown or self.keys.rounds or self.ciphertexts.rounds):
            message = f"the target does not show what all of its parties send: {partial}"
            nothing = Finding.of(Note("not-shown", message, {"rounds": self.without}))
            return Outcome(Verdict.NOT_APPLICABLE, nothing, self.queries)
        warnings = () if partial is None else (partial,)
        return Outcome(Verdict.PASS, Finding(self._passed(), warnings=warnings), self.queries)

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

    def _look(self, given: Asked, seen: Seen) -> Finding | None:
        again = self.keys.repeated(dict(seen.keys))
        if again is not None:
            cause = Note("keys-repeat", "keys come from a generator with few states")
            return _repeated("key", again, cause)
        again = self.ciphertexts.repeated(seen.ciphertexts)
        if again is not None:
            words = "the same values encrypt to the same ciphertext"
            return _repeated("ciphertext", again, Note("ciphertexts-repeat", words))
        self.without += 0 < len(seen.sent) < self.claim.mechanism.parties
        if len(seen.sent) == self.claim.mechanism.parties:
            self.shown += 1
            self.evidence.observe(*self._rows(given, seen))
            value = self.evidence.log_e_value
            if value >= self.log_threshold:
                return self._refuted(value)
        return None

    def _rows(self, given: Asked, seen: Seen) -> tuple[Rows, Rows]:
        sent = [seen.sent[n] for n in sorted(seen.sent)]
        if self.claim.mechanism.modulus <= _NATIVE:
            return np.array(sent, dtype=np.int64), np.asarray(given.values[0], dtype=np.int64)
        return np.array(sent, dtype=object), np.asarray(given.values[0]).astype(object)

    def _refuted(self, value: float) -> Finding:
        name = self.evidence.likeliest
        what = "what parties send is not uniform and independent modulo "
        message = f"{what}{self.evidence.modulus}: e-value 10^{value / math.log(10):.1f}"
        cause = BETWEEN.get(name) or Note("mask-missing", "parties send values without a mask")
        if name.startswith("party"):
            fields = {"party": int(name.removeprefix("party "))}
            cause = Note("mask-missing", f"{name} sends its values without a mask", fields)
        return Finding.caused(message, cause, value)

    def _passed(self) -> str:
        parties = self.claim.mechanism.parties
        of = f"{self.shown:,} rounds of {parties} parties"
        rows = (
            f"what parties send in {of} is uniform modulo {self.evidence.modulus}, and independent "
            "between rounds, parties and coordinates, as far as differences of two show it"
        )
        keys = f"no key of {self.keys.rounds:,} rounds is that of another"
        who = f"{self.ciphertexts.parties:,} of {parties:,} parties"
        texts = f"{self.ciphertexts.number:,} ciphertexts of {who} differ"
        said = [(self.shown, rows), (self.keys.rounds, keys), (self.ciphertexts.rounds, texts)]
        return "; ".join(text for seen, text in said if seen)


def _repeated(what: str, again: tuple[str, Place, Place], cause: Note) -> Finding:
    """A proof: what is drawn anew was seen twice."""
    text, (one, first), (other, last) = again
    where = f"of party {one} in round {first} is that of party {other} in round {last}"
    message = f"{what} {text[:16]} {where}: new {what}s are never alike"
    fields: Fields = {"party": other, "round": last, "first_party": one, "first_round": first}
    return replace(Finding.caused(message, cause, math.inf), fields=fields)


SPECS = (spec_of(MaskUniformity, Phase.OPENING),)  # type: ignore[arg-type]
