"""`recovery`: once parties have left, a tally is the sum of the others, with the noise left.

Of fewer parties than the quorum there is none.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise, Shares
from ....evidence.mixture import log_mean_of, log_mixture_of
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.cause import NEAR
from ....run.checks import Reason, RunContext
from ....run.phase import Phase
from ....targets import Refused, TargetError
from ....targets.replies import CallError
from ....targets.tally import ShownRound
from ...numbers.checks.noise_law import CELLS, MEASURED_ON, seen_effect, wanted
from ...numbers.evidence.bins import Placing
from ...numbers.evidence.noise_law import NoiseLawEvidence
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.uncancelled import UNCANCELLED
from ..plan import asked, drawn_values, patterns
from .base import RoundsCheck
from .mask_uniformity import MaskUniformity
from .several_ways import ONCE_LEFT, SeveralWays, present_of

_EFFECT = 0.1  # in total variation, the least that is looked for
_MOST = 200  # rounds at most
_FARTHEST = 0.5  # in total variation, beyond which no entry is told
_LEAST = -50.0  # nats that one number costs a law at most
_FAR = 30.0  # deviations beyond which a tally is no sum at all
_DIFFERS = "noise-after-dropouts-differs"
_OF_COPIES = 0.1  # share of the evidence that noise comes again


class _Left:
    """Evidence from rounds to which so many parties have sent their values."""

    def __init__(self, claim: TallyClaim, present: int, rng: np.random.Generator) -> None:
        self.noise = claim.mechanism.left(present)
        self.law, self.placing = NoiseLawEvidence(self.noise, 0), Placing(self.noise, rng)
        self.far = self.draws = 0
        self.off = np.zeros(0)  # of all tallies so far from the sums behind them

    def observe(self, tally: Vector, exact: Vector) -> None:
        """Adds a tally (d,) with the sum (d,) behind it."""
        placed = self.placing.placed(tally[None], exact[None], 53)
        self.law.observe(placed.flat, {})
        self.off = np.concatenate([self.off, tally - exact])
        off = np.abs(tally - exact)
        self.far += int((off > _FAR * self.noise.family.standard_deviation).sum())
        self.draws += tally.size

    def ratio(self, noise: NumberNoise) -> float:
        """The log-likelihood ratio of other noise to the claimed one."""
        logs = [law.log_mass(self.off, np.zeros_like(self.off)) for law in (noise, self.noise)]
        other, claimed = (np.maximum(one, _LEAST) for one in logs)
        return float((other - claimed).sum())


class Recovery(RoundsCheck):
    """Wagers on the law of rounds with dropouts, by how many shares of the noise are left.

    Where parties leave in several ways at once, with the largest values, wagers are on the sum. A
    round of fewer parties than the quorum has no tally, so that one is a proof.
    masks: also looks at what the parties of these rounds send, if it is there.
    """

    id = "recovery"
    phase = Phase.OPENING

    @classmethod
    def not_applicable_to(cls, claim: TallyClaim) -> Reason:
        if next(patterns(claim), None) is None:
            return Note("not-claimed", "all parties must stay by the claim: none may drop out")
        return None

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._rng = np.random.default_rng([seed, 33])
        self.inputs = [
            asked(claim, drawn_values(claim, self._rng), name, leaves)
            for name, leaves in patterns(claim)
        ]
        self.ways = SeveralWays(claim)
        self.left: dict[int, _Left] = {}
        self.refusals: list[str] = []
        self.masks: MaskUniformity | None = None

    @property
    def asks(self) -> int:
        return self.rounds + sum(1 for _ in self.ways.asked(self.turns))

    @property
    def turns(self) -> int:
        """Rounds of each way to leave in several ways at once."""
        return math.ceil(self.plan.share * self.ways.rounds(self._of_sums))

    @property
    def _of_sums(self) -> float:
        """What evidence on laws and sums must reach, natural log: the rest is on copies."""
        return self.log_threshold - math.log(1.0 - _OF_COPIES)

    @property
    def rounds(self) -> int:
        """Rounds by which the law of the noise is judged."""
        effect = max(self.claim.gate.smallest_effect, _EFFECT)
        laws = len({present_of(given) for given in self.inputs})
        rounds = math.ceil(laws * wanted(effect) / self.claim.mechanism.width)
        rounds = min(max(rounds, 2 * len(self.inputs)), _MOST)
        return max(len(self.inputs), math.ceil(self.plan.share * rounds))

    def conclude(self, context: RunContext) -> Outcome | None:
        waiting = list(self.inputs)
        for turn in range(self.rounds):
            if not waiting:
                break
            if context.left < 1:
                context.use_up()
                return None
            place = turn % len(waiting)
            given = waiting[place]
            try:
                found = self._look(context, given)
            except Refused as refusal:
                self.refusals.append(f"{given.role}: {refusal}")
                del waiting[place]
                continue
            if found is not None:
                found = self._of_any_round(context, found)
                return Outcome(Verdict.FAIL, found, self.queries)
        for which, given in self.ways.asked(self.turns):
            if context.left < 1:
                context.use_up()
                return None
            found = self._look_further(context, which, given)
            if found is not None:
                return Outcome(Verdict.FAIL, found, self.queries)
        if not self.left:
            message = f"the target refuses rounds with dropouts: {'; '.join(self.refusals)}"
            nothing = Finding.of(Note("input-refused", message, {"refused": len(self.refusals)}))
            nothing = replace(nothing, warnings=self._warnings)
            return Outcome(Verdict.NOT_APPLICABLE, nothing, self.queries)
        excludes = self.excluded_by({given.role for given in waiting})
        passed = Finding(self._passed(excludes), warnings=self._warnings, excludes=excludes)
        return Outcome(Verdict.PASS, passed, self.queries)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By the rounds of all inputs."""
        return self.excluded_by({given.role for given in self.inputs})

    def excluded_by(self, answered: Collection[str]) -> tuple[Excluded, ...]:
        """What a pass excludes by the inputs that are answered, in the rounds planned for them."""
        present = [present_of(given) for given in self.inputs]
        nats = self._of_sums + math.log(len({*present})) - math.log(self.ways.share_of_laws)
        found = []
        for left in sorted({*present}):
            where = [
                place
                for place, given in enumerate(self.inputs)
                if present[place] == left and given.role in answered
            ]
            rounds = sum(len(range(place, self.rounds, len(self.inputs))) for place in where)
            draws = rounds * self.claim.mechanism.width
            effect = seen_effect(draws, nats) if draws else 1.0
            size: Fields = {"present": left, "total_variation": effect, "cells": CELLS}
            if effect <= _FARTHEST:
                names = [self.inputs[place].role for place in where]
                found.append(self.entry(_DIFFERS, size, names, draws, method=MEASURED_ON))
        return tuple(found)

    @property
    def _warnings(self) -> tuple[Note, ...]:
        """Of rounds that the quorum lets end, and that the target does not end."""
        if not self.refusals:
            return ()
        fewest, parties = self.claim.mechanism.fewest, self.claim.mechanism.parties
        message = (
            f"a round with {fewest} of {parties} parties or more is refused where "
            f"{self.refusals[0]}"
        )
        return (Note("input-refused", message, {"fewest": fewest, "parties": parties}),)

    def _look_further(self, context: RunContext, place: int | None, given: Asked) -> Finding | None:
        """Looks at a round of the several ways; place: None below the quorum, where none is due."""
        if any(refused.startswith(f"{given.role}: ") for refused in self.refusals):
            return None
        try:
            seen = self.ask_or_refused(context, given)
        except Refused as refusal:
            if place is not None:
                self.refusals.append(f"{given.role}: {refusal}")
            return None
        except CallError:
            if place is not None:
                raise
            return None
        if place is None:
            return self.ways.tallied(given)
        return self._of_masks(context, given, seen) or self._miscounted(place, given, seen)

    def _miscounted(self, place: int, given: Asked, seen: ShownRound) -> Finding | None:
        """What a round of the several ways shows of its sum, or of its noise."""
        self.ways.sums.observe(place, self._unwrapped(seen, given) - given.exact)
        value = self._log_e_value
        if value < self.log_threshold:
            return None
        return self._copied(given) or self.ways.miscounted(value)

    def _copied(self, given: Asked) -> Finding | None:
        """That noise comes again, where that alone is refuted."""
        value, parties = self._of_copies, self.claim.mechanism.parties
        if value < self.log_threshold:
            return None
        message = (
            f"the noise of rounds that parties have left is that of earlier rounds: e-value "
            f"10^{value / math.log(10):.1f}"
        )
        cause = "a round that parties have left takes the noise of another one"
        fields: Fields = {"present": present_of(given), "parties": parties}
        return Finding.caused(message, Note("noise-reused", cause, fields), value)

    def _unwrapped(self, seen: ShownRound, given: Asked) -> Vector:
        near = given.exact.astype(np.int64)
        return np.array(self.claim.release.unwrapped(seen.tally, near), dtype=np.float64)

    def _of_masks(self, context: RunContext, given: Asked, seen: ShownRound) -> Finding | None:
        """What a round with dropouts shows of masks, if it is a fault."""
        if self.masks is not None:
            self.masks.after_dropouts(context, given, seen)
        both = sorted({*seen.revealed.get("self", ())} & {*seen.revealed.get("pair", ())})
        if both:
            message = (
                f"the self mask and the pairwise keys of party {both[0]} are both revealed where "
                f"{given.role}: what it has sent can be read"
            )
            cause = "a party's self mask is revealed together with its pairwise ones"
            fields: Fields = {"party": both[0], "input": str(given.role)}
            return Finding.caused(message, Note("both-masks-revealed", cause, fields), math.inf)
        return None

    def _look(self, context: RunContext, given: Asked) -> Finding | None:
        seen = self.ask_or_refused(context, given)
        found = self._of_masks(context, given, seen)
        if found is not None:
            return found
        present = present_of(given)
        if present not in self.left:
            self.left[present] = _Left(self.claim, present, self._rng)
        tally = self._unwrapped(seen, given)
        self.left[present].observe(tally, given.exact)
        value = self._log_e_value
        return self._refuted(given, value) if value >= self.log_threshold else None

    @property
    def _log_e_value(self) -> float:
        """Of laws the mean over all numbers of parties that may be present, seen yet or not."""
        may_be = {present_of(given) for given in self.inputs}
        logs = [self.left[n].law.log_e_value if n in self.left else 0.0 for n in may_be]
        of_sums = self.ways.beside(log_mean_of(np.array(logs)))
        copies = np.array([of_sums, self._of_copies])
        return log_mixture_of(copies, np.log([1.0 - _OF_COPIES, _OF_COPIES]))

    @property
    def _of_copies(self) -> float:
        return 0.0 if self.noise_again is None else self.noise_again.log_e_value

    def _refuted(self, given: Asked, value: float) -> Finding:
        copied = self._copied(given)
        if copied is not None:
            return copied
        present, worst = max(self.left.items(), key=lambda item: item[1].law.log_e_value)
        message = (
            f"to tallies of {present} of {self.claim.mechanism.parties} parties the claim leaves "
            f"{worst.noise}, and they do not follow it"
        )
        fields: Fields = {"present": present, "parties": self.claim.mechanism.parties}
        if 2 * worst.far > worst.draws:
            cause = Note(UNCANCELLED, ONCE_LEFT, {**fields, "input": str(given.role)})
            return Finding.caused(f"{message}: where {given.role}", cause, value)
        _, fault, nats = worst.law.worst()
        other = self._other_shares(worst, nats)
        if other is not None:
            cause = Note(_DIFFERS, f"after dropouts: {other}", {**fields, **other.fields})
            return Finding.caused(message, cause, value)
        fields = {**fields, "fault": fault.cause.code, **fault.cause.fields}
        cause = Note(_DIFFERS, f"after dropouts: {fault.name}", fields)
        return Finding.caused(message, cause, value)

    def _other_shares(self, worst: _Left, nats: float) -> Note | None:
        """The share of the noise that each party adds, where another than the claimed fits best.

        nats: of the likeliest known fault, in the rounds where the claim fits worst.
        """
        mechanism = self.claim.mechanism
        claimed = worst.noise.family
        if not (mechanism.in_shares and isinstance(claimed, Shares)):
            return None

        def of(left: _Left, parts: int) -> NumberNoise:
            assert isinstance(left.noise.family, Shares)
            return replace(left.noise, family=replace(left.noise.family, parties=parts))

        odds = {
            parts: sum(left.ratio(of(left, parts)) for left in self.left.values())
            for parts in range(2, 2 * mechanism.parties + 1)
            if parts != claimed.parties
        }
        best = max(odds, key=odds.__getitem__)
        all_of_them = mechanism.parties
        if odds.get(all_of_them, -math.inf) > odds[best] - NEAR:
            best = all_of_them
        if worst.ratio(of(worst, best)) < nats - NEAR:
            return None
        words = f"each party adds 1/{best} of the noise, not 1/{claimed.parties}"
        words += ": made for all parties, not for the quorum" if best == all_of_them else ""
        return Note("noise-shares-differ", words, {"fault": "noise-shares-differ", "parts": best})

    def _of_any_round(self, context: RunContext, found: Finding) -> Finding:
        """The finding, whose cause is another one where masks do not cancel with all there."""
        if found.code != UNCANCELLED or not context.explains or context.left < 1:
            return found
        given = asked(self.claim, self.inputs[0].values[0], "all parties stay")
        try:
            seen = self.ask_or_refused(context, given)
        except (Refused, TargetError):
            return found
        tally = self._unwrapped(seen, given)
        far = _FAR * self.claim.mechanism.added.family.standard_deviation
        if 2 * int((np.abs(tally - given.exact) > far).sum()) <= tally.size:
            return found
        cause = Note(UNCANCELLED, "masks do not cancel, also where all parties stay", found.fields)
        return Finding.caused(found.message, cause, found.log_odds)

    def _passed(self, excludes: Sequence[Excluded]) -> str:
        rounds = f"in {self.queries:,} rounds in which "
        who = f"{min(self.left)} to {max(self.left)}" if len(self.left) > 1 else f"{min(self.left)}"
        seen = "".join(
            f"; with {one.size['present']} present a law {one.size['total_variation']:.3g} away in "
            f"total variation over {one.size['cells']} cells of equal probability would have been "
            f"seen with probability {one.probability:g}"
            for one in excludes
        )
        refused = f"; refused: {'; '.join(self.refusals)}" if self.refusals else ""
        if self.ways.below:
            refused += f"; rounds below the quorum were refused, in {len(self.ways.below)} ways"
        again = ""
        if self.noise_again is not None:
            again = "; the noise of none was seen to be that of an earlier round of these checks"
        return (
            f"{rounds}{who} of {self.claim.mechanism.parties} parties sent their values, no "
            "departure from the sum of these, with the noise that is left, was seen"
            f"{refused}{again}{seen}"
        )
