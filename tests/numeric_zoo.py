"""Aggregators of numbers, broken and correct: each a few lines, with the public fault it is of.

An aggregator is made anew for each run: `make(claim, rng)` gives a function (values, size) ->
releases. Sources name the repository and the issue, or the version in which it was seen.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation, DiscreteLaplace, sample
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim

Aggregate = Callable[[Any, int], Any]
Make = Callable[[Any, np.random.Generator], Aggregate]

HISTOGRAM = 'name = "noisy-histogram"\nnoise = "laplace:2"\nadjacency = "add-remove"\ncells = 10'
GAUSSIAN = HISTOGRAM.replace("laplace:2", "gaussian:3")
EXACT_HISTOGRAM = HISTOGRAM + '\nfloating_point = "exact"'
EXACT_GAUSSIAN = GAUSSIAN + '\nfloating_point = "exact"'
WHOLE = HISTOGRAM.replace("laplace:2", "discrete-laplace:2")
ROUNDED = HISTOGRAM.replace("laplace:2", "laplace:2;round")
COUNT = 'name = "noisy-count"\nnoise = "discrete-laplace:1"\nadjacency = "add-remove"'
PRIVATE = "\n[privacy]\nepsilon = {}\ndelta = 1e-6\nqueries = {}"
SUM = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "dimensions = 3\nlower = -1.0\nupper = 1.0"
)
REPLACED = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "replace-one"\n'
    "dimensions = 1\nlower = 0.0\nupper = 2.0"
)
WHOLE_BALL = (
    'name = "noisy-sum"\nnoise = "discrete-laplace:20"\nadjacency = "add-remove"\n'
    "dimensions = 3\nclip_norm = 1.0"
)
CLAMPED_SUM = (
    'name = "noisy-sum"\nnoise = "discrete-laplace:20;min=0;max=50"\nadjacency = "add-remove"\n'
    "dimensions = 1\nlower = 0.0\nupper = 0.7"
)
DIAMOND = (
    'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\n'
    "dimensions = 6\nclip_norm1 = 1.0"
)
BALL = (
    'name = "noisy-sum"\nnoise = "gaussian:2"\nadjacency = "replace-one"\n'
    "dimensions = 4\nclip_norm = 1.0"
)
MEAN = (
    'name = "noisy-mean"\nnoise = "laplace:0.5"\nadjacency = "replace-one"\n'
    "dimensions = 2\nlower = 0.0\nupper = 1.0\ndivide_by = 24"
)
GRADIENT = (
    'name = "noisy-gradient"\nnoise = "gaussian:1.1"\nadjacency = "add-remove"\n'
    "shapes = [[4, 3], [3]]\nclip_norm = 1.0\ndivide_by = 32"
)


@dataclass(frozen=True)
class Entry:
    """An aggregator and its claim; caught: checks of which one must fail, none if it is correct."""

    name: str
    claim_text: str
    make: Make
    caught: tuple[str, ...] = ()
    source: str = ""

    @property
    def claim(self) -> NumbersClaim:
        """Parsed."""
        claim: NumbersClaim = parse_claim(tomllib.loads(f"[mechanism]\n{self.claim_text}"))
        return claim

    def made(self, rng: np.random.Generator) -> Aggregate:
        """The aggregator, of the mechanism that its claim names."""
        mechanism = self.claim.mechanism
        return self.make(
            mechanism.keys if mechanism.takes == "keys" else mechanism.aggregation, rng
        )


BROKEN: list[Entry] = []
CORRECT: list[Entry] = []


def broken(claim: str, *caught: str, source: str = "") -> Callable[[Make], Make]:
    """Puts a maker on the shelf of broken ones, under its own name."""

    def keep(make: Make) -> Make:
        name = make.__name__.replace("_", "-").strip("-")
        BROKEN.append(Entry(name, claim, make, caught, source))
        return make

    return keep


def correct(*claims: str) -> Callable[[Make], Make]:
    """Puts a maker on the shelf of correct ones, once for each claim."""

    def keep(make: Make) -> Make:
        for number, claim in enumerate(claims):
            name = f"{make.__name__.replace('_', '-').strip('-')}-{number}"
            CORRECT.append(Entry(name, claim, make))
        return make

    return keep


def noisy(of: Aggregation, rng: np.random.Generator, values: Any, size: int) -> Any:
    """A correct release."""
    return sample(of, values, size, rng)


@correct(
    *(HISTOGRAM, GAUSSIAN, WHOLE, ROUNDED, COUNT, SUM, BALL, MEAN, GRADIENT, DIAMOND),
    *(REPLACED, WHOLE_BALL, CLAMPED_SUM),
)
def as_claimed(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size)


@correct(HISTOGRAM, GAUSSIAN, SUM, WHOLE_BALL)
def in_single_precision(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size).astype(np.float32)


@correct(HISTOGRAM, COUNT)
def a_generator_for_each_call(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, np.random.default_rng(), values, size)


@correct(SUM)
def summed_one_by_one(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        total = np.zeros(3)
        for record in np.clip(np.nan_to_num(np.array(values)), -1.0, 1.0):
            total = total + record
        return total + rng.laplace(scale=2.0, size=(size, 3))

    return aggregate


@correct(
    COUNT + PRIVATE.format(1.0, 1),
    GAUSSIAN + PRIVATE.format(4.6, 8),
    GRADIENT + PRIVATE.format(11.3, 5),
)
def with_the_privacy_it_has(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size)


@correct(EXACT_HISTOGRAM, EXACT_GAUSSIAN)
def noise_on_a_fine_grid(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    """Rounded to multiples of 2^-40 before it is added to whole counts: the sums are exact."""

    def aggregate(values: Any, size: int) -> Any:
        noise = of.noise.family.sample(rng, (size, of.dimensions))
        return of.exact(values) + np.rint(noise * 2.0**40) * 2.0**-40

    return aggregate


# -- the scale of the noise ------------------------------------------------------------------------


def scaled(factor: float) -> Make:
    """The claimed noise times a factor."""

    def make(of: Aggregation, rng: np.random.Generator) -> Aggregate:
        def aggregate(values: Any, size: int) -> Any:
            exact = of.exact(values)
            return exact + factor * (noisy(of, rng, values, size) - exact)

        return aggregate

    return make


LAW = ("noise-law", "noise-scale")
for _name, _factor, _source in (
    ("half", 0.5, "Google's Java tests; many"),
    ("twice", 2.0, "jax examples: one draw too many"),
    ("nine-tenths", 0.9, ""),
    ("sqrt-two-too-small", 0.7071, "Laplace of sensitivity 1 for replaced records"),
    ("divided-by-n", 1 / 24, "DataSynthesizer #34"),
    ("fifty-times-low", 0.02, "smartnoise-sdk #203: bounds of a variance not squared"),
):
    BROKEN.append(Entry(f"scale-{_name}", HISTOGRAM, scaled(_factor), LAW, _source))
    BROKEN.append(Entry(f"gaussian-scale-{_name}", GAUSSIAN, scaled(_factor), LAW, _source))
BROKEN.append(Entry("sum-scale-half", SUM, scaled(0.5), LAW))
BROKEN.append(Entry("gradient-scale-half", GRADIENT, scaled(0.5), LAW))


@broken(HISTOGRAM, *LAW, source="Fed-BioMed #1443")
def noise_added_twice(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size) + rng.laplace(scale=2.0, size=10)[None]


@broken(MEAN, *LAW, source="jax-privacy #383")
def noise_of_a_sum_added_to_a_mean(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.laplace(scale=12.0, size=(size, 2))


@broken(GRADIENT, *LAW, source="opacus 1.6.0 #571: the divisor gives the number of records away")
def noise_divided_by_the_true_batch(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return of.exact(values) + rng.normal(scale=1.1 / len(values[0]), size=(size, 15))

    return aggregate


# -- the family, rounding, range -------------------------------------------------------------------


@broken(HISTOGRAM, "noise-law")
def gaussian_of_equal_variance(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.normal(scale=8**0.5, size=(size, 10))


@broken(GAUSSIAN, "noise-law")
def laplace_of_equal_variance(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.laplace(scale=4.5**0.5, size=(size, 10))


@broken(HISTOGRAM, "noise-law", source="flwr 1.41.0 (seen): noise cast to the tensor's type")
def cast_to_integers(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size).astype(np.int64)


@broken(HISTOGRAM, "noise-law")
def rounded_without_saying(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: np.rint(noisy(of, rng, values, size))


@broken(ROUNDED, "noise-law")
def rounding_forgotten(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.laplace(scale=2.0, size=(size, 10))


@broken(WHOLE, "noise-law", source="python-dp: a count is rounded Laplace, not discrete")
def rounded_laplace_for_discrete(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return np.rint(of.exact(values) + rng.laplace(scale=2.0, size=(size, 10)))

    return aggregate


@broken(HISTOGRAM, "noise-law")
def clamped_without_saying(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: np.maximum(noisy(of, rng, values, size), 0.0)


@broken(
    COUNT,
    "noise-law",
    "support",
    source="diffprivlib 0.6.6 (seen): truncated at the array's length",
)
def truncated_at_the_true_count(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return np.minimum(noisy(of, rng, values, size), of.exact(values))

    return aggregate


@broken(HISTOGRAM, "noise-law", "location")
def one_sided_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        exact = of.exact(values)
        return exact + np.abs(noisy(of, rng, values, size) - exact)

    return aggregate


@broken(HISTOGRAM, "noise-law", "fresh-noise", source="truncated at three scales: its ends repeat")
def noise_truncated(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        exact = of.exact(values)
        return exact + np.clip(noisy(of, rng, values, size) - exact, -6.0, 6.0)

    return aggregate


# -- where the noise is missing --------------------------------------------------------------------


@broken(HISTOGRAM, "noise-law", source="smartnoise-sdk #317: a sum without bounds has no noise")
def no_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: np.tile(of.exact(values), (size, 1))


@broken(HISTOGRAM, "noise-law", source="tensorflow/privacy pate_2017: later classes get none")
def one_cell_without_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        found = noisy(of, rng, values, size)
        found[:, 7] = values[7]
        return found

    return aggregate


@broken(HISTOGRAM, "noise-law")
def empty_cells_without_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return np.where(np.asarray(values) == 0, 0.0, noisy(of, rng, values, size))

    return aggregate


@broken(HISTOGRAM, "noise-law", "fresh-noise", source="opendp <= 0.12.1 #2344")
def one_draw_for_all_empty_cells(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        found = noisy(of, rng, values, size)
        empty = np.asarray(values) == 0
        found[:, empty] = rng.laplace(scale=2.0, size=(size, 1))
        return found

    return aggregate


@broken(SUM, "noise-law", "fresh-noise", source="an early return for empty data")
def no_records_no_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return noisy(of, rng, values, size) if len(values) else np.zeros((size, 3))

    return aggregate


@broken(COUNT, "noise-law", source="noise chosen by the size of the count")
def half_the_noise_for_counts_of_a_thousand(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    halved = DiscreteLaplace(0.5)

    def aggregate(values: Any, size: int) -> Any:
        if not 100 <= values[0] < 10_000:
            return noisy(of, rng, values, size)
        return of.exact(values) + halved.sample(rng, (size, 1))

    return aggregate


@broken(HISTOGRAM, "noise-law")
def no_noise_now_and_then(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        bare = rng.random((size, 1)) < 0.01
        return np.where(bare, of.exact(values), noisy(of, rng, values, size))

    return aggregate


@broken(HISTOGRAM, "noise-law")
def large_counts_without_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        exact = of.exact(values)
        return np.where(exact > 10_000, exact, noisy(of, rng, values, size))

    return aggregate


@broken(HISTOGRAM, "noise-law")
def single_calls_with_half_the_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    halved = scaled(0.5)(of, rng)

    def aggregate(values: Any, size: int) -> Any:
        return halved(values, 1) if size == 1 else noisy(of, rng, values, size)

    return aggregate


@broken(GRADIENT, "noise-law", source="NVFlare #343: unselected weights sent without noise")
def small_numbers_without_noise(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        exact = of.exact(values)
        small = np.abs(exact) < np.quantile(np.abs(exact), 0.3)
        return np.where(small, exact, noisy(of, rng, values, size))

    return aggregate


# -- where it is centred ---------------------------------------------------------------------------


@broken(HISTOGRAM, "noise-law", "location")
def a_tenth_of_a_scale_too_high(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size) + 0.2


@broken(MEAN, "noise-law", "location", source="opendp #314: low by 1/2")
def sums_of_odd_width_cut(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size) - 0.5 / 24


@broken(HISTOGRAM, "noise-law", "location")
def the_second_cell_counted_twice(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        counts = np.array(values)
        counts[1] *= 2
        return noisy(of, rng, counts, size)

    return aggregate


@broken(SUM, "noise-law", "location")
def the_last_record_left_out(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return noisy(of, rng, np.asarray(values)[:-1], size)

    return aggregate


# -- independence ----------------------------------------------------------------------------------


@broken(HISTOGRAM, "fresh-noise", "independence", "noise-law")
def one_draw_for_all_cells(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.laplace(scale=2.0, size=(size, 1))


@broken(GRADIENT, "fresh-noise", "independence", "noise-law", source="jax examples: PR 3646")
def one_key_for_all_tensors(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        noise = rng.normal(scale=1.1 / 32, size=(size, 12))
        return of.exact(values) + np.concatenate([noise, noise[:, :3]], axis=1)

    return aggregate


@broken(HISTOGRAM, "independence", "noise-law")
def antithetic_cells(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        half = rng.laplace(scale=2.0, size=(size, 5))
        return of.exact(values) + np.concatenate([half, -half], axis=1)

    return aggregate


@broken(GAUSSIAN, "independence")
def cells_correlated_by_a_third(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        common, own = rng.normal(size=(size, 1)), rng.normal(size=(size, 10))
        return of.exact(values) + 3.0 * (3**-0.5 * common + (2 / 3) ** 0.5 * own)

    return aggregate


@broken(HISTOGRAM, "independence")
def sizes_shared_signs_not(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        common = rng.exponential(2.0, size=(size, 1))
        return of.exact(values) + common * rng.choice([-1.0, 1.0], size=(size, 10))

    return aggregate


@broken(HISTOGRAM, "fresh-noise", source="diffprivlib #31; CaPC: one global seed")
def seeded_anew_for_each_call(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, np.random.default_rng(0), values, size)


@broken(HISTOGRAM, "fresh-noise", source="a pool of a thousand seeds")
def seeded_from_a_pool(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return noisy(of, np.random.default_rng(int(rng.integers(1_000))), values, size)

    return aggregate


@broken(HISTOGRAM, "fresh-noise")
def noise_drawn_once(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    noise = rng.laplace(scale=2.0, size=(1, 10))
    return lambda values, size: of.exact(values) + np.repeat(noise, size, axis=0)


@broken(HISTOGRAM, "fresh-noise")
def every_other_release_repeated(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        drawn = noisy(of, rng, values, (size + 1) // 2)
        return np.repeat(drawn, 2, axis=0)[:size]

    return aggregate


@broken(HISTOGRAM, "fresh-noise")
def releases_in_opposite_pairs(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        half = rng.laplace(scale=2.0, size=((size + 1) // 2, 10))
        return of.exact(values) + np.stack([half, -half], axis=1).reshape(-1, 10)[:size]

    return aggregate


# -- records beyond the bounds ---------------------------------------------------------------------


@broken(SUM, "clipping", source="smartnoise-sdk #622: computed from unclipped data")
def not_clipped(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return np.asarray(values).sum(0) + rng.laplace(scale=2.0, size=(size, 3))

    return aggregate


@broken(BALL, "clipping", source="pipeline-dp before 0.3.1, #551")
def clipped_after_the_sum(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        total = np.asarray(values).sum(0)
        norm = np.linalg.norm(total / np.abs(total).max(initial=1.0)) * np.abs(total).max(
            initial=1.0
        )
        return total * min(1.0, 24.0 / max(norm, 1e-9)) + rng.normal(scale=2.0, size=(size, 4))

    return aggregate


@broken(SUM, "clipping", source="flwr 1.41.0 (seen): NaN survives clipping")
def not_a_number_survives(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        total = np.clip(np.array(values), -1.0, 1.0).sum(0)
        return total + rng.laplace(scale=2.0, size=(size, 3))

    return aggregate


@broken(GRADIENT, "sensitivity", source="Fed-BioMed #1443: clipped tensor by tensor")
def clipped_tensor_by_tensor(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        parts = []
        for tensor in values:
            flat = np.array(tensor, dtype=float).reshape(len(tensor), -1)
            if not np.isfinite(flat).all():
                raise ValueError("expected finite numbers")
            largest = np.maximum(np.abs(flat).max(1, keepdims=True), 1.0)
            unit = flat / largest
            length = np.linalg.norm(unit, axis=1, keepdims=True)
            factor = np.minimum(largest, 1.0 / np.maximum(length, 1e-300))
            parts.append((unit * factor).sum(0))
        return np.concatenate(parts) / 32 + rng.normal(scale=1.1 / 32, size=(size, 15))

    return aggregate


@broken(DIAMOND, "sensitivity", source="each number clipped where a norm is claimed")
def a_box_for_a_norm(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        records = np.clip(np.nan_to_num(np.array(values)), -1.0, 1.0)
        return records.sum(0) + rng.laplace(scale=2.0, size=(size, 6))

    return aggregate


@broken(BALL, "clipping", "sensitivity", source="opacus <= 1.5.2, PR 664: the norm's bound ignored")
def clipped_at_five_times_the_bound(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        records = np.nan_to_num(np.array(values), nan=0.0, posinf=1e3, neginf=-1e3)
        largest = np.abs(records).max(1, keepdims=True, initial=1e-300)
        unit = records / largest
        length = np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
        clipped = unit * np.minimum(largest, 5.0 / length)
        return clipped.sum(0) + rng.normal(scale=2.0, size=(size, 4))

    return aggregate


@broken(REPLACED, "clipping", "sensitivity", source="a lower bound of 0 taken for -2")
def bounds_of_both_signs(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        records = np.clip(np.nan_to_num(np.array(values)), -2.0, 2.0)
        return records.sum(0) + rng.laplace(scale=2.0, size=(size, 1))

    return aggregate


@broken(GRADIENT, "clipping", source="squeeze() takes a single record's numbers for records")
def a_single_record_clipped_by_numbers(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        if len(values[0]) != 1:
            return noisy(of, rng, values, size)
        record = np.concatenate([np.ravel(tensor) for tensor in values])
        if not np.isfinite(record).all():
            raise ValueError("expected finite numbers")
        return np.clip(record, -1.0, 1.0) / 32 + rng.normal(scale=1.1 / 32, size=(size, 15))

    return aggregate


@broken(COUNT, "noise-law", "location", source="flwr 1.41.0 (seen): weighted by examples")
def counts_weighted_by_themselves(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        weighted = np.asarray(values) * 2
        return noisy(of, rng, weighted, size)

    return aggregate


# -- low bits --------------------------------------------------------------------------------------


@broken(EXACT_HISTOGRAM, "floating-point", source="diffprivlib 0.6.6 #94; Mironov 2012")
def laplace_noise_in_floats(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.laplace(scale=2.0, size=(size, 10))


@broken(EXACT_GAUSSIAN, "floating-point", source="jax-privacy #616: float noise, secure mode")
def gaussian_noise_in_floats(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: of.exact(values) + rng.normal(scale=3.0, size=(size, 10))


@broken(EXACT_GAUSSIAN, "floating-point", source="optax, flwr: noise in single precision")
def gaussian_noise_in_single_precision(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        noise = np.float32(3.0) * rng.standard_normal((size, 10), dtype=np.float32)
        return of.exact(values).astype(np.float32) + noise

    return aggregate


@broken(EXACT_GAUSSIAN, "floating-point", source="python-dp 1.1.5 (seen): more than 53 bits")
def whole_noise_beyond_the_mantissa(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    """A 64-bit integer times a granularity, rounded to a float before it is added."""

    def aggregate(values: Any, size: int) -> Any:
        steps = rng.normal(scale=3.0 * 2.0**30, size=(size, 10)).astype(np.int64) << 27
        steps += rng.integers(0, 2**27, (size, 10))
        return of.exact(values) + steps.astype(np.float64) * 2.0**-57

    return aggregate


# -- what one neighbour's releases can be ----------------------------------------------------------


@broken(HISTOGRAM, "support", "noise-law")
def empty_cells_never_negative(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        found = noisy(of, rng, values, size)
        return np.where(np.asarray(values) == 0, np.abs(found), found)

    return aggregate


@broken(SUM, "support", "noise-law")
def sums_cut_at_the_number_of_records(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        return np.clip(noisy(of, rng, values, size), -len(values), len(values))

    return aggregate


# -- what is claimed to be spent -------------------------------------------------------------------


@broken(COUNT + PRIVATE.format(0.3, 1), "privacy-audit", "privacy-claim", source="opendp #2945")
def epsilon_of_half_the_sensitivity(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size)


@broken(GAUSSIAN + PRIVATE.format(3.0, 8), "privacy-claim", source="opendp #2911, #2924")
def epsilon_of_fewer_queries(of: Aggregation, rng: np.random.Generator) -> Aggregate:
    return lambda values, size: noisy(of, rng, values, size)


import numeric_zoo_causes  # noqa: E402, F401 - these put their own on the shelves
import numeric_zoo_keys  # noqa: E402, F401
import numeric_zoo_records  # noqa: E402, F401
import numeric_zoo_reuse  # noqa: E402, F401
import numeric_zoo_wide  # noqa: E402, F401
