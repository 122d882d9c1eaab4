"""A small claim of each kind, and a deployment of it whose noise follows from a seed."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.claim import Claim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget

GATE = "\n[gate]\nmax_queries = {}\ntolerance = 0.4\nsmallest_effect = 0.2\n"
CLAIMS = {
    "labels": '[mechanism]\nname = "gnmax"\nnoise = "gaussian:8"\nclasses = 3\nteachers = 30\n',
    "numbers": '[mechanism]\nname = "noisy-histogram"\nnoise = "laplace:2"\n'
    'adjacency = "add-remove"\ncells = 4\n',
    "keys": '[mechanism]\nname = "thresholded-histogram"\nnoise = "discrete-laplace:1"\n'
    'adjacency = "add-remove"\ncells = 40\nthreshold = 6\n',
    "tallies": '[mechanism]\nname = "secure-tally"\nnoise = "discrete-laplace:2;sum=2"\n'
    'adjacency = "add-remove"\nparties = 4\nlower = 0\nupper = 5\ndimensions = 20\n'
    "modulus = 4096\n",
    "tables": '[mechanism]\nname = "table"\nadjacency = "add-remove"\nkept = "first"\n'
    'max_partitions = 2\nmax_per_partition = 3\npartitions = ["a", "b", "c", "d"]\n'
    'aggregates.count = {noise = "laplace:6"}\n',
}


def claimed(kind: str, queries: int = 2_000) -> Any:
    """The claim of a kind, with so many queries at most."""
    return parse_claim(tomllib.loads(CLAIMS[kind] + GATE.format(queries)))


def deployment(
    claim: Claim,
    scale: float = 1.0,
    stop_at: int | None = None,
    error: BaseException | None = None,
    seed: int = 3,
) -> InProcessTarget:
    """The claimed mechanism at `scale` times its noise; raises `error` at the call `stop_at`."""
    calls: list[int] = []
    answer = answers(claim, scale, np.random.default_rng(seed))

    def aggregate(given: Any, size: int) -> Any:
        calls.append(size)
        if stop_at is not None and error is not None and len(calls) > stop_at:
            raise error
        return answer(given, size)

    return InProcessTarget(aggregate, release=claim.release)


def answers(claim: Any, scale: float, rng: np.random.Generator) -> Callable[[Any, int], Any]:
    """What the claimed mechanism releases at `scale` times its noise."""
    mechanism = claim.mechanism

    def labels(votes: Any, size: int) -> Any:
        return mechanism.mechanism(mechanism.noise.times(scale)).sample(votes, size, rng)

    def numbers(values: Any, size: int) -> Any:
        exact = mechanism.aggregation.exact(values)
        return exact + scale * (sample(mechanism.aggregation, values, size, rng) - exact)

    def keys(values: Any, size: int) -> Any:
        noisy = values + np.rint(mechanism.noise.times(3 * scale).sample(0 * values, size, rng))
        kept = mechanism.keys.sample(values, size, rng)
        if scale != 1.0:
            kept = [np.flatnonzero((values > 0) & (row >= mechanism.threshold)) for row in noisy]
        return [[{"key": int(key)} for key in row] for row in kept]

    def tallies(values: Any, size: int) -> Any:
        exact = mechanism.aggregation.exact(values)
        noisy = mechanism.noise.sample(exact, size, rng)
        return np.rint(exact + scale * (noisy - exact)).astype(int).tolist()

    def tables(values: Any, size: int) -> Any:
        engine = replace(
            mechanism.table,
            aggregates=tuple(
                replace(one, noise=one.noise.times(scale)) for one in mechanism.table.aggregates
            ),
        )
        rows = claim.release.rows_of(values)
        return engine.sample(rows, len(claim.keys), size, rng).reshape(size, -1)

    known = {
        "labels": labels,
        "numbers": numbers,
        "keys": keys,
        "tallies": tallies,
        "tables": tables,
    }
    return known[claim.kind.name]
