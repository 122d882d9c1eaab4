"""The inference game on a model of which nothing is known but gradients: any callable.

Definition 3.1 of Li et al. 2024 with the parameters as they stand: records are split in two, the
challenger draws batches from one half, all records of a batch with one value of the sensitive
variable, and an adversary who knows the defence reads what is released of them, having learned from
batches of the other half. Of several releases of a batch the adversary takes the mean. Rounds of
training are games with the same seed on a model that has changed: halves and trials are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...reference.arrays import Integers, Matrix, Vector
from ...reference.clock import step
from ...reference.parallel.workers import stream
from .canaries import Labels, PerExample, checked
from .defences.defence import Defence
from .played import Played
from .posteriors import (
    Components,
    Coordinates,
    Floats,
    GradientFeatures,
    MaxPooled,
    by_forest,
    combined,
    fitted_components,
)

_AT_ONCE = 1_000  # records whose gradients are asked for together
_STORED = 100_000_000  # numbers of all records' gradients together
_CHUNK = 4_000_000  # numbers of the batches that are made together
_LOOKED_AT = 10_000  # coordinates of a release
_NARROW = 50  # coordinates that are looked at one by one too
_FEWEST = 4  # records of each value on either side
_SHADOW, _CHOOSING = 1_000, 400  # batches to learn from, and to choose features by


@dataclass(frozen=True)
class SensitiveBatches:
    """Rows (b, k) of the records in each of b batches, and what is to be inferred of each (b,)."""

    rows: Integers
    sensitive: Integers


def rows_sharing(
    sensitive: Integers, values: Integers, size: int, random: np.random.Generator
) -> Integers:
    """Rows (b, size) of records that have a value, for each of the values (b,).

    Records of a batch are independent given it, so that one may occur twice. sensitive (n,): the
    values of the records. Raises ValueError where none has one.
    """
    rows = np.empty((len(values), size), dtype=np.int64)
    for a in np.unique(values):
        these = np.flatnonzero(values == a)
        rows[these] = random.choice(np.flatnonzero(sensitive == a), (len(these), size))
    return rows


@dataclass(frozen=True)
class KnownDirections(GradientFeatures):
    """Directions (p, f) that the adversary has from gradients without noise: its own records'.

    Principal components of noisy releases are drowned long before the noise hides what lies along
    these.
    """

    directions: Floats

    def of(self, shadow: Floats, observed: Floats, seed: int) -> tuple[Floats, Floats]:
        """Nothing is fitted."""
        del seed
        return shadow @ self.directions, observed @ self.directions


@dataclass(frozen=True)
class VendorRecords:
    """Records as a vendor's model takes them (n, q), labels (n,), and what is sensitive (n,).

    names: of the values of the sensitive variable, which is 0 to their number - 1.
    """

    records: Matrix
    labels: Labels
    sensitive: Integers
    names: tuple[str, ...]

    def take(self, rows: Integers) -> "VendorRecords":
        """Some of the records."""
        return VendorRecords(
            self.records[rows], self.labels[rows], self.sensitive[rows], self.names
        )

    @property
    def prior(self) -> Vector:
        """The shares (m,) of the values among the records."""
        return np.bincount(self.sensitive, minlength=len(self.names)) / len(self.sensitive)

    def batches(self, values: Integers, size: int, random: np.random.Generator) -> SensitiveBatches:
        """A batch of so many records for each of the values (b,), all of which have it."""
        return SensitiveBatches(rows_sharing(self.sensitive, values, size, random), values)


@dataclass(frozen=True)
class Side:
    """One half of the records, and the gradient of each (n, p)."""

    table: VendorRecords
    gradients: Floats

    def released(
        self, batches: SensitiveBatches, defence: Defence, releases: int, seed: Sequence[int]
    ) -> Floats:
        """The mean of so many releases of each batch, (b, up to 10,000 coordinates)."""
        width = self.gradients.shape[1]
        norms = np.linalg.norm(self.gradients, axis=1)
        shares = defence.shares(norms[batches.rows])
        looked_at = coordinates(width)
        found = np.empty((len(batches.rows), looked_at.size), dtype=np.float32)
        for start in range(0, len(found), size := max(_CHUNK // width, 1)):
            some = slice(start, start + size)
            sums = _sums(self.gradients, batches.rows[some], shares[some])
            random = stream(list(seed), start)
            total = np.zeros_like(sums)
            for _ in range(releases):
                key = int(random.integers(2**31))
                total += defence.defended(sums, batches.sensitive[some], key)
            found[some] = total[:, looked_at] / np.float32(releases)
        return found

    def known(self, defence: Defence, size: int) -> KnownDirections:
        """Directions in which records differ most, and in which means by the value of a differ."""
        norms = np.linalg.norm(self.gradients, axis=1)
        shares = defence.shares(np.repeat(norms[:, None], size, axis=1))[:, :1] * size
        rows = (shares * self.gradients)[:, coordinates(self.gradients.shape[1])]
        means = np.stack(
            [rows[self.table.sensitive == a].mean(0) for a in range(len(self.table.names))]
        )
        found = fitted_components(rows, Components().count, 0).components_
        apart = means[1:] - means[0]
        lengths = np.linalg.norm(apart, axis=1, keepdims=True)
        apart = apart / np.where(lengths > 0.0, lengths, 1.0)
        return KnownDirections(np.concatenate([apart, found]).T.astype(np.float32))


@dataclass(frozen=True)
class VendorGame:
    """A game that is set up: both halves, and its rules.

    size: records a batch; releases: of each batch, with noise of its own; defence: the learner's;
    number: of the round of training, from 0, each with noise and shadow batches of its own.
    """

    private: Side
    public: Side
    defence: Defence
    size: int
    releases: int
    seed: int
    number: int = 0

    def trials(self, number: int, key: int) -> SensitiveBatches:
        """Batches of private records, one for each of `number` trials, drawn anew for each key."""
        random, prior = stream([self.seed, 30], key), self.private.table.prior
        values = random.choice(len(prior), number, p=prior)
        return self.private.table.batches(values, self.size, random)

    def simulated(self, trials: SensitiveBatches) -> Floats:
        """The releases of these trials under the defence."""
        seed = [self.seed, 31, self.number]
        return self.private.released(trials, self.defence, self.releases, seed)

    def played(self, trials: SensitiveBatches, observed: Floats) -> Played:
        """What an adversary who knows the defence makes of releases of trials (t, coordinates).

        By the features that do best on batches of its own: which, depends on the noise.
        """
        read = self.read(trials, observed)
        return max(read, key=lambda one: one[0])[1]

    def read(self, trials: SensitiveBatches, observed: Floats) -> list[tuple[float, Played]]:
        """As `played`, by each kind of features, with its success on batches held out."""
        step("learning from shadow batches")
        shadow, held = (self._shadow(number, key) for number, key in ((_SHADOW, 0), (_CHOOSING, 1)))
        prior, found = self.private.table.prior, []
        known = self.public.known(self.defence, self.size)
        kinds: list[GradientFeatures] = [MaxPooled(), Components(), known]
        if observed.shape[1] <= _NARROW:
            kinds.append(Coordinates())
        for features in kinds:
            both = np.concatenate([held[1], observed])
            ours, theirs = features.of(shadow[1], both, self.seed)
            logs = by_forest(ours, shadow[0].sensitive, theirs, len(prior), self.seed + self.number)
            success = float((logs[: len(held[1])].argmax(1) == held[0].sensitive).mean())
            seen = combined(logs[None, len(held[1]) :], prior)
            name = type(features).__name__
            found.append((success, Played(trials.sensitive, prior, seen, name)))
        return found

    def _shadow(self, number: int, key: int) -> tuple[SensitiveBatches, Floats]:
        """About so many batches of public records, equally many for each value."""
        random, m = stream([self.seed, 32, self.number], key), len(self.public.table.names)
        values = np.repeat(np.arange(m), max(number // m, 1))
        batches = self.public.table.batches(values, self.size, random)
        seed = [self.seed, 33, self.number, key]
        return batches, self.public.released(batches, self.defence, self.releases, seed)


def vendor_game(
    per_example: PerExample,
    table: VendorRecords,
    defence: Defence,
    *,
    size: int,
    releases: int,
    seed: int,
    number: int = 0,
) -> VendorGame:
    """Sets the game up: halves the records, and asks the model for the gradient of each.

    per_example: the model as it is in the round `number`. Of wide gradients, fewer records than
    there are. What defences learn, they learn from public batches without a defence. Raises
    ValueError, in one line, for gradients that are none, and where a value has too few records.
    """
    random = stream([seed, 34], 0)
    order = random.permutation(len(table.records))
    width = checked(per_example(table.records[:1], table.labels[:1]), table.labels[:1]).shape[1]
    order = order[: max(_STORED // width, 2 * _FEWEST * len(table.names))]
    sides: list[list[Any]] = [[], []]
    for value, name in enumerate(table.names):
        rows = order[table.sensitive[order] == value]
        if len(rows) < 2 * _FEWEST:
            raise ValueError(
                f"{len(rows)} records whose value is {name}: expected {2 * _FEWEST} or more"
            )
        for side, half in zip(sides, (rows[::2], rows[1::2]), strict=True):
            side.append(half)
    private, public = (_side(per_example, table.take(np.concatenate(side))) for side in sides)
    if type(defence).fitted is not Defence.fitted:
        plain = VendorGame(private, public, Defence(), size, 1, seed, number)
        batches, shown = plain._shadow(_SHADOW, 2)
        if shown.shape[1] < width:
            raise ValueError(f"{defence.name} of gradients of {width:,} numbers: expected fewer")
        defence = defence.fitted(shown, batches.sensitive, seed)
    return VendorGame(private, public, defence, size, releases, seed, number)


def coordinates(width: int) -> Integers:
    """Which coordinates of a release are looked at: all, or of many ones spread evenly."""
    if width <= _LOOKED_AT:
        return np.arange(width)
    return np.linspace(0, width - 1, _LOOKED_AT).astype(np.int64)


def _side(per_example: PerExample, table: VendorRecords) -> Side:
    parts = []
    for start in range(0, len(table.records), _AT_ONCE):
        step("gradients of records")
        some = slice(start, start + _AT_ONCE)
        labels = table.labels[some]
        found = checked(per_example(table.records[some], labels), labels)
        parts.append(found.astype(np.float32))
    return Side(table, np.concatenate(parts))


def _sums(gradients: Floats, rows: Integers, shares: Floats) -> Floats:
    """Sums (b, p) of gradients, each times its share (b, k)."""
    b, k = rows.shape
    where = np.repeat(np.arange(b), k), rows.reshape(-1)
    weights = csr_array((shares.reshape(-1), where), shape=(b, len(gradients)))
    return np.asarray(weights @ gradients, dtype=np.float32)
