"""Evidence from labels of one histogram each: copies, frozen answers, uneven counts."""

from itertools import accumulate, pairwise

import numpy as np
from scipy.special import gammaln

from .....reference.arrays import Matrix, Vector
from ....evidence.dependence import Dependence, OrderInCalls
from ....evidence.dispersion import BlockDispersion, Dispersion
from ....evidence.kept_noise import CallCopies, Frozen
from ....evidence.mixture import log_mixture_of
from ....evidence.outcomes import Outcomes, count_outcomes, half, log_supremum_ratio
from ....evidence.repetition import LONGEST, WAGERS, Repetition, log_mixture
from ....run.cause import SURE
from ..planning.plan import Plan
from ..planning.schedule import SHORT_CALL
from ..planning.streams import FRESH_CALL, Role

_BY_STREAM = ("single", "dependent", "dispersed", "spread", "ordered")
"""The e-processes that each stream has of its own, by their names in `LabelsFreshNoise`."""

CONCENTRATIONS = 2.0 ** np.arange(9)
"""Concentrations of the Dirichlet law, about the claimed law, from which calls draw a law."""

_LEAK = 0.01  # share of independent screening, so that no call rules out one screening per call
_LEAST_CHANCE = 1e-12


class OfOneHistogram:
    """The e-processes of `LabelsFreshNoise` in which labels are compared within their histogram.

    same: for each stream of the plan, the first stream of its input; misfit: for each stream (s,),
    log-supremum over laws of its likelihood over the claimed one, by which ratios are divided;
    counts: of outcomes (s, o); anchors: whether copies on a stream (s,) are counted together.
    """

    def __init__(self, plan: Plan, same: list[int]) -> None:
        self._log_q, self._same = plan.log_q, same
        effect = plan.claim.gate.smallest_effect
        streams, outcomes = plan.log_q.shape
        self._copies = [Repetition(log_q) for log_q in plan.log_q]
        self._dependent = [Dependence(log_q, effect) for log_q in plan.log_q]
        self._sets = [half(np.exp(log_q)) for log_q in plan.log_q]
        shares = [
            float(np.exp(log_q[inside]).sum())
            for log_q, inside in zip(plan.log_q, self._sets, strict=True)
        ]
        self.dispersed = [Dispersion(share) for share in shares]
        self.blocks = [BlockDispersion(share) for share in shares]
        self._ordered = [OrderInCalls() for _ in range(streams)]
        self.frozen = Frozen(streams)
        self._once = OnceACall(plan.log_q, refuses=plan.claim.mechanism.refuses)
        self._fresh = plan.first(Role.FRESH)
        near_tie = plan.first(Role.NEAR_TIE)
        self._calls = {
            self._fresh: CallCopies(plan.log_q[self._fresh], FRESH_CALL),
            near_tie: CallCopies(plan.log_q[near_tie], SHORT_CALL),
        }
        self._together = np.zeros((WAGERS, LONGEST))
        self.counts = np.zeros((streams, outcomes))
        self.misfit = np.zeros(streams)
        self._logs = {name: np.zeros(streams) for name in _BY_STREAM}
        self.anchors = np.array([s.is_anchor or s.role is Role.FRESH for s in plan.streams])
        self._deep = set(np.array(same)[self.anchors].tolist())
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(plan.weights)

    def observe(self, stream: int, outcomes: Outcomes, calls: tuple[int, ...]) -> None:
        """Adds outcomes (n,) of a stream, from calls of these sizes."""
        log_q = self._log_q[stream]
        self.counts[stream] += count_outcomes(outcomes, log_q.size)
        self.misfit[stream] = log_supremum_ratio(self.counts[stream], log_q)
        copies, dependent = self._copies[stream], self._dependent[stream]
        before = copies.log_ratios
        copies.observe(outcomes)
        dependent.observe(outcomes)
        self._by_call(stream, outcomes, calls)
        self._logs["single"][stream] = copies.log_e_value - self.misfit[stream]
        self._logs["dependent"][stream] = dependent.log_e_value - self.misfit[stream]
        self._logs["dispersed"][stream] = self.dispersed[stream].log_e_value
        self._logs["ordered"][stream] = self._ordered[stream].log_e_value
        same = self._same[stream]
        if same in self._deep:
            self.blocks[same].observe(self._sets[same][outcomes])
            self._logs["spread"][same] = self.blocks[same].log_e_value
        if self.anchors[stream]:
            self._together[:, : before.shape[1]] -= before
            self._together[:, : copies.log_ratios.shape[1]] += copies.log_ratios

    def _by_call(self, stream: int, outcomes: Outcomes, calls: tuple[int, ...]) -> None:
        """Adds the labels of each call by itself."""
        inside, compared = self._sets[stream], self._calls.get(stream)
        for start, end in pairwise(accumulate(calls, initial=0)):
            of_call = outcomes[start:end]
            self.frozen.observe(stream, of_call, self._log_q[stream])
            self.dispersed[stream].observe(int(inside[of_call].sum()), of_call.size)
            self._ordered[stream].observe(of_call)
            if of_call.size > 1:
                self._once.observe(stream, count_outcomes(of_call, self._log_q.shape[1]))
            if compared is not None:
                compared.observe(of_call)

    def parts(self) -> dict[str, float]:
        """Log of each e-process, by its name in `LabelsFreshNoise`."""
        own = {name: log_mixture_of(logs, self._log_weights) for name, logs in self._logs.items()}
        calls = [e.log_e_value - self.misfit[stream] for stream, e in self._calls.items()]
        return own | {
            "together": log_mixture(self._together) - float(self.misfit[self.anchors].sum()),
            "frozen": self.frozen.log_e_value,
            "calls": float(np.logaddexp.reduce(calls) - np.log(len(calls))),
        }

    @property
    def any_law(self) -> Vector:
        """Log-odds (s,) of any law on each stream, less what so many free chances gain anyway."""
        labels = np.maximum(self.counts.sum(-1), 1.0)
        free = 0.5 * ((self.counts > 0).sum(-1) - 1.0) * np.log(labels)
        return np.asarray(np.maximum(self.misfit - free, 0.0))

    def once_a_call(self) -> tuple[str, float] | None:
        """What every call draws once, a key of `reuse.WORDS`, with its log-odds.

        None unless it explains clearly more than copies, dependence on the label before, or any
        law per histogram, all compared with the claimed law.
        """
        names = ("screened once", "own law")
        found = dict(zip(names, (self._once.screened, self._once.own_law), strict=True))
        name = max(names, key=lambda one: found[one])
        depends = np.maximum(self._logs["dependent"] + self.misfit, 0.0).sum()
        together = log_mixture(self._together)
        single = float((self._logs["single"] + self.misfit).max())
        ordered = float(self._logs["ordered"].max())
        laws = self.any_law.sum(), self.frozen.log_e_value
        rival = max(depends, together, single, ordered, *laws, 0.0)
        if self.frozen.constant or found[name] <= rival + SURE:
            return None
        return name, found[name]

    def place_of(self, part: str) -> int:
        """The stream with most evidence of an e-process; the fresh one if it has no streams."""
        if part in self._logs:
            return int(np.argmax(self._logs[part]))
        if part == "calls":
            return max(self._calls, key=lambda i: self._calls[i].log_e_value - self.misfit[i])
        return self._fresh

    def drawn_once(self) -> str:
        """The key of `reuse.WORDS` for calls whose labels are all equal."""
        if self.frozen.changed:
            return "once per call"
        return "frozen" if self.frozen.kept_log_odds > SURE else "once"

    def share_copied(self, stream: int, distance: int) -> float | None:
        """The likeliest share of copies among the last labels of a stream; None where none is."""
        return self._copies[stream].share(distance)

    def copying(self, everywhere: bool) -> tuple[int, int, int]:
        """The wager, the distance and the stream with most evidence of copies at a distance.

        The stream of calls of one size is preferred if it shows copies, as its distance tells most.
        """
        at = int(np.argmax(self._logs["single"]))
        ratios = self._together if everywhere else self._copies[at].log_ratios
        opening = self._copies[self._fresh].log_ratios
        if opening.size and opening.max() > self.misfit[self._fresh] + SURE:
            at, ratios = self._fresh, opening
        row, before = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        return int(row), int(before) + 1, at


