"""`order`: noise depends neither on earlier queries, nor on a query's place among them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import Labels
from ....evidence.dependence import AVOIDED, COPIED, SWITCHES, Conditional, Copies, Switching
from ....evidence.mixture import log_mean_of
from ....evidence.outcomes import as_outcomes
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.cause import SURE
from ....run.checks import Reason
from ..planning.counting_faults import scaled_up_in_order
from ..planning.faults import log_ratios_in_order, order_faults
from ..planning.features import FAMILIES, earlier_calls, features
from ..planning.laws import LabelFault
from ..planning.plan import Plan
from .base import PLAIN, TOO_FEW, Circumstances, LabelsEvidence

_COPIED_WEIGHT, _SWITCHED_WEIGHT, _SCALED_WEIGHT = 1 / 8, 1 / 16, 1 / 16
_DEPENDS = "labels-depend-on-order"
_ALL_REFUSED = Note("input-refused", "no histogram that is asked call by call was answered")
_AT_ONCE = 1024  # calls whose laws are computed together
_QUANTILE = 2.33  # of the normal law, for a probability of 0.99


class Wager(NamedTuple):
    """One way in which labels may depend on the order of calls.

    log_odds: against the claim; says: as a cause; feature, law: their indices, if it is on a
    feature.
    """

    log_odds: float
    says: Note
    feature: int | None = None
    law: int | None = None


class Order(LabelsEvidence):
    """A weighted average of e-processes on single-label calls in an order like production's.

    A wager names a property of a call that is known before it is made, or an earlier label, and a
    law that the label may then have. All weights are fixed beforehand.
    """

    id = "order"
    named = 8

    @classmethod
    def not_applicable_in(cls, plan: Plan) -> Reason:
        return None if plan.traffic.calls else TOO_FEW

    @classmethod
    def looks_at(cls, plan: Plan) -> int:
        return plan.traffic.calls

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._votes, self._claim = plan.traffic.histograms, plan.claim.mechanism
        calls = len(self._votes)
        self.answered = np.zeros(calls)  # of each call, in place of streams
        self._features = features(self._votes, self._claim.total, plan.traffic.after_batch)
        self._holds = np.array([one.holds for one in self._features], dtype=bool)
        self._holds = self._holds.reshape(len(self._features), calls).T
        families = np.array([one.family for one in self._features])
        rows = {name: np.flatnonzero(families == name) for name in FAMILIES}
        self._rows = {name: found for name, found in rows.items() if found.size}
        self._few = self._votes.sum(-1) < self._claim.total
        self._earlier = earlier_calls(self._votes)
        self._faults, self._scaled_up = order_faults(self._claim), scaled_up_in_order(self._claim)
        alternatives = len(self._faults)
        self._conditional = Conditional(len(self._features), alternatives)
        self._scaled = Conditional(1, 1)
        self._switching = Switching(alternatives)
        self._copies = Copies(len(self._earlier))
        self._outcomes = np.full(calls, -1, dtype=np.int64)  # -1: not answered yet
        self._left = np.ones(calls, dtype=bool)
        self._seen = np.zeros((calls, alternatives))  # the log-ratio of each label, by law
        self._leads = np.zeros(calls)  # the claimed chance of the class with most votes
        self._half = np.full((calls, 2), np.nan)  # see _half_of

    def awaits(self, place: int) -> bool:
        """Whether a call of the traffic is still to be made."""
        return bool(self._left[place])

    def pass_over(self, places: NDArray[np.intp]) -> None:
        """Leaves out calls of the traffic, by their places (n,)."""
        self._left[places] = False
        if not self.queries and not self._left.any():
            self.not_applicable = _ALL_REFUSED

    def observe_in_order(self, places: NDArray[np.intp], labels: Labels) -> None:
        """Adds the labels (n,) of calls of the traffic at places (n,), in order."""
        log_q, ratios = self._laws(places, [*self._faults, self._scaled_up])
        outcomes = as_outcomes(labels, log_q.shape[1])
        self._outcomes[places], self._left[places] = outcomes, False
        self.answered[places] = 1.0
        self.queries += places.size
        seen = ratios[np.arange(places.size), :, outcomes]  # (n, a), scaled votes last
        self._seen[places] = seen[:, :-1]
        self._conditional.observe(self._holds[places], seen[:, :-1])
        self._scaled.observe(self._few[places, None], seen[:, -1:])
        self._switching.observe(seen[:, :-1])
        self._observe_copies(places, outcomes, log_q)
        leaders = self._votes[places].argmax(-1)
        self._leads[places] = np.exp(log_q[np.arange(places.size), leaders])
        self._half[places] = _moments(log_q + ratios[:, 0], ratios[:, 0])
        self.follow(self.average)

    def _laws(
        self, places: NDArray[np.intp], faults: Sequence[LabelFault]
    ) -> tuple[Matrix, NDArray[np.float64]]:
        """Of calls (n,): claimed log-laws (n, o), and log-ratios (n, a, o) of faults."""
        votes = self._votes[places].astype(np.float64)
        log_q = np.asarray(self._claim.mechanism().log_probabilities(votes))
        return log_q, log_ratios_in_order(faults, log_q, votes)

    def _observe_copies(
        self, places: NDArray[np.intp], outcomes: NDArray[np.int64], log_q: Matrix
    ) -> None:
        earlier = np.stack([one.places[places] for one in self._earlier], 1)
        known = np.where(earlier >= 0, self._outcomes[earlier], -1)
        chance = np.exp(np.take_along_axis(log_q, np.maximum(known, 0), 1))
        same = known == outcomes[:, None]
        self._copies.observe(same, np.where(known >= 0, chance, 0.0))

    @property
    def average(self) -> float:
        """Log of the current weighted average of all e-processes."""
        conditional = self._conditional.log_ratios
        parts = [(FAMILIES[name], conditional[rows]) for name, rows in self._rows.items()]
        parts += [
            (_COPIED_WEIGHT, self._copies.log_ratios),
            (_SWITCHED_WEIGHT, self._switching.log_ratios),
            (_SCALED_WEIGHT, self._scaled.log_ratios),
        ]
        weights = np.array([weight for weight, _ in parts])
        logs = np.array([log_mean_of(ratios) for _, ratios in parts])
        return float(np.logaddexp.reduce(logs + np.log(weights / weights.sum())))

    def samples_needed(self) -> int:
        return int(self._left.sum())

    @property
    def log_odds(self) -> float:
        """Current log-odds of the likeliest dependence on order."""
        return self._heaviest().log_odds

    def _heaviest(self) -> Wager:
        """The wager with most evidence."""
        scaled = float(self._scaled.log_ratios[0, 0])
        of_all = self._scaled_up.note
        found = [Wager(scaled, replace(of_all, message=f"labels fit {of_all}"))]
        conditional = self._conditional.log_ratios  # (features, laws)
        if conditional.size:
            feature, law = _largest(conditional)
            fault, on = self._faults[law].note, self._features[feature]
            fields = {"fault": fault.code, **fault.fields, **on.fields}
            says = Note(_DEPENDS, f"labels fit {fault}, {on.words}", fields)
            found.append(Wager(float(conditional[feature, law]), says, feature, law))
        switching = self._switching.log_ratios  # (switches, laws)
        switch, law = _largest(switching)
        fault, calls = self._faults[law].note, 1.0 / float(SWITCHES[switch])
        message = f"labels fit {fault} now and then, for about {calls:.0f} calls at a time"
        fields = {"fault": fault.code, **fault.fields, "calls": calls}
        says = Note("noise-changes-at-times", message, fields)
        found.append(Wager(float(switching[switch, law]), says))
        copies = self._copies.log_ratios  # (earlier calls, wagers)
        which, wager = _largest(copies)
        earlier = self._earlier[which]
        if wager < COPIED.size:
            share = float(COPIED[wager])
            message = f"with probability {share:g} a label repeats that {earlier.words}"
            says = Note("labels-repeat-calls", message, {"probability": share, **earlier.fields})
        else:
            rarer = float(1.0 / (1.0 - AVOIDED[wager - COPIED.size]))
            message = f"a label equals that {earlier.words}, {rarer:.0f} times more rarely than by "
            fields = {"times_rarer": rarer, **earlier.fields}
            says = Note("labels-avoid-calls", f"{message}chance", fields)
        found.append(Wager(float(copies[which, wager]), says))
        return max(found, key=lambda one: one.log_odds)

    @property
    def depends(self) -> bool:
        """Whether the likeliest wager is on some calls only, and clearly better than on all."""
        found = self._heaviest()
        if found.feature is None or found.law is None:
            return False
        return found.log_odds - float(self._seen[:, found.law].sum()) > SURE

    def depends_rather_than(self, fault: LabelFault) -> bool:
        """Whether the likeliest wager explains these calls clearly better than `fault` does."""
        seen = np.flatnonzero(self._outcomes >= 0)
        ratios = self._laws(seen, [fault])[1][np.arange(seen.size), 0, self._outcomes[seen]]
        return self.log_odds > float(ratios.sum()) + SURE

    def fail_finding(self) -> Finding:
        found = self._heaviest()
        message = f"{self.queries:,} calls for one label were made one by one, as in production"
        histogram = None
        if found.feature is not None and found.law is not None:
            held = self._holds[:, found.feature] & (self._outcomes >= 0)
            came = int((self._outcomes == self._votes.argmax(-1))[held].sum())
            message += (
                f"; {self._features[found.feature].words} ({held.sum():,} of them), the class with "
                f"most votes came {came:,} times, {self._leads[held].sum():.1f} expected"
            )
            most = int(np.argmax(np.where(held, self._seen[:, found.law], -np.inf)))
            histogram = tuple(int(v) for v in self._votes[most])
        else:
            message += f": {found.says}"
        diagnosis = f"{found.says}: look for state that outlives a call"
        caused = Finding.caused(message, found.says, found.log_odds)
        return replace(caused, diagnosis=diagnosis, histogram=histogram)

    @property
    def planned(self) -> Vector:
        """Every call of the traffic."""
        return np.ones(len(self._votes))

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Its labels are those of the traffic."""

    def drop(self, stream: int) -> Note | None:
        return None

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """Half the noise where it depends on what is known, for the families that show it."""
        surely = self._surely(answered > 0)
        return tuple(
            self.entry(
                _DEPENDS,
                {"factor": 0.5, "on": name, "seen": int(surely[at].sum()), "ways": at.size},
                ["calls one by one"],
                int(answered.sum()),
                method="mean and variance of the evidence, taken to be normal, in some of the ways",
            )
            for name, at in self._rows.items()
            if surely[at].any()
        )

    def _surely(self, answered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """In which ways (f,) half the noise would have been seen."""
        expected, variance = (self._holds[answered].T @ self._half_of(answered)).T
        wagers = np.array([self._rows[one.family].size for one in self._features], dtype=float)
        weights = np.array([FAMILIES[one.family] for one in self._features]) / wagers
        wanted = self.log_threshold - np.log(weights / len(self._faults))
        return np.asarray(expected - _QUANTILE * np.sqrt(variance) >= wanted)

    def _half_of(self, answered: NDArray[np.bool_]) -> Matrix:
        """Mean and variance (n, 2) of a log-ratio under half the noise, of some calls."""
        unknown = np.flatnonzero(answered & np.isnan(self._half[:, 0]))
        for start in range(0, unknown.size, _AT_ONCE):
            places = unknown[start : start + _AT_ONCE]
            log_q, ratios = self._laws(places, self._faults[:1])
            self._half[places] = _moments(log_q + ratios[:, 0], ratios[:, 0])
        return self._half[answered]

    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        """Where half the noise would have shown."""
        shown = {one.size["on"]: one.size["seen"] for one in excludes}
        seen = {name: (shown.get(name, 0), at.size) for name, at in self._rows.items()}
        caught = [f"{name} ({sure} of {ways})" for name, (sure, ways) in seen.items() if sure]
        missed = [f"{name} ({ways})" for name, (sure, ways) in seen.items() if not sure]
        listed = f": {', '.join(caught)}" if caught else ""
        unseen = f"; not where it depends on {', '.join(missed)}" if missed else ""
        surely, ways = sum(shown.values()), len(self._features)
        return (
            f"in {self.queries:,} calls for one label, made one by one as in production, half the "
            f"claimed noise would have been caught with probability {SURE_TO_SEE:g} where it "
            f"depends on what is known before the call, in {surely} of {ways} ways{listed}{unseen}"
        )


def _largest(ratios: Matrix) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return int(row), int(column)


def _moments(log_law: Matrix, log_ratio: Matrix) -> Matrix:
    """Mean and variance (n, 2) of log-ratios (n, o) whose outcomes have the law (n, o)."""
    law = np.exp(log_law)
    mean = (law * log_ratio).sum(-1)
    return np.stack([mean, (law * log_ratio**2).sum(-1) - mean**2], -1)
