"""What is begun of claims of keys (from which noisy count, with which noise), tables, batches."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, get_args

import numpy as np

from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Matrix, Vector
from ...reference.numbers import NumberNoise, ThresholdedHistogram
from ...reference.numbers.families import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from ...reference.tables import Rows
from ...reference.tables.table import AggregateKind
from .asking import PARTITIONS, Asker, StoppedError
from .draft import Draft, Key, Known
from .fits import DROP, NOT_SUCH, FittedValue, deviates, fit_threshold, scale_text
from .numbers import ADJACENCY, MOST, NOISE

_BATCHES = 30


def known_batches(asker: Asker) -> Known:
    """A sampler, as its batches tell."""
    draft = draft_batches()
    drawn: list[list[int]] = []

    def gather() -> None:
        while len(drawn) < _BATCHES:
            batch = asker.ask("batches", None, 1)[0]
            if batch is None:
                break
            drawn.append(batch)

    def fill() -> None:
        draft.asked.append(f"{len(drawn)} batches")
        if not drawn or not all(isinstance(i, int) for batch in drawn for i in batch):
            return
        records = max(max(batch, default=0) for batch in drawn) + 1
        sizes = {len(batch) for batch in drawn}
        size, seen = max(sizes), list[int]()
        epoch = drawn[: max(records // size, 1)]
        for batch in epoch:
            seen += batch
        law = f"fixed:{size}" if len(set(seen)) < len(seen) else f"shuffle:{size}"
        if len(sizes) > 2:
            law = f"poisson:{np.mean([len(batch) for batch in drawn]) / records:.3g}"
        draft.keys[1:] = [
            Key("sampling", None, "", f'by {len(drawn)} batches: "{law}"'),
            Key("records", None, "", f"the largest number that came, and one: {records:,}"),
        ]

    return Known(draft, gather, fill)


def draft_batches() -> Draft:
    """A draft of a sampler."""
    return Draft(
        "batches of records",
        "batches",
        [
            Key("name", "batches", "read: it takes no input"),
            Key("sampling", None, "poisson:Q, fixed:B or shuffle:B"),
            Key("records", None, "how many are there?"),
        ],
    )


def known_tables(asker: Asker, form: str) -> Known | None:
    """An engine, as a reply tells; None where the target takes no rows, or gives no table."""
    users = np.arange(300)
    reply = asker.serves(form, Rows.of(users, users % len(PARTITIONS), np.ones(300)))
    for table in reply or []:
        each = table.values() if isinstance(table, dict) else table
        cells = (
            [one for one in each if isinstance(one, dict)] if isinstance(table, dict | list) else []
        )
        names = list(dict.fromkeys(name for one in cells for name in one if name != "partition"))
        if names:
            draft = draft_tables(names)
            if form == "pandas":
                draft.keys.append(Key("rows", "pandas", "read: it takes a frame"))
            return Known(draft)
    return None


def draft_tables(aggregates: Sequence[str]) -> Draft:
    """A draft of tables whose columns have these names."""
    known = [name for name in aggregates if name in get_args(AggregateKind)]
    noises = [f'{name} = {{noise = "?"}}' for name in known]
    others = ", ".join(json.dumps(name, ensure_ascii=False) for name in aggregates)
    if len(known) < len(aggregates):
        noises.append(f"# of {others}: which aggregate is each?")
    return Draft(
        "tables, a row for each partition",
        "tables",
        [
            Key("name", "table", "read: it takes rows of users"),
            ADJACENCY,
            Key("kept", None, "which rows of a user stay: uniform, first, last, any or all?"),
            Key("max_partitions", None, "of a user at most"),
            Key("max_per_partition", None, "rows of a user in a partition at most"),
            Key("partitions", None, "the public ones, or [mechanism.selection] of private ones"),
        ],
        tables=["", "[mechanism.aggregates]  # sums and means with lower and upper too", *noises],
    )


_KEY_LAWS = [
    NumberNoise(one(1.0)) for one in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian)
]


def draft_keys(cells: Key) -> Draft:
    """A draft of keys above a threshold."""
    return Draft(
        "keys, those whose noisy count reaches a threshold",
        "keys",
        [
            Key("name", "thresholded-histogram", "read: it releases keys"),
            NOISE,
            ADJACENCY,
            cells,
            Key("threshold", None, "the noisy count from which a key is released"),
        ],
    )


def are_keys(releases: Sequence[Any]) -> bool:
    """Whether releases are lists of keys, each `{"key": x}` with a whole number."""
    return all(
        isinstance(one, list)
        and all(isinstance(key, dict) and isinstance(key.get("key"), int) for key in one)
        for one in releases
    )


@dataclass
class KeyAnswers:
    """How often keys of a count were released, and how often not."""

    asker: Asker
    form: str
    cells: int
    seen: dict[int, tuple[int, int]] = field(default_factory=dict)

    def ask(self, counts: np.ndarray, draws: int) -> None:
        """Asks for releases of counts (cells,)."""
        releases = self.asker.ask(self.form, counts, draws)
        if not are_keys(releases):
            raise StoppedError("a release is no list of keys")
        for release in releases:
            released = {one["key"] for one in release}
            for key, count in enumerate(counts.tolist()):
                yes, no = self.seen.get(count, (0, 0))
                self.seen[count] = (yes + (key in released), no + (key not in released))

    def gather(self) -> None:
        """Asks counts of all sizes, then those about which keys begin to be released."""
        wide = np.unique(np.rint(np.geomspace(1, 1e5, 200)).astype(np.int64))
        for start in range(0, wide.size, self.cells):
            self.ask(np.resize(wide[start : start + self.cells], self.cells), 1)
            if all(no == 0 for count, (_, no) in self.seen.items() if count >= wide[start]):
                break
        for part in (8, 6, 4, 2):  # of the answers that are left: most of them where it matters
            low, high = self.turn
            some = np.rint(np.linspace(low, high, self.cells)).astype(np.int64)
            draws = max(1, min(self.asker.left // part, 3 * MOST // self.cells))
            self.ask(np.maximum(some, 1), draws)

    @property
    def turn(self) -> tuple[float, float]:
        """The least count that was released, and the largest that was not, a little beyond."""
        yes = [count for count, (released, _) in self.seen.items() if released and count]
        no = [count for count, (_, withheld) in self.seen.items() if withheld and count]
        low, high = min(yes, default=1), max(no, default=1)
        low, high = min(low, high), max(low, high)
        return max(low - 2, 1), high + 2

    def fill(self, draft: Draft) -> None:
        """Fits the threshold and its noise."""
        counted = {n: both for n, both in self.seen.items() if n > 0}
        released = sum(yes for yes, _ in counted.values())
        draft.asked.append(f"{sum(map(sum, self.seen.values())):,} keys")
        if not released or released == sum(map(sum, counted.values())):
            return
        exact, both = np.array(list(counted), dtype=float), np.array(list(counted.values()))
        low, high = self.turn
        fits = [(law, *self._fit(law, exact, both, low, high)) for law in _KEY_LAWS]
        fits.sort(key=lambda one: -one[1].log_likelihood)
        top = fits[0][1].log_likelihood
        if self._misfit(*fits[0], exact, both) < NOT_SUCH:
            why = "no noise fits the keys: are they released from a noisy count on, each by itself?"
            changed = replace(NOISE, more=[why])
            draft.keys = [changed if key.name == "noise" else key for key in draft.keys]
            return
        alike = [one for one in fits if one[1].log_likelihood >= top - DROP]
        noises = [scale_text(law.family.family, scale) for law, _, scale in alike]
        law, threshold, _ = fits[0]
        more = [f"fits as well: {', '.join(noises[1:])}"] if noises[1:] else []
        noise = Key("noise", None, "", f"fitted to keys: {noises[0]}", more)
        told = f"fitted to keys, with {law.family.family}: {threshold.text}"
        last = Key("threshold", None, "", told)
        draft.keys = [{"noise": noise, "threshold": last}.get(key.name, key) for key in draft.keys]

    @staticmethod
    def _misfit(
        law: NumberNoise, threshold: FittedValue, scale: FittedValue, exact: Vector, both: Matrix
    ) -> float:
        """How likely keys are that differ from a law as much as these."""
        it = _of_keys(law.times(scale.best), exact.size, threshold.best)
        released = np.exp(it.log_released(exact))
        expected = both.sum(1) * np.stack([released, 1.0 - released])
        return deviates(both.T.reshape(-1), expected.reshape(-1))

    def _fit(
        self, law: NumberNoise, exact: Vector, both: Matrix, low: float, high: float
    ) -> tuple[FittedValue, FittedValue]:
        @cache
        def of_one(threshold: float, scale: float) -> float:
            it = _of_keys(law.times(scale), exact.size, threshold)
            logs = np.stack([it.log_released(exact), it.log_withheld(exact)], 1)
            return float(np.sum(np.where(both > 0, logs * both, 0.0)))

        def of_many(thresholds: Matrix, scales: Matrix) -> Matrix:
            short = (thresholds[..., None] - exact) / scales[..., None]
            reached, missed = law.family.log_survival(short), law.family.log_cdf(short)
            return np.asarray(reached @ both[:, 0] + missed @ both[:, 1])

        each = np.vectorize(of_one, otypes=[float]) if law.family.whole else of_many
        return fit_threshold(each, (low, high), whole=law.family.whole)


def _of_keys(noise: NumberNoise, keys: int, threshold: float) -> ThresholdedHistogram:
    return ThresholdedHistogram(noise, keys, threshold, Adjacency.ADD_REMOVE)