class OnceACall:
    """Log-likelihood ratios of two explanations against the claim, for diagnosis only.

    Each call draws its own law, from a Dirichlet law about the claimed one, or draws once whether
    all its answers are refused. The best concentration is taken, so these are no e-values. log_q:
    (streams, o); refuses: whether the last outcome is a refusal.
    """

    def __init__(self, log_q: Matrix, *, refuses: bool) -> None:
        self._log_q = np.maximum(log_q, np.log(_LEAST_CHANCE))
        self._refuses = refuses
        self._of_laws = np.zeros(CONCENTRATIONS.size)
        self.screened = 0.0

    def observe(self, stream: int, counts: Vector) -> None:
        """Adds the outcomes (o,) of one call, as counts."""
        size = float(counts.sum())
        if size < 2.0:
            return
        seen = counts > 0
        n, log_q = counts[seen], self._log_q[stream][seen]
        prior = CONCENTRATIONS[:, None] * np.exp(log_q)
        one = gammaln(CONCENTRATIONS) - gammaln(CONCENTRATIONS + size)
        self._of_laws += one + (gammaln(prior + n) - gammaln(prior)).sum(-1) - float(n @ log_q)
        if self._refuses:
            self.screened += _screened_once(float(counts[-1]), size, self._log_q[stream][-1])

    @property
    def own_law(self) -> float:
        """Log-ratio of "each call has its own law", at the best concentration."""
        return float(self._of_laws.max())


def _screened_once(refused: float, size: float, log_chance: float) -> float:
    """Log-ratio of one screening per call; log_chance: of a refusal under the claim."""
    log_answered = float(np.log(max(-np.expm1(log_chance), _LEAST_CHANCE)))
    independent = refused * log_chance + (size - refused) * log_answered
    if 0.0 < refused < size:
        return float(np.log(_LEAK))
    together = log_chance if refused else log_answered
    return float(np.logaddexp(np.log1p(-_LEAK) + together, np.log(_LEAK) + independent)) - (
        independent
    )
