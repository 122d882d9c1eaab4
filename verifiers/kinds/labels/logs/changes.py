"""Where the labels of a log follow another law: those of one party, or those from some row on."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference import Noise
from .....reference.arrays import Matrix, Vector
from ....evidence.onset import OnsetEvidence, log_prior
from ....evidence.scale import ScaleEvidence, scale_factors
from ....findings.figures import finite
from ....findings.note import Note
from ....inputs.cells import number_of, parts_of_a_second
from ....inputs.release_log import Row
from .laws import Alternatives, Histogram

CONFIDENCE = 0.99
"""Of the intervals, together, if one of the alternatives holds from some row on."""

_EACH = 0.5 * (1.0 - CONFIDENCE)
_MOST = 1_000  # workers, clients or hours that are looked at: the first to occur
_FACTORS = (0.25, 0.5, 1 / 1.5, 1.5, 2.0)  # the nearest alternatives to these scales are used
_FAULTS = 5  # plainest known faults: no noise, uniform, argmin, and the first two now and then
_MOST_LOG = 600.0
_TOGETHER = 512
_MOST_KINDS = 256  # histograms by which the scale is judged, the first to occur
_TOLERANCE = 0.05  # of the grid of scales


class Parties:
    """Wagers that the labels of one worker, client or hour follow another law from some label on.

    The k-th party has weight 1 / (k (k + 1)); the weight of parties still to come is kept as it is.
    So this is an average of martingales, if each row's party is fixed before its noise is drawn.
    """

    SAVED = ("told", "log_values")

    def __init__(self, alternatives: Alternatives) -> None:
        near = [int(np.argmin(np.abs(np.log(alternatives.others / factor)))) for factor in _FACTORS]
        faults = alternatives.bare + np.arange(min(_FAULTS, len(alternatives.faults)))
        self.columns = np.array([*near, *faults])
        self.causes = [alternatives.causes[int(column)] for column in self.columns]
        self.evidence: dict[str, OnsetEvidence] = {}
        self.log_values: list[float] = []
        number = np.arange(1.0, _MOST + 1.0)
        self.log_weights = np.log(0.5 / self.columns.size / (number * (number + 1.0)))
        """Log-weight (k,) of the wager on each law from the first label on, by party's number."""

    def observe(self, names: Sequence[str | None], ratios: Matrix) -> Vector:
        """Adds labels with log-ratios (n, all alternatives); the log-e-value (n,) after each.

        names: of the parties (n,), None where a row has none.
        """
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if name is not None and (name in self.evidence or len(self.evidence) < _MOST):
                self.follow(name)
                places.setdefault(name, []).append(place)
        if not self.evidence:
            return np.zeros(len(names))
        number = np.arange(1.0, len(self.evidence) + 1.0)
        shares = 1.0 / (number * (number + 1.0))
        numbers = {name: k for k, name in enumerate(self.evidence)}
        begun = float((shares * np.exp(np.minimum(self.log_values, _MOST_LOG))).sum())
        grown = np.zeros(len(names))
        for name, rows in places.items():
            k = numbers[name]
            after = self.evidence[name].observe(ratios[rows][:, self.columns])
            values = np.exp(np.minimum([self.log_values[k], *after], _MOST_LOG))
            grown[rows] = shares[k] * np.diff(values)
            self.log_values[k] = float(after[-1])
        kept = 1.0 / (len(self.evidence) + 1.0)
        return np.asarray(np.log(np.maximum(kept + begun + np.cumsum(grown), kept)))

    def follow(self, name: str) -> OnsetEvidence:
        """The evidence on a party, begun where there is none yet."""
        if name not in self.evidence:
            even = np.full(self.columns.size, 1.0 / self.columns.size)
            self.evidence[name] = OnsetEvidence(even)
            self.log_values.append(0.0)
        return self.evidence[name]

    @property
    def told(self) -> dict[str, Any]:
        """The evidence on all parties: their names, and what is saved of each, stacked."""
        each = {
            field: np.array([getattr(one, field) for one in self.evidence.values()])
            for field in OnsetEvidence.SAVED
        }
        return {"names": list(self.evidence), "each": each}

    @told.setter
    def told(self, kept: dict[str, Any]) -> None:
        for at, one in enumerate(map(self.follow, kept["names"])):
            for field in OnsetEvidence.SAVED:
                value = kept["each"][field][at]
                setattr(one, field, value.copy() if value.ndim else int(value))

    @property
    def likeliest(self) -> tuple[float, str, Note] | None:
        """The wager with most evidence: its log-ratio since its onset, the party, and the law."""
        best = [
            (float(evidence.recent.max()), name, self.causes[int(np.argmax(evidence.recent))])
            for name, evidence in self.evidence.items()
        ]
        found = max(best, key=lambda one: one[:2], default=None)
        return None if found is None or found[0] <= 0.0 else found


@dataclass(frozen=True)
class OnsetInterval:
    """What the rows leave of a change: rows (from 1), of which it may be any, and their times.

    factors: of the noise scale since then, as `ScaleEvidence.interval` has them; None where no
    scale fits.
    """

    rows: tuple[int, int]
    times: tuple[str | None, str | None]
    factors: tuple[float, float] | None

    def fields(self, *, scaled: bool) -> dict[str, str | int | float | None]:
        """As fields of a finding; scaled: with the scale."""
        found: dict[str, str | int | float | None] = {"confidence": CONFIDENCE}
        found |= {"from_row_low": self.rows[0], "from_row_high": self.rows[1]}
        if self.times[0] is not None:
            found |= {"from_time_low": self.times[0], "from_time_high": self.times[1]}
        if scaled and self.factors is not None:
            low, high = self.factors
            found |= {"factor_low": low, "factor_high": finite(high)}
        return found

    def text(self, noise: Noise, *, scaled: bool) -> str:
        """In words; noise: the claimed one."""
        first, last = self.rows
        found = f"with confidence {CONFIDENCE:g} from between rows {first:,} and {last:,}"
        if self.times[0] is not None:
            found += f" ({self.times[0]} and {self.times[1]})"
        if not scaled or self.factors is None:
            return found
        low, high = (f"{noise.scale * factor:.4g}" for factor in self.factors)
        ends = f"between {low} and {high}"
        if math.isinf(self.factors[1]):
            ends = f"of at least {low}"
        return f"{found}, with a scale since then {ends}"


