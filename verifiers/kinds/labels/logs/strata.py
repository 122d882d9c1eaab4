"""Wagers that noise is missing in parts of a log: of some inputs, weekdays, columns, or positions.

A part is a stratum of rows, known before their noise is drawn, which has no noise with probability
s: the product over strata of 1 - s + s L, with the likelihood ratio L of the stratum's own rows, is
a martingale. So several parts that each show a little show together.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import log_sums
from ....evidence.onset import OnsetEvidence
from ....findings.note import Note
from ....inputs.release_log import Row
from ....run.cause import SURE
from .laws import POWERS, Histogram
from .missing_noise import COSTS, PartiesShown

WEIGHTS = {"input": 0.02, "weekday": 0.02, "column": 0.02, "position": 0.02, "window": 0.02}
"""Weights of wagers that noise is missing in strata of these kinds, or in a share of some rows."""

CONFIDENCE = 0.99
"""Of the interval of the share of rows without noise, in the stratum that is named."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST_DAY = 3  # 1 January 1970 was a Thursday
_ALL_TO = 64  # periods up to this one are all looked at
_LONGER = 80, 96, 100, 120, 128, 150, 200, 250, 256, 300, 400, 500, 512, 1000
_PERIODS = (*range(2, _ALL_TO + 1), *_LONGER)
_RARE = np.array([0.1, 0.01, 0.001])  # prior probabilities that a stratum lacks noise
_SHARES = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)  # of its rows that do
_OF_WINDOWS = np.array([0.2, 0.5, 0.8])  # shares of the rows of a window that do
_MOST = 10_000  # strata of a kind that are looked at: the first to occur
_NAMED = 24  # most that a cause counts by name

Key = str | Histogram


