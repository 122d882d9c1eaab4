"""Judges a log: its rows are evidence, in order."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference import REFUSAL
from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import log_sums
from ....evidence.onset import CellEvidence, OnsetEvidence, transform_to_cells
from ....evidence.outcomes import as_outcomes
from ....evidence.scale import ScaleEvidence
from ....findings.note import Note
from ....inputs.release_log import Row, RowReader
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES
from .alternatives import Alternatives
from .changes import Changes
from .copies import Copies
from .laws import EXPONENTS, Laws, LawTable, Wanted, worked_out
from .missing_noise import MissingNoise
from .parties import Parties
from .same_noise import Lagged, NoiseTable, SideBySide

CHUNK = 2048
"""Rows that are added together; e-processes still advance row by row."""

LATELY = 65_536
"""Rows of the windows in which the noise scale is estimated anew."""

POINTED, BY_RANK, BY_NUMBER = 0.6, 0.15, 0.1
"""Weights of wagers: known faults, and any deviation in cells of the two probability transforms."""

PARTIES = {"worker": 0.05, "client": 0.05, "hour": 0.05}
"""Weights of wagers on faults of one worker, one client, or one hour of the day."""

_LABELS = "class-probabilities"

COPIED, LAGGED, SIDE_BY_SIDE = 0.5, 0.2, 0.1
"""Weights of wagers: copied labels, noise of some rows before, and, for each kind of party, noise
shared place by place."""


@dataclass(frozen=True)
class Prepared:
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
    fixed before its noise was drawn. seed: of the uniforms of the probability transforms; asked:
    rows in total; rows: rows that were drawn, not looked up; other_totals: rows whose total is not
    the claimed teachers; named: rows with an id; refused: rows that are refusals; by_input: for a
    caching deployment, whether answers are kept by input, since two inputs of one histogram had
    different labels. endless: for a log that is followed for as long as it grows, of which only
    what later rows need is kept.
    """

    SAVED = ("asked", "rows", "other_totals", "named", "refused", "by_input", "missed")
    """Attributes that a saved state holds, beside its parts."""

    def __init__(self, claim: LabelsClaim, seed: int, *, endless: bool = False) -> None:
        self.claim = claim
        mechanism, gate = claim.mechanism, claim.gate
        self.outcomes = mechanism.classes + mechanism.refuses
        self.alternatives = Alternatives.of(mechanism, gate.tolerance, leaves_out_refusals(claim))
        self.table = LawTable(self.alternatives)
        # independent of the generator of the labels, even if that has the same seed
        self.rng = np.random.default_rng([seed, int.from_bytes(b"dpassay log")])
        self.asked = self.rows = self.other_totals = 0
        self.named = self.refused = self.by_input = 0
        self.pointed = OnsetEvidence(self.alternatives.weights)
        self.strongest: OnsetEvidence | None = None
        """`pointed` when the evidence on labels was highest: a fault may end before the log."""
        self.cells = [CellEvidence(gate.smallest_effect) for _ in range(2)]
        self.last: dict[tuple[int, ...], int] = {}
        """The latest outcome of each histogram; for a caching deployment its label."""
        self.of_input: dict[str, tuple[tuple[int, ...], int | None]] = {}
        """For a caching deployment, the votes and the label of each input with an id."""
        self.copies = Copies(None if mechanism.caching else self.last)
        self.noise = NoiseTable(mechanism)
        self.lagged = Lagged()
        self.sides = [SideBySide("worker"), SideBySide("client"), SideBySide("call", paired=False)]
        self.parties = [Parties(self.alternatives) for _ in PARTIES]
        """Evidence on workers, on clients, and on hours of the day."""
        self.scale = ScaleEvidence(self.alternatives.factors)
        self.lately = ScaleEvidence(self.alternatives.factors)
        """Evidence on the scale from the rows since the last window ended."""
        self.lately_from = 1
        """The first of these rows."""
        self.window: Window | None = None
        """The last complete window, if there is one."""
        self.missed = np.zeros((len(EXPONENTS), self.alternatives.weights.size))
        """`Laws.missed`, summed over rows."""
        self.contradiction: str | None = None
        self.highest = {"class-probabilities": 0.0, "fresh-noise": 0.0}
        self.found_after: dict[str, int] = {}
        self.thresholds = {
            name: log_threshold(SHARES[name], gate.false_alarm)
            for name in ("class-probabilities", "noise-scale", "fresh-noise")
        }
        self.time_found: dict[str, str | None] = {}
        """Of the rows of `found_after`, as the log has it."""
        self.missing_noise = None if endless else self._missing_noise()
        self.changes = None if endless else Changes(self.alternatives)

    def _missing_noise(self) -> MissingNoise:
        wanted, weights = self.thresholds["class-probabilities"], self.pointed.log_weights
        return MissingNoise(
            wanted - np.log(POINTED) - np.log(0.5) - weights,
            self.alternatives.bare,
            {
                kind: wanted - np.log(weight) - party.log_weights
                for (kind, weight), party in zip(PARTIES.items(), self.parties, strict=True)
            },
        )

    def observe(self, rows: Sequence[Row]) -> None:
        """Adds rows in order; for a caching deployment only those that were drawn."""
        prepared = self.prepare(rows)
        self.finish(prepared, [worked_out(self.alternatives, new) for new in prepared.wanted.new])

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
                fresh, kept = self._looked_up(row)
                drawn.append(fresh)
                if kept not in (None, row.label) and contradicted is None:
                    contradicted = number, _contradiction(row, number, kept), row.time_text
            rows = [row for row, fresh in zip(rows, drawn, strict=True) if fresh]
            numbers = numbers[drawn]
        wanted = self.table.plan([row.histogram for row in rows])
        return Prepared(rows, numbers, wanted, contradicted)

    def _looked_up(self, row: Row) -> tuple[bool, int | None]:
        """Whether a row of a caching deployment was certainly drawn, and the label it must have.

        Answers may be kept by histogram or by input. As long as inputs of one histogram have one
        label, only the first of them counts as drawn. Once two differ, answers are kept by input,
        and later inputs were drawn. The input that showed it was selected by its label, so it is
        not evidence.
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
        """Adds prepared rows; found: the result of `worked_out` for each new block."""
        self.table.learn(prepared.wanted, found)
        if prepared.contradicted is not None and self.contradiction is None:
            number, self.contradiction, time = prepared.contradicted
            self.found_after.setdefault("fresh-noise", number)
            self.time_found.setdefault("fresh-noise", time)
        if not prepared.rows:
            return
        rows, numbers = prepared.rows, prepared.numbers
        labels = np.array([row.label for row in rows], dtype=np.int64)
        outcomes = as_outcomes(labels, self.outcomes)
        laws = self.table.rows(prepared.wanted, outcomes)
        uniform = self.rng.random((labels.size, 2))
        general = [
            cells.observe(transform_to_cells(laws.below[:, i], np.exp(laws.log_q), uniform[:, i]))
            for i, cells in enumerate(self.cells)
        ]
        names = [[r.worker for r in rows], [r.client for r in rows], [r.call for r in rows]]
        hours = [None if r.time is None else hour_of(r.time) for r in rows]
        of_parties = [*names[: len(PARTIES) - 1], hours]
        ones = [p.observe(n, laws.ratios) for p, n in zip(self.parties, of_parties, strict=True)]
        if self.missing_noise is not None and self.changes is not None:
            self.missing_noise.observe(laws.shows, of_parties)
            self.changes.observe(rows, outcomes, laws.ratios, self.pointed.log_ratios)
        before = deepcopy(self.pointed)
        parts = [self.pointed.observe(laws.ratios), *general, *ones]
        weights = np.log([POINTED, BY_RANK, BY_NUMBER, *PARTIES.values()])[:, None]
        times = [row.time_text for row in rows]
        values = log_sums(np.array(parts) + weights, 0)
        if values.max() > max(self.highest[_LABELS], self.thresholds[_LABELS]):
            before.observe(laws.ratios[: int(values.argmax()) + 1])
            self.strongest = before
        self._note(_LABELS, values, numbers, times)
        self._note("fresh-noise", self._again(rows, laws, outcomes, names), numbers, times)
        self._follow_scale(laws, int(numbers[-1]), times[-1])
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
        weights = [COPIED, LAGGED, *[SIDE_BY_SIDE] * len(self.sides)]
        return log_sums(np.array(parts) + np.log(weights)[:, None], 0)

    def _note(
        self,
        check: str,
        values: Vector,
        numbers: NDArray[np.int64],
        times: Sequence[str | None],
    ) -> None:
        """Updates the highest evidence of a check, and the row at which it refuted."""
        if np.isnan(values).any():
            raise ArithmeticError(f"the evidence of {check} is not a number")
        self.highest[check] = max(self.highest[check], float(values.max(initial=0.0)))
        beyond = np.flatnonzero(values >= self.thresholds[check])
        if beyond.size:
            self.found_after.setdefault(check, int(numbers[beyond[0]]))
            self.time_found.setdefault(check, times[beyond[0]])

    def _follow_scale(self, laws: Laws, number: int, time: str | None) -> None:
        likelihoods = laws.scales.sum(0)
        self.scale.add(likelihoods)
        self.lately.add(likelihoods)
        after = self.rows + laws.log_q.size
        if after // LATELY > self.rows // LATELY:
            interval = self.lately.interval(self.thresholds["noise-scale"])
            self.window = Window(self.lately_from, number, interval)
            self.lately = ScaleEvidence(self.alternatives.factors)
            self.lately_from = number + 1
        if self.scale.log_e_value >= self.thresholds["noise-scale"]:
            self.found_after.setdefault("noise-scale", number)
            self.time_found.setdefault("noise-scale", time)

    def time_of(self, row: int) -> str | None:
        """Of a row that was drawn, from 1, as the log has it; None where it has none."""
        return None if self.changes is None else self.changes.time(row)

    @property
    def likeliest(self) -> OnsetEvidence:
        """The evidence by which a failure is explained."""
        return self.pointed if self.strongest is None else self.strongest

    @property
    def best(self) -> int:
        """The index of the alternative that fits best since its onset."""
        return int(np.argmax(self.likeliest.recent))

    @property
    def likeliest_copies(self) -> Note:
        """What is reused, by the wager with most evidence."""
        found = [self.copies.likeliest, self.lagged.likeliest]
        found += (side.likeliest for side in self.sides)
        return max(found, key=lambda one: (one[0], one[1].message))[1]

    def refuted(self, check: str) -> bool:
        """Whether the evidence of a check has reached its threshold."""
        return check in self.found_after


def _contradiction(row: Row, number: int, kept: int | None) -> str:
    """The finding on a kept answer that changed, in words."""
    named = "" if row.key is None else f"id {row.key[:60]!r}, "
    return (
        f"row {number:,}: {named}{list(row.histogram)} was answered {row.label}, and "
        f"{kept} before, although answers are kept"
    )


def hour_of(time: float) -> str:
    """The hour of the day, 00 to 23, of a time in seconds."""
    return f"{int(time // 3600.0) % 24:02d}"


def leaves_out_refusals(claim: LabelsClaim) -> bool:
    """Whether the log of a claim leaves out refused queries."""
    return claim.log is not None and claim.log.refusals == "left-out"


def reader_of(
    claim: LabelsClaim, header: str | None = None, last_time: float | None = None
) -> RowReader:
    """The reader for a log of this claim; header, last_time: of the part already read."""
    refuses = claim.mechanism.refuses and not leaves_out_refusals(claim)
    given = {row.key: row.histogram for row in claim.given if row.key is not None}
    return RowReader(claim.mechanism.classes, refuses, header, last_time, given)


def chunks(rows: Iterable[Row], size: int = CHUNK) -> Iterator[list[Row]]:
    """The rows in lists of at most `size`."""
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
