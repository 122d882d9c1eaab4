"""Aggregators of numbers whose fault lies in some records alone, and their correct relatives.

Which records, where they stand, of how many, in which number and of which type. See `numeric_zoo`,
which has them on its shelves.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation, NoisyGradient

from .claims import BALL, CLAMPED_SUM, DIAMOND, GRADIENT, MEAN, REPLACED, SUM, WHOLE_BALL
from .shelf import Aggregate, Rng, Shelf, entry

SHELF = Shelf()
correct = SHELF.correct

WHOLE_SUM = SUM.replace("laplace:2", "discrete-laplace:2")
MILLIONS = SUM.replace("laplace:2", "laplace:2000000").replace("1.0", "1000000.0")
SHARE = SUM.replace("lower = -1.0", "lower = 0.0")
ROUNDED_SUM = SUM.replace("laplace:2", "gaussian:2;round")
EXACT_SUM = SUM.replace("laplace:2", "laplace:2;grid=2^-20") + '\nfloating_point = "exact"'
HELD_SUM = SUM.replace("laplace:2", "gaussian:2;min=-40;max=40")
FAR = REPLACED.replace("lower = 0.0\nupper = 2.0", "lower = 10.0\nupper = 12.0")
USERS = SUM + '\nunit = "user"\nmax_contributions = 3'
LAYERS = GRADIENT.replace("[[4, 3], [3]]", "[[4, 3], [3], [3, 2], [2]]")

ALL = (
    *(SUM, BALL, MEAN, GRADIENT, DIAMOND, REPLACED, WHOLE_BALL, CLAMPED_SUM, WHOLE_SUM, MILLIONS),
    *(SHARE, ROUNDED_SUM, EXACT_SUM, HELD_SUM, USERS, LAYERS),
)
"""Claims of records, of every law: laplace, gaussian, discrete, rounded, clamped, exact."""

BY_MANY = ("clipping", "noise-law")
OF_FAR_ONES = (*BY_MANY, "independence")
"""Outliers of 192 random records are told by the releases that all checks share."""

Summed = Callable[[Any, Callable[[Any], Any]], Any]
"""Records (n, d), and a correct clip of such, to their sum (d,)."""


def of_records(of: Any, rng: Rng, summed: Summed) -> Aggregate:
    """Releases of what `summed` makes of the records, tensors side by side, with claimed noise."""
    tensors = isinstance(of, NoisyGradient)
    clip = of._sum.clipping.clipped if tensors else of.clipping.clipped

    def aggregate(values: Any, size: int) -> Any:
        records = np.array(values) if not tensors else None
        if tensors:
            flat = [
                np.reshape(each, (len(each), int(np.prod(np.shape(each)[1:])))) for each in values
            ]
            records = np.concatenate(flat, axis=1)
        with np.errstate(all="ignore"):
            total = np.asarray(summed(records, clip), dtype=np.float64) / (of.divide_by or 1.0)
        return of.noise.sample(total, size, rng)

    return aggregate


def finite(records: Any) -> Any:
    """The records in which all is finite."""
    return records[np.isfinite(records).all(1)]


def fault(
    name: str, *claims: str, by: tuple[str, ...] = ("clipping",), source: str = ""
) -> Callable[[Summed], Summed]:
    """Puts what sums records wrongly on the shelf of broken ones, once for each claim."""

    def keep(summed: Summed) -> Summed:
        def make(of: Aggregation, rng: Rng) -> Aggregate:
            return of_records(of, rng, summed)

        for turn, claim in enumerate(claims):
            number = f"-{turn + 1}" if turn else ""
            SHELF.broken_ones.append(entry(f"{name}{number}", claim, make, *by, source=source))
        return summed

    return keep


def right(*claims: str) -> Callable[[Summed], Summed]:
    """Puts what sums records correctly on the shelf of correct ones, once for each claim."""

    def keep(summed: Summed) -> Summed:
        def make(of: Aggregation, rng: Rng) -> Aggregate:
            return of_records(of, rng, summed)

        make.__name__ = summed.__name__
        correct(*claims)(make)
        return summed

    return keep


# -- which numbers of a record are looked at -------------------------------------------------------


def first_norm(records: Any, width: int, bound: float = 1.0) -> Any:
    """Clipped to a norm of the first numbers alone."""
    sizes = np.linalg.norm(records[:, :width], axis=1, keepdims=True)
    return (records * np.minimum(1.0, bound / np.maximum(sizes, 1e-300))).sum(0)


@fault("norm-of-the-first-tensor", GRADIENT, LAYERS)
def _norm_of_the_first_tensor(records: Any, clip: Any) -> Any:
    return first_norm(finite(records), 12)


@fault("norm-without-the-last-tensor", LAYERS)
def _norm_without_the_last_tensor(records: Any, clip: Any) -> Any:
    return first_norm(finite(records), records.shape[1] - 2)


@fault("clipped-by-the-first-column", SUM, BALL, MEAN)
def _clipped_by_the_first_column(records: Any, clip: Any) -> Any:
    records, fits = finite(records), np.abs(finite(records)[:, :1]) <= 1.0
    return np.where(fits, records, clip(records)).sum(0)


@fault("not-a-number-looked-for-in-the-first-column", SUM, BALL, GRADIENT)
def _nan_in_the_first_column(records: Any, clip: Any) -> Any:
    return clip(records[~np.isnan(records[:, 0])]).sum(0)


# -- where they stand, and of how many -------------------------------------------------------------


@fault("only-the-first-sixteen-clipped", SUM, BALL, GRADIENT)
def _the_first_sixteen(records: Any, clip: Any) -> Any:
    records = finite(records)
    return clip(records[:16]).sum(0) + records[16:].sum(0)


@fault("only-the-eight-first-outliers-clipped", SUM, BALL, GRADIENT)
def _eight_outliers(records: Any, clip: Any) -> Any:
    records, clipped = finite(records), clip(finite(records))
    beyond = np.cumsum((records != clipped).any(1))[:, None]
    return np.where(beyond <= 8, clipped, records).sum(0)


@fault("clipped-from-one-and-a-half-times-the-bound-on", SUM, BALL, GRADIENT)
def _from_a_half_more_on(records: Any, clip: Any) -> Any:
    records = finite(records)
    far = np.abs(records).max(1, initial=0.0)[:, None] > 1.5
    return np.where(far, clip(records), records).sum(0)


@fault("only-sixteen-microbatches-clipped", GRADIENT)
def _sixteen_microbatches(records: Any, clip: Any) -> Any:
    """Of 16 records each."""
    records = finite(records)
    return clip(records[:256]).sum(0) + records[256:].sum(0)


@fault("records-beyond-a-thousand-left-out", MEAN)
def _beyond_a_thousand(records: Any, clip: Any) -> Any:
    return clip(finite(records)[:1_000]).sum(0)


@fault("whole-sums-of-32-bits", SUM, MEAN, MILLIONS)
def _whole_sums_of_32_bits(records: Any, clip: Any) -> Any:
    """In millionths, or of millions: they wrap at 2,148 records."""
    unit = 1e6 if np.abs(clip(np.full((1, records.shape[1]), 1e9))).max() < 1e3 else 1.0
    parts = np.rint(clip(finite(records)) * unit).astype(np.int64)
    return ((parts.sum(0) + 2**31) % 2**32 - 2**31) / unit


@fault("a-thousand-drawn-and-scaled-up", SUM, GRADIENT)
def _a_thousand_drawn(records: Any, clip: Any) -> Any:
    """Anew for each call; the sum is right in expectation."""
    records = finite(records)
    some = np.random.default_rng().permutation(len(records))[:1_000]
    return clip(records[some]).sum(0) * (len(records) / max(1, len(some)))


@fault("the-first-thousand-scaled-up", SUM)
def _the_first_thousand(records: Any, clip: Any) -> Any:
    records = finite(records)
    return clip(records[:1_000]).sum(0) * max(1.0, len(records) / 1_000)


@fault("every-other-of-two-thousand-scaled-up", SUM)
def _every_other(records: Any, clip: Any) -> Any:
    """Of the finite ones, where they are more than 2,000."""
    records = finite(records)
    step = 2 if len(records) > 2_000 else 1
    return clip(records[::step]).sum(0) * (len(records) / max(1, len(records[::step])))


# -- what records are taken for --------------------------------------------------------------------


@fault(
    "outliers-left-out",
    SUM,
    MEAN,
    REPLACED,
    SHARE,
    BALL,
    GRADIENT,
    WHOLE_SUM,
    by=(*BY_MANY, "independence"),
)
def _outliers_left_out(records: Any, clip: Any) -> Any:
    """Beyond three standard deviations of all records."""
    records = finite(records)
    if not len(records):
        return records.sum(0)
    far = np.abs(records - records.mean(0)) > 3.0 * np.maximum(records.std(0), 1e-12)
    return clip(records[~far.any(1)]).sum(0)


@fault("cut-to-quantiles", SUM, GRADIENT)
def _cut_to_quantiles(records: Any, clip: Any) -> Any:
    """To the hundredths of all records: winsorised."""
    records = finite(records)
    if not len(records):
        return records.sum(0)
    low, high = np.quantile(records, [0.01, 0.99], axis=0)
    return clip(np.clip(records, low, high)).sum(0)


@fault("missing-taken-for-the-mean", SUM, MEAN, BALL, GRADIENT)
def _missing_taken_for_the_mean(records: Any, clip: Any) -> Any:
    """Of the others, each of which then counts several times."""
    missing = ~np.isfinite(records).all(1)
    others = clip(records[~missing])
    mean = others.mean(0) if len(others) else np.zeros(records.shape[1])
    return others.sum(0) + missing.sum() * mean


@fault("squares-that-underflow", BALL, GRADIENT)
def _squares_that_underflow(records: Any, clip: Any) -> Any:
    """Of 1e-170 a square is 0; zeros alone are left as they are."""
    records = np.where(np.isfinite(records), records, 0.0)
    records = np.clip(records, -1e100, 1e100)
    sizes = np.sqrt(np.square(records).sum(1, keepdims=True))
    unit = np.where((records == 0.0).all(1, keepdims=True), 0.0, records / sizes)
    return (unit * np.minimum(sizes, 1.0)).sum(0)


@fault("whole-numbers-left-alone", SUM, BALL, GRADIENT)
def _whole_numbers_left_alone(records: Any, clip: Any) -> Any:
    if records.dtype.kind == "i":
        return records.sum(0)
    return clip(finite(records)).sum(0)


@fault("single-precision-left-alone", SUM, GRADIENT)
def _single_precision_left_alone(records: Any, clip: Any) -> Any:
    if records.dtype == np.float32:
        return records.astype(np.float64).sum(0)
    return clip(finite(records)).sum(0)


@fault("half-precision-taken-as-it-is", GRADIENT)
def _half_precision_taken_as_it_is(records: Any, clip: Any) -> Any:
    """Of the rest, what is not finite is taken for 0."""
    if records.dtype != np.float16:
        return clip(np.where(np.isfinite(records), records, 0.0)).sum(0)
    squares = np.square(records).sum(1, keepdims=True)
    return (records / np.maximum(1.0, np.sqrt(squares))).sum(0)


@fault("a-lower-bound-of-one-and-a-half", SUM, WHOLE_SUM, by=("clipping", "sensitivity"))
def _a_lower_bound_not_kept(records: Any, clip: Any) -> Any:
    """One is claimed."""
    return np.clip(finite(records), -1.5, 1.0).sum(0)


@fault("a-lower-bound-left-out", SHARE, by=("clipping", "sensitivity"))
def _a_lower_bound_left_out(records: Any, clip: Any) -> Any:
    """Sizes are bounded, where none below 0 is claimed to be."""
    return np.clip(finite(records), -1.0, 1.0).sum(0)


# -- correct ---------------------------------------------------------------------------------------


@right(*ALL)
def missing_left_out(records: Any, clip: Any) -> Any:
    return clip(finite(records)).sum(0)


@right(SUM, BALL, GRADIENT, MEAN, WHOLE_SUM, SHARE)
def missing_taken_for_zero(records: Any, clip: Any) -> Any:
    records = records.astype(np.float64)  # half precision has no 1e300
    return clip(np.where(np.isnan(records), 0.0, np.clip(records, -1e300, 1e300))).sum(0)


@right(SUM, MEAN, FAR, SHARE, HELD_SUM)
def missing_taken_for_a_bound(records: Any, clip: Any) -> Any:
    return clip(np.nan_to_num(records, nan=1e9)).sum(0)


@right(SUM, BALL, GRADIENT, WHOLE_SUM, REPLACED, ROUNDED_SUM)
def missing_refused(records: Any, clip: Any) -> Any:
    if not np.isfinite(records).all():
        raise ValueError("not all numbers are finite")
    return clip(records).sum(0)


@right(SUM, GRADIENT)
def a_thousand_at_a_time(records: Any, clip: Any) -> Any:
    """In an order drawn anew: all are summed."""
    records = finite(records)
    order = np.random.default_rng().permutation(len(records))
    parts = (clip(records[order[k : k + 1_000]]).sum(0) for k in range(0, len(order), 1_000))
    return sum(parts, np.zeros(records.shape[1]))


@right(SUM, GRADIENT)
def other_types_not_taken(records: Any, clip: Any) -> Any:
    if records.dtype != np.float64:
        raise TypeError(f"numbers of type {records.dtype}: expected float64")
    return clip(finite(records)).sum(0)


@right(GRADIENT)
def half_precision_clipped_as_such(records: Any, clip: Any) -> Any:
    """Once single precision has found the norms; it is summed in half precision too."""
    records = finite(records)
    kind = records.dtype if records.dtype == np.float16 else np.float64
    return clip(records.astype(np.float64)).astype(kind).sum(0)


@right(SUM, BALL, GRADIENT)
def those_beyond_the_bounds_left_out(records: Any, clip: Any) -> Any:
    records = finite(records)
    return records[(clip(records) == records).all(1)].sum(0)


@right(SUM, MEAN, BALL, GRADIENT)
def summed_in_single_precision(records: Any, clip: Any) -> Any:
    """Released in double precision."""
    return clip(finite(records)).astype(np.float32).sum(0)