class Changes:
    """Keeps the rows of a log, and where each alternative stood as chunks of them began.

    With L(t, a) the likelihood ratio of alternative a that sets in after t rows, and M the mixture
    `OnsetEvidence` of all, M / L(t, a) is a martingale if (t, a) is true: so it is among those with
    L(t, a) > (1 - confidence) M with probability `CONFIDENCE`. The rows are those of these pairs.
    The scale is judged by the rows after all of them, with an interval widened by the prior of that
    row.
    """

    def __init__(self, alternatives: Alternatives) -> None:
        self._alternatives = alternatives
        self._histograms: list[Histogram] = []
        self._outcomes, self._times = array("l"), array("d")
        self._form: str | None = None  # a time as the log writes it
        self._begun: list[int] = []
        self._stood: list[Vector] = []
        self._lowest: list[Vector] = []

    def observe(
        self,
        rows: Sequence[Row],
        outcomes: NDArray[np.int64],
        ratios: Matrix,
        stood: Vector,
    ) -> None:
        """Adds rows with log-ratios (n, a); stood: their sums (a,) over all rows before."""
        self._begun.append(len(self._histograms))
        self._stood.append(stood.copy())
        self._lowest.append(_before(ratios, stood).min(0))
        self._histograms += [row.histogram for row in rows]
        self._outcomes.extend(outcomes.tolist())
        self._times.extend(math.nan if row.time is None else row.time for row in rows)
        self._form = self._form or rows[0].time_text

    def interval(self, pointed: OnsetEvidence) -> OnsetInterval | None:
        """What the rows that `pointed` has seen leave of a change; None if they leave none."""
        most = pointed.log_ratios - pointed.log_e_value - math.log(_EACH)
        end = pointed.labels
        begun = bisect_left(self._begun, end)
        chunks = np.flatnonzero((np.array(self._lowest[:begun]) < most).any(-1)).tolist()

        def first_of(chunks: Iterable[int], at: int) -> int | None:
            found = (self._onsets(chunk, most, end) for chunk in chunks)
            return next((int(rows[at]) for rows in found if rows.size), None)

        first, last = first_of(chunks, 0), first_of(reversed(chunks), -1)
        if first is None or last is None:
            return None
        times = self.time(first + 1), self.time(last + 1)
        return OnsetInterval((first + 1, last + 1), times, self._factors(last, pointed))

    def time(self, row: int) -> str | None:
        """Of a row, from 1, as the log has it: a number, or ISO 8601 in UTC."""
        time, form = self._times[row - 1], self._form or "0"
        if math.isnan(time):
            return None
        number = number_of(form)
        if math.isnan(number):
            zone = "Z" if form[-1] in "Zz" else "+00:00"
            return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", zone)
        parts = parts_of_a_second(number)
        return f"{time:.15g}" if parts == 1 else f"{time * parts:.0f}"

    def _onsets(self, chunk: int, most: Vector, end: int) -> NDArray[np.intp]:
        """How many rows there may be before the change, of the rows of a chunk before `end`."""
        start = self._begun[chunk]
        end = min([*self._begun, len(self._histograms)][chunk + 1], end)
        outcomes = np.array(self._outcomes[start:end])
        votes, at = np.unique(np.array(self._histograms[start:end]), axis=0, return_inverse=True)
        found = [
            self._alternatives.laws(votes[i : i + _TOGETHER].astype(np.float64))[2]
            for i in range(0, len(votes), _TOGETHER)
        ]
        ratios = np.concatenate(found)[at.reshape(-1), :, outcomes]
        possible = (_before(ratios, self._stood[chunk]) < most).any(-1)
        return start + np.flatnonzero(possible)

    def _factors(self, start: int, pointed: OnsetEvidence) -> tuple[float, float] | None:
        """Factors of the scale that the rows after the first `start` leave."""
        others = self._alternatives.others
        best = float(others[np.argmax(pointed.recent[: others.size])])
        counts: dict[Histogram, Vector] = {}
        outcomes = self._alternatives.claim.classes + self._alternatives.claim.refuses
        here = slice(start, pointed.labels)
        for votes, outcome in zip(self._histograms[here], self._outcomes[here], strict=True):
            if votes in counts or len(counts) < _MOST_KINDS:
                counts.setdefault(votes, np.zeros(outcomes))[outcome] += 1.0
        scale = ScaleEvidence(best * scale_factors(_TOLERANCE))
        laws = self._alternatives.scale_laws(np.array(list(counts), dtype=float), scale.factors)
        seen = np.array(list(counts.values()))[:, None]
        scale.add(np.where(seen > 0.0, seen * laws, 0.0).sum((0, 2)))
        beyond = float(-log_prior(np.array([start + 1.0]))[0])
        chosen = math.log(others.size)  # by the same rows, out of so many
        return scale.interval(beyond + chosen - math.log(_EACH))


def _before(ratios: Matrix, stood: Vector) -> Matrix:
    """Sums (n, a) of log-ratios over all rows before each."""
    return np.asarray(stood + np.cumsum(ratios, 0) - ratios)
