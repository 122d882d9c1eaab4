"""Follows a growing log, under one error rate for all time."""

import json
import secrets
from collections import Counter
from collections.abc import Sequence

import numpy as np

from .....reference import REFUSAL
from .....reference.accounting.analyses import Analysis
from ....inputs.release_log import Row
from ..claim import LabelsClaim
from .alarms import Alarm
from .costs import CHARGES, PRIVACY, guarantee
from .findings import cause_of
from .followed_file import OtherFileError
from .judge import LogEvidence, chunks
from .laws import Histogram
from .running_costs import ANALYSES, CostWatch, RunningCost
from .saved import bytes_of, restore
from .snapshot import LEAST, MOST, Snapshot, recover_votes
from .sources import log_name, may_go_on, source_of
from .store import AnsweredInput, Kept, Store

_VOTES_AT_ONCE = 163_840  # about the most rows times classes between two writes
_DELTA = 1e-5  # where the claim has none

_REFINED = 500  # most histograms whose costs are computed at more orders once a log ends

_MEANING = {
    "class-probabilities": "labels are not draws from the claimed law",
    "noise-scale": "the noise is not of the claimed scale",
    "fresh-noise": "labels repeat more often than fresh noise allows",
    PRIVACY: "more queries were answered than the claim allows",
}

_DEARER = {
    PRIVACY: "the queries certainly cost more than the claim says",
    CHARGES: "less was charged than the queries certainly cost",
}


