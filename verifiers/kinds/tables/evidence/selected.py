"""Wagers on which partitions are released: exact ratios of Bernoulli laws.

Within the bounds of a user each partition comes with a probability that its own users, or rows,
decide, whatever else comes. An alternative names another probability for each beforehand. Of a
crowd in every partition so few users stay in each that its release is unlikely: by how much is
bounded as Chernoff does, with the exact moments of what stays.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import NoisyTable, Rows, Selection, Threshold, TruncatedGeometric
from ....evidence.mixture import log_mean_of
from ....findings.note import Fields, Note

_LEAK = 1e-3
"""Share of the claim in every alternative, so that one odd partition does not end a wager."""

WITHOUT_NOISE = Note(
    "noise-missing", "counts are compared with the threshold without noise", {"of": "selection"}
)
_SCALES = (0.5, 0.8, 1.25, 2.0)
_MOVES = (-2.0, -1.0, 1.0, 2.0)
_ODDS = (0.1, 0.5, 0.8, 1.25, 2.0, 10.0)

Laws = Callable[[Vector, Vector], tuple[Vector, Vector]]
"""Users and rows (k,) of partitions in; log-probabilities (k,) of a release, and of none, out."""


@dataclass(frozen=True)
class OtherSelection:
    """Another way to select; cause: for a diagnosis."""

    cause: Note
    law: Laws


class SelectedEvidence:
    """The average over known mistakes of wagers on which partitions come."""

    def __init__(self, table: NoisyTable) -> None:
        self.claimed = _of(table.selection, table.counted.once)
        self.others = tuple(_others(table))
        self.gains = np.zeros(len(self.others))
        self.impossible: tuple[float, float, bool] | None = None
        """Users and rows of a partition that came, or did not, although it cannot be; and which."""
        self._kept: dict[bytes, Matrix] = {}

    def observe(self, users: Vector, rows: Vector, came: NDArray[np.int64], of: int) -> None:
        """Adds `of` releases of partitions (k,), each of which came so often (k,)."""
        kept, dropped = self.claimed(users, rows)
        odd = ((kept == -np.inf) & (came > 0)) | ((dropped == -np.inf) & (came < of))
        if odd.any() and self.impossible is None:
            cell = int(np.argmax(odd))
            self.impossible = float(users[cell]), float(rows[cell]), bool(came[cell] > 0)
        some = ~odd
        yes, no = self._tables(users, rows, kept, dropped)
        self.gains += yes[:, some] @ came[some] + no[:, some] @ (of - came[some])

    def _tables(
        self, users: Vector, rows: Vector, kept: Vector, dropped: Vector
    ) -> tuple[Matrix, Matrix]:
        """Gains (others, k) by a partition that comes, and by one that does not."""
        asked = users.tobytes() + rows.tobytes()
        if asked not in self._kept:
            found = np.zeros((2, len(self.others), users.size))
            for place, other in enumerate(self.others):
                for side, (claimed, its) in enumerate(
                    zip((kept, dropped), other.law(users, rows), strict=True)
                ):
                    some = claimed > -np.inf
                    ratio = its[some] - claimed[some] + math.log1p(-_LEAK)
                    found[side, place, some] = np.logaddexp(ratio, math.log(_LEAK))
            self._kept[asked] = found
        return self._kept[asked][0], self._kept[asked][1]

    def moments(self, users: Vector, rows: Vector) -> tuple[Vector, Vector]:
        """Mean and variance (others,) of what a release of partitions (k,) gains each wager.

        Where partitions are selected as it says.
        """
        yes, no = self._tables(users, rows, *self.claimed(users, rows))
        kept = np.exp([other.law(users, rows)[0] for other in self.others])
        mean = (kept * yes + (1.0 - kept) * no).sum(1)
        return mean, (kept * (1.0 - kept) * np.square(yes - no)).sum(1)

    @property
    def log_e_value(self) -> float:
        """Infinite once something came that the claim rules out."""
        return math.inf if self.impossible is not None else float(log_mean_of(self.gains))

    @property
    def likeliest(self) -> tuple[Note, float]:
        """The likeliest mistake, and its log-ratio."""
        best = int(np.argmax(self.gains))
        return self.others[best].cause, float(self.gains[best])


def _of(selection: Selection | None, users: bool) -> Laws:
    assert selection is not None

    def law(of_users: Vector, of_rows: Vector) -> tuple[Vector, Vector]:
        counts = of_users if users else of_rows
        return selection.log_kept(counts), selection.log_dropped(counts)

    return law


def _others(table: NoisyTable) -> Iterator[OtherSelection]:
    claimed, once, bounding = table.selection, table.counted.once, table.bounding
    assert claimed is not None
    counts, other = ("users", "rows") if once else ("rows", "users")
    words = f"partitions are selected by their {other}, not by their {counts}"
    swapped = Note("selection-counts-differ", words, {"counts": other, "claimed": counts})
    yield OtherSelection(swapped, _of(claimed, not once))
    most = bounding.partitions
    for cause, selection in _other_laws(claimed, most):
        yield OtherSelection(cause, _of(selection, once))
    words = "private partitions are always released"
    yield OtherSelection(Note("partitions-always-released", words), _always)
    for odds in _ODDS:
        way, code = ("more", "released-too-often") if odds > 1 else ("less", "released-too-seldom")
        words = f"partitions are released {way} often than claimed, at {odds:g} times the odds"
        yield OtherSelection(Note(code, words, {"odds": odds}), _at_odds(_of(claimed, once), odds))


def _undivided(words: str, what: str, most: int) -> Note:
    """What a user of several partitions costs more, where the budget is that of each."""
    message = f"{words}: max_partitions = {most} is missing"
    fields: Fields = {"undivided": what, "max_partitions": most}
    return Note("selection-budget-undivided", message, fields)


def _too(small: str, large: str, factor: float, words: str, of: str) -> Note:
    """Of a part of a selection that is off by a factor; small, large: codes of either way."""
    return Note(small if factor < 1 else large, words, {"factor": factor, "of": of})


def _other_laws(claimed: Selection, most: int) -> Iterator[tuple[Note, Selection]]:
    """Selections of the same strategy with another noise, threshold or budget."""
    if isinstance(claimed, TruncatedGeometric):
        e, d = claimed.epsilon, claimed.delta
        whole = min(-math.expm1(most * math.log1p(-d)), 0.999)
        undivided = {
            "the epsilon of the selection": ("epsilon", e * most, d),
            "the delta of the selection": ("delta", e, whole),
            "the selection's budget": ("both", e * most, whole),
        }
        for what, (field, epsilon, delta) in undivided.items() if most > 1 else ():
            cause = _undivided(f"{what} is not divided", field, most)
            yield cause, TruncatedGeometric(epsilon, delta)
        codes = "selection-budget-too-small", "selection-budget-too-large"
        for factor in _SCALES:
            scaled = ("epsilon", e * factor, d), ("delta", e, min(d * factor, 0.999))
            for field, epsilon, delta in scaled:
                words = f"the selection has {factor:g} times the claimed {field}"
                yield _too(*codes, factor, words, field), TruncatedGeometric(epsilon, delta)
        return
    assert isinstance(claimed, Threshold)
    missing = f"of the claimed scale: max_partitions = {most} is missing"
    scales = [(factor, f"{factor:g} times the claimed scale") for factor in _SCALES]
    if most > 1:
        known = [(1.0 / most, f"1/{most} {missing}"), (most**-0.5, f"1/sqrt({most}) {missing}")]
        scales = known + scales
    for factor, times in scales:
        words = f"the noise of the selection has {times}"
        cause = _too("scale-too-small", "scale-too-large", factor, words, "selection")
        yield cause, replace(claimed, noise=claimed.noise.times(factor))
    scale = claimed.noise.family.scale
    if most > 1:  # of Laplace noise: ln(most) scales
        lower = claimed.threshold - scale * math.log(most)
        yield (
            _undivided("the delta of the threshold is not divided", "delta", most),
            replace(claimed, threshold=lower),
        )
    for move in _MOVES:
        by = move if claimed.noise.family.whole else move * 0.5 * scale
        other = claimed.threshold + by
        words = f"partitions are released from a noisy count of {other:g}"
        code = "threshold-too-low" if by < 0 else "threshold-too-high"
        fields = {"threshold": other, "claimed": claimed.threshold}
        yield Note(code, words, fields), replace(claimed, threshold=other)
    if claimed.least != claimed.threshold or claimed.noise.family.whole or claimed.noise.grid:
        sign = ">=" if claimed.strict else ">"
        cause = Note(
            "threshold-compared-otherwise", f"the threshold is compared by {sign}", {"sign": sign}
        )
        yield cause, replace(claimed, strict=not claimed.strict)
    bare = replace(claimed, noise=claimed.noise.times(1e-3))
    yield WITHOUT_NOISE, bare


def _always(users: Vector, rows: Vector) -> tuple[Vector, Vector]:
    there = rows > 0
    return np.where(there, 0.0, -np.inf), np.where(there, -np.inf, 0.0)


def _at_odds(law: Laws, odds: float) -> Laws:
    def other(users: Vector, rows: Vector) -> tuple[Vector, Vector]:
        kept, dropped = law(users, rows)
        whole = np.logaddexp(kept + math.log(odds), dropped)
        return kept + math.log(odds) - whole, dropped - whole

    return other


_STAKE = 0.9  # of what there is, put on partitions that come
_RATES = 2.0 ** np.arange(-4.0, 3.0)  # of the moments


def released_at_most(table: NoisyTable, rows: Rows, cells: int) -> float:
    """A bound on the share of the partitions (cells) that is released in the mean.

    For any count k, a partition has k or more, or is released although it has fewer.
    """
    assert table.selection is not None
    given = table.counted.contributions(rows)
    counts = np.arange(len(rows) + 1.0)
    fewer: Vector = np.concatenate([[0.0], np.exp(table.selection.log_kept(counts))[:-1]])
    rates: Matrix = np.kron(np.eye(cells), _RATES[:, None]).astype(np.float64)
    moments = table.bounding.log_moment(given, rates, once=table.counted.once)
    tails = moments.reshape(cells, _RATES.size, 1) - np.outer(_RATES, counts)
    bounds = np.exp(np.minimum(tails.min(1), 0.0)) + fewer
    return float(np.minimum(bounds.min(1), 1.0).mean())


class CrowdEvidence:
    """Evidence from how many partitions come of one input; rows: of it, in some of `cells`."""

    def __init__(self, table: NoisyTable, rows: Rows, cells: int) -> None:
        self.expected = released_at_most(table, rows, cells)
        self.log_e_value, self.releases, self.came = 0.0, 0, 0.0

    def gained(self, share: float) -> float:
        """What a release gains in which such a share of the partitions comes."""
        return float(np.log1p(_STAKE * (share / self.expected - 1.0)))

    def observe(self, shares: Vector) -> None:
        """Takes the shares (n,) of the partitions that came in each release.

        Their mean is `expected` at most, whatever else draws of users tie to each other.
        """
        self.log_e_value += float(np.log1p(_STAKE * (shares / self.expected - 1.0)).sum())
        self.releases += len(shares)
        self.came += float(shares.sum())
