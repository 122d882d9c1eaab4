"""`privacy-audit` without a law: which input each draw is of is predicted from its reply."""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....attacks.auditing.coin import Guarantee, Law, factor_told, share_told
from ...findings.excluded import SURE_TO_SEE, Excluded
from ...findings.finding import Finding
from ...findings.note import Fields, Note
from ...run.checks import EvidenceCheck
from .claim import AnyClaim
from .control import PositiveControl, nothing_learned, tell_apart, too_little_to_tell
from .features import MOST
from .fresh_states import FreshStates
from .halving import FIRST, rounds
from .pair_audit import PairAudit
from .pairs import Control, Pair
from .predictor import load_predictor
from .registry import CHECKS
from .telling import told_by

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
_BY_NORMAL = (
    "mean and variance of the evidence of a prediction that is fixed beforehand, taken to be "
    f"normal; where neighbours differ by the sensitivity of one number, and {MOST} numbers vary at "
    "most; each pair would show it by itself"
)
_LAWS: tuple[Law, ...] = ("laplace", "gaussian")


def excluded_by(claim: AnyClaim, draws: int) -> tuple[Excluded, ...]:
    """What a pass excludes with so many draws of each pair of the claim.

    Drawn pairs have fewer of them, unless they show more: nothing is said of these.
    """
    privacy, own = claim.privacy, len(claim.pairs)
    budget = CHECKS.shares[LawlessPrivacyAudit.id] * claim.gate.false_alarm
    wanted = -math.log(budget) + math.log(own * (2.0 if claim.drawn else 1.0))
    predicted = claim.mechanism.predictor is not None
    share, factors = _surely_seen(tuple(privacy.lines), draws, wanted, predicted)
    sizes: list[tuple[dict[str, str | float], str]] = []
    if share is not None:
        sizes.append(({"share": share}, _BY_BINOMIAL))
    sizes += [
        ({"factor": factor, "noise": law}, _BY_NORMAL)
        for law, factor in zip(_LAWS, factors, strict=True)
        if factor is not None
    ]
    return tuple(
        Excluded(
            code=_CAUSE,
            size={**size, "epsilon": privacy.epsilon, "delta": privacy.delta},
            where=tuple(named(pair, place) for place, pair in enumerate(claim.pairs)),
            queries=draws * own,
            probability=SURE_TO_SEE,
            false_alarm=budget,
            method=method,
        )
        for size, method in sizes
    )


@lru_cache(maxsize=32)
def _surely_seen(
    lines: tuple[Guarantee, ...], draws: int, wanted: float, predicted: bool
) -> tuple[float | None, list[float | None]]:
    """The share of replies that tell their input, and the factor of epsilon of noise of each law.

    wanted: evidence of one pair that refutes, natural log.
    """
    misses = 1.0 - SURE_TO_SEE
    share = share_told(
        lines, draws, wanted, first=FIRST, features=MOST, predicted=predicted, misses=misses
    )
    factors = [
        factor_told(lines, draws, wanted, law, features=MOST, predicted=predicted, misses=misses)
        for law in _LAWS
    ]
    return share, factors


def _in_words(entry: Excluded) -> str:
    """What a pass would have seen, for its message."""
    if "share" in entry.size:
        what = (
            "one value of a number, which no other reply has, in "
            f"{entry.size['share']:.2g} of the replies of one input"
        )
    else:
        law = str(entry.size["noise"]).capitalize()
        what = f"{law} noise on a number at {entry.size['factor']:.3g} times the claimed epsilon"
    return f"{what} would have been seen with probability {entry.probability:g}"


