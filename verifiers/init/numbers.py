"""Numbers: which noise is added to what, and how far records move a sum."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import kstest

from ...reference.arrays import Matrix, Vector
from ...reference.numbers import NumberNoise
from ...reference.numbers.families import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
)
from .asking import Asker, StoppedError
from .draft import Draft, Key
from .fits import DROP, NOT_SUCH, FittedValue, fit_scale

_COUNTS = (1000, 0, 60, 300, 5, 3000, 20, 150, 0, 600)
MOST = 2000  # numbers that are looked at
_FEW = 20
_CLEARLY = 8.0  # log-likelihood by which a clamp, which fits its own end, must be better
_POWERS = [2.0**-k for k in range(1, 41)] + [10.0**-k for k in range(1, 7)]
_HUGE, _RECORDS = 1e6, 100
_SURELY, _PRECISELY = 2.576, 4.0  # standard errors of 99 %; and of those, below which none is told


ADJACENCY = Key("adjacency", None, "which inputs are neighbours: add-remove or replace-one?")
NOISE = Key("noise", None, "its family and scale, as laplace:2")


@dataclass
class NumberAnswers:
    """What a target released, flat: numbers beside what they stand for without noise."""

    asker: Asker
    form: str
    released: list[Vector] = field(default_factory=list)
    exact: list[Vector] = field(default_factory=list)

    def ask(self, given: Any, exact: Sequence[float] | Vector, draws: int) -> Matrix:
        """Releases (n, d) of an input, which are exact numbers (d,) with noise."""
        replies = self.asker.ask(self.form, given, draws)
        good = [one for one in replies if width([one]) == len(exact)]
        found = np.array(good, dtype=np.float64).reshape(len(good), -1)
        self.released.append(found.reshape(-1))
        self.exact.append(np.tile(np.asarray(exact, dtype=np.float64), len(good)))
        if len(good) < len(replies):
            raise StoppedError(f"a release has other than {len(exact)} numbers")
        return found

    @property
    def numbers(self) -> tuple[Vector, Vector]:
        """What was released, and what it stands for, some of it where there is much."""
        if not self.released:
            return np.zeros(0), np.zeros(0)
        y, x = np.concatenate(self.released), np.concatenate(self.exact)
        some = np.linspace(0, y.size - 1, min(y.size, MOST)).astype(int)
        return y[some], x[some]


def width(replies: Sequence[Any]) -> int | None:
    """How many numbers each release has; None where they are none."""
    rows = [one if isinstance(one, list) else [one] for one in replies]
    widths = {len(row) for row in rows}
    numbers = all(
        isinstance(x, int | float) and not isinstance(x, bool) for row in rows for x in row
    )
    return widths.pop() if len(widths) == 1 and numbers else None


def counts_of(cells: int) -> np.ndarray:
    """Counts (cells,) from nothing to thousands."""
    return np.resize(np.array(_COUNTS, dtype=np.int64), cells)


def noise_key(y: Vector, x: Vector) -> Key:
    """The key `noise`, with what fits releases (n,) of exact numbers (n,)."""
    if not np.isfinite(y).all():
        return replace(NOISE, more=["some releases are no finite numbers: are they meant to be?"])
    if y.size < _FEW:
        return replace(NOISE, more=["too few numbers to fit anything"])
    if np.array_equal(y, x):
        return replace(NOISE, more=["every release was the number itself: is there noise?"])
    fits = [(law, _fit(law, y, x)) for law in _laws(y, x)]
    top = max(fit.log_likelihood - _penalty(law) for law, fit in fits)
    fits.sort(key=lambda one: _penalty(one[0]) - one[1].log_likelihood)
    best, its = fits[0]
    uniform = best.times(its.best).transform(y, x, np.random.default_rng(0).random(y.size))
    if kstest(uniform, "uniform").pvalue < NOT_SUCH or not np.isfinite(its.log_likelihood):
        said = ", ".join(dict.fromkeys(law.family.family for law, _ in fits))
        return replace(NOISE, more=[f"neither {said} noise fits: what is released of the input?"])
    alike = [one for one in fits if one[1].log_likelihood - _penalty(one[0]) >= top - DROP]
    shown = [f'"{noise_text(law, fit)}" {fit.interval}' for law, fit in alike]
    more = [f"fits as well: {', '.join(shown[1:])}"] if shown[1:] else []
    return Key("noise", None, "", f"fitted to {y.size:,} numbers: {shown[0]}", more)


def noise_text(law: NumberNoise, fit: FittedValue) -> str:
    """The noise as a claim writes it, its scale to three digits."""
    return str(law.times(float(f"{fit.best:.3g}")))


def _penalty(law: NumberNoise) -> float:
    return _CLEARLY * (math.isfinite(law.low) + math.isfinite(law.high))


def _laws(y: Vector, x: Vector) -> Iterator[NumberNoise]:
    """Laws, at scale 1, that such releases may follow by their form."""
    ends = [(-np.inf, np.inf)]
    low, high = float(y.min()), float(y.max())
    if np.sum(y == low) >= 3 and (low >= x.min() or (x - low).min() < 0.5 * np.ptp(y)):
        ends.append((low, np.inf))
    if np.sum(y == high) >= 3:
        ends.append((-np.inf, high))
    whole = bool((y == np.rint(y)).all())
    families: tuple[type[Additive], ...] = (Laplace, Gaussian)
    for ends_low, ends_high in ends:
        inner = y[(y > ends_low) & (y < ends_high)]
        grid = 1.0 if whole else _grid_of(inner)
        for family in families:
            yield NumberNoise(family(1.0), grid, ends_low, ends_high)
            if whole:
                yield NumberNoise(family(1.0), 1.0, ends_low, ends_high, cut=True)
        if whole:
            for discrete in (DiscreteLaplace, DiscreteGaussian):
                yield NumberNoise(discrete(1.0), 0.0, ends_low, ends_high)


def _grid_of(y: Vector) -> float:
    """The widest grid on which all releases (n,) lie; 0 where floats alone round them."""
    finest = 256.0 * np.spacing(np.abs(y).max(initial=1.0))
    for step in sorted(_POWERS, reverse=True):
        if step < finest:
            break
        if (np.abs(y - np.rint(y / step) * step) <= 4.0 * np.spacing(np.abs(y))).all():
            return step
    return 0.0


def _fit(law: NumberNoise, y: Vector, x: Vector) -> FittedValue:
    spread = max(float(np.median(np.abs(y - x))), float(np.abs(y - x).max()) / 50.0, 1e-6)
    (y, x), many = np.unique(np.stack([y, x]), axis=1, return_counts=True)
    half = law.half_width(y)

    def log_likelihood(scales: Matrix) -> Matrix:
        each = [law.times(float(s)).log_mass(y, x, half) @ many for s in scales]
        return np.asarray(np.nan_to_num(np.array(each), nan=-np.inf, neginf=-1e12))

    return fit_scale(log_likelihood, max(spread / 20.0, 0.05 * law.family.whole), 20.0 * spread)


# -- counts ------------------------------------------------------------------------------------


def draft_counts(cells: Key) -> Draft:
    """A draft of counts with noise."""
    name = Key("name", "noisy-histogram", "read: as many numbers as counts")
    return Draft("numbers, a count each with noise", "numbers", [name, NOISE, ADJACENCY, cells])


def draft_count() -> Draft:
    """A draft of one number, for a target that takes more counts than one too."""
    name = Key("name", None, "noisy-count, of a count? it answers longer inputs with one number")
    return Draft("one number with noise", "numbers", [name, NOISE, ADJACENCY])


def gather_counts(answers: NumberAnswers, cells: int) -> None:
    """Asks for releases of counts, fewer where each has many numbers."""
    draws = max(min(answers.asker.left, 6 * MOST // (5 * cells)), 1)
    if cells > 1:
        answers.ask(counts_of(cells), counts_of(cells), draws)
        return
    for count in (500, 0):
        answers.ask(np.array([count]), [count], max(draws // 2, 1))


def fill_noise(draft: Draft, answers: NumberAnswers) -> None:
    """Fits the noise of what was answered."""
    y, x = answers.numbers
    draft.keys = [noise_key(y, x) if key.name == "noise" else key for key in draft.keys]
    draft.asked.append(f"{sum(map(len, answers.released)):,} numbers")


# -- sums of records ---------------------------------------------------------------------------


def draft_sums(dimensions: Key) -> Draft:
    """A draft of sums of records."""
    return Draft(
        "numbers, a sum or mean of records with noise",
        "numbers",
        [
            Key("name", None, "noisy-sum, or noisy-mean with divide_by?"),
            NOISE,
            ADJACENCY,
            dimensions,
        ],
    )


@dataclass
class Sums:
    """Mean releases (d,) of records that show what becomes of large ones; None: not asked.

    draws: of which each is the mean.
    """

    dimensions: int
    draws: int = 1
    along: Vector | None = None
    half_as_many: Vector | None = None
    equal: Vector | None = None
    below: Vector | None = None


def gather_sums(answers: NumberAnswers, sums: Sums) -> None:
    """Asks records of nothing, whose sum is the noise, and huge ones, which are clipped."""
    d, asker = sums.dimensions, answers.asker
    answers.ask(np.zeros((_RECORDS, d)), np.zeros(d), max(asker.left // 2, 1))
    draws = max(asker.left // 4, 1)

    def mean_of(record: Vector, records: int) -> Vector:
        replies = asker.ask(answers.form, np.tile(record, (records, 1)), draws)
        if width(replies) != d:
            raise StoppedError(f"a release has other than {d} numbers")
        found = np.array(replies, dtype=np.float64).reshape(len(replies), -1)
        sums.draws = min(draws, len(found))
        return np.asarray(found.mean(0))

    one = _HUGE * np.eye(d)[0]
    sums.along = mean_of(one, _RECORDS)
    sums.half_as_many = mean_of(one, _RECORDS // 2)
    sums.equal = mean_of(np.full(d, _HUGE), _RECORDS)
    sums.below = mean_of(np.full(d, -_HUGE), _RECORDS)


def fill_sums(draft: Draft, answers: NumberAnswers, sums: Sums) -> None:
    """Fits noise and bounds of a record."""
    fill_noise(draft, answers)
    bounds = [Key("lower"), Key("upper", more=["or clip_norm (L2), or clip_norm1"])]
    if sums.below is None or sums.along is None or sums.equal is None or sums.half_as_many is None:
        draft.keys += bounds
        return
    means = np.stack([sums.along, sums.half_as_many, sums.equal, sums.below])
    noise = np.concatenate(answers.released)
    error = float(_SURELY * noise.std() / np.sqrt(sums.draws))
    if not np.isfinite(means).all() or not np.isfinite(error):
        draft.keys += bounds
        return
    top, half = sums.along[0], sums.half_as_many[0]
    if abs(top) < _PRECISELY * error and abs(half) < _PRECISELY * error:
        question = f"too much noise to see what {_RECORDS} records add: is it a sum of records?"
        draft.keys[0] = replace(draft.keys[0], more=[question])
        draft.keys += bounds
        return
    if abs(half - 0.5 * top) > 1.5 * error + 0.1 * abs(top):
        question = "half as many records gave as much: is it a mean over their number, or no sum "
        question += "of records but a noisy-count, of one?"
        draft.keys[0] = replace(draft.keys[0], more=[question])
        draft.keys += bounds
        return
    if top > 0.5 * _HUGE:
        draft.keys += [replace(bounds[0], note=f"records of {_HUGE:g} are not clipped"), bounds[1]]
        return
    fitted = 'fitted: "noisy-sum", as half the records gave half'
    draft.keys[0] = Key("name", None, "or noisy-mean, with divide_by", fitted)
    share = float(sums.equal[0] / top)
    d = sums.dimensions
    whole = error / np.sqrt(d)
    each = (_bound(v, whole) for v in (sums.below.mean(), sums.equal.mean()))
    clipped = _bound(top, error)
    if d > 1 and abs(share - d**-0.5) < 0.1 * abs(1 - d**-0.5):
        draft.keys.append(Key("clip_norm", None, "the L2 norm of a record", clipped))
    elif d > 1 and abs(share - 1 / d) < 0.1 * abs(1 - 1 / d):
        draft.keys.append(Key("clip_norm1", None, "the L1 norm of a record", clipped))
    else:
        draft.keys += [Key("lower", None, "", next(each)), Key("upper", None, "", next(each))]


def _bound(total: float, error: float) -> str:
    """A bound of each of the records whose sum is near this one, with the interval of 99 %."""
    ends = FittedValue(*(float(v) / _RECORDS for v in (total, total - error, total + error)))
    return f"fitted: {ends.text}"
