"""Noise that is used again, on rounded noise and unrounded, and correct aggregators beside it.

Part of the zoo in `numeric_zoo`. Each release by itself follows the claim.
"""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.arrays import Matrix
from dpassay.reference.numbers import Aggregation

from .claims import COUNT, GAUSSIAN, HISTOGRAM, ROUNDED, WHOLE
from .shelf import Aggregate, Rng, Shelf, entry, noisy

SHELF = Shelf()
correct = SHELF.correct

Rows = Callable[[np.random.Generator, int], Matrix]
"""Noise of so many releases."""
Drawn = Callable[[Any, int], Matrix]
"""Noise for an input, and so many releases."""

WHOLE_GAUSSIAN = WHOLE.replace("discrete-laplace:2", "discrete-gaussian:3")
ROUNDED_GAUSSIAN = ROUNDED.replace("laplace:2", "gaussian:3")
WIDE = WHOLE.replace("cells = 10", "cells = 1200")
SMALL_NOISE = tuple(
    WHOLE.replace("laplace:2", f"laplace:{b}").replace("cells = 10", f"cells = {cells}")
    for b, cells in ((0.3, 10), (0.5, 3), (0.5, 40), (2, 3))
)
CLAIMS = {
    "whole": WHOLE,
    "whole-gaussian": WHOLE_GAUSSIAN,
    "rounded": ROUNDED,
    "rounded-gaussian": ROUNDED_GAUSSIAN,
    "unrounded": HISTOGRAM,
    "unrounded-gaussian": GAUSSIAN,
}


def reuses(
    claims: tuple[str, ...] = tuple(CLAIMS.values()), caught: tuple[str, ...] = ("fresh-noise",)
) -> Callable[[Callable[[Rows, np.random.Generator], Drawn]], Any]:
    """Puts a maker of noise on the shelf of broken ones, once for each claim."""

    def keep(make: Callable[[Rows, np.random.Generator], Drawn]) -> Any:
        def aggregator(of: Aggregation, rng: Rng) -> Aggregate:
            def rows(own: np.random.Generator, size: int) -> Matrix:
                return np.asarray(of.noise.family.sample(own, (size, of.dimensions)))

            drawn = make(rows, rng)
            return lambda values, size: of.noise.rounded(of.exact(values) + drawn(values, size))

        names = {text: name for name, text in CLAIMS.items()}
        for text in claims:
            name = f"{make.__name__.replace('_', '-')}-{names.get(text, 'wide')}"
            SHELF.broken_ones.append(entry(name, text, aggregator, *caught))
        return make

    return keep


@reuses()
def a_seed_of_the_total(rows: Rows, rng: Rng) -> Drawn:
    """A generator for each input, seeded by its total when it is first asked."""
    kept: dict[bytes, np.random.Generator] = {}

    def drawn(values: Any, size: int) -> Matrix:
        counts = np.asarray(values)
        own = kept.setdefault(counts.tobytes(), np.random.default_rng(int(counts.sum())))
        return rows(own, size)

    return drawn


@reuses()
def a_seed_of_the_total_in_each_call(rows: Rows, rng: Rng) -> Drawn:
    return lambda values, size: rows(np.random.default_rng(int(np.sum(values))), size)


@reuses((WIDE,))
def a_seed_of_a_printed_array(rows: Rows, rng: Rng) -> Drawn:
    """A generator for each input, seeded by its text, in which 1,194 counts are three dots."""
    kept: dict[bytes, np.random.Generator] = {}

    def drawn(values: Any, size: int) -> Matrix:
        counts = np.asarray(values)
        seed = zlib.crc32(str(counts).encode())
        return rows(kept.setdefault(counts.tobytes(), np.random.default_rng(seed)), size)

    return drawn


@reuses()
def used_twice_512_apart(rows: Rows, rng: Rng) -> Drawn:
    return streamed(lambda: np.tile(rows(rng, 512), (2, 1)))


