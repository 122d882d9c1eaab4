"""`fresh-noise`: every answer has noise of its own, within a call, across calls and restarts."""

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
from scipy.stats import chi2

from ...reference.mechanisms import Labels
from ..claim import Claim
from ..error_budget import SHARES, log_threshold
from ..evidence import (
    BlockDispersion,
    CallCopies,
    Dependence,
    Dispersion,
    Frozen,
    InTurn,
    OfConnections,
    Outcomes,
    Periodic,
    Repetition,
    as_outcomes,
    count_outcomes,
    log_mixture_of,
    log_supremum_ratio,
)
from ..evidence.outcomes import half
from ..evidence.power import copies_to_see
from ..evidence.repetition import LONGEST, SEGMENT, WAGERS, log_lag_weights, log_mixture
from ..planning.plan import Plan, Stream
from ..planning.roles import Asked, Role
from ..planning.schedule import SHORT_CALL
from ..planning.stream_planner import FRESH_CALL
from .base import PLAINLY, Finding, How, Judged
from .compared_lives import ComparedLives
from .reuse import OTHERWISE, WORDS, copies_most, of_wager, ordinal
from .same_places import SamePlaces
from .spec import CACHED, CheckSpec, Phase, lacks_nothing

_WEIGHTS = {
    "together": 0.14,  # copies at one distance on all anchors, or labels that avoid each other
    "single": 0.12,  # the same on one histogram
    "dependent": 0.1,
    "periodic": 0.08,
    "frozen": 0.08,
    "calls": 0.08,  # a call copies an earlier one
    "neighbours": 0.06,  # labels of two histograms have the same noise at the same place
    "totals": 0.03,  # so have labels of two totals
    "in turn": 0.04,  # a label depends on that of another histogram, asked just before
    "dispersed": 0.06,  # the counts of a call vary less, or more, than those of independent labels
    "spread": 0.05,  # so do those of so many labels of a histogram after so many, over calls
    "restarted": 0.08,
    "recurring": 0.04,  # a life begins as one of the lives before it
    "connection": 0.04,  # labels over a kept connection have a law of their own
}

_BY_STREAM = ("single", "dependent", "dispersed", "spread")  # as the rows of `_logs`
_SURE = 7.0  # log-odds from which one of two causes is told alone

_CALLS = (Asked.IN_CALLS, Asked.ONE_BY_ONE)  # ways of asking that are for this check