class Strata:
    """The product over strata, averaged over groups: each row is in one stratum of each group.

    keys: group and name of each stratum; logs: log-ratio (k, j) at each share; rows, first: how
    many rows a stratum has, and the number of the first; gains: as of `Shows`, summed; terms: log
    of the product (g, s) at each prior.
    """

    SAVED = ("logs", "rows", "first", "terms", "told")

    def __init__(self, groups: int, shares: Sequence[float] = _SHARES) -> None:
        self.shares = np.array(shares)
        self.keys: dict[tuple[int, Key], int] = {}
        self.logs, self.gains = np.zeros((0, self.shares.size)), np.zeros((0, POWERS.size))
        self.rows, self.first = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.terms = np.zeros((groups, _RARE.size))

    def places(self, names: Sequence[Sequence[Key | None]], rows: int) -> NDArray[np.int64]:
        """The stratum (n, g) of each of n rows by its names (g, n); -1 where it has none."""
        found = [[self._place(g, key) for key in each] for g, each in enumerate(names)]
        return np.array(found, dtype=np.int64).reshape(len(names), rows).T

    @property
    def told(self) -> list[tuple[int, Key]]:
        """The strata in order, as JSON can hold them; set once all else is restored."""
        return list(self.keys)

    @told.setter
    def told(self, kept: list[Any]) -> None:
        named = ((group, key if isinstance(key, str) else tuple(key)) for group, key in kept)
        self.keys = {key: at for at, key in enumerate(named)}
        self.gains = np.zeros((len(self.logs), POWERS.size))  # of a pass, which is not told

    @property
    def names(self) -> list[Key]:
        """Of the strata, in order."""
        return [key for _, key in self.keys]

    def _place(self, group: int, key: Key | None) -> int:
        if key is None or ((group, key) not in self.keys and len(self.keys) >= _MOST):
            return -1
        return self.keys.setdefault((group, key), len(self.keys))

    def observe(
        self, at: NDArray[np.int64], numbers: NDArray[np.int64], ratios: Vector, gains: Matrix
    ) -> Vector:
        """Adds rows; the log-e-value (n,) after each of them.

        at: the stratum (n, g) of each row, as `places` has it; numbers: of the rows (n,), in the
        log; ratios: their log-ratios (n,) of missing noise; gains: as of `Shows`.
        """
        n, groups = at.shape
        if groups == 0:
            return np.zeros(n)
        self._make_room(len(self.keys))
        flat = at.ravel()
        named = np.flatnonzero(flat >= 0)
        place = named[np.argsort(flat[named], kind="stable")]
        grown = np.zeros((n * groups, _RARE.size))
        if place.size:
            grown[place] = self._grow(flat[place], place // groups, numbers, ratios, gains)
        product = self.terms + np.cumsum(grown.reshape(n, groups, -1), 0)
        self.terms = product[-1]
        return np.asarray(log_sums(product.reshape(n, -1), 1) - np.log(self.terms.size))

    def _make_room(self, strata: int) -> None:
        more = strata - len(self.logs)
        if more > 0:
            parts = (self.logs, self.gains, self.rows, self.first)
            self.logs, self.gains, self.rows, self.first = (
                np.concatenate([part, np.zeros((more, *part.shape[1:]), part.dtype)])
                for part in parts
            )

    def _grow(
        self,
        ids: NDArray[np.int64],
        row: NDArray[np.intp],
        numbers: NDArray[np.int64],
        ratios: Vector,
        gains: Matrix,
    ) -> Matrix:
        """What rows (m,), sorted by stratum, add to the log of the product at each prior."""
        with np.errstate(divide="ignore"):
            none = np.log1p(-self.shares)
        each = np.logaddexp(none, np.log(self.shares) + ratios[:, None])[row]
        begins = np.flatnonzero(np.diff(ids, prepend=-1))
        ends = np.append(begins[1:], ids.size)
        sums, counts = np.cumsum(each, 0), ends - begins
        of = ids[begins]
        base = sums[begins] - each[begins]
        after = sums + np.repeat(self.logs[of] - base, counts, 0)
        values = self._terms_of(after)
        before = np.vstack([values[:1], values[:-1]])
        before[begins] = self._terms_of(self.logs[of])
        self.logs[of] = after[ends - 1]
        self.first[of] = np.where(self.rows[of] > 0, self.first[of], numbers[row[begins]])
        self.rows[of] += counts
        self.gains[of] += np.add.reduceat(gains[row], begins, 0)
        return values - before

    def _terms_of(self, logs: Matrix) -> Matrix:
        """Log of 1 - s + s L (k, s), L averaged over shares of rows."""
        mean = log_sums(logs, 1) - np.log(self.shares.size)
        return np.asarray(np.logaddexp(np.log1p(-_RARE), np.log(_RARE) + mean[:, None]))

    def without_noise(self, group: int, of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of a group's strata that probably lack noise, the plainest first."""
        rare = np.log(_RARE[int(np.argmax(self.terms[group]))])
        means = log_sums(self.logs[of], 1) - np.log(self.shares.size)
        found = np.argsort(-means, kind="stable")
        return of[found[: max(1, int((means + rare > SURE).sum()))]]

    def interval(self, stratum: int) -> tuple[float, float]:
        """The shares of a stratum's rows without noise that its labels leave.

        The likelihood is log-concave in the share, so that shares next to refuted ones bound it.
        """
        logs = self.logs[stratum]
        least = log_sums(logs[None], 1)[0] - np.log(logs.size)
        left = np.flatnonzero(logs >= least + np.log((1.0 - CONFIDENCE) / len(self.logs)))
        ends = np.array([0.0, *self.shares, 1.0])
        return float(ends[left[0]]), float(ends[left[-1] + 2])

    def shows(self, of: NDArray[np.int64], log_wanted: float) -> NDArray[np.bool_]:
        """Which strata of a group would show if all their rows lacked noise.

        log_wanted: evidence that the group's product needs. The other strata take at most 1 - s
        each from it.
        """
        others = (of.size - 1.0) * np.log1p(-_RARE)
        wanted = log_wanted + np.log(_RARE.size * self.shares.size) - np.log(_RARE) - others
        gained = (self.gains[of] - COSTS).max(-1, initial=-np.inf)
        return np.asarray(gained >= wanted.min())


class AllStrata:
    """The strata of all kinds; columns: those that the claim names, as it calls them."""

    SAVED = ("of", "windows")

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.of = {"input": Strata(1), "weekday": Strata(1)}
        self.of |= {"column": Strata(len(columns)), "position": Strata(len(_PERIODS), [1.0])}
        self.windows = OnsetEvidence(np.full(_OF_WINDOWS.size, 1.0 / _OF_WINDOWS.size))
        self._latest = deepcopy(self.windows), np.zeros((0, _OF_WINDOWS.size))
        ends = np.cumsum(_PERIODS)
        self._begin = ends - np.array(_PERIODS)
        self.of["position"]._make_room(int(ends[-1]))

    def observe(
        self, rows: Sequence[Row], numbers: NDArray[np.int64], ratios: Vector, gains: Matrix
    ) -> dict[str, Vector]:
        """Adds rows, as `Strata.observe`; log-e-values (n,) by kind, in the order of `WEIGHTS`."""
        days = [None if row.time is None else int(row.time // 86400) + _FIRST_DAY for row in rows]
        names: dict[str, list[list[Key | None]]] = {
            "input": [[row.key or row.histogram for row in rows]],
            "weekday": [[None if day is None else _WEEKDAYS[day % 7] for day in days]],
            "column": [[row.more[c] for row in rows] for c in range(len(self.columns))],
        }
        found = {}
        for kind, strata in self.of.items():
            at = (
                self._begin + (numbers[:, None] - 1) % np.array(_PERIODS)
                if kind == "position"
                else strata.places(names[kind], len(rows))
            )
            found[kind] = strata.observe(at, numbers, ratios, gains)
        thinned = np.logaddexp(np.log1p(-_OF_WINDOWS), np.log(_OF_WINDOWS) + ratios[:, None])
        self._latest = deepcopy(self.windows), thinned
        return found | {"window": self.windows.observe(thinned)}

    def _groups(self, kind: str) -> list[NDArray[np.int64]]:
        """The strata of each group of a kind."""
        if kind == "position":
            starts = zip(self._begin.tolist(), _PERIODS, strict=True)
            return [np.arange(start, start + period) for start, period in starts]
        strata = self.of[kind]
        groups: list[list[int]] = [[] for _ in strata.terms]
        for (group, _), at in strata.keys.items():
            groups[group].append(at)
        return [np.array(group, dtype=np.int64) for group in groups]

    def likeliest(self, place: int, last: int) -> tuple[float, Note]:
        """Where noise is likeliest to be missing: its log-ratio, and the cause.

        place: of the row with most evidence among those added last, from 0; last: its number.
        """
        before, thinned = self._latest  # a window may end before these rows do
        windows = deepcopy(before)
        windows.observe(thinned[: place + 1])
        at = int(np.argmax(windows.recent))
        window = float(windows.recent[at])
        kinds = [kind for kind, strata in self.of.items() if strata.keys or kind == "position"]
        kind = max(kinds, key=lambda one: float(self.of[one].terms.max()))
        log_ratio = float(self.of[kind].terms.max())
        if log_ratio > window:
            return log_ratio, self._cause(kind)
        share, first = float(_OF_WINDOWS[at]), int(windows.onsets[at]) + 1
        words = (
            f"of rows {first:,} to {last:,}, about {100.0 * share:.3g} % lack noise "
            "(the nearest of 20, 50 and 80 %)"
        )
        fields = {"from_row": first, "to_row": last, "share": share}
        return window, Note("noise-missing-in-part", words, fields)

    def _cause(self, kind: str) -> Note:
        """The strata of a kind that lack noise, the plainest by name."""
        strata = self.of[kind]
        group = int(np.argmax(strata.terms.max(-1)))
        of = self._groups(kind)[group]
        lacking = strata.without_noise(group, of)
        words, named = self._named(kind, group, int(lacking[0]))
        fields: dict[str, str | int | float] = dict(named)
        if lacking.size > 1:
            words += f", and {lacking.size - 1:,} more of {of.size:,} such parts,"
        words += " look as if noise were missing"
        if kind != "position":
            low, high = strata.interval(int(lacking[0]))
            fields |= {"share_low": low, "share_high": high, "confidence": CONFIDENCE}
            words += f", there in {100.0 * low:.3g} to {100.0 * high:.3g} % of the rows"
        fields |= {"parts": int(lacking.size), "groups": int(of.size)}
        return Note("noise-missing-in-part", words, fields)

    def _named(self, kind: str, group: int, stratum: int) -> tuple[str, dict[str, str | int]]:
        """A stratum in words and as fields, without its votes; its name is the first field."""
        if kind == "position":
            period, first = _PERIODS[group], stratum - int(self._begin[group]) + 1
            return f"row {first} and every {period}th after it", {
                "first_row": first,
                "every": period,
            }
        strata = self.of[kind]
        name = strata.names[stratum]
        if kind == "weekday":
            return f"rows of {name}s", {"weekday": str(name)}
        if kind == "column":
            column, value = self.columns[group][:60], str(name)[:60]
            return f"rows with {column} = {value!r}", {"value": value, "column": column}
        first = int(strata.first[stratum])
        if isinstance(name, str):
            return f"rows of input {name[:60]!r}", {"input": name[:60], "first_row": first}
        return f"rows with the histogram of row {first:,}", {"first_row": first}

    def shown(self, threshold: float) -> dict[str, PartiesShown]:
        """By kind, or column, which strata would show that none of their rows has noise."""
        found = {}
        for kind, strata in self.of.items():
            groups = [] if kind == "position" else self._groups(kind)
            for group, of in enumerate(groups):
                shows = strata.shows(of, threshold - np.log(WEIGHTS[kind] / len(groups)))
                rows, unseen = strata.rows[of], int(strata.rows[of[~shows]].max(initial=0))
                enough = [int(n) for n in rows[shows] if n > unseen]
                named = (self._named(kind, group, at)[1] for at in of[shows][:_NAMED].tolist())
                names = tuple(str(next(iter(fields.values()))) for fields in named)
                name = f"column {self.columns[group]}" if kind == "column" else kind
                seen = int(shows.sum())
                found[name] = PartiesShown(names, seen, of.size, min(enough, default=None))
        return found

    def period(self, threshold: float) -> int | None:
        """The k up to which noise that is missing in one row of k would show; None for none.

        Beyond `_ALL_TO` some k are not looked at, so that nothing is said of them.
        """
        wanted = threshold - np.log(WEIGHTS["position"] / len(_PERIODS))
        groups = zip(_PERIODS, self._groups("position"), strict=True)
        hidden = (k for k, of in groups if not self.of["position"].shows(of, wanted).all())
        first = next(hidden, None)
        every = range(2, _ALL_TO + 1)
        return max((k for k in every if first is None or k < first), default=None)