def control_draws(draws: int) -> int:
    """Draws of a control at most: as many as a pair has, a quarter of them where these are few."""
    return draws if draws >= WANTED else max(FIRST, draws // 4)


def named(pair: Pair, place: int) -> str:
    """A pair as messages name it, by its place from 0."""
    return f"pair {place + 1}" if pair.name is None else f"the pair {pair.name!r}"


class LawlessPrivacyAudit(EvidenceCheck):
    """Wagers that replies tell the inputs of a pair apart better than the claim allows.

    The claim's pairs have equal shares of the evidence; where pairs are drawn too, these have half
    of it, in equal shares. Who is drawn further depends on draws so far, the shares do not.

    A pass takes more: that some inputs were told apart, of a pair or of the `control`, or that the
    claim is too small for that. fresh: whether draws are known to be of fresh states, or claimed
    to be; where they are not, no evidence refutes; confirmed: first replies of fresh states, which
    refute by themselves, and whose evidence then stands for all. settled: whether it is known;
    unlearned: why there is no pass; excused: why there is one where nothing was told apart.
    """

    id, unit = "privacy-audit", "draws"
    queries: int = 0

    def __init__(self, claim: AnyClaim, wanted: int = WANTED) -> None:
        self.claim, self.wanted = claim, wanted
        lines, spec = claim.privacy.lines, claim.mechanism.predictor
        self._predictor = None if spec is None else load_predictor(spec)
        self.pairs = [*claim.pairs, *claim.drawn]
        self.each = [PairAudit(lines, pair, self._predictor) for pair in self.pairs]
        own, drawn = len(claim.pairs), len(claim.drawn)
        shares = [1.0 / own] * own if not drawn else [0.5 / own] * own + [0.5 / drawn] * drawn
        self._log_shares = np.log(shares)
        self._rounds = rounds(drawn, wanted)
        self.searched = list(range(own, own + drawn))
        self.goals = [wanted] * own + [self._rounds[0][1] if drawn else 0] * drawn
        self.control: PositiveControl | None = None
        self.fresh, self.settled = claim.mechanism.caching is not None, False
        self.confirmed: FreshStates | None = None
        self.unlearned: Note | None = None
        self.excused: str | None = None

    def observe(self, pair: int, replies: list[Any], coins: NDArray[np.bool_]) -> None:
        """Adds draws of a pair: replies (n), and whether each is of `there` (n,)."""
        self.each[pair].observe(replies, coins)
        self.queries += len(replies)

    def asked(self, rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.bool_], bool]]:
        """What to ask: a pair, a coin (n,) for each draw of it, and whether to look thereafter.

        Each is to be observed before the next. What was left out beforehand is not asked.
        """
        while self._lacking():
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
        """The average over pairs."""
        if self.confirmed is not None:
            return self.confirmed.log_e_value
        logs = np.array([audit.log_e_value for audit in self.each])
        return float(np.logaddexp.reduce(self._log_shares + logs))

    def confirm(self, states: FreshStates) -> None:
        """Takes first replies of fresh states, which refute the claim."""
        self.confirmed, self.fresh = states, True

    @property
    def suspected(self) -> bool:
        """Whether the claim would be refuted now, were the draws known to be of fresh states."""
        return not self.fresh and self.log_e_value >= self.log_threshold

    adds_up = False
    """Draws count only once they are known to be of fresh states."""

    @property
    def refuted(self) -> bool:
        return self.fresh and super().refuted

    def samples_needed(self) -> int:
        """With those of a control, as long as it may be asked."""
        if self.settled:
            return self._lacking()
        of_control = control_draws(self.wanted) if self.control is None else self.control.left
        return self._lacking() + max(1, of_control)

    def _lacking(self) -> int:
        """Draws of pairs that are still to be asked for."""
        now = sum(self.left(pair) for pair in range(len(self.pairs)))
        if not self.searched or len(self._rounds) < 2:
            return now
        return now + sum(
            count * (draws - before) for (_, before), (count, draws) in pairwise(self._rounds)
        )

    def needs_control(self) -> bool:
        """Whether no pair was told apart, once all have had their draws."""
        self.settled = tell_apart(self.each)
        return not self.settled

    def begin_control(self, control: Control) -> PositiveControl:
        """What the draws of two inputs far apart are shown to."""
        self.control = PositiveControl(control, self._predictor, control_draws(self.wanted))
        return self.control

    def conclude_control(self) -> None:
        """Decides whether there is a pass, once the control has had its draws; if there is one."""
        if self.control is not None:
            found, distance, pairs = self.control.audit, self.control.control.distance, 1
            self.settled = self.control.told
        else:
            found, distance, pairs = self.each[0], 1.0, len(self.each)
        if not self.settled:
            self.excused = too_little_to_tell(self.claim, found, distance, pairs)
            self.settled = self.excused is not None
        if not self.settled:
            self.unlearned = nothing_learned(found, far=self.control is not None)

    def fail_finding(self) -> Finding:
        states = self.confirmed
        if states is None:
            worst = int(np.argmax([audit.log_e_value for audit in self.each]))
            found = self.each[worst]
            claimed = found.guarantees[int(np.argmax(found.log_e_values))]
            error = _ERROR / (len(self.each) * len(found.guarantees))  # the most telling are chosen
            refuted = found.least_epsilon(claimed.delta, error)
            shown = f"{len(found.coins):,} draws"
        else:  # of all other draws the laws may be those of what was kept
            worst, found, claimed = states.place, states.pair, states.line
            refuted = states.least_epsilon(_ERROR)
            shown = f"first replies of {states.states:,} fresh states"
        message = (
            f"replies tell the inputs of {self.named(worst)} apart: {shown} "
            f"refute epsilon {claimed.epsilon:.4g} at delta {claimed.delta:.3g}, and at "
            f"{CONFIDENCE:.0%} every epsilon up to {refuted:.3g}"
        )
        cause = f"the outputs of {self.named(worst)} differ more than the claim allows"
        by = told_by(found, claimed, self.log_threshold)
        cause += "" if by is None else f": they are told apart by {by}"
        fields: Fields = {
            "pair": worst + 1,
            "name": found.pair.name,
            "draws": len(found.coins) if states is None else states.states,
            "epsilon": claimed.epsilon,
            "delta": claimed.delta,
            "refuted_epsilon": refuted,
        }
        return Finding.caused(message, Note(_CAUSE, cause, fields), self.log_e_value)

    def pass_finding(self) -> Finding:
        """What the draws leave of epsilon."""
        delta = self.claim.privacy.lines[0].delta
        error = _ERROR / len(self.each)  # as the most telling were chosen
        shown = np.argsort([-audit.evidence([0.0], delta)[0] for audit in self.each])[:_TOLD]
        least = {int(place): self.each[place].least_epsilon(delta, error) for place in shown}
        order = sorted(least, key=lambda place: -least[place])
        told = ", ".join(f"{self.named(place)} {least[place]:.3g}" for place in order)
        rest = len(self.each) - len(order)
        more = f" ({rest} more showed less)" if rest else ""
        excludes = self.excluded
        seen = "".join(f"; {_in_words(one)}" for one in excludes)
        seen += "" if self.excused is None else f"; {self.excused}"
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