class FreshNoise(Judged):
    """A weighted average of e-processes, each betting on the next label given the past ones.

    Reused noise gives equal labels for equal histograms. Whether a seed is set in each call, noise
    is drawn from a short pool, or answers are frozen, a label then copies one at a fixed distance:
    all distances up to 16,384 are wagered on. The null is wider than the claim: labels of one
    histogram are independent draws of any one law, so that a wrong noise scale is not taken for
    reuse. Each ratio is divided by the likelihood's supremum over such laws (universal inference,
    Wasserman, Ramdas, Balakrishnan 2020, arXiv 1912.11436v4), which costs half a nat per outcome
    where the claim holds. Frozen answers are a law too: they alone are held to the claimed one.
    """

    id = "fresh-noise"

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.queries = 0
        self.log_threshold = log_threshold(SHARES[self.id], plan.claim.gate.false_alarm)
        effect = plan.claim.gate.smallest_effect
        streams, outcomes = plan.log_q.shape
        self._copies = [Repetition(log_q) for log_q in plan.log_q]
        self._dependent = [Dependence(log_q, effect) for log_q in plan.log_q]
        self._sets = [half(np.exp(log_q)) for log_q in plan.log_q]
        self._dispersed = [
            Dispersion(float(np.exp(log_q[inside]).sum()))
            for log_q, inside in zip(plan.log_q, self._sets, strict=True)
        ]
        self._blocks = [
            BlockDispersion(float(np.exp(log_q[inside]).sum()))
            for log_q, inside in zip(plan.log_q, self._sets, strict=True)
        ]
        self._in_turn = {
            pair.first: InTurn(plan.log_q[list(pair.streams)]) for pair in plan.pairs
        }  # from the start, so that their weights never change
        self._periodic = Periodic()
        self._frozen = Frozen(streams)
        self._fresh = plan.first(Role.FRESH)
        near_tie = plan.first(Role.NEAR_TIE)
        self._calls = {
            self._fresh: CallCopies(plan.log_q[self._fresh], FRESH_CALL),
            near_tie: CallCopies(plan.log_q[near_tie], SHORT_CALL),
        }
        histograms = [s.histogram for s in plan.streams]
        self._same = [histograms.index(votes) for votes in histograms]  # asked in several ways
        self._places = SamePlaces(plan, self._same)
        self._lives = ComparedLives(plan.log_q[self._fresh])
        self._connections = OfConnections(plan.log_q[self._fresh])
        self._of_connections = ""
        self._together = np.zeros((WAGERS, LONGEST))
        self._counts = np.zeros((streams, outcomes))
        self._misfit = np.zeros(streams)
        self._logs = np.zeros((4, streams))
        self._anchors = np.array([s.is_anchor or s.role is Role.FRESH for s in plan.streams])
        self._deep = set(np.array(self._same)[self._anchors].tolist())
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(plan.weights)
        self._highest = 0.0
        self._parts_then = self._parts()
        self.dropped: set[int] = set()

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `Life.observe`; a label is compared with those of its histogram alone.

        Classes that are numbered otherwise make another histogram, asked too rarely to be looked
        at. No look is taken while labels are still to come: an average of e-processes is one only
        where all of them have seen the same labels.
        """
        log_q = self.plan.log_q[stream]
        outcomes = as_outcomes(labels, log_q.size)
        self._places.observe(stream, outcomes, how.turn)
        if how.turn:
            self._periodic.skip(outcomes.size)
            return
        self.queries += labels.size
        self._counts[stream] += count_outcomes(labels, log_q.size)
        self._misfit[stream] = log_supremum_ratio(self._counts[stream], log_q)
        copies, dependent = self._copies[stream], self._dependent[stream]
        before = copies.log_ratios
        copies.observe(outcomes)
        dependent.observe(outcomes)
        self._by_call(stream, outcomes, how.calls or (outcomes.size,))
        if how.connections:
            self._connections.observe(outcomes, how.connections)
        self._logs[0, stream] = copies.log_e_value - self._misfit[stream]
        self._logs[1, stream] = dependent.log_e_value - self._misfit[stream]
        self._logs[2, stream] = self._dispersed[stream].log_e_value
        same = self._same[stream]
        if same in self._deep:
            self._blocks[same].observe(self._sets[same][outcomes])
            self._logs[3, same] = self._blocks[same].log_e_value
        if self._anchors[stream]:
            self._together[:, : before.shape[1]] -= before
            self._together[:, : copies.log_ratios.shape[1]] += copies.log_ratios
            self._periodic.observe(outcomes, log_q, how.calls or None)
        else:
            self._periodic.skip(outcomes.size)
        if not how.goes_on:
            self._look()

    def _by_call(self, stream: int, outcomes: Outcomes, calls: tuple[int, ...]) -> None:
        """Looks at the labels of each call by itself."""
        inside, compared = self._sets[stream], self._calls.get(stream)
        for start, end in pairwise(accumulate(calls, initial=0)):
            of_call = outcomes[start:end]
            self._frozen.observe(stream, of_call, self.plan.log_q[stream])
            self._dispersed[stream].observe(int(inside[of_call].sum()), of_call.size)
            if compared is not None:
                compared.observe(of_call)

    def observe_in_turn(self, stream: int, other: int, labels: Labels, others: Labels) -> None:
        """Takes labels (n,) of two streams asked in turn, before `observe` sees each of them."""
        outcomes = self.plan.log_q.shape[1]
        both = as_outcomes(labels, outcomes), as_outcomes(others, outcomes)
        self._in_turn[stream].observe(*both)

    def pass_over(self, total: int, labels: int) -> None:
        """Counts labels of a total of votes asked outside the plan: nothing is wagered on them."""
        self._places.pass_over(total, labels)

    def expect_restart(self, labels: int) -> None:
        """Says that so many labels will compare lives of the target: no verdict without them."""
        self._lives.owed = labels

    def note_connections(self, told: str) -> None:
        """Adds what kept connections have shown, for a sentence that goes before."""
        self._of_connections += told

    def begin_life(self, first: Labels, *, new: bool = True) -> None:
        """Takes the first labels of a life, which no other method takes where it is new."""
        self._lives.begin(first, new=new)
        if new:
            self.queries += first.size
            self._look()

    def note_few_lives(self, why: str) -> None:
        """Keeps why no more lives were compared."""
        self._lives.why_few = why

    def observe_restart(
        self,
        earlier: Labels,
        again: Labels,
        kind: str = "restarted",
        unseen: str | None = None,
        *,
        begins: bool = False,
    ) -> None:
        """Takes labels of one histogram, the fresh stream's: of earlier lives, and a new one's.

        kind: how the lives differ, a key of `reuse.WORDS`; unseen: what this cannot show; begins:
        whether these are the first labels of a life. Labels that are `compared` with those of an
        earlier report are still to be seen by `observe`.
        """
        self._lives.observe(earlier, again, kind, unseen)
        if begins:
            self._lives.begin(again, new=True)
        if kind != "compared":
            self.queries += again.size
            self._look()

    def _parts(self) -> dict[str, float]:
        """Log of each e-process, without its weight."""
        single, dependent, dispersed, spread = (
            log_mixture_of(logs, self._log_weights) for logs in self._logs
        )
        in_turn = [evidence.log_e_value for evidence in self._in_turn.values()] or [0.0]
        misfit = float(self._misfit[self._anchors].sum())
        calls = [e.log_e_value - self._misfit[stream] for stream, e in self._calls.items()]
        return {
            "together": log_mixture(self._together) - misfit,
            "single": single,
            "dependent": dependent,
            "periodic": self._periodic.log_e_value - misfit,
            "frozen": self._frozen.log_e_value,
            "calls": float(np.logaddexp.reduce(calls) - np.log(len(calls))),
            "neighbours": self._places.neighbours.log_e_value,
            "totals": self._places.totals.log_e_value,
            "in turn": float(np.logaddexp.reduce(in_turn) - np.log(len(in_turn))),
            "dispersed": dispersed,
            "spread": spread,
            "restarted": self._lives.log_e_value,
            "recurring": self._lives.recurring.log_e_value,
            "connection": self._connections.log_e_value - self._misfit[self._fresh],
        }

    def _look(self) -> None:
        """Keeps the highest average, and of what it was."""
        parts = self._parts()
        logs = [np.log(_WEIGHTS[name]) + log for name, log in parts.items()]
        average = float(np.logaddexp.reduce(logs))
        if average > self._highest:
            self._highest, self._parts_then = average, parts

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`; the highest so far."""
        return self._highest

    def shortfall(self) -> int:
        """See `Check.shortfall`: anchors, the calls that are made for this check, and a restart."""
        wanted = sum(
            max(0, stream.queries - stream.turned - int(self._counts[i].sum()))
            for i, stream in enumerate(self.plan.streams)
            if (stream.is_anchor or stream.role.asked in _CALLS) and i not in self.dropped
        )
        return int(wanted) + self._lives.owed

    def drop(self, stream: int) -> str | None:
        """See `Check.drop`."""
        self.dropped.add(stream)
        return None

    @property
    def log_odds(self) -> float:
        """Of the likeliest way in which noise is used again, as the labels stand."""
        return max(self._parts().values())

    def violation(self) -> Finding:
        """See `Check.violation`; as likely as the heaviest e-process says by now.

        Where later labels spoke against all of them, what was seen when they were heaviest is told.
        """
        parts, odds = self._parts(), self.log_odds
        told = parts if odds > 0.0 else self._parts_then
        heaviest = max(told, key=lambda name: told[name])
        copied = max(("together", "single"), key=lambda name: told[name])
        # Copies at one distance make calls that copy calls, and calls that copy some of the calls
        # before make copies at a distance: whichever copies nearly every label is the cause.
        if heaviest in ("calls", copied) and min(told["calls"], told[copied]) > _SURE:
            heaviest = copied if self._copies_most(copied == "together") else "calls"
        found = self._found(heaviest)
        return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)

    def _found(self, heaviest: str) -> Finding:
        """What to say where this e-process has the most evidence."""
        if self._frozen.constant and heaviest in ("together", "single", "frozen", "dependent"):
            heaviest = self._drawn_once()
        elif heaviest in ("together", "single"):
            return self._copied(heaviest == "together")
        at = self._place_of(heaviest)
        size = SHORT_CALL if at != self._fresh else FRESH_CALL
        factor = self._dispersed[at].heaviest
        if heaviest == "spread":
            size, factor = self._blocks[at].heaviest
        if heaviest in ("dispersed", "spread"):
            heaviest = f"{heaviest}, {'even' if factor < 1.0 else 'uneven'}"
        elif heaviest in ("restarted", "recurring"):
            heaviest = self._lives.likeliest(_SURE)
        message, diagnosis = WORDS[heaviest]
        message = message.format(size=size, period=ordinal(self._periodic.heaviest), factor=factor)
        return Finding(message, diagnosis, self.plan.streams[at].histogram)

    def _place_of(self, part: str) -> int:
        """The stream on which an e-process has found most."""
        if part in _BY_STREAM:
            return int(np.argmax(self._logs[_BY_STREAM.index(part)]))
        if part == "in turn":
            return max(self._in_turn, key=lambda i: self._in_turn[i].log_e_value)
        if part == "calls":
            return max(self._calls, key=lambda i: self._calls[i].log_e_value - self._misfit[i])
        if part in ("neighbours", "totals"):
            places = self._places
            return (places.neighbours if part == "neighbours" else places.totals).heaviest
        return self._fresh

    def _drawn_once(self) -> str:
        """Which words tell of calls that each gave one label only."""
        if self._frozen.changed:
            return "once per call"
        return "frozen" if self._frozen.kept_log_odds > _SURE else "once"

    def _copies_most(self, everywhere: bool) -> bool:
        """Whether the labels that copy earlier ones at a distance are nearly all of them."""
        _, row, _ = self._copying(everywhere)
        return copies_most(row)

    def _copied(self, everywhere: bool) -> Finding:
        """What to say of labels that copy, or avoid, earlier ones of their histogram."""
        at, row, distance = self._copying(everywhere)
        return of_wager(row, distance, self.plan.streams[at].histogram)

    def _copying(self, everywhere: bool) -> tuple[int, int, int]:
        """The stream, the wager and the distance with most evidence.

        Those of calls of one size tell most of the distance, where they tell at all.
        """
        at = int(np.argmax(self._logs[0]))
        ratios = self._together if everywhere else self._copies[at].log_ratios
        opening = self._copies[self._fresh].log_ratios
        if opening.size and opening.max() > self._misfit[self._fresh] + _SURE:
            at, ratios = self._fresh, opening
        row, before = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        return at, int(row), int(before) + 1

    def silence(self) -> Finding:
        """See `Check.silence`."""
        predictable = np.square(np.exp(self.plan.log_q)).sum(-1)
        asked = self._counts.sum(-1)
        best = int(np.argmax(asked * (1.0 - predictable)))
        labels = int(asked[best])
        distance = min(LONGEST, labels // 4)
        # at the largest distance, as many labels of each segment have none before them
        compared = labels - distance * (1 + labels // SEGMENT)
        share = copies_to_see(self.plan.log_q[best], compared, self._wanted(best))
        recurring = self.log_threshold - float(np.log(_WEIGHTS["recurring"]))
        return Finding(
            f"an answer that repeats an earlier one of its histogram with probability {share:.2g} "
            f"or more, at a distance of up to {distance:,}, would have been caught with "
            f"probability 0.99{self._of_connections}{self._lives.shown(recurring)}"
        )

    def _wanted(self, stream: int) -> float:
        """Evidence that copies at one distance on one stream must give."""
        prior = _WEIGHTS["single"] * self.plan.weights[stream] / WAGERS
        misfit = float(chi2.ppf(0.99, self.plan.log_q.shape[1] - 1)) / 2.0
        return self.log_threshold - float(np.log(prior) + log_lag_weights()[-1]) + misfit


def _lacks(claim: Claim) -> str | None:
    return CACHED if claim.mechanism.caching else None  # `CachedAnswers` stands in


def _needs(_plan: Plan, _at: int, _stream: Stream) -> bool:
    return True


SPECS = (
    CheckSpec(
        id=FreshNoise.id,
        phase=Phase.LABELS,
        lacks=_lacks,
        lacks_in=lacks_nothing,
        needs=_needs,
        named=6,
        make=lambda setting: FreshNoise(setting.plan),
    ),
)
