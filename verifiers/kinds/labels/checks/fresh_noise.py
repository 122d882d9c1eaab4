"""`fresh-noise`: every label has new noise, within a call, across calls and restarts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .....reference import Histogram
from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import Labels
from ....evidence.crossed import CrossedReleases
from ....evidence.dependence import InTurn
from ....evidence.kept_noise import OfConnections
from ....evidence.outcomes import as_outcomes
from ....evidence.power import chi_squared_quantile, copies_to_see
from ....evidence.repetition import LONGEST, SEGMENT, WAGERS, Periodic, log_lag_weights
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Fields
from ....run.cause import SURE
from ....run.checks import Reason
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.schedule import SHORT_CALL
from ..planning.streams import FRESH_CALL, Role, Stream, WayOfAsking
from .base import CACHED, PLAIN, Circumstances, LabelsEvidence
from .beyond_one_histogram import ComparedRestarts, KeptTeachers, SamePlaces
from .of_one_histogram import OfOneHistogram
from .one_stream import OneStream
from .reuse import OTHERWISE, WORDS, copies_most, of_wager

_WEIGHTS = {
    "together": 0.11,  # labels copy, or avoid, those at one distance, on all anchors
    "single": 0.09,  # as "together", on one histogram
    "dependent": 0.09,
    "periodic": 0.08,
    "frozen": 0.07,
    "calls": 0.07,  # a call copies an earlier one
    "neighbours": 0.05,  # labels of two histograms have the same noise at the same place
    "totals": 0.02,  # as "neighbours", for labels of two totals
    "same votes": 0.02,  # as "neighbours", for two inputs with one histogram
    "in turn": 0.03,  # a label depends on that of another histogram, asked just before
    "dispersed": 0.06,  # the counts of a call vary less, or more, than those of independent labels
    "spread": 0.05,  # as "dispersed", for blocks of a histogram's labels, over calls
    "ordered": 0.04,  # which of two labels of a call comes first is not random
    "restarted": 0.08,
    "recurring": 0.04,  # a start begins like an earlier start
    "connection": 0.03,  # labels over a kept connection depend on each other
    "crossed": 0.02,  # a call gets the label of another histogram that is in flight with it
    "one stream": 0.05,  # two queries share a draw, at other places or for another use
}

_WEIGHTS["kept teachers"] = _WEIGHTS["totals"]
"""Labels of a histogram have the law of one sample: of one total alone, in the place of totals."""

_CALLS = (WayOfAsking.IN_CALLS, WayOfAsking.ONE_BY_ONE)  # ways of asking that serve this check


def _of_one_stream(parts: dict[str, float]) -> bool:
    """Whether no other part is likely where "one stream" is: copies of labels show in it too."""
    return parts["one stream"] > SURE >= max(v for k, v in parts.items() if k != "one stream")


_ACROSS = (
    "; noise that answers to different histograms share was looked for in few pairings: at the "
    "same place of two histograms, and in calls in turn; not where each of several generators that "
    "began alike serves histograms of its own"
)
_OF_TEACHERS = (
    "; that the teachers drawn for one answer depend on those of others was looked for only as one "
    "draw kept for a histogram: teachers taken in turn would not have shown"
)
"""What a pass has not looked at."""

_BY_BOUND = "quantiles of the evidence of so many labels, taken to be normal"


class LabelsFreshNoise(LabelsEvidence):
    """A weighted average of e-processes, each betting on the next label given the past ones.

    Reused noise gives equal labels for equal histograms: a label copies one at a fixed distance, up
    to 16,384. The null is wider than the claim: labels of one histogram are independent draws of
    any one law, so that a wrong scale is no reuse. Likelihoods are divided by their supremum over
    such laws (universal inference, Wasserman, Ramdas, Balakrishnan 2020, arXiv 1912.11436v4).
    Frozen answers, which are such a law themselves, are tested against the claimed one.

    places, restarts, crossed: evidence on noise shared by places, by starts, and by calls in
    flight; of_connections, of_flight: words on what these have shown, to end the finding's
    sentence.
    """

    id = "fresh-noise"
    named = 6

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        """`CachedAnswers` stands in."""
        return CACHED if claim.mechanism.caching else None

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        return True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._in_turn = {
            pair.first: InTurn(plan.log_q[list(pair.streams)]) for pair in plan.pairs
        }  # from the start, so that their weights never change
        self._periodic = Periodic()
        self._fresh = plan.first(Role.FRESH)
        inputs = [(s.histogram, s.second) for s in plan.streams]
        self._same = [inputs.index(asked) for asked in inputs]  # first stream of each input
        self._alike = OfOneHistogram(plan, self._same)
        self.places = SamePlaces(plan, self._same)
        self._kept = KeptTeachers(plan)
        self.restarts = ComparedRestarts(plan.log_q[self._fresh])
        self._connections = OfConnections(plan.log_q[self._fresh])
        self.crossed = CrossedReleases()
        self._pair = (self._fresh, self._fresh)
        self.of_connections = self.of_flight = ""
        self.one_stream = OneStream(plan)
        self._parts_then = self._parts()

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """A label is compared with others of its histogram.

        A histogram under rotated class numbers is another one, and asked too rarely to be compared.
        Evidence is not read while `how.goes_on`, since the average is an e-process only if all of
        its parts have seen the same labels.
        """
        log_q = self.plan.log_q[stream]
        outcomes = as_outcomes(labels, log_q.size)
        self.places.observe(stream, outcomes, how.rotation)
        self._kept.observe(stream, outcomes, how.rotation)
        if how.rotation:
            self._periodic.skip(outcomes.size)
            return
        super().observe(stream, labels, how)
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

    def observe_calls(self, calls: Sequence[tuple[Histogram, Labels]]) -> None:
        """Adds all calls of this start since the last ones, with the labels as they came.

        `observe` gets those labels next that are of a stream.
        """
        for histogram, labels in calls:
            self.one_stream.observe(histogram, labels)

    def observe_in_turn(self, stream: int, other: int, labels: Labels, others: Labels) -> None:
        """Adds labels (n,) of two streams asked alternately, before `observe` gets each of them."""
        outcomes = self.plan.log_q.shape[1]
        both = as_outcomes(labels, outcomes), as_outcomes(others, outcomes)
        self._in_turn[stream].observe(*both)

    def counts_of(self, streams: Sequence[int]) -> Matrix:
        """Labels (n, o) that `observe` has had of these streams, by outcome."""
        return np.asarray(self._alike.counts[list(streams)])

    def look_at_flight(self, pair: tuple[int, int], words: str) -> None:
        """Looks at `crossed`, once it has seen calls on these two streams in flight together."""
        self._pair, self.of_flight = pair, words
        self.queries += self.crossed.draws
        self._look()

    def observe_start(self, first: Labels, *, new: bool = True) -> None:
        """Adds the first labels of a start; if it is new, no other method gets them."""
        self.restarts.begin(first, new=new)
        if new:
            self.queries += first.size
            self._look()

    def observe_restart(
        self,
        earlier: Labels,
        again: Labels,
        kind: str = "restarted",
        unseen: str | None = None,
        *,
        begins: bool = False,
    ) -> None:
        """Adds labels of the fresh stream's histogram: of earlier starts, and of a new one.

        kind: how the starts differ, a key of `reuse.WORDS`; unseen: what this cannot show; begins:
        whether `again` are the first labels of a start. For the kind `compared`, with an earlier
        report, `observe` gets the labels too.
        """
        self.restarts.observe(earlier, again, kind, unseen)
        if begins:
            self.restarts.begin(again, new=True)
        if kind != "compared":
            self.queries += again.size
            self._look()

    def _parts(self) -> dict[str, float]:
        """Log of each e-process, by its name in `_WEIGHTS`, without the weight."""
        in_turn = [evidence.log_e_value for evidence in self._in_turn.values()] or [0.0]
        misfit = self._alike.misfit
        places = {name: part.log_e_value for name, part in self.places.parts.items()}
        if self._kept.drawn is not None:
            del places["totals"]
            places["kept teachers"] = self._kept.log_e_value
        return {
            **self._alike.parts(),
            "periodic": self._periodic.log_e_value - misfit[self._alike.anchors].sum(),
            **places,
            "in turn": float(np.logaddexp.reduce(in_turn) - np.log(len(in_turn))),
            "restarted": self.restarts.log_e_value,
            "recurring": self.restarts.recurring.log_e_value,
            "connection": self._connections.log_e_value - misfit[self._fresh],
            "crossed": self.crossed.log_e_value,
            # any law of a stream explains what shows there as well: less of it is no less fair
            "one stream": self.one_stream.draws.log_odds - float(self._alike.any_law.sum()),
        }

    def _look(self) -> None:
        """Updates the highest average so far, with its parts."""
        parts = self._parts()
        waits = np.isneginf(self.one_stream.draws.log_e_value)
        seen = parts | {"one stream": -np.inf} if waits else parts
        logs = [np.log(_WEIGHTS[name]) + log for name, log in seen.items()]
        average = float(np.logaddexp.reduce(logs))
        if average > self.log_e_value:
            self._parts_then = parts
        self.follow(average)

    def samples_needed(self) -> int:
        """Anchors, this check's own calls, and a restart."""
        own = [i for i, s in enumerate(self.plan.streams) if s.role.asked in _CALLS]
        return self.missing({*self.anchors, *own}) + self.restarts.owed

    @property
    def log_odds(self) -> float:
        """Current log-odds of the likeliest kind of reuse."""
        parts, once = self._parts(), self._alike.once_a_call()
        if _of_one_stream(parts) and once is None:
            return parts["one stream"]
        rest = [odds for name, odds in parts.items() if name != "one stream"]
        return float(max([*rest, *(() if once is None else once[1:])]))

    def fail_finding(self) -> Finding:
        """By the e-process with most evidence now.

        If later labels count against all of them, by that at the time of the highest evidence.
        """
        parts, odds = self._parts(), self.log_odds
        once = self._alike.once_a_call()
        if once is not None:
            code, seen, why = WORDS[once[0]]
            found = Finding(seen, why, self.plan.streams[self._fresh].histogram, code=code)
            return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)
        shown = parts if odds > 0.0 else self._parts_then
        if _of_one_stream(shown):
            found = self.one_stream.found()
            return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)
        heaviest = max(shown.keys() - {"one stream"}, key=lambda name: shown[name])
        copied = max(("together", "single"), key=lambda name: shown[name])
        # Copies at one distance also make calls copy calls, and calls that copy some earlier calls
        # make copies at a distance: whichever copies nearly every label is the cause.
        if heaviest in ("calls", copied) and min(shown["calls"], shown[copied]) > SURE:
            row, _, _ = self._alike.copying(copied == "together")
            heaviest = copied if copies_most(row) else "calls"
        found = self._found(heaviest)
        return replace(found, log_odds=odds, cause=found.message, otherwise=OTHERWISE)

    def _found(self, heaviest: str) -> Finding:
        """The finding where the e-process `heaviest` has most evidence."""
        alike = self._alike
        if alike.frozen.constant and heaviest in ("together", "single", "frozen", "dependent"):
            heaviest = alike.drawn_once()
        elif heaviest in ("together", "single"):
            row, distance, stream = alike.copying(heaviest == "together")
            share = alike.share_copied(stream, distance)
            return of_wager(row, distance, self.plan.streams[stream].histogram, share)
        at = self._place_of(heaviest)
        size = SHORT_CALL if at != self._fresh else FRESH_CALL
        factor = alike.dispersed[at].heaviest
        if heaviest == "spread":
            size, factor = alike.blocks[at].heaviest
        if heaviest in ("dispersed", "spread"):
            heaviest = f"{heaviest}, {'even' if factor < 1.0 else 'uneven'}"
        elif heaviest in ("restarted", "recurring"):
            heaviest = self.restarts.likeliest(SURE)
        code, message, diagnosis = WORDS[heaviest]
        told = {"size": size, "period": self._periodic.heaviest, "factor": factor}
        told |= {"crossed": self.crossed.matches, "calls": self.crossed.draws}
        fields = {name: value for name, value in told.items() if f"{{{name}" in message}
        message = message.format(**told)
        histogram = self.plan.streams[at].histogram
        return Finding(message, diagnosis, histogram, code=code, fields=fields)

    def _place_of(self, part: str) -> int:
        """The stream with most evidence of an e-process."""
        if part == "in turn":
            return max(self._in_turn, key=lambda i: self._in_turn[i].log_e_value)
        if part == "crossed":
            return self._pair[0]
        if part == "kept teachers":
            return self._kept.heaviest
        if part in self.places.parts:
            return self.places.parts[part].heaviest
        return self._alike.place_of(part)

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        recurring = self.log_threshold - float(np.log(_WEIGHTS["recurring"]))
        said = "; ".join(
            "an answer that repeats an earlier one of its histogram with probability "
            f"{one.size['share']:.2g} or more, at a distance of up to {one.size['distance']:,}, "
            f"would have been caught with probability {one.probability:g} (looked for on "
            f"{', '.join(one.where)})"
            for one in excludes
        )
        said = said or "too few labels of one histogram to say which copies would have been caught"
        seen = f"{said}{self.of_connections}{self.of_flight}{self.restarts.shown(recurring)}"
        return f"{seen}{_ACROSS}{'' if self._kept.drawn is None else _OF_TEACHERS}"

    @property
    def planned(self) -> Vector:
        """Labels under other class numbers are not compared."""
        rotated = [stream.rotated for stream in self.plan.streams]
        return self.plan.queries_of_streams - np.array(rotated, dtype=np.float64)

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """Copies on the stream that shows them best."""
        predictable = np.square(np.exp(self.plan.log_q)).sum(-1)
        best = int(np.argmax(answered * (1.0 - predictable)))
        labels = int(answered[best])
        distance = min(LONGEST, labels // 4)
        # in each segment, the first labels have none at the largest distance before them
        compared = labels - distance * (1 + labels // SEGMENT)
        if compared < 1:
            return ()
        share = copies_to_see(self.plan.log_q[best], compared, self._wanted(best))
        if distance < 1 or share > 1.0:
            return ()
        size: Fields = {"share": float(share), "distance": distance}
        return (self.entry_on([best], answered, "noise-reused", size, method=_BY_BOUND),)

    def _wanted(self, stream: int) -> float:
        """Evidence that copies at one distance on one stream need to refute."""
        prior = _WEIGHTS["single"] * self.plan.weights[stream] / WAGERS
        misfit = chi_squared_quantile(0.99, self.plan.log_q.shape[1] - 1) / 2.0
        return self.log_threshold - float(np.log(prior) + log_lag_weights()[-1]) + misfit