class Monitor:
    """Reads a log step by step, and saves its state with the place up to which it has read.

    log: a file, `-`, or the URL of a server that returns rows; folder: of the state; once: whether
    to stop at the end of the log; anew: whether the state was new. Raises LogError.
    """

    SAVED = ("evidence", "spent", "watch")

    def __init__(self, log: str, claim: LabelsClaim, folder: str, once: bool) -> None:
        self.claim, self.folder = claim, folder
        self.delta = _DELTA if claim.privacy is None else claim.privacy.delta
        # its state is kept, and so needs its seed no more
        self.evidence = LogEvidence(claim, secrets.randbits(128), endless=True)
        own = claim.mechanism
        self.spent = RunningCost(own.mechanism(), own.classes, own.neighbourhood)
        self.watch = CostWatch(claim)
        self.alarms: list[Alarm] = []
        self._last_time: str | None = None  # of the latest row read, as the log writes it
        text = json.dumps(claim.model_dump(mode="json", exclude_none=True), sort_keys=True)
        self.store = Store(folder, text, self.evidence.outcomes)
        try:
            self._begin(log, once)
        except BaseException:
            self.store.close()
            raise

    def _begin(self, log: str, once: bool) -> None:
        """Restores the state, and opens the log at its place."""
        self.name = before = log_name(log)
        header, place, last_time, kept = None, None, None, self.store.kept()
        self.anew = kept is None
        if kept is not None:
            header, place, last_time, before = kept.header, kept.place, kept.last_time, kept.log
            try:
                restore(self, kept.learned)
            except (ValueError, KeyError, TypeError):  # the store has ruled out damage
                raise self.store.of_another_version() from None
            self.alarms = [Alarm.model_validate(alarm) for alarm in self.store.alarms()]
        if not may_go_on(self.name, before):
            raise self.store.of_another_log(before)
        self.reader = self.claim.log_reader(header, last_time)
        try:
            self.source = source_of(log, self.reader, place, once)
        except OtherFileError:
            if self.name != before:
                raise self.store.of_another_log(before) from None
            raise

    def step(self) -> int:
        """Reads new rows, some thousand at most, and saves the state; returns how many."""
        classes = self.claim.mechanism.classes
        rows = self.source.rows(max(64, _VOTES_AT_ONCE // classes))
        if not rows:
            self._look_at_costs(idle=True)
            return 0
        last = self.evidence.last
        last.clear()  # other histograms are on disk
        last.update(self.store.last(row.histogram for row in rows))
        known, before = set(last), self.evidence.asked
        if self.claim.mechanism.caching:
            inputs = self.store.of_inputs(row.key for row in rows if row.key is not None)
            self.evidence.of_input = {
                name: (votes, REFUSAL if label == classes else label)
                for name, (votes, label) in inputs.items()
            }
        for chunk in chunks(rows):
            self.evidence.observe(chunk)
        times = Counter(row.histogram for row in rows)
        if self.claim.mechanism.caching:  # each is drawn for once at most
            times = Counter(times.keys() - known)
        self.spent.add(times, known)
        self.spent.add_charges(row.charged for row in rows if row.charged is not None)
        self._last_time = rows[-1].time_text
        self._write(self._new_alarms(rows, before), self._answered_inputs(rows))
        self._look_at_costs(idle=False)
        return len(rows)

    def _write(self, new: Sequence[Alarm], answered: Sequence[AnsweredInput]) -> None:
        """Saves the state, with new alarms and answers."""
        self.alarms += new
        kept = Kept(
            self.name,
            self.source.place,
            self.reader.header,
            self.reader.last_time,
            bytes_of(self),
        )
        alarms = {alarm.check: alarm.public() for alarm in new}
        self.store.write(kept, self.evidence.last, answered, alarms)

    def _look_at_costs(self, *, idle: bool) -> None:
        """Compares the cost of the queries with the claim, now and then: a proof takes seconds."""
        before = self.watch.looked, self.watch.claim_judged
        most = self.spent.epsilon("exact", self.delta)
        found = self.watch.look(
            self.evidence.asked,
            self.spent.charged if self.spent.charging == self.evidence.asked else None,
            self.spent.epsilon("data-independent", self.delta) if most is None else most,
            {alarm.check for alarm in self.alarms},
            self.store.most_asked,
            idle=idle,
        )
        if found or (self.watch.looked, self.watch.claim_judged) != before:
            at = self.evidence.asked
            last = self._last_time
            self._write([Alarm.now(check, at, last, _DEARER[check]) for check in found], [])

    def _costs(self, *, last: bool) -> dict[Analysis, float | None]:
        """Epsilon by analysis; data-independent over all orders, the others so at the end."""
        if self.evidence.rows == 0:
            return dict.fromkeys(ANALYSES, 0.0)
        found = {name: self.spent.epsilon(name, self.delta) for name in ANALYSES}
        own = self.claim.mechanism
        epsilon_of = guarantee(own, self.delta)
        if epsilon_of is not None:
            found["data-independent"] = epsilon_of(self.evidence.rows)
        if last and self.spent.followed <= _REFINED:
            asked = self.store.most_asked(_REFINED)
            times = {h: 1 if own.caching else int(n.sum()) for h, n in asked.items()}
            for name in ANALYSES[1:]:
                if found[name] is not None:
                    found[name] = self.spent.least_epsilon(name, self.delta, times)
        return found

    def snapshot(self, *, last: bool = False) -> Snapshot:
        """The current figures, with what an attacker recovers of the most frequent inputs.

        last: whether no more rows are read, so that costs may take some seconds.
        """
        evidence, scale = self.evidence, self.evidence.scale
        threshold = evidence.thresholds["noise-scale"]
        inputs = self.store.most_answered(LEAST, MOST)
        return Snapshot(
            rows=evidence.asked,
            log_e_values={**evidence.highest, "noise-scale": scale.log_e_value},
            log_thresholds=evidence.thresholds,
            scale=scale.interval(threshold),
            lately=evidence.window,
            spent=self._costs(last=last),
            delta=self.delta,
            protected=self.claim.mechanism.protected,
            readings=recover_votes(self.claim.mechanism, inputs, self.claim.leaves_out_refusals),
            alarms=tuple(self.alarms),
            charged=(self.spent.charged, self.spent.charging) if self.spent.charging else None,
            refined=last and self.spent.followed <= _REFINED,
        )

    def close(self) -> None:
        """Closes the log and the state."""
        self.source.close()
        self.store.close()

    def _answered_inputs(self, rows: Sequence[Row]) -> list[AnsweredInput]:
        """Counts of outcomes in these rows, by histogram, and by input that has an id."""
        outcomes = self.evidence.outcomes
        counts: dict[tuple[str, Histogram], np.ndarray] = {}
        asked = Counter((row.histogram, row.key, row.label) for row in rows)
        for (votes, key, label), times in asked.items():
            text = ",".join(map(str, votes))
            for name in {text, key or text}:
                found = counts.setdefault((name, votes), np.zeros(outcomes, dtype=np.int64))
                found[label] += times  # a refusal, -1, is the last outcome
        return [AnsweredInput(name, votes, found) for (name, votes), found in counts.items()]

    def _new_alarms(self, rows: Sequence[Row], before: int) -> list[Alarm]:
        """Alarms of checks that these rows refute; each check alarms only once.

        before: how many rows there were before these.
        """
        raised = {alarm.check for alarm in self.alarms}
        found = dict(self.evidence.found_after)
        limit = self.claim.privacy
        if limit is not None and self.evidence.rows > limit.queries:
            found[PRIVACY] = self.evidence.asked
            if not self.claim.mechanism.caching:
                found[PRIVACY] = limit.queries + 1
        new = []
        for check, row in found.items():
            if check not in raised:
                cause = cause_of(self.evidence, check)
                message = _MEANING[check] if cause is None else f"{_MEANING[check]}: {cause}"
                new.append(Alarm.now(check, row, rows[row - before - 1].time_text, message))
        return new
