"""`fresh-noise`: every answer has noise of its own, within a call, across calls and restarts."""

from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from .....reference.mechanisms import Labels
from ....evidence import InTurn, OfConnections, Periodic, as_outcomes
from ....evidence.power import copies_to_see
from ....evidence.repetition import LONGEST, SEGMENT, WAGERS, log_lag_weights
from ....findings.finding import Finding
from ....run.checks import Judged
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import lacks_nothing
from ..claim import LabelsClaim
from ..planning.plan import Plan, Stream
from ..planning.roles import Role
from ..planning.schedule import SHORT_CALL
from ..planning.stream_planner import FRESH_CALL
from ..planning.traits import Asked
from ..registry import SHARES
from .base import PLAINLY, How
from .compared_lives import ComparedLives
from .of_one_histogram import SURE, OfOneHistogram
from .reuse import OTHERWISE, WORDS, of_wager, ordinal
from .same_places import SamePlaces
from .spec import CACHED, LabelsSpec

_WEIGHTS = {
    "together": 0.12,  # copies at one distance on all anchors, or labels that avoid each other
    "single": 0.1,  # the same on one histogram
    "dependent": 0.1,
    "periodic": 0.08,
    "frozen": 0.08,
    "calls": 0.08,  # a call copies an earlier one
    "neighbours": 0.05,  # labels of two histograms have the same noise at the same place
    "totals": 0.02,  # so have labels of two totals
    "same votes": 0.02,  # so have labels of two inputs that have one histogram
    "in turn": 0.04,  # a label depends on that of another histogram, asked just before
    "dispersed": 0.06,  # the counts of a call vary less, or more, than those of independent labels
    "spread": 0.05,  # so do those of so many labels of a histogram after so many, over calls
    "ordered": 0.04,  # which of two labels of a call comes first tells something
    "restarted": 0.08,
    "recurring": 0.04,  # a life begins as one of the lives before it
    "connection": 0.04,  # labels over a kept connection have a law of their own
}

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
        self._in_turn = {
            pair.first: InTurn(plan.log_q[list(pair.streams)]) for pair in plan.pairs
        }  # from the start, so that their weights never change
        self._periodic = Periodic()
        self._fresh = plan.first(Role.FRESH)
        inputs = [(s.histogram, s.second) for s in plan.streams]
        self._same = [inputs.index(asked) for asked in inputs]  # asked in several ways
        self._alike = OfOneHistogram(plan, self._same)
        self._places = SamePlaces(plan, self._same)
        self._lives = ComparedLives(plan.log_q[self._fresh])
        self._connections = OfConnections(plan.log_q[self._fresh])
        self._of_connections = ""
        self._highest = 0.0
        self._parts_then = self._parts()
        self.dropped: set[int] = set()

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `LabelsRunning.observe`; a label is compared with those of its histogram alone.

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
        self._alike.observe(stream, outcomes, how.calls or (outcomes.size,))
        if how.connections:
            self._connections.observe(outcomes, how.connections)
        if self._alike.anchors[stream]:
            self._periodic.observe(outcomes, log_q, how.calls or None)
        else:
            self._periodic.skip(outcomes.size)
        if not how.goes_on:
            self._look()

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
        in_turn = [evidence.log_e_value for evidence in self._in_turn.values()] or [0.0]
        misfit = self._alike.misfit
        return {
            **self._alike.parts(),
            "periodic": self._periodic.log_e_value - misfit[self._alike.anchors].sum(),
            "neighbours": self._places.neighbours.log_e_value,
            "totals": self._places.totals.log_e_value,
            "same votes": self._places.same_votes.log_e_value,
            "in turn": float(np.logaddexp.reduce(in_turn) - np.log(len(in_turn))),
            "restarted": self._lives.log_e_value,
            "recurring": self._lives.recurring.log_e_value,
            "connection": self._connections.log_e_value - misfit[self._fresh],
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
        asked = self._alike.counts.sum(-1)
        wanted = sum(
            max(0, stream.queries - stream.turned - int(asked[i]))
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
        once = self._alike.once_a_call()
        return float(max([*self._parts().values(), *(() if once is None else once[1:])]))

    def violation(self) -> Finding:
        """See `Check.violation`; as likely as the heaviest e-process says by now.

        Where later labels spoke against all of them, what was seen when they were heaviest is told.
        """
        parts, odds = self._parts(), self.log_odds
        once = self._alike.once_a_call()
        if once is not None:
            found = Finding(*WORDS[once[0]], self.plan.streams[self._fresh].histogram)
            return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)
        told = parts if odds > 0.0 else self._parts_then
        heaviest = max(told, key=lambda name: told[name])
        copied = max(("together", "single"), key=lambda name: told[name])
        # Copies at one distance make calls that copy calls, and calls that copy some of the calls
        # before make copies at a distance: whichever copies nearly every label is the cause.
        if heaviest in ("calls", copied) and min(told["calls"], told[copied]) > SURE:
            heaviest = copied if self._alike.copies_most(copied == "together") else "calls"
        found = self._found(heaviest)
        return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)

    def _found(self, heaviest: str) -> Finding:
        """What to say where this e-process has the most evidence."""
        alike = self._alike
        if alike.frozen.constant and heaviest in ("together", "single", "frozen", "dependent"):
            heaviest = alike.drawn_once()
        elif heaviest in ("together", "single"):
            row, distance, stream = alike.copying(heaviest == "together")
            return of_wager(row, distance, self.plan.streams[stream].histogram)
        at = self._place_of(heaviest)
        size = SHORT_CALL if at != self._fresh else FRESH_CALL
        factor = alike.dispersed[at].heaviest
        if heaviest == "spread":
            size, factor = alike.blocks[at].heaviest
        if heaviest in ("dispersed", "spread"):
            heaviest = f"{heaviest}, {'even' if factor < 1.0 else 'uneven'}"
        elif heaviest in ("restarted", "recurring"):
            heaviest = self._lives.likeliest(SURE)
        message, diagnosis = WORDS[heaviest]
        message = message.format(size=size, period=ordinal(self._periodic.heaviest), factor=factor)
        return Finding(message, diagnosis, self.plan.streams[at].histogram)

    def _place_of(self, part: str) -> int:
        """The stream on which an e-process has found most."""
        if part == "in turn":
            return max(self._in_turn, key=lambda i: self._in_turn[i].log_e_value)
        if part in ("neighbours", "totals", "same votes"):
            return self._places.of(part).heaviest
        return self._alike.place_of(part)

    def silence(self) -> Finding:
        """See `Check.silence`."""
        predictable = np.square(np.exp(self.plan.log_q)).sum(-1)
        asked = self._alike.counts.sum(-1)
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


def _lacks(claim: LabelsClaim) -> str | None:
    return CACHED if claim.mechanism.caching else None  # `CachedAnswers` stands in


def _needs(_plan: Plan, _at: int, _stream: Stream) -> bool:
    return True


SPECS = (
    LabelsSpec(
        id=FreshNoise.id,
        phase=Phase.SHARED,
        lacks=_lacks,
        lacks_in=lacks_nothing,
        needs=_needs,
        named=6,
        make=lambda setting: FreshNoise(setting.plan),
    ),
)