@reuses()
def opposite_of_the_third_before(rows: Rows, rng: Rng) -> Drawn:
    def block() -> Matrix:
        fresh = rows(rng, 3)
        return np.concatenate([fresh, -fresh])

    return streamed(block)


@reuses()
def rolled_by_five(rows: Rows, rng: Rng) -> Drawn:
    def block() -> Matrix:
        fresh = rows(rng, 1)
        return np.concatenate([fresh, np.roll(fresh, 5, axis=1)])

    return streamed(block)


@reuses()
def a_stride_of_five(rows: Rows, rng: Rng) -> Drawn:
    """Each release takes ten numbers of a stream, which goes on by five."""
    left = rows(rng, 1)[0, :5]

    def drawn(values: Any, size: int) -> Matrix:
        nonlocal left
        stream = np.concatenate([left, rows(rng, size)[:, :5].ravel()])
        left = stream[-5:]
        return np.asarray(stream[5 * np.arange(size)[:, None] + np.arange(10)])

    return drawn


@reuses()
def antithetic_halves_of_long_calls(rows: Rows, rng: Rng) -> Drawn:
    """The second half of a call of 32 or more is the opposite of the first."""

    def drawn(values: Any, size: int) -> Matrix:
        if size < 32:
            return rows(rng, size)
        half = rows(rng, (size + 1) // 2)
        return np.concatenate([half, -half])[:size]

    return drawn


@reuses()
def four_forked_workers(rows: Rows, rng: Rng) -> Drawn:
    """Calls go to any of four, whose generators were made before the fork."""
    seed = int(rng.integers(1 << 62))
    workers = [np.random.default_rng(seed) for _ in range(4)]
    return lambda values, size: rows(workers[int(rng.integers(4))], size)


@reuses()
def a_table_at_random_offsets(rows: Rows, rng: Rng) -> Drawn:
    """Of 2^17 numbers, read from anywhere on in each call."""
    table = np.concatenate([rows(rng, 1).ravel() for _ in range((1 << 17) // 10 + 1)])

    def drawn(values: Any, size: int) -> Matrix:
        at = int(rng.integers(table.size)) + np.arange(10 * size)
        return np.asarray(table[at % table.size].reshape(size, 10))

    return drawn


@reuses()
def one_of_1000_vectors(rows: Rows, rng: Rng) -> Drawn:
    pool = rows(rng, 1_000)
    return lambda values, size: pool[rng.integers(1_000, size=size)]


@reuses()
def one_of_1000_seeds_per_call(rows: Rows, rng: Rng) -> Drawn:
    return lambda values, size: rows(np.random.default_rng(int(rng.integers(1_000))), size)


@reuses()
def one_of_65536_vectors(rows: Rows, rng: Rng) -> Drawn:
    pool = rows(rng, 1 << 16)
    return lambda values, size: pool[rng.integers(1 << 16, size=size)]


@correct(*SMALL_NOISE, COUNT, WHOLE_GAUSSIAN, ROUNDED_GAUSSIAN)
def noise_that_repeats_honestly(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """Of ten cells of scale 0.3, half of the releases have no noise but 0."""
    return noisy(of, rng, values, size)


@correct(WHOLE, ROUNDED)
def four_workers_of_their_own(of: Aggregation, rng: Rng) -> Aggregate:
    """Of one seed, spawned."""
    workers = np.random.default_rng(int(rng.integers(1 << 62))).spawn(4)
    return lambda values, size: noisy(of, workers[int(rng.integers(4))], values, size)


def streamed(block: Callable[[], Matrix]) -> Drawn:
    """Releases take the rows of blocks, one after the other, whatever is asked."""
    waiting: list[Matrix] = []

    def drawn(values: Any, size: int) -> Matrix:
        while sum(map(len, waiting)) < size:
            waiting.append(block())
        rows = np.concatenate(waiting)
        waiting[:] = [rows[size:]]
        return rows[:size]

    return drawn
