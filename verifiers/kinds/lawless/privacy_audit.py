"""`privacy-audit` without a law: which input each draw is of is predicted from its reply."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....attacks.auditing.coin import CoinAudit, Guarantee, epsilon_lower, share_told
from ....reference.arrays import Matrix, Vector
from ...findings.excluded import SURE_TO_SEE, Excluded
from ...findings.finding import Finding
from ...findings.note import Fields, Note
from ...run.checks import Judged
from ...run.error_budget import log_threshold
from .claim import AnyClaim
from .features import MOST, Features
from .halving import FIRST, rounds
from .pairs import Pair
from .predictor import Predictor, load_predictor
from .registry import CHECKS

WANTED = 4_000
"""Draws of each pair in a pass, unless others are asked for."""

_TOLD = 3  # pairs that a message names
CONFIDENCE = 0.95
_ERROR = 1.0 - CONFIDENCE
_FEWEST, _LOOK = 16, 0.04  # draws between looks, and as a share of those so far
_CAUSE = "inputs-told-apart"
_BY_BINOMIAL = (
    "the binomial law of how many replies tell their input by one number, which is the same in all "
    f"others, where {MOST} numbers vary at most; each pair would show it by itself"
)


def excluded_by(claim: AnyClaim, draws: int) -> tuple[Excluded, ...]:
    """What a pass excludes with so many draws of each pair of the claim.

    Drawn pairs have fewer of them, unless they show more: nothing is said of these.
    """
    privacy, own = claim.privacy, len(claim.pairs)
    budget = CHECKS.shares[PrivacyAudit.id] * claim.gate.false_alarm
    share = share_told(
        privacy.lines,
        draws,
        -math.log(budget) + math.log(own * (2.0 if claim.drawn else 1.0)),
        first=FIRST,
        features=MOST,
        predicted=claim.mechanism.predictor is not None,
        misses=1.0 - SURE_TO_SEE,
    )
    if share is None:
        return ()
    return (
        Excluded(
            code=_CAUSE,
            size={"share": share, "epsilon": privacy.epsilon, "delta": privacy.delta},
            where=tuple(named(pair, place) for place, pair in enumerate(claim.pairs)),
            queries=draws * own,
            probability=SURE_TO_SEE,
            false_alarm=budget,
            method=_BY_BINOMIAL,
        ),
    )


def named(pair: Pair, place: int) -> str:
    """A pair as messages name it, by its place from 0."""
    return f"pair {place + 1}" if pair.name is None else f"the pair {pair.name!r}"


class PairAudit:
    """The draws of one pair, and the evidence on each guarantee.

    predictor: the vendor's own, which is given replies and no coin.
    """

    def __init__(
        self, guarantees: list[Guarantee], pair: Pair, predictor: Predictor | None
    ) -> None:
        self.guarantees, self.pair, self.predictor = guarantees, pair, predictor
        self.replies: list[Any] = []
        self.coins = np.zeros(0, dtype=np.bool_)
        self.odds: Vector | None = None if predictor is None else np.zeros(0)
        self.features: Features | None = None
        self.outputs: Matrix = np.zeros((0, 0))
        self.audits: list[CoinAudit] = []

    def observe(self, replies: list[Any], coins: NDArray[np.bool_]) -> None:
        """Adds draws: replies (n), and whether each is of `there` (n,)."""
        self.coins = np.concatenate([self.coins, coins])
        if self.predictor is not None and self.odds is not None:
            given = [self.predictor(reply, self.pair) for reply in replies]
            self.odds = np.concatenate([self.odds, given])
        if self.features is None:
            self.replies += replies
            if len(self.replies) < FIRST:
                return
            self.features, replies = Features(self.replies, self.coins), self.replies
            self.audits = [self._audit(guarantee) for guarantee in self.guarantees]
            self.outputs = np.zeros((0, len(self.features.paths)))
            if self.features.chosen_by_coins:
                return
        made = self.features.of(replies)
        self.outputs = np.concatenate([self.outputs, made])
        for audit in self.audits:
            self._show(audit, len(made))

    def _audit(self, guarantee: Guarantee) -> CoinAudit:
        assert self.features is not None
        return CoinAudit(guarantee, len(self.features.paths), predicted=self.odds is not None)

    def _show(self, audit: CoinAudit, last: int) -> None:
        """The last draws of all that are evidence."""
        if last:
            odds = None if self.odds is None else self.odds[-last:]
            audit.observe(self.outputs[-last:], self.coins[-last:], odds)

    @property
    def log_e_value(self) -> float:
        """The average over guarantees."""
        if not self.audits:
            return 0.0
        logs = [audit.log_e_value for audit in self.audits]
        return float(np.logaddexp.reduce(logs) - math.log(len(logs)))

    def evidence(self, epsilon: float, delta: float) -> float:
        """Natural log of the evidence of all draws against another guarantee."""
        if self.features is None:
            return 0.0
        audit = self._audit(Guarantee(epsilon, delta))
        self._show(audit, len(self.outputs))
        return audit.log_e_value

    def least_epsilon(self, delta: float, error: float) -> float:
        """The largest epsilon that these draws refute at this delta, but for `error`; 0 if none."""
        return epsilon_lower(lambda epsilon: self.evidence(epsilon, delta), error)


class PrivacyAudit(Judged):
    """Wagers that replies tell the inputs of a pair apart better than the claim allows.

    The claim's pairs have equal shares of the evidence; where pairs are drawn too, these have half
    of it, in equal shares. Who is drawn further depends on draws so far, the shares do not.
    """

    id, unit = "privacy-audit", "draws"

    def __init__(self, claim: AnyClaim, wanted: int = WANTED) -> None:
        self.claim, self.wanted, self.queries = claim, wanted, 0
        self.log_threshold = log_threshold(CHECKS.shares[self.id], claim.gate.false_alarm)
        lines, spec = claim.privacy.lines, claim.mechanism.predictor
        predictor = None if spec is None else load_predictor(spec)
        self.pairs = [*claim.pairs, *claim.drawn]
        self.each = [PairAudit(lines, pair, predictor) for pair in self.pairs]
        own, drawn = len(claim.pairs), len(claim.drawn)
        shares = [1.0 / own] * own if not drawn else [0.5 / own] * own + [0.5 / drawn] * drawn
        self._log_shares = np.log(shares)
        self._rounds = rounds(drawn, wanted)
        self.searched = list(range(own, own + drawn))
        self.goals = [wanted] * own + [self._rounds[0][1] if drawn else 0] * drawn

    def observe(self, pair: int, replies: list[Any], coins: NDArray[np.bool_]) -> None:
        """Adds draws of a pair: replies (n), and whether each is of `there` (n,)."""
        self.each[pair].observe(replies, coins)
        self.queries += len(replies)

    def asked(self, rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.bool_], bool]]:
        """What to ask: a pair, a coin (n,) for each draw of it, and whether to look thereafter.

        Each is to be observed before the next. What was left out beforehand is not asked.
        """
        while self.samples_needed():
            waiting = [pair for pair in range(len(self.pairs)) if self.left(pair)]
            if not waiting:
                self.promote()
            for pair in waiting:
                size = min(max(_FEWEST, int(_LOOK * len(self.each[pair].coins))), self.left(pair))
                yield pair, rng.random(size) < 0.5, pair == waiting[-1]

    def drop(self, pair: int) -> None:
        """A drawn pair whose inputs the target does not take; its share is not given to others."""
        self.searched.remove(pair)
        self.goals[pair] = 0

    def left(self, pair: int) -> int:
        """Draws that a pair lacks in this round."""
        return max(0, self.goals[pair] - len(self.each[pair].coins))

    def promote(self) -> None:
        """Ends a round of the search: the half of its pairs that shows more goes on."""
        self._rounds = self._rounds[1:]
        if not self._rounds:
            return
        count, draws = self._rounds[0]
        shown = sorted(self.searched, key=lambda pair: -self.each[pair].log_e_value)
        self.searched = shown[:count]
        for pair in self.searched:
            self.goals[pair] = draws

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`: the average over pairs."""
        logs = np.array([audit.log_e_value for audit in self.each])
        return float(np.logaddexp.reduce(self._log_shares + logs))

    def samples_needed(self) -> int:
        """See `Check.samples_needed`."""
        now = sum(self.left(pair) for pair in range(len(self.pairs)))
        if not self.searched or len(self._rounds) < 2:
            return now
        return now + sum(
            count * (draws - before) for (_, before), (count, draws) in pairwise(self._rounds)
        )

    def fail_finding(self) -> Finding:
        """See `Check.fail_finding`."""
        worst = int(np.argmax([audit.log_e_value for audit in self.each]))
        found = self.each[worst]
        line = max(found.audits, key=lambda audit: audit.log_e_value)
        claimed = line.guarantee
        error = _ERROR / (len(self.each) * len(found.audits))  # as the most telling were chosen
        refuted = found.least_epsilon(claimed.delta, error)
        message = (
            f"replies tell the inputs of {self.named(worst)} apart: {len(found.coins):,} draws "
            f"refute epsilon {claimed.epsilon:.4g} at delta {claimed.delta:.3g}, and at "
            f"{CONFIDENCE:.0%} every epsilon up to {refuted:.3g}"
        )
        cause = f"the outputs of {self.named(worst)} differ more than the claim allows"
        fields: Fields = {
            "pair": worst + 1,
            "name": found.pair.name,
            "draws": len(found.coins),
            "epsilon": claimed.epsilon,
            "delta": claimed.delta,
            "refuted_epsilon": refuted,
        }
        return Finding.caused(message, Note(_CAUSE, cause, fields), self.log_e_value)

    def pass_finding(self) -> Finding:
        """See `Check.pass_finding`: what the draws leave of epsilon."""
        delta = self.claim.privacy.lines[0].delta
        error = _ERROR / len(self.each)  # as the most telling were chosen
        shown = np.argsort([-audit.evidence(0.0, delta) for audit in self.each])[:_TOLD]
        least = {int(place): self.each[place].least_epsilon(delta, error) for place in shown}
        order = sorted(least, key=lambda place: -least[place])
        told = ", ".join(f"{self.named(place)} {least[place]:.3g}" for place in order)
        rest = len(self.each) - len(order)
        more = f" ({rest} more showed less)" if rest else ""
        excludes = self.excluded
        seen = "".join(
            f"; a number that tells the input in {one.size['share']:.2g} of the replies of one "
            f"would have been seen with probability {one.probability:g}"
            for one in excludes
        )
        return Finding(
            f"{self.queries:,} draws do not contradict the claim; at {CONFIDENCE:.0%} and delta "
            f"{delta:.3g} they refute every epsilon up to: {told}{more}; whatever lies "
            f"between that and the claim was not seen, and no law was tested{seen}",
            excludes=excludes,
        )

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes, of what is planned and was answered."""
        asked = (len(audit.coins) for audit in self.each[: len(self.claim.pairs)])
        return excluded_by(self.claim, min(self.wanted, *asked))

    def named(self, place: int) -> str:
        """A pair as messages name it."""
        return named(self.pairs[place], place)
