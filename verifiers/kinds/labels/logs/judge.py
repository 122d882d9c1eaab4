"""Judges a log: its rows are evidence, in order.

Rows feed the evidence that labels of a run feed where that is of labels one by one, as that on the
scale. That on the laws is another (`evidence/onset.py`): each row has a law of
its own, of which there may be millions, and a refutation names the row at which it came.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference import REFUSAL
from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import log_sums
from ....evidence.onset import CellEvidence, OnsetEvidence, transform_to_cells
from ....evidence.outcomes import as_outcomes
from ....evidence.scale import ScaleEvidence
from ....findings.note import Note
from ....inputs.release_log import Row
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES
from .changes import Changes, Parties
from .column_order import ColumnOrder
from .laws import EXPONENTS, Alternatives, Histogram, Laws, LawTable, Wanted, laws_of
from .missing_noise import MissingNoise
from .reuse import (
    COPIED,
    LAGGED,
    SIDE_BY_SIDE,
    CopiedLabels,
    LaggedNoise,
    NoiseOfParties,
    NoiseTable,
)
from .strata import WEIGHTS, AllStrata

CHUNK = 2048
"""Rows that are added together; e-processes still advance row by row."""

LATELY = 65_536
"""Rows of the windows in which the noise scale is estimated anew."""

POINTED, BY_RANK, BY_NUMBER = 0.5, 0.15, 0.1
"""Weights of wagers: known faults, and any deviation in cells of the two probability transforms."""

PARTIES = {"worker": 0.05, "client": 0.05, "hour": 0.05}
"""Weights of wagers on faults of one worker, one client, or one hour of the day."""

_LABELS, _SCALE, _FRESH = "class-probabilities", "noise-scale", "fresh-noise"


class Prepared(NamedTuple):
    """Rows that were drawn, with their numbers (n,), and the laws that they need.

    contradicted: number, words and time of a row that shows a kept answer which changed, if any.
    """

    rows: Sequence[Row]
    numbers: NDArray[np.int64]
    wanted: Wanted
    contradicted: tuple[int, str, str | None] | None


class Window(NamedTuple):
    """Rows of a log, from first to last, and the interval of their scale, None where it is empty.

    The interval is of one scale that all of them have.
    """

    first: int
    last: int
    interval: tuple[float, float] | None


class LogEvidence:
    """The e-processes over a log, valid under the claim for any histograms.

    The null: the i-th label is a draw from the claimed Q(H_i) given all before it, and H_i was
    fixed before its noise was drawn. seed: of the uniforms of the probability transforms; endless:
    for a log that is followed for as long as it grows, of which only what later rows need is kept.

    asked: rows in total; rows: rows that were drawn, not looked up; other_totals: rows whose total
    is not the claimed teachers; named: rows with an id; refused: rows that are refusals; by_input:
    for a caching deployment, whether answers are kept by input, since two inputs of one histogram
    had different labels; last: the latest outcome of each histogram, and for a caching deployment
    its label; of_input: for that one, the votes and the label of each input with an id; parties:
    evidence on workers, on clients, and on hours of the day; strata: on what else parts a log, and
    in_strata: what it told when the evidence on labels was highest; scale, lately: that on the
    scale, of all rows and of those from row `lately_from` on, since the last complete `window`
    ended; strongest: `pointed` when the evidence on labels was highest, as a fault may end before
    the log; missed: `Laws.missed`, summed over rows; wanted: evidence that each alternative needs,
    by its weight, from the first row on; order: of the columns of votes; time_found: of the rows of
    `found_after`, as the log has it.
    """

    SAVED = (
        *("asked", "rows", "other_totals", "named", "refused", "by_input", "missed"),
        *("highest", "found_after", "contradiction", "lately_from", "pointed", "cells", "parties"),
        *("strata", "copies", "lagged", "sides", "scale", "lately", "told"),
    )
    """What later rows depend on, except for the latest labels, which a monitor has on disk."""

    def __init__(self, claim: LabelsClaim, seed: int, *, endless: bool = False) -> None:
        self.claim = claim
        mechanism, gate = claim.mechanism, claim.gate
        self.outcomes = mechanism.classes + mechanism.refuses
        self.alternatives = Alternatives(
            mechanism, gate.tolerance, answered=claim.leaves_out_refusals
        )
        self.table = LawTable(self.alternatives)
        # independent of the generator of the labels, even if that has the same seed
        self.rng = np.random.default_rng([seed, int.from_bytes(b"dpassay log")])
        self.asked = self.rows = self.other_totals = 0
        self.named = self.refused = self.by_input = 0
        self.last: dict[Histogram, int] = {}
        self.of_input: dict[str, tuple[Histogram, int | None]] = {}
        self.contradiction: str | None = None
        self.highest = {_LABELS: 0.0, _FRESH: 0.0}
        self.found_after: dict[str, int] = {}
        self.time_found: dict[str, str | None] = {}
        self.thresholds = {
            name: log_threshold(SHARES[name], gate.false_alarm)
            for name in (_LABELS, _SCALE, _FRESH)
        }
        self.pointed = OnsetEvidence(self.alternatives.weights)
        self.strongest: OnsetEvidence | None = None
        self.cells = [CellEvidence(gate.smallest_effect) for _ in range(2)]
        self.parties = [Parties(self.alternatives) for _ in PARTIES]
        self.strata = AllStrata(() if claim.log is None else claim.log.names.more)
        self.in_strata: tuple[float, Note] | None = None
        self.order = ColumnOrder(mechanism.classes)
        self.copies = CopiedLabels(None if mechanism.caching else self.last)
        self.noise = NoiseTable(mechanism)
        self.lagged = LaggedNoise()
        self.sides = [
            NoiseOfParties("worker"),
            NoiseOfParties("client"),
            NoiseOfParties("call", paired=False),
        ]
        self.scale = ScaleEvidence(self.alternatives.factors)
        self.lately = ScaleEvidence(self.alternatives.factors)
        self.lately_from = 1
        self.window: Window | None = None
        self.missed = np.zeros((len(EXPONENTS), self.alternatives.weights.size))
        threshold = self.thresholds[_LABELS]
        self.wanted = threshold - (np.log(POINTED) + np.log(0.5) + self.pointed.log_weights)
        self.changes: Changes | None = None
        self.missing_noise: MissingNoise | None = None
        if not endless:
            of_parties = zip(PARTIES.items(), self.parties, strict=True)
            needed = {
                kind: threshold - np.log(weight) - party.log_weights
                for (kind, weight), party in of_parties
            }
            self.changes = Changes(self.alternatives)
            self.missing_noise = MissingNoise(self.wanted, self.alternatives.bare, needed)

    def observe(self, rows: Sequence[Row]) -> None:
        """Adds rows in order; for a caching deployment only those that were drawn."""
        prepared = self.prepare(rows)
        self.finish(prepared, [laws_of(self.alternatives, new) for new in prepared.wanted.new])

    def prepare(self, rows: Sequence[Row]) -> Prepared:
        """Counts rows and plans their laws, which may be computed elsewhere until `finish`.

        More rows may be prepared before these are finished, in order.
        """
        numbers = np.arange(self.asked + 1, self.asked + len(rows) + 1)
        self.asked += len(rows)
        teachers = self.claim.mechanism.teachers
        self.refused += sum(row.label == REFUSAL for row in rows)
        self.named += sum(row.key is not None for row in rows)
        self.other_totals += sum(sum(row.histogram) != teachers for row in rows)
        contradicted = None
        if self.claim.mechanism.caching:
            drawn = []
            for row, number in zip(rows, numbers.tolist(), strict=True):
                fresh, kept = self._look_up(row)
                drawn.append(fresh)
                if kept not in (None, row.label) and contradicted is None:
                    of_id = "" if row.key is None else f"id {row.key[:60]!r}, "
                    words = (
                        f"row {number:,}: {of_id}{list(row.histogram)} was answered {row.label}, "
                        f"and {kept} before, although answers are kept"
                    )
                    contradicted = number, words, row.time_text
            rows = [row for row, fresh in zip(rows, drawn, strict=True) if fresh]
            numbers = numbers[drawn]
        wanted = self.table.plan([row.histogram for row in rows])
        return Prepared(rows, numbers, wanted, contradicted)

    def _look_up(self, row: Row) -> tuple[bool, int | None]:
        """Whether a row of a caching deployment was certainly drawn, and the label it must have.

        As long as inputs of one histogram have one label, only the first of them counts as drawn.
        Once two differ, answers are kept by input, and later inputs were drawn; the one that showed
        it was selected by its label, so it is not evidence.
        """
        fresh = row.histogram not in self.last
        first = self.last.setdefault(row.histogram, row.label)
        if row.key is None:
            return fresh, None if self.named else first
        again = row.key in self.of_input
        votes, kept = self.of_input.setdefault(row.key, (row.histogram, row.label))
        if again:
            return False, kept if votes == row.histogram else None
        drawn = fresh or bool(self.by_input)
        self.by_input |= first != row.label
        return drawn, None

    def finish(self, prepared: Prepared, found: Iterable[list[Matrix]]) -> None:
        """Adds prepared rows; found: `laws_of` each new block."""
        rows, numbers, wanted, contradicted = prepared
        self.table.learn(wanted, found)
        if contradicted is not None and self.contradiction is None:
            number, self.contradiction, time = contradicted
            self._refute(_FRESH, number, time)
        if not rows:
            return
        labels = np.array([row.label for row in rows], dtype=np.int64)
        outcomes = as_outcomes(labels, self.outcomes)
        laws = self.table.rows(wanted, outcomes)
        uniform = self.rng.random((labels.size, 2))
        general = [
            cells.observe(transform_to_cells(laws.below[:, i], np.exp(laws.log_q), uniform[:, i]))
            for i, cells in enumerate(self.cells)
        ]
        workers, clients = [row.worker for row in rows], [row.client for row in rows]
        times = [row.time for row in rows]
        hours = [None if time is None else f"{int(time // 3600.0) % 24:02d}" for time in times]
        of_parties = [workers, clients, hours]
        ones = [p.observe(n, laws.ratios) for p, n in zip(self.parties, of_parties, strict=True)]
        if self.missing_noise is not None and self.changes is not None:
            self.missing_noise.observe(laws.shows, of_parties)
            self.changes.observe(rows, outcomes, laws.ratios, self.pointed.log_ratios)
        before = deepcopy(self.pointed)
        bare = laws.ratios[:, self.alternatives.bare]
        strata = self.strata.observe(rows, numbers, bare, laws.shows.gains)
        parts = [self.pointed.observe(laws.ratios), *general, *ones, *strata.values()]
        weights = [POINTED, BY_RANK, BY_NUMBER, *PARTIES.values(), *WEIGHTS.values()]
        values = _weigh(parts, weights)
        if values.max() > max(self.highest[_LABELS], self.thresholds[_LABELS]):
            before.observe(laws.ratios[: int(values.argmax()) + 1])
            self.strongest = before
            at = int(values.argmax())
            self.in_strata = self.strata.likeliest(at, int(numbers[at]))
        again = self._again(rows, laws, outcomes, [workers, clients, [row.call for row in rows]])
        for check, evidence in ((_LABELS, values), (_FRESH, again)):
            if np.isnan(evidence).any():
                raise ArithmeticError(f"the evidence of {check} is not a number")
            self.highest[check] = max(self.highest[check], float(evidence.max(initial=0.0)))
            beyond = np.flatnonzero(evidence >= self.thresholds[check])
            if beyond.size:
                self._refute(check, int(numbers[beyond[0]]), rows[beyond[0]].time_text)
        self.order.observe(laws.of_law, outcomes)
        self._follow_scale(laws, int(numbers[-1]), rows[-1].time_text)
        self.missed += laws.missed.sum(0)
        self.rows += labels.size

    def _again(
        self,
        rows: Sequence[Row],
        laws: Laws,
        outcomes: NDArray[np.int64],
        names: Sequence[Sequence[str | None]],
    ) -> Vector:
        """Log e-values (n,) that labels, or their noise, are reused."""
        found = zip(rows, outcomes.tolist(), strict=True)
        bits = np.array([self.noise.bits(row.histogram, outcome) for row, outcome in found])
        parts = [
            self.copies.observe(rows, laws.of_law, outcomes),
            self.lagged.observe(bits, laws.log_q),
            *(s.observe(n, bits, laws.log_q) for s, n in zip(self.sides, names, strict=True)),
        ]
        return _weigh(parts, [COPIED, LAGGED, *[SIDE_BY_SIDE] * len(self.sides)])

    def _follow_scale(self, laws: Laws, number: int, time: str | None) -> None:
        likelihoods = laws.scales.sum(0)
        self.scale.add(likelihoods)
        self.lately.add(likelihoods)
        after = self.rows + laws.log_q.size
        if after // LATELY > self.rows // LATELY:
            interval = self.lately.interval(self.thresholds[_SCALE])
            self.window = Window(self.lately_from, number, interval)
            self.lately = ScaleEvidence(self.alternatives.factors)
            self.lately_from = number + 1
        if self.scale.log_e_value >= self.thresholds[_SCALE]:
            self._refute(_SCALE, number, time)

    def _refute(self, check: str, number: int, time: str | None) -> None:
        """Notes the row at which a check refutes, if it is the first."""
        self.found_after.setdefault(check, number)
        self.time_found.setdefault(check, time)

    @property
    def told(self) -> dict[str, Any]:
        """The rest of what is saved, as JSON can hold it."""
        causes = [cause.message for cause in self.alternatives.causes]
        random = self.rng.bit_generator.state
        return {"window": self.window, "random": random, "alternatives": causes}

    @told.setter
    def told(self, kept: dict[str, Any]) -> None:
        if kept["alternatives"] != self.told["alternatives"]:
            raise ValueError("it has other alternatives to the claim")
        self.window = None if kept["window"] is None else Window(*kept["window"])
        self.rng.bit_generator.state = kept["random"]

    def time_of(self, row: int) -> str | None:
        """Of a row that was drawn, from 1, as the log has it; None where it has none."""
        return None if self.changes is None else self.changes.time(row)

    @property
    def likeliest(self) -> OnsetEvidence:
        """The evidence by which a failure is explained."""
        return self.pointed if self.strongest is None else self.strongest

    @property
    def other_order(self) -> tuple[float, Note] | None:
        """Another order of the columns that fits better, as `ColumnOrder.likeliest` has it.

        None also where not all rows were seen: a monitor that goes on begins anew with it.
        """
        log = self.claim.log
        names = () if log is None else log.names.labels
        return self.order.likeliest(names) if self.order.rows == self.rows else None

    @property
    def best(self) -> int:
        """The index of the alternative that fits best since its onset."""
        return int(np.argmax(self.likeliest.recent))

    @property
    def likeliest_reuse(self) -> Note:
        """What is reused, by the wager with most evidence."""
        found = [each.likeliest for each in (self.copies, self.lagged, *self.sides)]
        return max(found, key=lambda one: (one[0], one[1].message))[1]

    def refuted(self, check: str) -> bool:
        """Whether the evidence of a check has reached its threshold."""
        return check in self.found_after


def _weigh(parts: Sequence[Vector], weights: Sequence[float]) -> Vector:
    """Log e-values (n,) of weighted averages of parts, each (n,)."""
    return log_sums(np.array(parts) + np.log(weights)[:, None], 0)


def chunks(rows: Iterable[Row], size: int = CHUNK) -> Iterator[list[Row]]:
    """The rows in lists of at most `size`; where they are interrupted, those before it too."""
    chunk: list[Row] = []
    try:
        for row in rows:
            chunk.append(row)
            if len(chunk) == size:
                whole, chunk = chunk, []
                yield whole
    except KeyboardInterrupt:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk
